"""The sentences of the report, from facts alone.

A sentence is a list of pieces: plain text, or ``(kind, text)``, where ``run`` and ``base`` are
names in their colors, and ``b`` is bold.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

import numpy as np

from ir_std._arrays import Floats
from ir_std.analysis.paired import describe_correction, get_test
from ir_std.errors import abbreviate, join_with_and, pluralize
from ir_std.evaluation.evaluation import message_texts
from ir_std.evaluation.placement import Placement, ordinal
from ir_std.evaluation.plans import Plan
from ir_std.factors.quality import FEW_SYSTEMS, saturates
from ir_std.measures import Standardized, sign_of
from ir_std.reporting.html.standing import RunStanding, is_scores_alone
from ir_std.reporting.model import Results, evaluations_of
from ir_std.reporting.summaries import is_wide
from ir_std.reporting.tables import p_text
from ir_std.scores.run_scores import QrelsFromCounts

Words = list[str | tuple[str, str]]

VERY_FEW = 10
"""With fewer systems places say more than scores."""
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def number_word(n: int) -> str:
    """``six``; larger numbers in digits."""
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


def on_so_many(n: int, total: int, what: str) -> str:
    """``on 38 of 43 topics``, ``on both collections``, ``on all 5 collections``."""
    if n < total or total == 1:
        return f"on {n} of {pluralize(total, what)}"
    return f"on {'both' if total == 2 else f'all {total}'} {what}s"


def number(value: float, sign: str = "") -> str:
    """To three decimals, with a true minus."""
    text = f"{value:{sign}.3f}"
    return text.replace("-", "\N{MINUS SIGN}")


def systems_word(results: Results) -> str:
    """Return what the reference systems are called."""
    return "models" if results.collection.is_of_datasets else "systems"


def count_runs(results: Results, n: int) -> str:
    """Return ``12 runs``, or ``269 models`` if their scores are on whole datasets."""
    return pluralize(n, "model" if results.collection.is_of_datasets else "run")


def recognized_by(results: Results) -> str:
    """Return how the factors were found."""
    assert results.match is not None
    by = {
        "name": "chosen by name",
        "ir_datasets id": "named by the ir_datasets ID",
        "systems": "the runs are systems of this set",
    }
    if results.match.chosen_by in by:
        return by[results.match.chosen_by]
    if not isinstance(results.collection.evaluator.qrels, QrelsFromCounts):
        return "recognized from the qrels"
    if results.collection.is_of_datasets:
        return "recognized by the names of the datasets"
    return "recognized from the topics of the scores"


# The headline.


def headline(facts: RunStanding) -> Words:
    """State the finding in one sentence."""
    results, run = facts.results, facts.run
    if isnan(facts.score(run)):
        return [("run", run), f" has no {facts.view.scored_name}."]
    if facts.rival is not None:
        return _beside_rival(facts)
    if len(results.runs) > 1:
        return _best_of_many(facts)
    placed = facts.placement(run)
    if placed is None and _average(facts) is not None and not isnan(facts.interval(run)[0]):
        return [("run", run), f" is {_beside_average(facts)} on {_topics(results)}."]
    if placed is None:
        return [
            ("run", run),
            f" scores {number(facts.mean(run))}; there are no other systems to compare with.",
        ]
    others = facts.others_could_be_first() if placed.n_better == 0 else None
    if others is not None:
        could = (
            f"but {others} other{'s' * (others > 1)} could be"
            if others
            else "and no other could be"
        )
        return [("run", run), f" {_place(facts, placed).replace('1st of', 'first of')}, {could}."]
    return [("run", run), f" {_place(facts, placed)}: {_beside_average(facts)}."]


def _place(facts: RunStanding, placed: Placement) -> str:
    """``is 33rd of the 37 systems of its track``."""
    results = facts.results
    if results.collection.is_of_datasets:
        n = len(results.topics)
        where = results.topics[0] if n == 1 else f"{n} datasets"
        where = f"models on {where}"
    else:
        where = "systems of its track"
    if placed.is_own_system:
        return f"is {ordinal(placed.n_better + 1)} of the {placed.n_systems} {where}"
    return f"would have been {ordinal(placed.n_better + 1)} of {placed.n_systems + 1} {where}"


def _beside_average(facts: RunStanding) -> str:
    average = _average(facts)
    low, high = facts.interval(facts.run)
    if average is None or isnan(low):
        return "no interval is known"
    sign = sign_of(facts.view.scored)
    if sign * (low - average) > 0 and sign * (high - average) > 0:
        return "above average"
    return (
        "below average" if sign * (high - average) < 0 > sign * (low - average) else "about average"
    )


def _average(facts: RunStanding) -> float | None:
    """Return the score of an average system."""
    scored = facts.view.scored
    if not isinstance(scored, Standardized):
        return None if isnan(facts.average) else facts.average
    return average_of(scored)


def average_of(measure: Standardized) -> float | None:
    """Return the standardized score of an average system; scheme E has none."""
    known = {"N": 0.5, "U": measure.scheme_params.get("B", 0.5), "z": 0.0}
    return known.get(measure["scheme"])


def _beside_rival(facts: RunStanding) -> Words:
    run, rival, results = facts.run, facts.rival or "", facts.results
    verdict, placed = facts.verdict(run), facts.placement(run)
    is_best = results.baseline == rival and _is_best_of_set(facts, rival)
    name: str | tuple[str, str] = "the best" if is_best else ("base", rival)
    word = "better" if verdict > 0 else "worse"
    many = len(results.runs) > 2 and results.baseline is None
    if placed is None or many:
        if verdict:
            return [("run", run), f" is clearly {word} than ", name, "."]
        return [f"{_topics(results)} do not separate ", ("run", run), " from ", name, "."]
    if verdict:
        return [("run", run), f" {_place(facts, placed)}, and clearly {word} than ", name, "."]
    undecided = f" {_place(facts, placed)}; {_topics(results)} do not separate it from "
    return [("run", run), undecided, name, "."]


def _is_best_of_set(facts: RunStanding, run: str) -> bool:
    placed = facts.placement(run)
    return bool(placed and placed.is_own_system and placed.n_better == 0)


def _topics(results: Results) -> str:
    return pluralize(len(results.topics), results.collection.unit)


def _best_of_many(facts: RunStanding) -> Words:
    first, n = facts.could_be_best, len(facts.results.runs)
    if facts.run not in first or facts.ranked[0] != facts.run:  # one's own run among systems
        rank = facts.rank(facts.run).rank
        which = "last" if rank == n else "the best" if rank == 1 else ordinal(rank or n)
        of = count_runs(facts.results, n)
        return [("run", facts.run), f" is {which} of {of}{_could_be(facts, facts.run)}."]
    whose = "the" if _are_the_systems(facts) else "your"
    runs = f"{whose} {count_runs(facts.results, n)}"
    if len(first) == n:
        return [f"No order: any of {runs} could be best."]
    if len(first) == 1:
        return [("run", facts.run), f" is the best of {runs}, and clearly so."]
    top = first == facts.ranked[: len(first)]
    others = f"any of the top {number_word(len(first))}" if top else f"{len(first)} of them"
    return [("run", facts.run), f" is the best of {runs}, but {others} could be."]


def _are_the_systems(facts: RunStanding) -> bool:
    """Check whether the runs are all the reference systems, and nothing else."""
    placed = [facts.placement(run) for run in facts.results.runs]
    return all(p and p.is_own_system and p.n_systems == len(placed) for p in placed)


def _could_be(facts: RunStanding, run: str) -> str:
    rank = facts.rank(run)
    return f", and could be {ordinal(rank.best)} to {ordinal(rank.worst)}"


# Below the headline.


def deck(facts: RunStanding) -> Words:
    """Give the numbers behind the headline."""
    results, run = facts.results, facts.run
    if isnan(facts.score(run)):
        return []
    if facts.rival is None and len(results.runs) > 1:
        return _deck_of_many(facts)
    words: Words = [f"Its {facts.view.raw} is ", ("b", number(facts.mean(run)))]
    average = facts.average
    if facts.rival is not None:
        words += ["; that of ", ("base", facts.rival), f" is {number(facts.mean(facts.rival))}"]
    if not isnan(average):
        comma = ", and" if facts.rival else "; "
        words.append(
            f"{comma.rstrip()} the average of the {systems_word(results)} is {number(average)}"
        )
    words.append(".")
    if facts.rival is not None:
        words.append(f" {_difference(facts)}")
        if results.baseline is not None and _is_best_of_set(facts, results.baseline):
            words.append(" The best was chosen by its scores on these topics.")
        words += _others_beside_baseline(facts)
    elif len(results.topics) > 1 and not isnan(average):
        words.append(_interval_text(facts))
    return words


def _interval_text(facts: RunStanding) -> str:
    low, high = facts.interval(facts.run)
    if isnan(low) or is_wide(facts.view.scored, low, high):
        return ""
    score = facts.score(facts.run)
    name = facts.view.scored_name
    name = f"{name[0].upper()}{name[1:]}"
    interval = f"95% interval {number(low)} to {number(high)}{_place_range(facts, '; places')}"
    return f" {name} is {number(score)} ({interval})."


def _place_range(facts: RunStanding, before: str) -> str:
    """Return the places that the ends of the interval would take, if they differ."""
    places = facts.places(facts.run)
    if places is None or places[0] == places[1]:
        return ""
    return f"{before} {ordinal(places[0])} to {ordinal(places[1])}"


def _difference(facts: RunStanding) -> str:
    """State the result of the test."""
    found = facts.difference(facts.run)
    if found is None or isnan(found.p_adjusted):
        return f"{_topics(facts.results)} are too few for a test.".capitalize()
    how = f"{get_test(facts.results.procedure.test)[1]}, {p_text(found.p_adjusted)}"
    n = len(facts.results.differences) if facts.results.baseline is not None else 1
    how += describe_correction(facts.results.procedure.correction, n) or ", one comparison"
    if found.significant:
        return f"The gap is not an accident of these {facts.results.collection.unit}s ({how})."
    low, high = found.interval
    name = facts.tested if facts.tested == facts.view.raw else facts.view.scored_name
    between = "" if isnan(low) else f"95% interval {number(low, '+')} to {number(high, '+')}; "
    text = f"The difference in {name} is {number(found.mean, '+')} ({between}{how})"
    if isnan(found.detectable):
        return f"{text}."
    return f"{text}; the test would have found {number(found.detectable)} four times in five."


def _others_beside_baseline(facts: RunStanding) -> Words:
    """Count the other runs that differ from the baseline."""
    others = [r for r in facts.ranked if r not in (facts.run, facts.rival)]
    if not others:
        return []
    verdicts = [facts.verdict(r) for r in others]
    counts = [(verdicts.count(1), "clearly better"), (verdicts.count(-1), "clearly worse"),
              (verdicts.count(0), "not separated from it")]  # fmt: skip
    if len(others) == 1:
        verdict = next(what for n, what in counts if n)
        return [" The other run, ", ("b", others[0]), f", is {verdict}."]
    said = join_with_and(f"{n} {'is' if n == 1 else 'are'} {what}" for n, what in counts if n)
    return [f" Of the other {count_runs(facts.results, len(others))}, {said}."]


def _deck_of_many(facts: RunStanding) -> Words:
    results, run = facts.results, facts.run
    placed = facts.placement(run)
    words: Words = []
    if placed and not _are_the_systems(facts):
        text = _place(facts, placed).replace("its track", "the track")
        text = text.replace("is ", "is also ", 1) + _place_range(facts, ", plausibly")
        words.append(f"It {text}. ")
    behind = [r for r in facts.ranked if facts.rank(r).rank and facts.rank(r).best > 1]
    if len(facts.could_be_best) == len(results.runs):
        words.append(f"{_topics(results).capitalize()} do not separate any two of them clearly.")
    elif len(behind) == 1:
        words += [("b", behind[0]), " is clearly behind at least one of the others."]
    else:
        runs = count_runs(results, len(behind))
        words.append(f"{runs} are each clearly behind at least one other.")
    if facts.ranked[0] == run:
        words.append(
            " The best was chosen by these scores; those that could be it are a 95% confidence set."
        )
    return words


def place_heading(facts: RunStanding) -> str:
    """``33rd of 37; plausibly 26th to 35th``."""
    placed = facts.placement(facts.run)
    if placed is None:
        return ""
    n = placed.n_ranked
    return f"{ordinal(placed.n_better + 1)} of {n}{_place_range(facts, '; plausibly')}"


def topics_heading(facts: RunStanding) -> str:
    """``Below the best on 38 of 43 topics``."""
    results, unit = facts.results, facts.results.collection.unit
    if facts.rival is not None:
        better, worse, n = facts.wins()
        rival = "the best" if _is_best_of_set(facts, facts.rival) else facts.rival
        if better >= worse:
            return f"Above {rival} {on_so_many(better, n, unit)}"
        return f"Below {rival} {on_so_many(worse, n, unit)}"
    average, scored = _average(facts), facts.view.scored
    if (
        average is None
        or scored not in results.collection.topic_measures
        or scored == facts.view.raw
    ):
        return f"{pluralize(len(results.topics), unit)}, worst to best"
    d = sign_of(scored) * (results.values[facts.run][scored] - average)
    above, below = int((d > 0).sum()), int((d < 0).sum())
    n = int((d == d).sum())
    if above >= below:
        return f"Above average {on_so_many(above, n, unit)}"
    return f"Below average {on_so_many(below, n, unit)}"


# The trust line.


def trust(facts: RunStanding, judged: Mapping[str, Mapping[int, float]]) -> list[str]:
    """State in three parts what holds, what matched, and the share judged."""
    return [_holds(facts), _matched(facts), _judged(facts, judged)]


def _holds(facts: RunStanding) -> str:
    placed, results = facts.placement(facts.run), facts.results
    texts = []
    if facts.rival is not None:
        found = facts.difference(facts.run)
        if facts.verdict(facts.run):
            texts.append("The gap, yes.")
        elif found is None or isnan(found.p_adjusted):
            texts.append("The gap is untested.")
        else:
            texts.append("The order of the two, no.")
    elif len(results.runs) > 1:
        first = len(facts.could_be_best)
        best = f"{facts.ranked[0]} as the best, yes."
        texts.append(best if first == 1 else f"The order of the first {number_word(first)}, no.")
    if placed is None and not isinstance(facts.view.scored, Standardized):
        return " ".join(texts or ["A raw score: it compares only with scores on the same topics."])
    n, what = placed.n_systems if placed else 0, systems_word(results)
    if placed is None:
        texts.append(f"The score, not a place: no two {what} have scores on all of these.")
    elif n < VERY_FEW:
        texts.append(f"Only {n} {what} are compared here: read the place, not the score.")
    elif n < FEW_SYSTEMS:
        texts.append(f"The place, roughly: {n} {what} are few.")
    else:
        texts.append("The place, within its range.")
    if results.collection.is_of_datasets:
        unit = results.collection.unit
        texts.append(f"Compared with all models; some were trained on these {unit}s.")
    return " ".join(texts)


def _matched(facts: RunStanding) -> str:
    collection = facts.results.collection
    match, total = collection.match, len(collection.topics)
    plan = collection.plan_behind(facts.view.scored)
    if plan is not None and match is not None and plan.factors is not match.factors:
        return f"The systems are those of {plan.factors.title}, named in the measure."
    if match is None or match.fit is None:
        these = "this" if total == 1 else "these"
        return f"No systems are known for {these} {pluralize(total, collection.unit)}."
    fit, rest = match.fit, "the others have no standardized score"
    if fit.dataset is not None:
        return f"Only the mean over {fit.dataset} is compared, no topic by itself."
    if collection.is_of_datasets:
        known = int((n_systems(plan) > 0).sum()) if plan else 0
        return f"{known} of {pluralize(total, 'dataset')} are known, by name."
    if fit.missing:
        return f"{len(fit.matched)} of {total} topics are those of the track; {rest}."
    if fit.differing_topics:
        n = total - len(fit.differing_topics)
        return f"{n} of {total} topics are judged as in the track; {rest}."
    if fit.count_mismatches:
        return f"{len(fit.count_mismatches)} of {total} topics were judged again since the track."
    return f"All {total} topics and their judgments are the track\N{RIGHT SINGLE QUOTATION MARK}s."


def _judged(facts: RunStanding, judged: Mapping[str, Mapping[int, float]]) -> str:
    """State the share of the first documents that were judged."""
    shown = [r for r in dict.fromkeys((facts.run, facts.rival)) if r and judged.get(r)]
    if not shown:
        return "How much was judged is not known: only scores are given."
    k = facts.cutoff
    shares = {run: judged[run][k] for run in shown}
    if all(share == 1 for share in shares.values()) and facts.run in shown:
        return f"Every top-{k} document was judged."
    told = [_share(s) + f" for {run}" * (shown != [facts.run]) for run, s in shares.items()]
    return f"Judged among the top {k}: {', '.join(told)}."


def _share(share: float) -> str:
    """In whole percent; all and none only where it is."""
    return f"{min(max(round(100 * share), 1 if share else 0), 100 if share == 1 else 99)}%"


def warnings(facts: RunStanding) -> list[str]:
    """List the warnings about the factors, and about the runs that the page names.

    Faults come first, those of other runs, too; what does not mislead by this measure is left out.
    """
    results, measure = facts.results, facts.view.scored
    named = {facts.run, facts.rival}
    messages = [
        message
        for run in facts.ranked
        for message in evaluations_of(results)[run].messages
        if message.concerns(measure) and (message.is_fault or (message.warns and run in named))
    ]
    texts = message_texts((m._replace(warns=True) for m in messages if m.is_fault), True)
    texts += message_texts([m for m in results.collection.evaluator.messages if m.warns], True)
    texts += message_texts([m for m in messages if not m.is_fault], True)
    others = [
        run
        for run in facts.ranked
        if run not in named
        and any(m.warns and m.concerns(measure) for m in evaluations_of(results)[run].messages)
        and not evaluations_of(results)[run].is_broken
    ]
    if others:
        texts += (f"there are also warnings about {abbreviate(others)}; see All warnings below",)
    saturated = [run for run in (facts.run, facts.rival) if run and is_saturated(facts, run)]
    if saturated:
        are = "is" if len(saturated) == 1 else "are"
        texts += (
            f"on many topics {join_with_and(saturated)} {are} at an end of the scale, where runs "
            "look alike; scheme z has no ends",
        )
    return [f"Warning: {text}." for text in texts]


def is_saturated(facts: RunStanding, run: str) -> bool:
    """Check whether a run is too often at an end of the scale to compare its scores."""
    scored = facts.view.scored
    if (
        not isinstance(scored, Standardized)
        or scored not in facts.results.collection.topic_measures
    ):
        return False
    if evaluations_of(facts.results)[run].is_broken:
        return False
    return saturates(facts.results.values[run][scored], scored["scheme"])


def rankings_needed(results: Results, run: str, rival: str | None) -> str:
    """Name the files that would show the documents; empty if they are known."""
    lacking = [r for r in (run, rival) if r and is_scores_alone(results, r)]
    if rival is None or not lacking:
        return ""
    names = join_with_and(lacking)
    return (
        f"Only scores are known of {names}. To see both rankings, give "
        f"{'its run file' if len(lacking) == 1 else 'both run files'} and the qrels: "
        "ir_std report RUN [RUN ...] QRELS."
    )


def n_systems(plan: Plan | None) -> Floats:
    """Count the reference systems on each of a plan's topics."""
    if plan is None:
        return np.zeros(0)
    scores = plan.factors.scores.get(plan.name)
    if scores is None:
        return np.full(len(plan.rows), float(plan.factors.n_systems[plan.name]))
    return np.where(plan.rows >= 0, (~np.isnan(scores)).sum(axis=1)[plan.rows], np.nan)
