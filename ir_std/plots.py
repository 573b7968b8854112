"""Draw runs next to the reference systems, scores by topic, differences, and collections."""

from ir_std.reporting.plots import *  # noqa: F403
