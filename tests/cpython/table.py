"""Writes the tables of `docs/python.md` from what `run.py --save` has kept.

    python -m tests.cpython.table DIRECTORY [--check]

The share is that of executed canonical instructions which ran symbolically (`counting.py`).  `--check` also fails where the
requirements are missed: every outcome the same, a share of 80 % overall and of 50 % in every module with a bound.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.cpython.modules import MODULES, NO_BOUND, WAYS

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
OVERALL, EACH = 0.8, 0.5


class Row(NamedTuple):
    """One module on one Python."""

    module: str
    tests: int
    same: bool
    ways: int
    symbolic: int
    executed: int

    @property
    def share(self) -> float | None:
        return self.symbolic / self.executed if self.executed else None

    def cells(self) -> tuple[str, str, str]:
        share = "-" if self.share is None else f"{self.share:.0%}"
        same = "yes" if self.same and self.ways == len(WAYS) else f"{self.ways} of {len(WAYS)}"
        return str(self.tests), same, share


def row_of(directory: Path, module: str) -> Row | None:
    """What is known of a module; None where it has not been run by its entries."""
    found: dict[str, dict[str, Any]] = {}
    for how in WAYS:
        place = directory / f"{module}-{how}.json"
        if place.exists():
            found[how] = json.loads(place.read_text())
    if "replay" not in found:
        return None
    same = [not told["different"] and not told["faults"] and not told["deaths"] for told in found.values()]
    replay = found["replay"]
    return Row(module, replay["tests"], all(same), sum(same), replay["symbolic"] or 0, replay["executed"] or 0)


def tables(directory: Path) -> tuple[str, list[str]]:
    """The table as Markdown, and what is missed."""
    versions = sorted(place.name for place in directory.iterdir() if place.is_dir())
    rows = {version: [row_of(directory / version, module) for module in MODULES] for version in versions}
    lines = ["| module |" + "".join(f" {version}: tests | same | share |" for version in versions)]
    lines.append("|---|" + "---:|---|---:|" * len(versions))
    for index, module in enumerate(MODULES):
        cells = [cell for version in versions for cell in (rows[version][index].cells() if rows[version][index] else ("", "", ""))]
        lines.append(f"| {module} | " + " | ".join(cells) + " |")
    missed: list[str] = []
    totals = []
    for version in versions:
        known = [row for row in rows[version] if row is not None]
        share = sum(row.symbolic for row in known) / max(1, sum(row.executed for row in known))
        totals += [str(sum(row.tests for row in known)), f"{sum(row.same for row in known)} of {len(MODULES)}", f"{share:.0%}"]
        missed += _missed(version, known, share)
    lines.append("| all | " + " | ".join(totals) + " |")
    return "\n".join(lines), missed


def _missed(version: str, rows: list[Row], share: float) -> list[str]:
    missed = [f"{version} {row.module}: not the same in every way" for row in rows if not row.same or row.ways != len(WAYS)]
    missed += [f"{version}: not run: {module}" for module in sorted({*MODULES} - {row.module for row in rows})]
    if share < OVERALL:
        missed.append(f"{version}: share {share:.1%} overall")
    for row in rows:
        if row.module not in NO_BOUND and row.share is not None and row.share < EACH:
            missed.append(f"{version} {row.module}: share {row.share:.1%}")
    return missed


def write(page: Path, table: str) -> None:
    """Put the table between its marks."""
    text = page.read_text()
    made = re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table}\n{END}", text, flags=re.DOTALL)
    page.write_text(made)


def main(directory: str, *options: str) -> int:
    table, missed = tables(Path(directory))
    write(PAGE, table)
    print(table, *missed, sep="\n")
    return 1 if missed and "--check" in options else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
