"""Change the screen of a page in a browser, and wait until the page has changed."""

from typing import Any


def wait_until_drawn(page: Any) -> None:
    """Wait for two frames; in the first, the page handles the events of a new size or medium."""
    page.evaluate("new Promise(end => requestAnimationFrame(() => requestAnimationFrame(end)))")


def resize(page: Any, width: int, height: int = 800) -> None:
    """Change the size of a page, and wait until the page is drawn in this size."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("width => innerWidth === width", arg=width)
    wait_until_drawn(page)


def width_of(page: Any) -> int:
    """Return the width of a page's content, which exceeds the screen if the page scrolls."""
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width
