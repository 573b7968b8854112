"""The notebook's outputs and the README's pictures are those of today."""

from pathlib import Path
from typing import Any

import pictures
import pytest
from matplotlib.testing.compare import compare_images

ROOT = Path(__file__).resolve().parents[2]


def outputs(notebook: Any) -> list[list[str]]:
    """Return the output of each cell; a picture is replaced by a placeholder."""
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


@pytest.fixture(scope="module")
def drawn(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    pictures.draw(data, folder)
    return folder


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["topics.png", "forest.png", "linking.png", "judges.png"])
def test_a_picture_shows_todays_numbers(drawn: Path, name: str) -> None:
    shipped = pictures.PICTURES / name
    assert compare_images(str(shipped), str(drawn / name), tol=0.5) is None
