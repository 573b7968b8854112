"""Find topics and documents that collections share, and link collections to one scale."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np

from ir_std._arrays import Floats
from ir_std.analysis import linking
from ir_std.errors import UsageError, look_up
from ir_std.evaluation.uncertainty import team_tags
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import Standardized
from ir_std.reporting.model import Results, deviations
from ir_std.schemes import get_scheme
from ir_std.trec import Qrels


@dataclass(frozen=True)
class Overlaps:
    """Collections that share documents.

    Attributes
    ----------
    topics : mapping of (str, str) to int
        Number of shared topics for each pair of collections that share documents.
    relabelled : frozenset of (str, str)
        Pairs of collections with the same topics and documents but different labels, such as human
        and LLM labels.
    """

    topics: Mapping[tuple[str, str], int]
    relabelled: frozenset[tuple[str, str]] = frozenset()

    def shared(self, names: Collection[str]) -> tuple[tuple[str, str], ...]:
        """Return the pairs of these collections that share topics."""
        return tuple(pair for pair, n in self.topics.items() if n and set(pair) <= set(names))

    def of_labels(self, names: Collection[str]) -> bool:
        """Check whether all these collections have the same topics but different judgments."""
        pairs = list(combinations(names, 2))
        return bool(pairs) and all(self.is_relabelled(a, b) for a, b in pairs)

    def is_relabelled(self, a: str, b: str) -> bool:
        """Check whether two collections have the same topics but different judgments."""
        return bool({(a, b), (b, a)} & self.relabelled)


@dataclass(frozen=True, eq=False)
class CollectionLinks:
    """Links of several collections to a reference, for one measure.

    Attributes
    ----------
    measure : Standardized
    reference : str
        All scores are converted to the scale of this collection.
    links : mapping of str to Link
        Links by collection, for all collections except the reference.
    anchors : tuple of str
        The systems that ran on all collections and link the collections.
    """

    measure: Standardized
    reference: str
    links: Mapping[str, linking.Link]
    anchors: tuple[str, ...]

    @property
    def origin(self) -> str:
        """Description of the link, such as ``linked by bm25 to trec8-adhoc``."""
        n = len(self.anchors)
        anchors = self.anchors[0] if n == 1 else f"{n} anchors"
        return f"linked by {anchors} to {self.reference}"

    @property
    def doubts(self) -> dict[str, list[str]]:
        """Reasons to doubt links, and the collections that each reason concerns."""
        collections: dict[str, list[str]] = {}
        for collection, one in self.links.items():
            for doubt in one.doubts:
                collections.setdefault(doubt, []).append(collection)
        return collections

    def distances(self, on: Results) -> dict[str, float]:
        """Compute how far each run on a linked collection is above the anchors, in units of z."""
        one = self.links[on.collection.name]
        z = {run: deviations(on, run, self.measure) for run in on.runs}
        return {run: one.mean(own).distance for run, own in z.items()}

    def scores(self, collection: str, z: Floats) -> Floats:
        """Convert a system's z to scores on the reference's scale; NaN stays NaN."""
        if collection in self.links:
            return self.links[collection].apply(z)
        return score_of(self.measure, z)

    def error_of_mean(self, z: Mapping[str, Floats]) -> tuple[float, float]:
        """Compute the error that links add to a mean over collections, and the error's df.

        Parameters
        ----------
        z : mapping of str to ndarray, shape (n_topics,)
            A run's z, by collection.
        """
        linked = [collection for collection in z if collection in self.links]
        links = [self.links[c] for c in linked]
        return linking.error_of_linked_mean(links, [z[c] for c in linked], len(z))

    def weights_on_reference(self, run: str, z: Mapping[str, Floats]) -> dict[str, float]:
        """Compute the weights that a linked mean gives to runs on the reference collection.

        Parameters
        ----------
        run : str
        z : mapping of str to ndarray, shape (n_topics,)
            The run's z, by collection.
        """
        ratios = [self.links[c].mean(own).slope_ratio for c, own in z.items() if c in self.links]
        weights = dict.fromkeys(self.anchors, sum(ratios) / len(self.anchors) / len(z))
        if self.reference in z:
            weights[run] = weights.get(run, 0.0) + 1 / len(z)
        return weights

    def error_between(self, collection: str, z: Floats, other: Floats) -> float:
        """Compute the error that the link adds to the difference of two means."""
        return self.links[collection].error_between(z, other) if collection in self.links else 0.0

    def difference(
        self, first: tuple[str, Floats], second: tuple[str, Floats]
    ) -> linking.LinkedDifference:
        """Compare a mean on one collection with a mean on another.

        Parameters
        ----------
        first, second : (str, ndarray of shape (n_topics,))
            A collection, and a system's z on its topics.
        """
        if first[0] == self.reference:
            return self.links[second[0]].difference(first[1], second[1])
        if second[0] == self.reference:
            below = self.links[first[0]].difference(second[1], first[1])
            return replace(below, difference=-below.difference)
        return linking.linked_difference(
            self.links[first[0]], first[1], self.links[second[0]], second[1]
        )


def score_of(measure: Standardized, z: Floats) -> Floats:
    """Compute a standardized measure's scores from z."""
    from_z = get_scheme(measure["scheme"]).from_z
    if from_z is None:
        raise UsageError(f"{measure} is a share of systems and cannot be linked; use N, U or z")
    return from_z(z, **measure.scheme_params)


