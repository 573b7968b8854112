"""List, show, check, exchange and use factor sets."""

import inspect
import os
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ir_std._system.files import check_output
from ir_std._system.text import escape_line
from ir_std.cli.inputs import read_measures
from ir_std.cli.streams import note
from ir_std.errors import InputError, UsageError, abbreviate, look_up, pluralize
from ir_std.evaluation.inputs import systems_of
from ir_std.evaluation.placement import place
from ir_std.evaluation.plans import mean_of_values, name_in_set, similar_measures
from ir_std.evaluation.uncertainty import is_anonymous
from ir_std.factors import catalog
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.formats import FORMATS, set_from_tables, webber_files
from ir_std.factors.judgments import judgments_of
from ir_std.factors.quality import Quality, findings, measures_of_weak_systems, summarize_quality
from ir_std.factors.store import SUFFIX
from ir_std.measures import Measure
from ir_std.measures.names import to_trec_eval
from ir_std.trec import as_qrels

HELP = """
usage: ir_std factors ACTION [options]

List, show, check, exchange and use factor sets.

  ir_std factors list                                all sets, with topics, systems and measures
  ir_std factors show ID                             one set in detail, with its limitations
  ir_std factors systems ID [MEASURE ...]            the systems of a set, with their means
  ir_std factors place ID MEASURE VALUE              rank of a published mean among the systems
  ir_std factors path ID                             the file of a set
  ir_std factors check [ID ...]                      check that sets are sound
  ir_std factors export ID --format FORMAT -o FILE   write a set in another format
  ir_std factors import FILE --format FORMAT -o SET  make a set from another format
  ir_std factors add FILE|URL#sha256=HEX             check a set's file, and keep it
  ir_std factors remove ID                           remove a set that was added
  ir_std factors where                               the folder that sets are added to

ID is the ID of a set or its path.  ir_std adds sets to the first folder of IR_STD_FACTORS or, if
IR_STD_FACTORS is not set, to your data folder.  ir_std searches the folders of IR_STD_FACTORS
first, and then your data folder.

options:
  --format {csv,trec_eval,webber}
                        csv holds the systems' scores, from which ir_std build can rebuild the set.
                        trec_eval is for trec_eval -Z.  webber is the format of the published CSV
                        files; FILE is the part of their names before .mn.csv and .sd.csv.  import
                        reads only trec_eval and webber.
  -o, --output FILE     file to write (NAME.npz for import)
  --force
  --systems N           number of reference systems (import)
  --qrels QRELS         store the numbers of relevant documents in these qrels, so that ir_std can
                        recognize the collection (import)
"""


def run(args: Namespace) -> None:
    """Run the chosen action."""
    name, *given = args.inputs or ["list"]
    action = look_up(name, ACTIONS, "action")
    keywords = ("format", "output", "force", "systems", "qrels")
    options = {key: value for key in keywords if (value := getattr(args, key))}
    try:
        inspect.signature(action).bind(*given, **options)
    except TypeError:
        (usage,) = re.findall(rf"^  (ir_std factors {name}\b.*?)(?:  .*)?$", HELP, re.MULTILINE)
        raise UsageError(f"cannot read these arguments; write {usage}") from None
    action(*given, **options)


def _list() -> None:
    for name in catalog.available_factors():
        s = catalog.load_factors(name)
        print(
            f"{s.id}\t{pluralize(len(s.topics), s.unit)}\t{s.systems_text()} systems\t"
            f"{pluralize(len(s.measures), 'measure')}\t{s.title}"
        )


def _show(name: str) -> None:
    print("\n".join(describe(catalog.load_factors(name))))


