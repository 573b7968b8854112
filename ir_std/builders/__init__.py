"""Build factor sets from runs or from tables of scores."""