def link_collections(
    results: Results,
    measure: Standardized,
    anchors: Sequence[str],
    reference: str | None = None,
    same_systems: bool = False,
) -> CollectionLinks:
    """Link collections by the z-scores of the anchors.

    Parameters
    ----------
    results : Results
    measure : Standardized
        Standardized measure under scheme N, U or z.
    anchors : sequence of str
        Names of the anchors.  Anchors with identical scores on all collections count once.
    reference : str, optional
        All scores are converted to the scale of this collection.  By default, this is the
        collection with the strongest reference systems, on which the anchors' mean is lowest.
    same_systems : bool
        True if each name is known to stand for the same program on all collections.

    Raises
    ------
    UsageError
        If there are too few topics, or the anchors cannot link two collections.
    """
    z = {
        name: np.stack([deviations(results.on(name), a, measure) for a in anchors], axis=1)
        for name in results.collections
    }
    kept = _different(np.concatenate(list(z.values())))
    names = tuple(anchors[i] for i in kept)
    own = {collection: values[:, kept] for collection, values in z.items()}
    means = {name: float(np.nanmean(score_of(measure, values))) for name, values in own.items()}
    chosen = min(means, key=means.__getitem__) if reference is None else reference
    links = {}
    for collection, values in own.items():
        if collection != chosen:
            try:
                links[collection] = linking.link(
                    values,
                    own[chosen],
                    measure["scheme"],
                    names=names,
                    same_systems=same_systems,
                    **measure.scheme_params,
                )
            except UsageError as wrong:
                raise UsageError(
                    f"{collection} cannot be linked to {chosen} by {measure}: {wrong}"
                ) from None
    return CollectionLinks(measure, chosen, links, names)


def check_linkable(results: Results, anchors: Sequence[str], reference: str | None) -> None:
    """Check that the anchors ran on all collections, and that other systems exist.

    Raises
    ------
    UsageError
        If an anchor has no run on a collection, an anchor or the reference is unknown, there is
        only one collection, or all systems are anchors.
    """
    collections, runs = results.evaluations, dict.fromkeys(results.runs)
    if not anchors:
        raise UsageError(f"the reference {reference} needs an anchor; name a system to link by")
    if len(collections) < 2:
        raise UsageError(f"nothing to link; {', '.join(collections)} is the only collection")
    if reference:
        look_up(reference, collections, "reference")
    for anchor in anchors:
        look_up(anchor, runs, "anchor")
        missing = [name for name, scored in collections.items() if anchor not in scored]
        if missing:
            raise UsageError(
                f"the anchor {anchor} has no run on {', '.join(missing)}; pass its runs on all "
                "collections"
            )
    if set(runs) <= set(anchors):
        raise UsageError(
            f"all systems are anchors ({', '.join(runs)}), whose mean is the same on all "
            "collections by definition; add systems to compare"
        )


