"""The domain of toy arrays."""

from __future__ import annotations

import types
from typing import Any, NamedTuple

from frameloom.interpreter.registry import rule
from frameloom.symbolic.domain import NOT_HANDLED, Domain, GraphCall
from frameloom.symbolic.layouts.exception import ExceptionBody
from frameloom.symbolic.layouts.method import MethodBody
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, INPUT, NONE, Const, Node, Obj, Value

from . import array as toy
from .array import OPS, Array, Op


class ToyFact(NamedTuple):
    """Size, storage group and the mark of the mode."""

    size: int
    storage: int
    tracked: bool


def has_fact(real: Any, expected: tuple) -> bool:
    """The guard on an input array."""
    found = getattr(real, "__dict__", {})
    return type(real) is Array and found.get("size") == expected[0] and found.get("tracked") is expected[1]


class ToyDomain(Domain):
    """Captures operations on `Array`.  `breaks_at`, given, breaks before every n-th operation."""

    name = "toy"

    def __init__(self, breaks_at: int | None = None) -> None:
        self.breaks_at = breaks_at
        self.graphs: list[str] = []
        self.operations = 0

    def claims(self, cls: type) -> bool:
        return cls is Array

    def constant(self, cls: type) -> bool:
        return cls is Op

    def records(self, function: Any) -> bool:
        return isinstance(function, Op)

    def begin(self, session: Any) -> None:
        session.toy_mode = toy.Mode.tracking
        session.toy_storages = {}
        session.guard("CALL", session.sources.const(toy.Mode), (mode_is, session.toy_mode, f"tracking is {session.toy_mode}"))

    def input(self, session: Any, real: Any) -> Any:
        found = real.object
        if "hooks" not in vars(found):
            return NOT_HANDLED  # it is being made
        session.guard("CALL", real.source, (has_fact, (found.size, found.tracked), f"{{}} has size {found.size}"))
        known = session.toy_storages
        if id(found.storage) not in known:
            session.journal.set_item(known, id(found.storage), len(known))
        fact = ToyFact(found.size, known[id(found.storage)], found.tracked)
        return session.record(INPUT, (), {}, Array, fact, real=real)

    def apply(self, session: Any, op: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        for arg in args:
            if not isinstance(arg, (Const, Node)) and not _slice(arg):
                raise GraphBreak("FL101", f"toy.{op.name} of a {arg.cls.__name__}")
        self.operations += 1
        if self.breaks_at and self.operations % self.breaks_at == 0:
            raise GraphBreak("FL401", "the test's domain breaks here")
        if op.name in ("value", "hook"):
            raise GraphBreak("FL202", f"toy.{op.name}")
        if op.name == "root":
            raise GraphBreak("FL202", "an operation that can fail by value")
        if op.name == "as_is":
            return args[0]
        fact = self._fact(session, op, args)
        if op.inplace:
            session.record(op, tuple(args), kwargs, type(None), None)
            return NONE if op.name == "store" else args[0]
        return session.record(op, tuple(args), kwargs, Array, fact)

    def _fact(self, session: Any, op: Op, args: list[Value]) -> ToyFact:
        """Run the operation on stand-ins of the right sizes; what it raises, the user's program raises."""
        stand_ins = [_stand_in(arg) for arg in args]
        before, drawn = toy.Mode.tracking, toy.GENERATOR.getstate()
        toy.Mode.tracking = session.toy_mode
        try:
            made = op.run(*stand_ins)
        except Exception as error:  # noqa: BLE001  whatever the operation raises for these sizes is what eager raises
            raise _raised(session, error) from None
        finally:
            toy.Mode.tracking = before
            toy.GENERATOR.setstate(drawn)
        if made is None:
            return ToyFact(0, 0, False)
        return ToyFact(made.size, 0, made.tracked)

    def attribute(self, session: Any, node: Node, name: str) -> Any:
        op = OPS.get(name)
        if op is not None:
            return session.alloc(types.MethodType, MethodBody(Const(op), node))
        if name == "size":
            return Const(node.fact.size)
        if name == "tracked":
            return Const(node.fact.tracked)
        if name in ("storage", "start", "hooks", "numbers", "__dict__"):
            raise GraphBreak("FL103", f"Array.{name}")
        if node.attributes is None and node.real is not None:
            raise GraphBreak("FL103", f"Array.{name}")
        raise session.machine.error(AttributeError, f"'Array' object has no attribute '{name}'")

    def set_attribute(self, session: Any, node: Node, name: str, value: Value) -> Any:
        raise GraphBreak("FL505", f"Array.{name}")

    def operator(self, session: Any, name: str, operands: list[Value]) -> Any:
        op = OPERATORS.get(name)
        if op is None:
            if name == "len":
                return Const(operands[0].fact.size)
            return NOT_HANDLED
        if any(not isinstance(o, Node) and not _number(o) and not _slice(o) for o in operands):
            raise GraphBreak("FL101", f"toy operator {name}")
        if name.startswith("+=") and not operands[0].cls is Array:
            op = OPS["add"]
        return self.apply(session, op, operands, {})

    def truth(self, session: Any, node: Node) -> Any:
        raise GraphBreak("FL201", "truth of an array")

    def finish(self, session: Any, outputs: list[Node]) -> Any:
        wanted = _needed(session, outputs)
        inputs = [node for node in session.nodes if node.tape == "graph" and node.target is INPUT and id(node) in wanted]
        steps = [node for node in session.nodes if node.tape == "graph" and node.target is not INPUT and id(node) in wanted]
        if not steps:
            return None
        hosts = [n for n in session.nodes if n.tape == "host" and any(n in step.args for step in steps)]
        text = "; ".join(f"%{n.number} = {n.target!r}{tuple(n.args)}" for n in steps)
        self.graphs.append(text)
        program = ToyGraph([*inputs, *hosts], steps, outputs)
        return GraphCall(program, [*inputs, *hosts], outputs, lambda: text, len(steps))


OPERATORS = {
    "+": OPS["add"],
    "-": OPS["sub"],
    "*": OPS["mul"],
    "<": OPS["less"],
    "unary -": OPS["neg"],
    "+=": OPS["add_"],
    "*=": OPS["mul_"],
    "[]": OPS["index"],
    "[]=": OPS["store"],
}


def mode_is(_: Any, expected: bool) -> bool:
    """The guard on the mode."""
    return toy.Mode.tracking is expected


def _number(value: Value) -> bool:
    return type(value) is Const and type(value.value) in (int, float, bool)


def _slice(value: Value) -> bool:
    return type(value) is Const and type(value.value) is slice


def _stand_in(value: Value) -> Any:
    if type(value) is Node:
        if value.cls is not Array:
            return 1
        made = Array([1.0] * value.fact.size)
        made.tracked = value.fact.tracked
        return made
    return value.value


def _raised(session: Any, error: Exception) -> SymbolicRaise:
    m = session.machine
    made = session.alloc(type(error), ExceptionBody(m.tuple([m.lift(arg) for arg in error.args])))
    return m.raising(made)


def _needed(session: Any, outputs: list[Node]) -> set[int]:
    """Nodes to keep: outputs, everything in place or random, and what those read."""
    wanted = {id(node) for node in outputs}
    for node in reversed(session.nodes):
        target = node.target
        if id(node) in wanted or isinstance(target, Op) and (target.inplace or target.name == "noise"):
            wanted.add(id(node))
            wanted.update(id(arg) for arg in node.args if isinstance(arg, Node))
    return wanted


class ToyGraph:
    """Runs the recorded operations in order."""

    def __init__(self, inputs: list[Node], steps: list[Node], outputs: list[Node]) -> None:
        numbers = {id(node): i for i, node in enumerate([*inputs, *steps])}
        self.steps = [
            (step.target, [(True, numbers[id(a)]) if isinstance(a, Node) else (False, a.value) for a in step.args])
            for step in steps
        ]
        self.outputs = [numbers[id(node)] for node in outputs]

    def __call__(self, *values: Any) -> tuple:
        known = list(values)
        for op, args in self.steps:
            known.append(op(*(known[a] if is_node else a for is_node, a in args)))
        return tuple(known[i] for i in self.outputs)


@rule(toy.set_tracking)
def set_tracking(m: Any, value: Value) -> Value:
    """The mode is switched in the graph's order, as an operation."""
    wanted = m.need_constant(value, "FL201", "the mode")
    m.session.record(SET_MODE, (Const(bool(wanted)),), {}, type(None), None)
    m.journal.set_field(m.session, "toy_mode", bool(wanted))
    return NONE


@rule(toy.is_tracking)
def is_tracking(m: Any) -> Value:
    return Const(m.session.toy_mode)


SET_MODE = Op("set_mode", toy.set_tracking, inplace=True)

__all__ = ["ABSENT", "Obj", "ToyDomain"]
