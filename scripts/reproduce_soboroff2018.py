"""Repeat Soboroff, Meta-analysis for retrieval experiments with many collections (CIKM 2018).

The paper asks whether Krovetz stemming or Rocchio feedback improves a system over ten collections.
The paper comes with a notebook, which applies published standardization factors by hand. This
script reproduces the notebook's raw figures at every digit, and then its standardized figures. The
standardized figures contain two slips that anybody could make: ``score - mean / sd`` instead of
``(score - mean) / sd``, and TREC-8's means in place of TREC-8's standard deviations. Nobody can see
these slips in the figures, and few authors publish enough for others to find them. This is the best
argument for a tested library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import numpy as np
from experiment import Compared, arguments, published_factors, published_figures, report, table
from ir_measures import AP
from ir_measures.measures import Measure
from scipy import stats

import ir_std
from ir_std.analysis.influence import (
    DESIGN_EFFECT,
    contrast_error,
    covariance_by_design,
    design_effect,
    inflation,
    influence,
    normal_covariance,
)
from ir_std.reporting.difference import Difference, RunDifferences
from ir_std.reporting.result_tables import compared_table
from ir_std.schemes import normal_cdf, z_scores

SAP = ir_std.sAP
NOTE = (
    "The collections of one name share documents, not topics: they are less independent than ten "
    "collections of their own. nyt has no factors."
)
EXPERIMENTS = {"stemming": "krovetz", "feedback": "prf"}
"""System in each experiment; the baseline of both experiments is no_stem."""
BASELINE = "no_stem"
STEMS = {
    "cd45.TREC6": "trec6.adhoc",
    "cd45.TREC7": "trec7.adhoc",
    "cd45.TREC8": "trec8.adhoc",
    "gov2.2004": "trec2004.tb",
    "gov2.2005": "trec2005.tb",
    "gov2.2006": "trec2006.tb.adhoc",
}
"""File with the published factors of each collection."""
N_SYSTEMS = {
    "trec6.adhoc": 74,
    "trec7.adhoc": 103,
    "trec8.adhoc": 129,
    "trec2004.tb": 70,
    "trec2005.tb": 58,
    "trec2006.tb.adhoc": 80,
}
COLLECTIONS = ("blogs06.2006", "blogs06.2007", "blogs06.2008", *STEMS, "nyt")

PUBLISHED: dict[str, dict[str, list[str]]] = published_figures("soboroff2018")
"""Figures that the paper's notebook prints: mean AP of the system, mean AP of no_stem, and p of the
paired t-test. The same three figures follow for standardized scores, except for nyt, which has no
factors.
"""


@dataclass(frozen=True)
class Factors:
    """Mean and standard deviation of systems per topic, each of shape (n_topics, 1).

    ``published`` has the mean and the standard deviation as the notebook joined them. ``systems``
    has the scores of the systems, if they are known.
    """

    mean: np.ndarray
    sd: np.ndarray
    n_systems: int
    published: tuple[np.ndarray, np.ndarray]
    systems: np.ndarray | None = None

    def standardized(self, x: np.ndarray) -> np.ndarray:
        """Standardize with scheme N, shape (n_topics, 2)."""
        return normal_cdf(z_scores(x, self.mean, self.sd))

    def as_published(self, x: np.ndarray) -> np.ndarray:
        """Compute the notebook's formula, ``pnorm(score - mean / sd)``."""
        mean, sd = self.published
        return normal_cdf(x - mean / sd)

    def systems_error(self, x: np.ndarray) -> float:
        """Return the part of the difference's standard error that the choice of systems causes."""
        if self.systems is not None:
            effect = design_effect(self.systems)
            covariance, _ = covariance_by_design(influence(x, self.systems), effect)
        else:
            covariance = normal_covariance(x, self.mean[:, 0], self.sd[:, 0], self.n_systems)
            covariance *= inflation(self.n_systems, DESIGN_EFFECT)[0]
        return contrast_error(covariance, [1, -1])


@dataclass(frozen=True)
class Experiment:
    """AP of two systems on the topics of one collection, and the collection's factors.

    ``x`` has the shape (n_topics, 2): the system, and the baseline.
    """

    collection: str
    x: np.ndarray
    factors: Factors | None = None


def average_precision(file: Path) -> dict[str, float]:
    """Read AP per topic from trec_eval's -q output."""
    lines = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return {
        topic: float(value)
        for measure, topic, value in lines
        if measure == "map" and topic != "all"
    }


def load(data: Path, experiment: str, collection: str) -> Experiment:
    """Return the scores of both systems, and the factors of the collection."""
    folder = data / "soboroff2018" / experiment / collection
    a, b = (
        average_precision(folder / f"{run}.eval") for run in (EXPERIMENTS[experiment], BASELINE)
    )
    if a.keys() != b.keys():
        raise SystemExit(f"{folder}: the two runs have different topics")
    topics = sorted(a, key=int)
    x = np.array([(a[t], b[t]) for t in topics])
    if collection in STEMS:
        mean, sd = published_factors(data, STEMS[collection], "AP", topics)
        joined = (mean, mean if collection == "cd45.TREC8" else sd)
        return Experiment(collection, x, Factors(mean, sd, N_SYSTEMS[STEMS[collection]], joined))
    if not collection.startswith("blogs06"):
        return Experiment(collection, x)
    systems = table(data, "blog08", "AP").at(topics)
    repeated = systems
    if collection == "blogs06.2006":
        # The table has the runs of 2006 twice, the second time under the name of 2007.
        of_2006 = table(data, "blog06", "AP").at(topics)
        systems = np.hstack([of_2006, systems])
        repeated = np.hstack([of_2006, systems])
    mean, sd = moments(systems)
    return Experiment(
        collection, x, Factors(mean, sd, systems.shape[1], moments(repeated), systems)
    )


