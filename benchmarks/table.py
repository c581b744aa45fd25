"""The table of ratios, for a terminal and as Markdown."""
from __future__ import annotations

import math

from rich.console import Console
from rich.table import Table

from benchmarks.aims import aim
from benchmarks.row import Row

HEADINGS = ("what", "subject", "torch.compile, or static", "frameloom", "ratio", "aim", "note")
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def duration(seconds: float | None) -> str:
    """`seconds` with three digits in the unit that fits."""
    if seconds is None:
        return "-"
    scale, unit = next(((scale, unit) for scale, unit in UNITS if abs(seconds) >= scale), UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"


FLOOR = "floor"  # an engine of sorts: its figures stand in our column, against torch's second capture


def cells(row: Row) -> tuple[str, ...]:
    ratio = row.ratio()
    ours = row.median(FLOOR if FLOOR in row.figures else "frameloom")
    shown = f"{ratio:.3f}" if ratio is not None else "-"
    return row.group, row.name, duration(row.median(row.base)), duration(ours), shown, aim(row.group, row.name), row.note


def against_captures(rows: list[Row]) -> None:
    """Notes beside each figure of the floor what part of torch's second capture it is."""
    captures = {row.name: row.median("torch") for row in rows if row.group == "second capture"}
    for row in rows:
        floor, capture = row.median(FLOOR), captures.get(row.name)
        if floor and capture:
            row.note = f"{floor / capture:.3f} of torch's second capture"


def merged(rows: list[Row]) -> list[Row]:
    """One row for each group and subject, with the figures of several processes side by side."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        into = found.setdefault((row.group, row.name), Row(row.group, row.name))
        for engine, figures in row.figures.items():
            into.figures.setdefault(engine, []).extend(figures)
        into.note = "; ".join(dict.fromkeys(filter(None, (into.note, row.note))))
    return list(found.values())


def geometric_mean(group: str, rows: list[Row]) -> Row | None:
    """The geometric mean of the ratios of a group, as a row whose figures are ratios."""
    ratios = [ratio for row in rows if row.group == group and (ratio := row.ratio())]
    if not ratios:
        return None
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return Row(group, "geometric mean", {}, f"{mean:.3f} of {len(ratios)} models")


def lines(rows: list[Row]) -> list[tuple[str, ...]]:
    """The cells of every line, in order."""
    rows = merged(rows)
    against_captures(rows)
    means = [mean for group in ("first capture", "second capture") if (mean := geometric_mean(group, rows))]
    return [cells(row) for row in [*rows, *means]]


def print_table(rows: list[Row], console: Console) -> None:
    table = Table(title="frameloom against torch.compile, no-op backend (medians; ratio is frameloom over the other)")
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in {*HEADINGS[2:6]} else "left")
    for line in lines(rows):
        table.add_row(*line)
    console.print(table)


def markdown(rows: list[Row]) -> str:
    body = ["| " + " | ".join(line) + " |" for line in lines(rows)]
    return "\n".join(["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS), *body, ""])
