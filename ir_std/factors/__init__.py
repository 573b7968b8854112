"""Factor sets, and the functions that store, find, check and exchange them."""

from ir_std.factors.catalog import available_factors, load_factors
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Fit, Match

__all__ = ["FactorSet", "Fit", "Match", "available_factors", "load_factors"]
