"""The folder of real input, which the scripts read."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def add_data_option(parser: ArgumentParser) -> None:
    """Declare ``--data``: by default the folder that IR_STD_DATA names, or ``../shared/data``."""
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with scores/, published/, runs/, qrels/ and others",
        default=os.environ.get("IR_STD_DATA") or ROOT.parent / "shared" / "data",
    )
