"""Build factor sets from runs or from tables of scores."""

from ir_std.builders.from_runs import build_factors
from ir_std.builders.from_scores import build_from_scores

__all__ = ["build_factors", "build_from_scores"]