def moments(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the sample standard deviation per topic, shape (n_topics, 1)."""
    return scores.mean(axis=1, keepdims=True), scores.std(axis=1, ddof=1, keepdims=True)


def figures(values: np.ndarray) -> tuple[float, float, float]:
    """Return the means of both systems, and p of the paired t-test."""
    return *values.mean(axis=0).tolist(), float(stats.ttest_rel(*values.T).pvalue)


def compared(
    name: str, experiment: str, values: np.ndarray, published: Sequence[str]
) -> Iterator[Compared]:
    """Compare both means and p with the published figures."""
    titles = (f"{name} {EXPERIMENTS[experiment]}", f"{name} {BASELINE}", f"{name} p")
    for title, computed, text in zip(titles, figures(values), published, strict=True):
        yield Compared(title, computed, float(text), len(text.partition(".")[2]))


def raw(experiment: str, loaded: Sequence[Experiment]) -> list[Compared]:
    """Compute mean AP and the paired t-tests."""
    return [
        row
        for e in loaded
        for row in compared(e.collection, experiment, e.x, PUBLISHED[experiment][e.collection][:3])
    ]


def slip(experiment: str, loaded: Sequence[Experiment]) -> list[Compared]:
    """Compute the standardized means and tests as published, with the wrong formula."""
    published = PUBLISHED[experiment]
    return [
        row
        for e in loaded
        if e.factors
        for row in compared(
            e.collection, experiment, e.factors.as_published(e.x), published[e.collection][3:]
        )
    ]


Differences = dict[str, dict[Measure, RunDifferences]]
"""Differences from the baseline, by system and measure."""


def differences(experiment: str, loaded: Sequence[Experiment]) -> Differences:
    """Compute raw and standardized differences on all collections that have the scores."""
    system = EXPERIMENTS[experiment]
    of_raw = [
        Difference.of(system, BASELINE, e.collection, AP, e.x[:, 0] - e.x[:, 1]) for e in loaded
    ]
    of_standardized = []
    for e in loaded:
        if e.factors is None:
            of_standardized.append(Difference.of(system, BASELINE, e.collection, SAP, []))
        else:
            y = e.factors.standardized(e.x)
            of_standardized.append(
                Difference.of(
                    system,
                    BASELINE,
                    e.collection,
                    SAP,
                    y[:, 0] - y[:, 1],
                    e.factors.systems_error(e.x),
                    e.factors.n_systems - 1,
                )
            )
    return {
        system: {
            AP: RunDifferences(system, BASELINE, AP, tuple(of_raw)),
            SAP: RunDifferences(system, BASELINE, SAP, tuple(of_standardized)),
        }
    }


def show_right(experiment: str, loaded: Sequence[Experiment]) -> list[str]:
    """Print published and corrected standardized means, and where conclusions differ."""
    print(
        f"\n{experiment}: standardized mean AP, {EXPERIMENTS[experiment]} and {BASELINE}, and p\n"
        f"{'':14}  as published               (score - mean) / sd        raw p"
    )
    differ = []
    for e in loaded:
        if e.factors is None:
            continue
        was, now, plain = map(
            figures, (e.factors.as_published(e.x), e.factors.standardized(e.x), e.x)
        )
        print(
            f"{e.collection:14}  {was[0]:.4f} {was[1]:.4f} {was[2]:.6f}    "
            f"{now[0]:.4f} {now[1]:.4f} {now[2]:.6f}    {plain[2]:.6f}"
        )
        if (was[2] < 0.05) != (now[2] < 0.05) or (was[0] > was[1]) != (now[0] > now[1]):
            differ.append(e.collection)
    return differ


def agreement(combined: dict[Measure, RunDifferences]) -> str:
    """Say in a sentence whether raw and standardized summaries agree."""
    parts = []
    raw, known = combined[AP], combined[SAP].is_known
    for title, by_measure, size in (
        ("raw", raw, False),
        (
            f"raw on the {sum(known)} with factors",
            replace(raw, differences=tuple(compress(raw.differences, known))),
            False,
        ),
        ("standardized", combined[SAP], False),
        ("effect size", combined[AP], True),
    ):
        if s := by_measure.summary(size):
            parts.append(
                f"{title} {s.effect:+.4f} [{s.low:+.4f}, {s.high:+.4f}] p {s.p:.4f}, "
                f"I2 {100 * s.i2:.0f}%"
            )
    return "; ".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Repeat the analyses; return 0 if they reproduce the published figures."""
    args = arguments(__doc__.splitlines()[0], argv, trials=0)
    alike = True
    for experiment in EXPERIMENTS:
        loaded = [load(args.data, experiment, c) for c in COLLECTIONS]
        alike &= report(f"{experiment}: mean AP", raw(experiment, loaded))
        alike &= report(
            f"{experiment}: standardized, by pnorm(score - mean / sd)", slip(experiment, loaded)
        )
        differ = show_right(experiment, loaded)
        print(f"Sign or significance at 0.05 differ on: {', '.join(differ) or 'none'}")
        combined = differences(experiment, loaded)
        effects_table = compared_table(combined, (NOTE,))
        print(f"\n{experiment} over all collections\n{effects_table.text()}\n")
        print(agreement(combined[EXPERIMENTS[experiment]]))
    print(f"\n{'All' if alike else 'NOT ALL'} published figures were found")
    return 0 if alike else 1


if __name__ == "__main__":
    raise SystemExit(main())
