"""The notebook's outputs are those of today."""

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def outputs(notebook: Any) -> list[list[str]]:
    """Return what each cell prints and shows; a picture only counts as one."""
    return [
        [
            "".join(o.get("text", o.get("data", {}).get("text/plain", o.get("evalue"))))
            for o in cell.outputs
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
def test_the_tour_shows_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(ROOT / "docs" / "start" / "tour.ipynb", as_version=4)
    shown = outputs(notebook)
    assert len(shown) >= 8
    assert all(shown)
    assert outputs(nbclient.NotebookClient(notebook, timeout=300).execute()) == shown
