"""Factor sets, and the functions that store, find, check and exchange them."""
