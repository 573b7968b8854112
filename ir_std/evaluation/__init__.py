"""Raw and standardized scores in one pass: as a provider of ir_measures and as a drop-in."""
