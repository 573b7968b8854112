"""Reports that were written once, open in a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from views import N_RUNS, View, simulated, without_fault

from ir_std.reporting.html.report import write_report


@pytest.fixture(scope="session")
def results() -> Any:
    """Evaluate many runs and a baseline."""
    return simulated(N_RUNS, baseline="run0")


@pytest.fixture(scope="session")
def file(results: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report") / "report.html"
    write_report(results, place)
    return place


@pytest.fixture(scope="module")
def shared(browser: Any) -> Iterator[View]:
    view = View(browser, accept_downloads=True)
    yield view
    view.context.close()


@pytest.fixture
def view(shared: View, file: Path) -> Iterator[View]:
    with without_fault(shared, file) as view:
        yield view
