"""Run the program ``ir_std`` from its console script.

This module is outside the package because it must run before ``ir_std`` is imported.  Importing
``ir_std`` loads numpy, which starts threads, and takes so long that users may interrupt it.  A
program that imports ``ir_std`` itself keeps its own settings.
"""

import sys


def main() -> None:
    """Set up this process, and run the command line."""
    try:
        import os
        import signal
        import warnings

        # numpy's import would turn a KeyboardInterrupt into another error.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)
        # The matrices of ir_std are small, so starting one thread per processor would only cost
        # time.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if not sys.warnoptions:
            # Python warns about strings in cwl-eval 1.0.12 when it first compiles that package.
            warnings.simplefilter("ignore", SyntaxWarning)
        from ir_std.cli.main import program

        program()
    except KeyboardInterrupt:
        _end()


def _end(*_: object) -> None:
    import os
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C prints no second line
    os.write(2, b"ir_std: error: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
