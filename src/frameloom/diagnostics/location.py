"""Where in the user's program something happened, and the excerpt with carets that shows it.

Columns arrive as CPython gives them (`code.co_positions()`): offsets in bytes of UTF-8, from zero.  They are shown as
characters, from one.  Carets stand below what the terminal shows: tabs are widened and wide characters take two cells.
"""
from __future__ import annotations

import linecache
import os
import re
import unicodedata
from typing import NamedTuple

STANDARD_LIBRARY = os.path.dirname(os.__file__).replace(os.sep, "/") + "/"
THIS_PACKAGE = __file__.replace(os.sep, "/").rpartition("/diagnostics/")[0] + "/"
DEFINES = re.compile(r"\s*(async\s+)?(def|class)\b")
TAB_WIDTH = 4
INDENT = 4
MOST_DECORATOR_LINES = 100
MOST_LINES = 6
MOST_PARENTS = 6


class Location(NamedTuple):
    """A span of source.  Any of the numbers may be None where CPython recorded none.

    filename: as in `co_filename`.  lineno, end_lineno: from one.  col, end_col: offsets in UTF-8 bytes, from zero, the end
    exclusive.  qualname: of the function.
    """

    filename: str
    lineno: int | None = None
    col: int | None = None
    end_lineno: int | None = None
    end_col: int | None = None
    qualname: str = ""

    def __str__(self) -> str:
        return f"{self.place} in {self.qualname}" if self.qualname else self.place

    @property
    def place(self) -> str:
        """`file:line`, the file as short as it can be while still being found."""
        return shorten(self.filename) if self.lineno is None else f"{shorten(self.filename)}:{self.lineno}"

    @property
    def of_library(self) -> bool:
        """Whether the file is Python's own, or of an installed package: not what the user is writing."""
        normal = self.filename.replace(os.sep, "/")
        return self.of_this_package or normal.startswith(("<frozen ", STANDARD_LIBRARY)) or _installed(normal) is not None

    @property
    def of_this_package(self) -> bool:
        """Whether the file belongs to frameloom: what stands in for a function of the library."""
        return self.filename.replace(os.sep, "/").startswith(THIS_PACKAGE)

    @property
    def text(self) -> str:
        """The source of the span as one line; empty where the source cannot be read."""
        parts = []
        for number in _line_numbers(self):
            line = linecache.getline(self.filename, number).rstrip("\r\n").encode("utf-8")
            start = self.col or 0 if number == self.lineno else 0
            end = self.end_col if number == self.end_lineno else None
            parts.append(line[start:end].decode("utf-8", errors="ignore").strip())
        return " ".join(parts)


def definition(filename: str, first: int, qualname: str) -> Location:
    """The place of a function whose code begins on line `first`, which is that of its first decorator if it has any."""
    decorated = linecache.getline(filename, first).lstrip().startswith("@")
    for number in range(first, first + MOST_DECORATOR_LINES if decorated else first + 1):
        text = linecache.getline(filename, number).rstrip()
        if DEFINES.match(text):
            start = len(text) - len(text.lstrip())
            return Location(filename, number, start, number, len(text.encode("utf-8")), qualname)
    return Location(filename, first, qualname=qualname)


def users_first(chain: tuple[Location, ...]) -> tuple[tuple[Location, ...], tuple[Location, ...]]:
    """The library code at the inner end of a chain of locations, and what remains: the user's own line and its callers.

    A chain of library code alone is given back as it is.
    """
    at = next((index for index, location in enumerate(chain) if not location.of_library), 0)
    return chain[:at], chain[at:]


def shorten(filename: str) -> str:
    """`filename` from the working directory where it lies below, from its package where it is installed."""
    normal = filename.replace(os.sep, "/")
    installed = _installed(normal)
    if installed is not None:
        return installed
    for below in (f"{os.getcwd().replace(os.sep, '/').rstrip('/')}/", STANDARD_LIBRARY):
        if normal.startswith(below):
            return normal[len(below):]
    return filename


def _installed(normal: str) -> str | None:
    """The path of a file from the directory where packages are installed, None where it lies in none."""
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in normal:
            return normal.rpartition(mark)[2]
    return None


