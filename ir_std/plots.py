"""Draw plots of runs and reference systems, topics, differences and collections."""

from ir_std.reporting.plots import *  # noqa: F403
