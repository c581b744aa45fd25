"""One line of the table, as benchmark processes print it and the table reads it."""
from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from benchmarks.timing import median_ratio

MARK = "ROW "
STATIC = "static"
"""an engine of sorts: frameloom's entries without symbolic sizes"""
BASES = ("torch", STATIC)
"""what frameloom is compared with: the first that has figures"""


@dataclass
class Row:
    """Figures of one subject by engine, in seconds, one a turn; `note` says what a reader must know."""

    group: str
    name: str
    figures: dict[str, list[float]] = field(default_factory=dict)
    note: str = ""

    def median(self, engine: str) -> float | None:
        figures = self.figures.get(engine)
        return statistics.median(figures) if figures else None

    @property
    def base(self) -> str:
        """What frameloom is compared with in this row."""
        return next((base for base in BASES if self.figures.get(base)), BASES[0])

    def ratio(self) -> float | None:
        """frameloom over what it is compared with; None where one of them has no figure."""
        if not (self.figures.get("frameloom") and self.figures.get(self.base)):
            return None
        return median_ratio(self.figures["frameloom"], self.figures[self.base])


def show(group: str, name: str, figures: Mapping[str, Sequence[float]], note: str = "") -> None:
    """Prints the row for the process that gathers the table."""
    row = Row(group, name, {engine: list(times) for engine, times in figures.items()}, note)
    print(MARK + json.dumps(asdict(row)), flush=True)


def rows_in(lines: Iterable[str]) -> list[Row]:
    """The rows among the printed lines."""
    return [Row(**json.loads(line.removeprefix(MARK))) for line in lines if line.startswith(MARK)]
