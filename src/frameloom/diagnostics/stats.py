"""The counters that `frameloom.stats()` gives."""
from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator

from frameloom.diagnostics.breaks import BREAKS


@dataclasses.dataclass(slots=True)
class Stats:
    """What the compiler has done since the start of the process or the last `reset()`.

    frames: captures begun.  entries: captures that gave an entry.  graphs, ops: graphs given to a backend, and their
    operations.  breaks: graph breaks by code.  recompiles: captures made because a guard failed, by what it guarded.
    eager: eager runs by code.  user_exceptions: traces that ended because the program raises.  restarts: captures begun
    anew because of a question about shapes.  capture_seconds: time spent, backends included.
    """

    frames: int = 0
    entries: int = 0
    graphs: int = 0
    ops: int = 0
    breaks: Counter[str] = dataclasses.field(default_factory=Counter)
    recompiles: Counter[str] = dataclasses.field(default_factory=Counter)
    eager: Counter[str] = dataclasses.field(default_factory=Counter)
    user_exceptions: int = 0
    restarts: int = 0
    capture_seconds: float = 0.0

    def copy(self) -> Stats:
        """A copy that later events do not change."""
        return dataclasses.replace(self, breaks=self.breaks.copy(), recompiles=self.recompiles.copy(),
                                   eager=self.eager.copy())

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"frames captured   {self.frames} ({self.entries} entries, {self.capture_seconds:.2f} s)"
        yield f"graphs            {self.graphs} ({self.ops} operations)"
        yield from _section("graph breaks", self.breaks, _titled)
        yield from _section("recompiles", self.recompiles, str)
        yield from _section("eager runs", self.eager, _titled)
        yield f"user exceptions   {self.user_exceptions}"
        yield f"restarts          {self.restarts}"


def _titled(code: str) -> str:
    return f"{code} {BREAKS[code].title}" if code in BREAKS else code


def _section(title: str, counts: Counter[str], name) -> Iterator[str]:
    yield f"{title:<17} {counts.total()}"
    for key, count in counts.most_common():
        yield f"  {count:>6}  {name(key)}"
