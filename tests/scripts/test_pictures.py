"""The README's pictures are what their script draws."""

from pathlib import Path

import pictures
import pytest
from matplotlib.testing.compare import compare_images


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
