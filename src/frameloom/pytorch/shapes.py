"""Symbolic sizes: which dimensions may vary, the numbers that stand for them, and the conditions the trace put on them.

A dimension is static until a decision says otherwise.  A decision is made where two calls differed in a size alone
(`decide`), by `dynamic=True`, or by a mark on the tensor; sizes 0 and 1 are never symbolic.  Torch's `ShapeEnv` answers
questions about symbolic sizes and notes every answer; the answers become one guard at the end of the trace.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils._sympy.printers import PythonPrinter

from frameloom.pytorch.facts import SizeFact, TensorFact
from frameloom.pytorch.fakes import Fakes, fact_of
from frameloom.pytorch.sizes import Size, lift_size
from frameloom.symbolic.guards import CHECKS, Check
from frameloom.symbolic.source import Missing

DYNAMIC_MARK = "_frameloom_dynamic"
STATIC_MARK = "_frameloom_static"


class DynamicDimension(NamedTuple):
    """A decision: dimension `dimension` of the tensor that `path` names (the text of its source) may vary.

    For a whole number, `dimension` is None.
    """

    path: str
    dimension: int | None


class Fixed(NamedTuple):
    """The decision that all sizes are taken as they are."""

    why: str


FIXED = Fixed("sizes of inputs that share a storage which is written to")


class Origin(torch._guards.Source):
    """Where torch's shape environment is told a symbol comes from; only its name is ever used."""

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "text", text)

    @property
    def _name_template(self) -> str:
        return self.text.replace("{", "{{").replace("}", "}}")

    @property
    def guard_source(self) -> Any:
        return torch._guards.GuardSource.LOCAL

    def __eq__(self, other: object) -> bool:
        return type(other) is Origin and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


class Shapes:
    """The symbolic sizes of one trace.  Answers of `environment` are never taken back; a stale one only adds a guard."""

    def __init__(self) -> None:
        self.environment = ShapeEnv(allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False)
        self.fakes = Fakes(FakeTensorMode(shape_env=self.environment, allow_non_fake_inputs=True))
        self.bindings: list[Binding] = []
        self.limits: dict[Any, None] = {}

    def limit(self, size: Size) -> None:
        """Guard that a number is one that torch takes."""
        self.limits.setdefault(size.expression)

    def number(self, value: int, text: str) -> Any:
        """A symbolic number of this value that says nothing of others: 0, 1 and negative ones too."""
        origin = Origin(text)
        symbol = self.environment.create_unspecified_symbol(value, origin, DimDynamic.DYNAMIC)
        return self.environment.create_symintnode(symbol, hint=value, source=origin)

    def symbol(self, value: int, text: str) -> Any:
        """A symbolic number of this value; equal values share a symbol."""
        origin = Origin(text)
        symbol = self.environment.create_symbol(value, origin, DimDynamic.DUCK)
        return self.environment.create_symintnode(symbol, hint=value, source=origin)


class Binding(NamedTuple):
    """A tensor (or number) whose sizes the conditions speak of: its source, and the expressions that its sizes and strides
    must equal, as they were at entry."""

    source: Any
    sizes: tuple
    strides: tuple


def fact_of_input(state: Any, tensor: torch.Tensor, source: Any) -> tuple[TensorFact, frozenset]:
    """The fact of a real tensor and the set of its symbolic dimensions."""
    known = fact_of(tensor)
    dynamic = dynamic_dimensions(state, tensor, source)
    if not dynamic:
        return known, dynamic
    shapes = shapes_of(state)
    numbers = [
        shapes.symbol(size, f"{source}.size({i})") if i in dynamic else size for i, size in enumerate(tensor.shape)
    ]
    strides = stride_expressions(tensor, numbers)
    shapes.bindings.append(Binding(source, _expressions(numbers), _expressions(strides)))
    sizes = tuple(map(lift_size, numbers))
    return known.replace(sizes=sizes, strides=tuple(map(lift_size, strides))), dynamic


def _expressions(numbers: list) -> tuple:
    return tuple([n.node._expr if isinstance(n, torch.SymInt) else n for n in numbers])


def shapes_of(state: Any) -> Shapes:
    """The trace's symbolic sizes, made when the first is."""
    if state.shapes is None:
        state.shapes = Shapes()
    return state.shapes


def dynamic_dimensions(state: Any, tensor: torch.Tensor, source: Any) -> frozenset:
    """The dimensions of an input that may vary."""
    decisions = state.session.decisions
    everything = state.dynamic is True
    if FIXED in decisions:
        return frozenset()
    if not decisions and not everything and not hasattr(tensor, DYNAMIC_MARK):
        return frozenset()
    path = str(source)
    marked = getattr(tensor, DYNAMIC_MARK, frozenset())
    fixed = getattr(tensor, STATIC_MARK, frozenset())
    parameter = isinstance(tensor, torch.nn.Parameter)
    return frozenset(
        i
        for i, size in enumerate(tensor.shape)
        if size > 1
        and i not in fixed
        and (i in marked or everything and not parameter or DynamicDimension(path, i) in decisions)
    )