def header(chain: tuple[Location, ...]) -> list[str]:
    """The lines that name the place and the callers it was inlined into.  `chain` has the innermost location first."""
    here, *parents = chain
    column = _column(here)
    place = here.place if column is None else f"{here.place}:{column}"
    first = f"  --> {place}" + (f"   in {here.qualname}" if here.qualname else "")
    callers = [f"inlined from {parent}" for parent in parents]
    if len(callers) <= 1:
        return [", ".join([first, *callers])]
    if len(callers) > MOST_PARENTS:
        near, far = callers[: MOST_PARENTS - 2], callers[-1:]
        callers = [*near, f"... {len(callers) - len(near) - len(far)} more callers ...", *far]
    return [first, *(f"      {caller}" for caller in callers)]


def excerpt(location: Location, label: str = "") -> list[str]:
    """The source lines of `location` with carets below the span and `label` behind the last of them.

    Gives no lines where the source cannot be read.  Long spans are cut in the middle; of a compound statement the first line is
    shown.
    """
    location = _without_body(location)
    numbers = _line_numbers(location)
    texts = {number: linecache.getline(location.filename, number).rstrip("\r\n") for number in numbers}
    if not any(text.strip() for text in texts.values()):
        return []
    margin = len(str(numbers[-1]))
    cut = min(_indent(text) for text in texts.values() if text.strip())
    rows = [f"{'':{margin}} |"]
    for number in _shown(numbers):
        if number is None:
            rows.append(f"{'':{margin}} | {'':{INDENT}}...")
            continue
        text = texts[number]
        rows.append(f"{number:>{margin}} | {'':{INDENT}}{_widen(text)[cut:]}".rstrip())
        start, end = _cells(location, number, text)
        last = number == numbers[-1]
        if end > start:
            carets = f"{'':{INDENT + start - cut}}{'^' * (end - start)}" + (f" {label}" if label and last else "")
            rows.append(f"{'':{margin}} | {carets}")
    rows.append(f"{'':{margin}} |")
    return rows


def _without_body(location: Location) -> Location:
    """The first line alone, of a span that goes on into the body of a compound statement."""
    if location.lineno is None or location.end_lineno in (None, location.lineno):
        return location
    first = linecache.getline(location.filename, location.lineno).rstrip()
    if not first.partition("#")[0].rstrip().endswith(":"):
        return location
    return location._replace(end_lineno=location.lineno, end_col=len(first.encode("utf-8")))


def _line_numbers(location: Location) -> list[int]:
    if location.lineno is None:
        return []
    last = location.end_lineno if location.end_lineno is not None else location.lineno
    return list(range(location.lineno, max(last, location.lineno) + 1))


def _shown(numbers: list[int]) -> list[int | None]:
    """Line numbers to print, None where lines are left out."""
    if len(numbers) <= MOST_LINES:
        return list(numbers)
    return [*numbers[: MOST_LINES - 2], None, numbers[-1]]


def _cells(location: Location, number: int, text: str) -> tuple[int, int]:
    """First and last terminal cell (exclusive) of the span within the line `number`."""
    start, end = _indent(text), _width(text.rstrip())
    if number == location.lineno and location.col is not None:
        start = _width(_prefix(text, location.col))
    if number == (location.end_lineno or location.lineno) and location.end_col is not None:
        end = _width(_prefix(text, location.end_col))
    return start, max(end, start + 1) if number == location.lineno else end


def _prefix(text: str, offset: int) -> str:
    """The part of `text` before the byte `offset` of its UTF-8 form."""
    return text.encode("utf-8")[:offset].decode("utf-8", errors="ignore")


def _column(location: Location) -> int | None:
    if location.lineno is None or location.col is None:
        return None
    text = linecache.getline(location.filename, location.lineno)
    return (len(_prefix(text, location.col)) if text else location.col) + 1


def _widen(text: str) -> str:
    """`text` with every tab replaced by the blanks that a terminal would leave."""
    if "\t" not in text:
        return text
    widened = ""
    for character in text:
        widened += " " * (_width(widened + "\t") - _width(widened)) if character == "\t" else character
    return widened


def _indent(text: str) -> int:
    widened = _widen(text)
    return len(widened) - len(widened.lstrip())


def _width(text: str) -> int:
    """Terminal cells that `text` takes from the start of a line."""
    cells = 0
    for character in text:
        if character == "\t":
            cells += TAB_WIDTH - cells % TAB_WIDTH
        elif unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
            continue
        else:
            cells += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return cells