def _systems(name: str, *texts: str) -> None:
    factors = catalog.load_factors(name)
    names = names_with_scores(factors, read_measures(texts))
    tags = factors.systems
    if anonymous := sum(map(is_anonymous, tags)):
        anonymous_of = f"{anonymous} of {len(tags)} systems of {factors.id}"
        note(f"{anonymous_of} are anonymous and listed by number")
    teams = factors.info.get("teams", {})
    unit = "datasets" if factors.of_datasets else "topics"
    columns = (column for name in names for column in (name, f"s{name}"))
    print("\t".join(["system", *["team"] * bool(teams), unit, *columns]))
    by_system = means_by_system(factors, names)
    if len({n for n, *_ in by_system.values()}) > 1:
        note(f"systems have scores on different {unit}, so their means are not comparable")
    for tag, (n, *means) in by_system.items():
        fields = [tag, *[teams.get(tag, "")] * bool(teams), f"{n:.0f}"]
        fields += [f"{mean:.4f}" for mean in means]
        print("\t".join(map(escape_line, fields)))


def _place(name: str, measure: str, value: str) -> None:
    try:
        mean = float(value)
    except ValueError:
        raise UsageError(f"expected the mean as a number, got {value!r}") from None
    print(place(mean, measures=read_measures([measure]), factors=name))


def _path(name: str) -> None:
    print(catalog.load_factors(name).path)


def _check(*names: str) -> None:
    unsound = []
    for name in names or catalog.available_factors():
        # Check a file even if it cannot be loaded.
        file = Path(name) if os.path.isfile(name) else catalog.load_factors(name).path
        problems = catalog.check_set(file or name)
        print("\n".join(problems) or f"{name}\tsound")
        unsound += [name] * bool(problems)
        for sentence in () if problems else findings(catalog.load_factors(file or name)):
            print(f"{name}\tnote\t{sentence}")
    if unsound:
        raise InputError(f"{abbreviate(unsound)} failed the check; see the problems above")


def _export(name: str, *, format: str, output: str, force: bool = False) -> None:
    for file in webber_files(output) if format == "webber" else [output]:
        check_output(file, new=not force)
    factors = catalog.load_factors(name)
    FORMATS[format].write(factors, output)
    unnamed = [m for m in factors.measures if to_trec_eval(m) is None]
    if format == "trec_eval" and unnamed:
        note(
            f"trec_eval does not have the measures {', '.join(unnamed)}, so it ignores their lines "
            "in the file"
        )


def _import(
    file: str,
    *,
    format: str,
    output: str,
    force: bool = False,
    systems: int = 0,
    qrels: str | None = None,
) -> None:
    if systems < 0:
        raise UsageError(f"--systems is {systems}; expected the number of systems")
    judged = judgments_of(as_qrels(qrels)) if qrels else None
    read = (file, *webber_files(file), *([qrels] if qrels else ()))
    catalog.check_new_set(output, read, force)
    name = Path(output).name.removesuffix(SUFFIX)
    built = f"by ir_std from the {format} format"
    info = {"id": name, "title": name, "source": "", "licence": "", "built": built}
    read_tables = FORMATS[format].read
    if read_tables is None:
        raise UsageError(f"import does not read {format}; use ir_std build --from-scores")
    set_from_tables(read_tables(file), info, systems, judged).save(output)


def _add(source: str) -> None:
    added = catalog.add_set(source)
    print(f"{added.id}\t{added.path}")


def _remove(name: str) -> None:
    print(f"{name}\t{catalog.remove_set(name)}")


def _where() -> None:
    print(catalog.writable_folder())


_FUNCTIONS: tuple[Callable[..., None], ...] = (
    _list, _show, _systems, _place, _path, _check, _export, _import, _add, _remove, _where
)  # fmt: skip
ACTIONS = {function.__name__.removeprefix("_"): function for function in _FUNCTIONS}
"""The actions of ``ir_std factors``: for each name, the function that runs the action."""

_FACTS = (
    *("id", "title", "year", "population", "main_set", "same_topics_as", "corpus"),
    *("doc_id_example", "built"),
)
_FACTS_OF_SOURCE = ("url", "date", "licence", "licence_uri")