def _different(z: Floats) -> list[int]:
    """Find the columns of anchors whose scores differ from the scores of all earlier anchors."""
    kept: list[int] = []
    for i in range(z.shape[1]):
        if not any(np.allclose(z[:, i], z[:, j], equal_nan=True) for j in kept):
            kept.append(i)
    return kept


def find_overlaps(qrels: Mapping[str, Qrels], factors: Mapping[str, FactorSet]) -> Overlaps:
    """Find collections that share documents, and count the shared topics.

    Topics are the same if their IDs are equal and the collections share documents.  Equal IDs are
    not enough, because two rounds may have judged different documents (TREC-COVID).

    Parameters
    ----------
    qrels : mapping of str to Qrels
        Qrels by collection name.
    factors : mapping of str to FactorSet
        Factor sets by collection name, for the collections with a known set.  The sets name the
        corpora of documents.  If only scores are known, the sets also show which collections have
        different relevance labels.
    """
    shared_topics = {}
    relabelled = set()
    for a, b in combinations(qrels, 2):
        sets = [factors[name] for name in (a, b) if name in factors]
        topics = set(qrels[a].topics).intersection(qrels[b].topics)
        if _share_documents(qrels[a], qrels[b], topics, _have_same_corpus(sets)):
            shared_topics[a, b] = len(topics)
            if _labels_differ(qrels[a], qrels[b], topics) or (topics and _labels_of_one(sets)):
                relabelled.add((a, b))
    return Overlaps(shared_topics, frozenset(relabelled))


def _have_same_corpus(sets: Sequence[FactorSet]) -> bool:
    """Check whether two factor sets are known, and are for the same corpus of documents."""
    corpora = [each.info.get("corpus") for each in sets]
    return len(corpora) == 2 and None not in corpora and corpora[0] == corpora[1]


def _labels_of_one(sets: Sequence[FactorSet]) -> bool:
    """Check whether two factor sets are known, and have different labels of the same topics."""
    human = {each.info.get("same_topics_as", each.id) for each in sets}
    return len({each.id for each in sets}) == 2 and len(human) == 1


def _labels_differ(one: Qrels, other: Qrels, topics: set[str]) -> bool:
    """Check whether two qrels judge mostly the same documents, but some differently."""
    pairs = [(one.judged[t], other.judged[t]) for t in topics]
    both = sum(len(a.keys() & b.keys()) for a, b in pairs)
    either = sum(len(a) + len(b) for a, b in pairs) - both
    return 2 * both > either and any(
        b.get(document, level) != level for a, b in pairs for document, level in a.items()
    )


def _share_documents(one: Qrels, other: Qrels, topics: set[str], same_corpus: bool) -> bool:
    """Check whether the IDs that two qrels have in common name the same documents."""
    documents = _documents(one), _documents(other)
    if all(documents):
        shared = documents[0] & documents[1]
        alike = sum(not one.judged[t].keys().isdisjoint(other.judged[t]) for t in topics)
        # Equal numbers may name different documents, unless they occur on the same topics.
        same = any(not d.isdigit() for d in shared) or (bool(shared) and same_corpus)
    else:  # Score files hold no documents, but may count the relevant ones.
        counts = [dict(zip(q.topics, q.count().tolist(), strict=True)) for q in (one, other)]
        alike = sum(counts[0][t] == counts[1][t] > 0 for t in topics)
        same = bool(topics) and same_corpus
    return same or alike > len(topics) / 2


def _documents(qrels: Qrels) -> frozenset[str]:
    return frozenset(chain.from_iterable(qrels.judged.values()))


def n_common_systems(results: Results) -> int:
    """Count the reference systems if these are the same on all collections; else return 0.

    Anonymous systems never count as the same, because they have numbers instead of names.
    """
    populations = {
        frozenset(team_tags(plan.factors.systems))
        for each in results.collections.values()
        for plan in each.plans.values()
    }
    same = len(results.collections) > 1 and len(populations) == 1
    return len(populations.pop()) if same else 0
