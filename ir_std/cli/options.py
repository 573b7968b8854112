"""Expand each command's help text, and create an argument parser from it.

The help text of a command also declares its options.  The line of an option holds the option's
names, the name of the option's value, two spaces, and a description.  A line that holds only names
of shared options is replaced by the lines of these options in :data:`SHARED`.  Each option has the
same name as a parameter of the Python function, so that :func:`call` can pass the option on.
"""

import inspect
import re
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, NoReturn, TypeVar

from ir_std._version import __version__
from ir_std.cli.streams import PROGRAM, fail
from ir_std.errors import UsageError, suggestion

T = TypeVar("T")

COMMANDS = (
    "evaluate", "agree", "build", "compare", "correct", "diff", "factors", "merge", "report"
)  # fmt: skip
"""Names of the commands; if no command is given, the first one is used."""
SHARED = """
  -m MEASURE            add a measure (repeatable); trec_eval names such as map or P.5,10 also work
  -l N                  lowest relevant level: AP means AP(rel=N), unless you state another rel
  -c                    count missing topics as 0; always on, accepted for users of trec_eval
  -M, --depth N         evaluate only the top N documents per topic, ordered by score
  --duplicates {error,first,last}
                        how to handle a document that occurs twice for a topic (default error)
  --jobs N              number of processes (default automatic)
  -s, --scheme NAMES    N (default), U, E, z, several (N,U), all, or none for raw scores only
  --factors ID|PATH     factor set to use (default recognized from the qrels)
  --systems KIND|FILE   standardize by a KIND of systems (such as modern) or the systems in FILE
  --without TAG         leave out a reference system (repeatable); self means your evaluated
                        systems, and weak means all systems that score far below the others
  --residual            remove documents that were judged in earlier rounds (residual collections)
  --benchmark NAME      rank models over the tasks of an MTEB benchmark, such as 'MTEB(eng, v2)'
  --lower-is-better NAME  treat lower values of a custom measure as better (repeatable)
  -p, --places N        number of decimals (default 4; -1 means full precision; csv always has it)
  -o, --output {table,markdown,latex,csv,html}
                        output format (default table)
  --test {t,randomization}  paired test (default t)
  --correction {holm,bonferroni,none}
                        correct p-values for the number of runs tested (default holm)
  --equivalent BOUND    mark runs that differ from the baseline by significantly less than BOUND
  --anchor NAME         use this system, which ran on all collections, to put the scores of all
                        collections on one scale (repeatable; three or more are better)
  --same-systems        state that each anchor is the identical program on all collections, which
                        the scores cannot show
  --reference COLLECTION
                        put scores on the scale of this collection (requires --anchor; default is
                        the collection with the strongest reference systems)
  --queries ID|FILE     query texts from ir_datasets, which may download them, or from a file; each
                        line of the file holds an ID, a tab and a text, or a JSON record
  -v, --verbose         also print notes and the names of other factor sets that match
  --force               overwrite the output file if it exists
"""
"""Lines in the help about options that several commands have."""
NUMBERS: dict[str, Callable[[str], Any]] = {"N": int, "ALPHA": float, "BOUND": float}
"""Types of numeric values, by the names that the help uses for the values."""


class Option(NamedTuple):
    """Option that a help text declares.

    Attributes
    ----------
    flags : tuple of str
    values : tuple of str
        Names of the option's values in the help; empty for a switch.
    text : str
        Lines of the option in the help.
    """

    flags: tuple[str, ...]
    values: tuple[str, ...]
    text: str

    @property
    def settings(self) -> dict[str, Any]:
        """Keyword arguments for argparse."""
        if not self.values:
            return {"action": "store_true"}
        first, *others = self.values
        settings: dict[str, Any] = {"metavar": first, "type": NUMBERS.get(first)}
        if first.startswith("{"):
            settings["choices"] = first.strip("{}").split(",")
        if first.endswith("..."):
            settings["nargs"] = "+"
        if others:
            settings |= {"nargs": len(self.values), "metavar": self.values}
        if "repeatable" in self.text:
            settings["action"] = "append"
        return settings


def _read_options(text: str) -> list[Option]:
    """Parse the options that a text declares, in the order of the text."""
    entries = re.findall(r"^ {2}-\S.*(?:\n {4,}\S.*)*", text, re.MULTILINE)
    options = []
    for entry in entries:
        # The names in a line end at two spaces or at a small letter.
        head = re.match(r"(?:[-A-Z{]\S* ?)+", entry.strip())
        names = [word.rstrip(",") for word in head[0].split()] if head else []
        flags = [name for name in names if name.startswith("-")]
        options.append(Option(tuple(flags), tuple(names[len(flags) :]), entry))
    return options


