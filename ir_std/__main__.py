"""Run the program for ``python -m ir_std``; the console script uses ``ir_std_program``."""

from ir_std.cli.main import program

if __name__ == "__main__":
    program()
