"""Results whose runs differ from a baseline by given amounts."""

from collections.abc import Mapping
from typing import Any

from ir_measures import AP

import ir_std
from ir_std.scores.run_scores import RunScores

BASE = 10.0
"""The baseline's score, from which differences of any size keep their sign."""


def differing(
    by_run: Mapping[str, Mapping[str, Any]], *measures: ir_std.Measure, baseline: str = "a"
) -> ir_std.Results:
    """Compare runs with a baseline, from which each differs by these amounts on each collection."""
    collections = dict.fromkeys(name for amounts in by_run.values() for name in amounts)

    def scores(run: str, name: str, amounts: Any) -> tuple[str, RunScores, None, str]:
        by_topic = {f"{name}{i}": BASE + float(d) for i, d in enumerate(amounts)}
        of = dict.fromkeys(measures or (AP,), by_topic)
        return run, RunScores(run, of, dict.fromkeys(by_topic, 1)), None, name

    sizes = {
        name: max(len(amounts[name]) for amounts in by_run.values() if name in amounts)
        for name in collections
    }
    entries = [scores(baseline, name, [0] * n) for name, n in sizes.items()]
    entries += [scores(r, name, d) for r, of in by_run.items() for name, d in of.items()]
    return ir_std.compare(entries, measures or (AP,), (), baseline=baseline)