_SHARED = {flag: option for option in _read_options(SHARED) for flag in option.flags}


def _expand(text: str) -> str:
    """Replace the names of shared options in a command's help by the lines about these options."""

    def lines(names: re.Match[str]) -> str:
        return "\n".join(_SHARED[name].text for name in names[0].split())

    return re.sub(r"^ {2}--?[\w-]+( --?[\w-]+)*$", lines, text, flags=re.MULTILINE)


class CommandParser(ArgumentParser):
    """Parser for the arguments that a command's help declares; options can be anywhere."""

    def __init__(self, name: str) -> None:
        text = _expand(import_module(f"ir_std.cli.{name}").HELP)
        prog = PROGRAM if name == COMMANDS[0] else f"{PROGRAM} {name}"
        # If there were no usage text, argparse would format one that format_help never prints.
        super().__init__(prog=prog, usage=prog, allow_abbrev=False, add_help=False)
        self.text, self.options = text, _read_options(text)
        self.add_argument("inputs", nargs="*")
        for option in self.options:
            self.add_argument(*option.flags, **option.settings)
        self.add_argument("-h", "--help", action="help")
        self.add_argument("--version", action=_ShowVersions, nargs=0)
        if not self._option_string_actions.get("--quiet"):
            self.add_argument("--quiet", action="store_true")

    def format_help(self) -> str:
        """Return the help."""
        return self.text.lstrip("\n")

    def error(self, message: str) -> NoReturn:
        """Print the error on one line, and exit with status 2."""
        sys.exit(fail(self._reword(message)))

    def _reword(self, message: str) -> str:
        """Reword a message of argparse in ir_std's style, and add advice."""
        where, _, wrong = message.partition(": ")
        flags, advice = self._option_string_actions, f"; see {self.prog} --help"
        if where == "unrecognized arguments":
            unknown = wrong.split()[0]
            return f"unknown option {unknown!r}{suggestion(unknown, flags) or advice}"
        flag = where.split()[-1].rpartition("/")[2]
        found = re.search("'(.*?)'", wrong)
        if wrong.startswith("invalid choice") and found:
            choices = list(flags[flag].choices or ())
            listed = f"choose from {', '.join(choices)}{suggestion(found[1], choices)}"
            return f"unknown value {found[0]} of {flag}; {listed}"
        if wrong.startswith("invalid") and found:
            return f"{flag} needs a number, got {found[0]}{advice}"
        if wrong.startswith("expected"):
            n_values = wrong.removeprefix("expected ").replace("argument", "value")
            return f"{flag} needs {n_values}{advice}"
        return f"{message}{advice}"


class _ShowVersions(Action):
    """Print the versions of ir_std and of the factor sets.

    The version of the factor sets is read only if this action runs.
    """

    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        from ir_std.factors.catalog import data_version

        print(f"{PROGRAM} {__version__}, factor sets {data_version()}")
        parser.exit()


REQUIRED = {
    "test": "--baseline NAME",
    "correction": "--baseline NAME",
    "equivalent": "--baseline NAME",
    "fail_if_worse": "--baseline NAME",
    "seed": "--draw N",
    "docs": "--topic T",
}
"""For each option that needs another option, the other option."""


def read_arguments(name: str, arguments: list[str]) -> Namespace:
    """Parse a command's arguments; an option that is not given is None, or False for a switch.

    Only the number of decimals has a value if it is not given, because all commands have the same.
    """
    args = CommandParser(name).parse_intermixed_args(arguments)
    for option, required in REQUIRED.items():
        needed = required.split()[0].removeprefix("--")
        if getattr(args, option, None) and not getattr(args, needed):
            raise UsageError(f"--{option.replace('_', '-')} requires {required}")
    if "places" in args:
        args.places = 4 if args.places is None else args.places
        if not -1 <= args.places <= 1000:
            raise UsageError(
                f"--places is {args.places}; expected at most 1000, or -1 for full precision"
            )
    return args


def call(function: Callable[..., T], args: Namespace, *given: Any, **more: Any) -> T:
    """Call a function with these arguments, and take its other parameters from the options.

    The parameter for a repeatable option can end in ``s``: ``--anchor`` sets ``anchors``.
    """
    options = {n: v for n, v in vars(args).items() if not (v is None or v is False or v == [])}
    parameters = list(inspect.signature(function).parameters)
    for name in parameters[len(given) :]:
        one = name.removesuffix("s")
        option = one if name not in options and one not in parameters else name
        if name not in more and option in options:
            more[name] = options[option]
    return function(*given, **more)
