"""Handle what belongs to the system: files, processes, signals and terminals."""
