"""Functions called compiled, without any domain of operations: what remains is the language."""
from __future__ import annotations

import types
from typing import Any

from frameloom import config
from frameloom.compile.hook import Compiler, Settings
from frameloom.compile.pipeline import Capture
from frameloom.native import Callable
from frameloom.symbolic.domain import Domain


class Compiled:
    """A function whose frames all get entries; every internal error is raised.

    `captures` lists what was captured, in order.
    """

    def __init__(self, function: types.FunctionType, domain: Domain | None = None, **settings: Any) -> None:
        self.captures: list[Capture] = []
        settings = {"replay": True, "on_capture": self.captures.append, **settings}
        self.compiler = Compiler(Settings(domain or Domain(), **settings))
        self.compiler.root(function.__code__)
        self.call = Callable(function, self.compiler.engine)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with config.patch(strict=True):
            return self.call(*args, **kwargs)

    @property
    def hits(self) -> int:
        """How many calls ran an entry that was there."""
        return self.compiler.engine.counters()["hits"]

    @property
    def plan(self) -> Any:
        return self.captures[-1].plan

    def guards(self) -> list[str]:
        """The guards of the last capture as text."""
        return [str(guard) for guard in self.captures[-1].guards.guards]


def outcome(call: Any, *args: Any) -> tuple:
    """The result of a call, or its exception."""
    try:
        return "returned", call(*args)
    except Exception as error:  # noqa: BLE001  it is what is compared
        return "raised", type(error), error.args
