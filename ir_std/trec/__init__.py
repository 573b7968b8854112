"""Read runs and qrels from files and objects, and rank the documents of runs."""
