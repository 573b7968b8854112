"""Run the command line.

Results go to standard output.  Notes, warnings and errors go to standard error, one line each.  The
code that finds a wrong argument raises a UsageError, and the code that finds a wrong file raises an
InputError; this module prints these errors.  The exit status is 0 on success, 1 if a run is worse
than ``--fail-if-worse`` allows, and 2 for wrong use or bad input.  After a signal, the exit status
is 128 plus the signal's number.
"""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from ir_std._system.signals import end_on_signals, ignore_signals
from ir_std.cli.options import COMMANDS, read_arguments
from ir_std.cli.streams import ReaderGoneError, checked_output, fail, messages_shown, warn
from ir_std.errors import IrStdError, StandardizationWarning

SIGPIPE = 13
"""Number of the signal SIGPIPE, for which Python on Windows has no name."""
OVERVIEW = """\
ir_std computes raw and standardized scores for information retrieval runs.

  ir_std bm25.run dl19.qrels nDCG@10 AP         evaluate a run and recognize its collection
  ir_std runs/ dl19.qrels --sort nDCG@10        rank all runs in a folder
  ir_std dl19-passage/bm25base_p --place        evaluate a shipped system, without any file
  ir_std report bm25.run mono.run dl19.qrels --baseline bm25
                                                write a report in HTML
  ir_std factors                                list the shipped factor sets

commands:
  ir_std            compute raw and standardized scores of runs
  ir_std compare    compare systems over several collections
  ir_std report     write an HTML report about runs
  ir_std diff       show on which topics and documents two runs differ
  ir_std agree      compare two sets of judgments, such as human and LLM judgments
  ir_std correct    estimate scores from human labels of a few topics and LLM labels of all topics
  ir_std factors    list, show, check, exchange and use factor sets
  ir_std build      build a factor set from runs or scores
  ir_std merge      merge runs into one

Run ir_std COMMAND --help for details.  Every command also accepts --quiet (no notes) and --version.
"""


def program() -> None:
    """Run the command line as a program, and end the program if a signal arrives."""
    end_on_signals()
    try:
        status = main()
    finally:
        ignore_signals()
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments of the command line; by default, the arguments of this process.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings(), checked_output():
            warnings.simplefilter("always", StandardizationWarning)
            warnings.showwarning = _show_warning
            return _run(arguments)
    except ReaderGoneError:  # Other programs end with this status after SIGPIPE.
        return 128 + SIGPIPE
    except IrStdError as wrong:
        return fail(str(wrong))
    except OSError as failed:  # No earlier check finds a full disk or too many open files.
        what = f"{failed.filename}: " if failed.filename else ""
        return fail(f"{what}{failed.strerror or failed}; check that it exists and is accessible")
    except MemoryError:
        return fail("memory ran out; use fewer jobs, or smaller files")
    except KeyboardInterrupt:  # Raised only if another program called this function.
        return fail("interrupted")


def _run(arguments: list[str]) -> int:
    if not arguments:
        print(OVERVIEW, end="")
        return 2
    name = arguments.pop(0) if arguments[0] in COMMANDS else COMMANDS[0]
    args = read_arguments(name, arguments)
    with messages_shown(args.quiet, getattr(args, "verbose", False)):
        status: int | None = import_module(f"ir_std.cli.{name}").run(args)
    return status or 0


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    warn(f"{message}")
