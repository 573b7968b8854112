"""What goes wrong with archives, whose modules are imported only where there is one."""

import lzma
import zlib
from zipfile import BadZipFile

DAMAGED = (BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError, RuntimeError)
"""What the standard library raises on archives that are truncated, damaged or encrypted."""
