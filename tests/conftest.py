"""Shared fixtures: the data folder, real runs, and small simulated qrels."""

import gc
import inspect
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import settings

from ir_std.cli import main
from ir_std.factors.collection import Agreement, Collection
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import judgment_arrays, judgments_of
from ir_std.testing import simulated_qrels
from ir_std.trec.inputs import as_qrels

# Tests start hundreds of processes, which compile the package only once, whatever the shell says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Whoever runs the tests may have factor sets of their own, which no test may see or collect.
NO_SETS = tempfile.TemporaryDirectory()
os.environ.pop("IR_STD_FACTORS", None)
os.environ["XDG_DATA_HOME"] = NO_SETS.name

# A slow machine must not fail a test.  .ci/run uses the thorough profile.
settings.register_profile("ir_std", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None)
settings.load_profile("ir_std")

CHROMIUM_FLAGS = ["--no-sandbox", "--no-first-run"]
CHROMIUM_FLAGS += [
    f"--disable-{part}"
    for part in ("gpu", "quic", "background-networking", "component-update", "sync")
]

ROOT = Path(__file__).resolve().parent.parent


OF_UNIX = ("bash", "mkfifo", "chmod", "symlink_to", "os.fork", "SIGINT", "SIGTERM", "printed(")
"""Words in a test's source that show that it needs Unix."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """On Windows, skip the tests that need a shell, pipes, modes, links or signals of Unix."""
    if os.name != "nt":
        return
    for item in items:
        source = inspect.getsource(item.function) if isinstance(item, pytest.Function) else ""
        needed = [word for word in OF_UNIX if word in source]
        if needed:
            item.add_marker(pytest.mark.skip(reason=f"Windows has no {needed[0].strip('(')}"))


def pytest_collection_finish() -> None:
    """Freeze existing objects, because statsmodels collects garbage at every correction."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real input: ``../shared/data`` or ``IR_STD_DATA``."""
    usual = ROOT.parent / "shared" / "data"
    folder = Path(os.environ.get("IR_STD_DATA") or usual)
    if not folder.is_dir():
        missing = f"no real input at {folder}; set IR_STD_DATA to its folder"
        # If the folder exists, no test may be skipped because a file is missing.
        if os.environ.get("CI") == "true" and usual.is_dir():
            pytest.fail(missing)
        pytest.skip(missing)
    return folder


@pytest.fixture(scope="session")
def folder_made_once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Callable[[Path], object]], Path]:
    """Return a function that makes a named folder once, in one of the test processes."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def folder(name: str, fill: Callable[[Path], object]) -> Path:
        with FileLock(shared / f"{name}.lock"):
            if not (shared / name).exists():
                filled = Path(tempfile.mkdtemp(dir=shared))
                fill(filled)
                filled.rename(shared / name)
        return shared / name

    return folder


@pytest.fixture(scope="session")
def runs_of(
    data: Path, folder_made_once: Callable[[str, Callable[[Path], object]], Path]
) -> Callable[[str], Path]:
    """Return a function that unpacks the real runs of a set and returns their folder."""

    def folder(name: str) -> Path:
        def unpack(place: Path) -> None:
            with tarfile.open(data / "runs" / f"{name}.tar.xz") as archive:
                archive.extractall(place, filter="data")

        return folder_made_once(f"runs-{name}", unpack) / name

    return folder


@pytest.fixture(scope="session", autouse=True)
def simulated_judgments() -> Iterator[None]:
    """Compare simulated qrels with shipped sets as if these were built on simulated qrels."""
    compare = Agreement.__init__
    known: dict[int, tuple[Any, Any]] = {}

    def of_simulated(factors: FactorSet) -> Any:
        if id(factors) not in known:
            counts = {t: j.levels or j.n_rel for t, j in factors.judgments.items()}
            simulated = judgments_of(as_qrels(simulated_qrels(counts)))
            twin = SimpleNamespace(rows=factors.rows, info=factors.info)
            arrays = judgment_arrays([simulated[t] for t in factors.topics])
            twin.levels, twin.counts, twin.prints = arrays
            known[id(factors)] = factors, twin
        return known[id(factors)][1]

    def compare_simulated(
        self: Agreement, factors: Any, collection: Collection, topics: Any
    ) -> None:
        if collection.qrels and next(iter(collection.doc_ids), "").startswith("sim"):
            factors = of_simulated(factors)
        compare(self, factors, collection, topics)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Agreement, "__init__", compare_simulated)
        yield


@pytest.fixture
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test in a folder in which no file has the name of a system or measure."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ir_std_cli(capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs the command line: exit status, output lines, error lines."""

    def run(*arguments: object) -> SimpleNamespace:
        status: Any
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as stop:
            status = stop.code
        out, err = capsys.readouterr()
        return SimpleNamespace(status=status, out=out.splitlines(), err=err.splitlines())

    return run


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start a browser without a window for a module; while it runs, asyncio has a loop."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("IR_STD_CHROMIUM") or shutil.which("chromium")
    if not path:
        pytest.skip("no chromium found; install it or name it in IR_STD_CHROMIUM")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield started
        started.close()
