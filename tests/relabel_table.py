"""Print how many cases of altered judgments were right, said, refused or wrong.

python tests/relabel_table.py 100 9100

tries 100 cases of each kind, from seed 9100, on judgments in the data folder (``IR_STD_DATA``).
A case is right if all values are those on the judgments as they were, said if some have none and a
message says why, refused if none has one, and wrong if one is another.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "factors"))

from relabel import KINDS, outcome, relabel
from test_relabelings import NAMES, OTHERS, collection, served, truth

OUTCOMES = ("tried", "right", "said", "refused", "wrong")


def case(kind: str, seed: int, folder: Path) -> str:
    """Alter a file's judgments by a seed, and return what became of the values."""
    names = NAMES.split()
    name = names[seed % len(names)]
    file = folder / f"{name}.txt"
    other = folder / f"{next(o for o in OTHERS if o != name)}.txt"
    made = relabel(kind, *collection(file), collection(other), np.random.default_rng(seed))
    counts = outcome(made, served(file), truth(file, other))
    if counts["wrong"]:
        return "wrong"
    if not counts["said"]:
        return "right"
    return "said" if counts["right"] else "refused"


def main(n: int, first: int, folder: Path) -> int:
    """Print the table; return 1 if a case is wrong."""
    total: Counter[str] = Counter()
    print(f"{'seeds ' + str(first) + '-' + str(first + n - 1):18}", *map("{:>8}".format, OUTCOMES))
    for kind in KINDS:
        counts: Counter[str] = Counter(tried=n)
        for seed in range(first, first + n):
            counts[found := case(kind, seed, folder)] += 1
            if found == "wrong":
                print(f"wrong: {kind}, seed {seed}", file=sys.stderr)
        total += counts
        print(f"{kind:18}", *(f"{counts[word]:8}" for word in OUTCOMES), flush=True)
    print(f"{'all':18}", *(f"{total[word]:8}" for word in OUTCOMES))
    return int(total["wrong"] > 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    data = os.environ.get("IR_STD_DATA") or Path(__file__).parents[2] / "shared" / "data"
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), Path(data) / "qrels"))
