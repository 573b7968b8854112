"""The documentation's site is built without a warning, and needs no network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("myst_nb", reason="myst-nb is not installed")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-n", "--keep-going", "docs", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_takes_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link)[^>]*(?:src|href)=\"(https?:[^\"]*)\"", page.read_text("utf-8")
        )
        assert loaded == [], page


@pytest.mark.slow
def test_every_public_name_has_its_place_in_the_reference(site: Path) -> None:
    import ir_std

    text = (site / "reference" / "api.html").read_text("utf-8")
    own = {
        name
        for name in ir_std.__all__
        if callable(thing := getattr(ir_std, name))
        and getattr(thing, "__module__", "").startswith("ir_std")
        and not isinstance(thing, ir_std.Measure)
    }
    described = set(re.findall(r'id="ir_std\.(?:errors\.)?(\w+)"', text))
    assert own - described == set()
