"""What this package needs of the system: files, processes, signals, and text for terminals."""
