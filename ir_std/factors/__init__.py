"""Factor sets, and functions that store, find, check and exchange factor sets."""
