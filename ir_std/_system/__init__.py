"""Handle the operating system's files, processes, signals and terminals."""
