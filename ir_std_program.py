"""The program ``ir_std``: what its console script runs.

This module lies beside the package because it comes first: importing ``ir_std`` imports numpy,
which starts its threads then, and takes long enough to be interrupted.  A program that imports
``ir_std`` keeps its own settings.
"""

import sys


def main() -> None:
    """Set up this process, and run the command line in it."""
    try:
        import os
        import signal
        import warnings

        # An exception in numpy's import becomes an error of another kind.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)
        # The matrices here are small, and starting a thread for each processor takes numpy longer.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if not sys.warnoptions:
            # Python warns of strings in cwl-eval 1.0.12 when it compiles them for the first time.
            warnings.simplefilter("ignore", SyntaxWarning)
        from ir_std.cli.main import program

        program()
    except KeyboardInterrupt:
        _end()


def _end(*_: object) -> None:
    import os
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # pressed twice, it is said once
    os.write(2, b"ir_std: error: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
