"""Handle files, processes, signals and terminals of the operating system."""
