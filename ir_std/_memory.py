"""The memory of processes that evaluate runs."""

from functools import cache


@cache
def keep_freed_memory() -> None:
    """Keep what is freed, for what is read next; said once, it holds for the process.

    C's malloc, as Linux has it, gives freed memory back to the system, and asks for it again,
    page by page, with the next run: a third of the time of reading.  It keeps up to twice as
    much as the largest piece that it has seen freed, which costs nothing if it was never used.
    """
    bytes(31 << 20)
