"""Pack the factor sets for an archive such as Zenodo.

``python archive_factors.py FOLDER [--since OLD.zip]`` writes ``ir_std-factors-VERSION.zip``, its
SHA-256, and ``.zenodo.json`` (the record's metadata) into the folder. The same sets give an archive
with the same bytes. With ``--since``, the script lists the numbers that differ from an earlier
archive, for ``factors/CHANGELOG.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from ir_std._system.files import write_all_atomically
from ir_std.errors import IrStdError
from ir_std.factors.catalog import check_set, data_version, shipped_folder
from ir_std.factors.factor_set import FactorSet

NAME = "ir_std-factors"


def archive(root: Path, version: str) -> bytes:
    """Pack all files of a folder into a zip file, and list the SHA-256 of each file.

    Files are stored without compression, because compressed bytes differ between versions of zlib,
    and the arrays are compressed already.
    """
    contents = {
        file.relative_to(root).as_posix(): file.read_bytes()
        for file in sorted(root.rglob("*"))
        if file.is_file() and not file.name.startswith(".")
    }
    sums = "".join(f"{sha256(content)}  {name}\n" for name, content in contents.items())
    with tempfile.TemporaryFile() as out:
        with ZipFile(out, "w", ZIP_STORED) as packed:
            for name, content in {**contents, "SHA256SUMS": sums.encode()}.items():
                member = ZipInfo(f"{NAME}-{version}/{name}")
                member.create_system, member.external_attr = 3, 0o644 << 16
                packed.writestr(member, content)
        out.seek(0)
        return out.read()


def sha256(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def metadata(root: Path, version: str) -> dict[str, object]:
    """Return the metadata that Zenodo needs for the record."""
    names = sorted(file.stem for file in root.glob("*.npz"))
    history = re.split(r"^## .*", (root / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    return {
        "title": f"Factor sets for standardized scores in information retrieval, {version}",
        "upload_type": "dataset",
        "version": version,
        "description": (
            f"<p>Means, standard deviations and sorted scores of past systems by topic, for "
            f"{len(names)} test collections: {', '.join(names)}.  These factors standardize "
            "raw scores (Webber, Moffat and Zobel, SIGIR 2008).  The set.json of each set names "
            "its sources, and LICENSES.md has the licences of the sources.</p>"
        ),
        "creators": [{"name": "The ir_std developers"}],
        "access_right": "open",
        "license": "other-at",
        "keywords": ["information retrieval", "evaluation", "score standardization", "TREC"],
        "related_identifiers": [
            {"identifier": "10.1145/1390334.1390346", "relation": "cites", "scheme": "doi"}
        ],
        "notes": f"Changes of numbers: {history[1].strip()}",
    }


def changes(old: Path, new: Path) -> Iterator[str]:
    """Yield the sets that were added or removed, and the changes to the other sets."""
    before, after = ({file.stem for file in root.glob("*.npz")} for root in (old, new))
    yield from (f"- `{name}` is gone." for name in sorted(before - after))
    yield from (f"- `{name}` is new." for name in sorted(after - before))
    for name in sorted(before & after):
        lines = list(
            _changed_measures(*(FactorSet.load(root / f"{name}.npz") for root in (old, new)))
        )
        yield from (f"- `{name}`: {line}" for line in lines)


def _changed_measures(old: FactorSet, new: FactorSet) -> Iterator[str]:
    topics = [topic for topic in old.topics if topic in new.judgments]
    if set(old.topics) != set(new.topics):
        yield f"The number of topics changed from {len(old.topics)} to {len(new.topics)}."
    for measure in dict.fromkeys([*old.measures, *new.measures]):
        if measure not in old.measures or measure not in new.measures:
            yield f"`{measure}` is {'new' if measure in new.measures else 'gone'}."
            continue
        before, after = (
            np.array([factors.mean[measure], factors.sd[measure]])[:, factors.rows(topics)]
            for factors in (old, new)
        )
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        if not same.all():
            n, largest = (~same).any(axis=0).sum(), np.nanmax(np.abs(after - before), initial=0)
            yield f"`{measure}` on {n} of {len(topics)} topics, by {largest:.2g} at most."


def main() -> None:
    """Check the sets, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--since", type=Path, metavar="OLD.zip")
    args = parser.parse_args()
    root, version = shipped_folder(), data_version()
    try:
        if args.since:
            with tempfile.TemporaryDirectory() as scratch, ZipFile(args.since) as packed:
                packed.extractall(scratch)
                (old,) = Path(scratch).iterdir()
                print(*changes(old, root), sep="\n")
        for file in sorted(root.glob("*.npz")):
            for problem in check_set(file):
                sys.exit(f"archive_factors: {problem}")
        content, file = archive(root, version), args.folder / f"{NAME}-{version}.zip"
        args.folder.mkdir(parents=True, exist_ok=True)
        described = json.dumps(metadata(root, version), indent=2, ensure_ascii=False) + "\n"
        write_all_atomically(
            {
                file: content,
                file.with_suffix(".zip.sha256"): f"{sha256(content)}  {file.name}\n".encode(),
                args.folder / ".zenodo.json": described.encode(),
            }
        )
    except IrStdError as wrong:
        sys.exit(f"archive_factors: {wrong}")
    print(f"{file}: {len(content):,} bytes, SHA-256 {sha256(content)}")


if __name__ == "__main__":
    main()