def stride_expressions(tensor: torch.Tensor, sizes: list) -> list:
    """Strides in terms of symbolic sizes: each the extent of the next smaller dimension where the numbers agree."""
    strides: list = list(tensor.stride())
    order = sorted(range(tensor.dim()), key=lambda i: (tensor.stride(i), -i))
    for inner, outer in zip(order, order[1:]):
        if tensor.stride(outer) == tensor.stride(inner) * tensor.size(inner):
            strides[outer] = strides[inner] * sizes[inner]
    return strides


def number_of_input(state: Any, value: int, source: Any) -> SizeFact:
    """The symbolic number for a promoted whole number."""
    shapes = shapes_of(state)
    number = shapes.number(value, str(source))
    shapes.bindings.append(Binding(source, (number.node._expr,), ()))
    size = Size(number.node.expr, number)
    shapes.limit(size)
    return SizeFact(size)


# -- decisions --------------------------------------------------------------------------------------------------------


def decide(source: Any, wanted: Any, found: Any) -> frozenset:
    """What to try at the next capture after an input did not have the sizes it had: the dimensions that differ, if nothing
    else about the tensor does."""
    if not isinstance(found, torch.Tensor) or type(found) is not wanted.cls or found.dim() != len(wanted.sizes):
        return frozenset()
    path = str(source)
    return frozenset(
        DynamicDimension(path, i)
        for i, (old, new) in enumerate(zip(wanted.sizes, found.shape))
        if old is not None and old != new and min(old, new) > 1
    )


# -- the guard --------------------------------------------------------------------------------------------------------


class SizesPayload(NamedTuple):
    """others: the other sources the conditions speak of; holds: a function of one (sizes, strides) a source; text."""

    others: tuple
    holds: Callable[[list], bool]
    text: str


def add_guard(session: Any, state: Any) -> None:
    """Turn the conditions on symbolic sizes into a guard.  Called once, when the trace is over."""
    shapes = state.shapes
    if shapes is None or not shapes.bindings:
        return
    conditions = list(_conditions(shapes))
    names: dict[Any, str] = {}
    for binding in shapes.bindings:
        for expression in (*binding.sizes, *binding.strides):
            for symbol in getattr(expression, "free_symbols", ()):
                names.setdefault(symbol, str(symbol))
    body = _program(shapes.bindings, conditions)
    scope: dict[str, Any] = {"math": math, "torch": torch}
    exec(compile(body, "<conditions on sizes>", "exec"), scope)  # noqa: S102  text made here, from expressions
    first, *others = [binding.source for binding in shapes.bindings]
    text = " and ".join(conditions) or "sizes agree"
    session.guard("SIZES", first, SizesPayload(tuple(others), scope["holds"], text))


def _conditions(shapes: Shapes) -> Iterator[str]:
    """Every condition as Python text over the symbols."""
    show = PythonPrinter().doprint
    environment = shapes.environment
    seen = set()
    for noted in environment.guards:
        text = show(noted.expr)
        if text not in seen:
            seen.add(text)
            yield text
    for symbol, known in environment.replacements.items():
        yield f"{show(symbol)} == {show(known)}"
    for symbol, bounds in environment.var_to_range.items():
        if bounds.lower.is_Integer:
            yield f"{show(symbol)} >= {int(bounds.lower)}"
        if bounds.upper.is_Integer:
            yield f"{show(symbol)} <= {int(bounds.upper)}"
    for expression in shapes.limits:
        yield f"{-(2**63)} <= {show(expression)} < {2**63}"


def _program(bindings: list[Binding], conditions: list[str]) -> str:
    """A function `holds(found)` that binds each symbol to the first size that is it, and checks everything else."""
    show = PythonPrinter().doprint
    lines, checks, bound = [], [], set()
    for number, binding in enumerate(bindings):
        lines.append(f"    sizes{number}, strides{number} = found[{number}]")
        checks.append(f"len(sizes{number}) == {len(binding.sizes)}")
        for kind, expressions in (("sizes", binding.sizes), ("strides", binding.strides)):
            for i, expression in enumerate(expressions):
                place = f"{kind}{number}[{i}]"
                if getattr(expression, "is_Symbol", False) and expression not in bound:
                    bound.add(expression)
                    lines.append(f"    {expression} = {place}")
                else:
                    checks.append(f"{place} == {show(expression) if hasattr(expression, 'free_symbols') else expression}")
    tests = " and ".join(f"({text})" for text in (*checks, *conditions)) or "True"
    return "\n".join(["def holds(found):", *lines, f"    return {tests}", ""])


def sizes_hold(first: Any, payload: SizesPayload, scope: Any) -> bool:
    """Whether the sizes of a call meet the conditions."""
    found = [first]
    for source in payload.others:
        try:
            found.append(source.read(scope))
        except Missing:
            return False
    measured = []
    for value in found:
        if isinstance(value, torch.Tensor):
            measured.append((value.shape, value.stride()))
        elif type(value) is int:
            measured.append(((value,), ()))
        else:
            return False
    try:
        return bool(payload.holds(measured))
    except (IndexError, ZeroDivisionError):
        return False


CHECKS["SIZES"] = Check(sizes_hold, lambda source, payload, *others: payload.text, several=True)
