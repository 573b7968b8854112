"""Completion of words in the shell, by argcomplete.

``eval "$(register-python-argcomplete ir_std)"`` in bash or zsh asks the program itself, with the
line in its environment: commands, options and what they allow, measures, factor sets and their
systems, files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ir_std.cli.parser import ASKED_BY_SHELL, COMMANDS, CommandParser, command_parser
from ir_std.errors import IrStdError, MissingLibraryError
from ir_std.evaluation.systems import SEPARATOR, systems_of
from ir_std.factors.catalog import available_factors, load_factors

Completer = Callable[[str], list[str]]
"""What the beginning of a word may become."""
MEASURES = ("AP", "nDCG", "nDCG@10", "nDCG@20", "P@5", "P@10", "P@20", "RR", "RR@10", "R@100")
"""Those that are offered among the inputs; any other can be written."""


def complete(environment: Mapping[str, str]) -> None:
    """Answer the shell, and end this process.

    Parameters
    ----------
    environment : mapping of str to str
        With the line and the cursor's place in it, as argcomplete has them.
    """
    try:
        from argcomplete import autocomplete
    except ImportError:
        raise MissingLibraryError.of("completion", "argcomplete", "completion") from None
    line = environment["COMP_LINE"].encode()[: int(environment["COMP_POINT"])].decode()
    words = line.split()
    ended = words[1:] if line[-1:].isspace() else words[1:-1]
    command = ended[0] if ended and ended[0] in COMMANDS else ""
    if command:
        os.environ[ASKED_BY_SHELL] = "2"  # how many words name the program
    parser = command_parser(command or "evaluate")
    _add_completers(parser, () if ended else COMMANDS)
    autocomplete(parser, always_complete_options=False)


def _add_completers(parser: CommandParser, commands: Iterable[str]) -> None:
    for each in (parser, *parser.actions):
        for action in each._actions:
            completer = COMPLETERS.get(action.dest)
            if completer and not action.choices:
                _set_completer(action, completer, commands if action.dest == "inputs" else ())


def _set_completer(action: Any, completer: Completer, others: Iterable[str]) -> None:
    action.completer = lambda prefix, **_: [*others, *completer(prefix)]


def _files(prefix: str) -> list[str]:
    from argcomplete.completers import FilesCompleter

    return list(FilesCompleter()(prefix))


def _sets(prefix: str) -> list[str]:
    return [*available_factors(), *_files(prefix)]


def _systems(prefix: str) -> list[str]:
    """Sets, and behind one its systems."""
    ids = available_factors()
    set_id, behind, _ = prefix.partition(SEPARATOR)
    if not behind:
        return [each + SEPARATOR for each in ids]
    try:
        known = systems_of(load_factors(set_id)) if set_id in ids else ()
    except IrStdError:
        return []
    return [set_id + SEPARATOR + tag for tag in known]


def _inputs(prefix: str) -> list[str]:
    return [*MEASURES, *_systems(prefix), *_files(prefix)]


COMPLETERS: dict[str, Completer] = {
    "inputs": _inputs,
    "baseline": lambda prefix: ["best", *_systems(prefix), *_files(prefix)],
    "measures": lambda _: list(MEASURES),
    "sort": lambda _: list(MEASURES),
    "factors": _sets,
    "set": _sets,
    "sets": _sets,
    "scheme": lambda _: ["N", "U", "E", "z", "all"],
}
"""What is offered for an argument, by its name in the parser; files for others."""