def names_with_scores(factors: FactorSet, measures: Iterable[Measure]) -> list[str]:
    """Return the names that a set uses for measures, and reject measures without system scores.

    If ``measures`` is empty, return the default measures for which the set has system scores.
    """
    if not systems_of(factors):
        raise UsageError(f"{factors.id} has no scores of named systems")
    defaults = [name for name in factors.default_measures if name in factors.scores]
    names = []
    for measure in measures:
        name = name_in_set(measure, factors)
        if name is None or name not in factors.scores:
            has = similar_measures(factors.scores, [str(measure)])
            raise UsageError(
                f"{factors.id} has no scores of its systems for {measure}; choose from {has}"
            )
        names.append(name)
    return names or defaults or list(factors.scores)


def means_by_system(factors: FactorSet, names: Sequence[str]) -> dict[str, list[float]]:
    """Return each system's number of topics, and its raw and standardized means.

    The means are a raw mean and a mean N for each measure.  The first measure determines which
    topics are counted, and the systems are sorted by this measure, best first.
    """
    means: dict[str, list[float]] = {tag: [] for tag in systems_of(factors)}
    for name in names:
        apply = factors.standardizer(factors.rows(factors.topics), name)
        scores = dict(zip(factors.systems, factors.scores[name].T, strict=True))
        for tag, of_system in means.items():
            of_system += [] if of_system else [float((~np.isnan(scores[tag])).sum())]
            of_system += [mean_of_values(scores[tag]), mean_of_values(apply(scores[tag]))]
    heights = {tag: factors.sign(names[0]) * of_system[1] for tag, of_system in means.items()}
    return {
        tag: means[tag]
        for tag in sorted(means, key=lambda t: -np.nan_to_num(heights[t], nan=-np.inf))
    }


def describe(factors: FactorSet) -> Iterator[str]:
    """Describe a set on one screen, one line per fact."""
    info = factors.info
    yield from (f"{key}\t{info[key]}" for key in _FACTS if info.get(key))
    yield from (f"judge\t{key}\t{text}" for key, text in info.get("judge", {}).items())
    if ids := info.get("ir_datasets"):
        yield f"ir_datasets\t{', '.join(ids)}"
    yield f"{factors.unit}s\t{len(factors.topics)}: {factors.topics[0]} ... {factors.topics[-1]}"
    yield f"quality\t{summarize_quality(factors)}"
    yield from _measure_lines(factors)
    yield from _source_lines(factors)
    if factors.path:
        yield f"sha256\t{catalog.file_hash(factors.path)}"
    yield from (f"note\t{sentence}" for sentence in findings(factors, weak_systems=False))
    weak = measures_of_weak_systems(factors)
    if weak:
        yield "note\tWeak systems score far below the others; --without weak leaves them out."
    yield from (f"weak system\t{system}\t{', '.join(names)}" for system, names in weak.items())


def _measure_lines(factors: FactorSet) -> Iterator[str]:
    """Yield one line for each group of measures with the same quality and properties."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in factors.measures:
        depth, step = factors.about(name, "depth"), factors.about(name, "resolution")
        facts = {
            pluralize(factors.n_systems[name], "system"): True,
            f"depth {depth}": depth,
            f"in steps of {step}": step,
            "lower is better": factors.sign(name) < 0,
            "scores of systems known": name in factors.scores,
        }
        text = ", ".join(fact for fact, holds in facts.items() if holds)
        groups.setdefault((Quality(factors, name).label, text), []).append(name)
    for (label, text), names in groups.items():
        yield f"measures\t{label}\t{text}\t{', '.join(names)}"


def _source_lines(factors: FactorSet) -> Iterator[str]:
    """Yield one line per source; if there are several, list each source's measures."""
    measures_of: dict[str, list[str]] = {}
    for name in factors.measures:
        measures_of.setdefault(factors.about(name, "source", ""), []).append(name)
    records = {record["source"]: record for record in factors.info.get("sources", ())}
    for source, names in measures_of.items():
        record = records.get(source, factors.info)
        facts = [source, *(record[key] for key in _FACTS_OF_SOURCE if record.get(key))]
        facts += [", ".join(names)] * (len(measures_of) > 1)
        if source:
            yield "\t".join(["source", *facts])
