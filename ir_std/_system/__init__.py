"""What this package needs of the system: files, processes, signals, and text that terminals take."""
