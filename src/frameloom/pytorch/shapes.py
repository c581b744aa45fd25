"""Symbolic sizes: which dimensions may vary, the numbers that stand for them, and the conditions the trace put on them.

A dimension is static until a decision says otherwise.  A decision is made where two calls differed in a size alone
(`decide`), by `dynamic=True`, or by a mark on the tensor; sizes 0 and 1 are never symbolic.  Torch's `ShapeEnv` answers
questions about symbolic sizes and notes every answer; the answers become one guard at the end of the trace.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, free_unbacked_symbols
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

from frameloom.codegen.written import written
from frameloom.compile.locations import chain_of
from frameloom.diagnostics.errors import SizeFixed, WrongOption
from frameloom.diagnostics.location import users_first
from frameloom.interpreter.expressions import Leaf, compiled, every, plain, text_of
from frameloom.pytorch.facts import SizeFact, TensorFact
from frameloom.pytorch.fakes import Fakes, fact_of
from frameloom.pytorch.size_expressions import Translator
from frameloom.pytorch.sizes import Size, lift_size
from frameloom.symbolic.guards import CHECKS, Check
from frameloom.symbolic.source import Missing

DYNAMIC_MARK = "_frameloom_dynamic"
STATIC_MARK = "_frameloom_static"
UNBACKED_MARK = "_frameloom_unbacked"
ADDRESS_MARK = "_frameloom_static_address"


class Mark(NamedTuple):
    """What a program says of a dimension: that it varies, from `least` to `most`; strict: it is an error if the program fixes it."""

    strict: bool
    least: int | None = None
    most: int | None = None

    def allows(self, size: int) -> bool:
        """Whether a size lies between the bounds."""
        return (self.least is None or self.least <= size) and (self.most is None or size <= self.most)


class Marked(NamedTuple):
    """A symbol that stands for a marked dimension of the tensor that a source reads."""

    mark: Mark
    source: Any
    dimension: int
    size: int
    number: Any


class SymbolOrigin(NamedTuple):
    """Where a symbol is read at entry, what it is in this call, and the size that it is."""

    source: Any
    value: int
    size: Size


class DynamicDimension(NamedTuple):
    """A decision: dimension `dimension` of the tensor that `path` names (the text of its source) may vary.

    For a whole number, `dimension` is None.
    """

    path: str
    dimension: int | None


class Likely(NamedTuple):
    """A decision: the dimension has not varied yet, but another size of the call's own inputs has, so that it may be taken as varying."""

    dimension: DynamicDimension


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

    def __hash__(self) -> int:  # of what the text is made of
        return hash(self.text)


class Shapes:
    """The symbolic sizes of one trace.  Answers of `environment` are never taken back; a stale one only adds a guard."""

    def __init__(self, scalars: bool = False, data_shapes: bool = False) -> None:
        self.environment = ShapeEnv(allow_scalar_outputs=scalars, allow_dynamic_output_shape_ops=data_shapes)
        self.fakes = Fakes(FakeTensorMode(shape_env=self.environment, allow_non_fake_inputs=True))
        self.bindings: list[Binding] = []
        self.limits: dict[Any, None] = {}
        self.asked: dict[int, Any] = {}
        self.marked: list[Marked] = []
        self.origins: dict[Any, SymbolOrigin] = {}
        self.likely: dict[tuple[int, int], Any] = {}
        self.computed: list[Computed] = []

    def mark(self, marked: Marked) -> None:
        """Take a marked dimension as bounded."""
        self.marked.append(marked)
        symbol = marked.number.node.expr
        if symbol.is_Symbol:
            given = ValueRanges(marked.mark.least or 0, int_oo if marked.mark.most is None else marked.mark.most)
            self.environment.var_to_range[symbol] &= given

    def comes_from(self, number: Any, value: int, source: Any) -> None:
        """Note where a symbolic number is read."""
        symbol = number.node._expr
        if symbol.is_Symbol:
            self.origins.setdefault(symbol, SymbolOrigin(source, value, Size(symbol, number)))

    def note_asked(self, where: Any) -> None:
        """The answers since the last time were asked for by the instruction `where`."""
        for number in range(len(self.asked), len(self.environment.guards)):
            self.asked[number] = where

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

    def unbacked_symbol(self) -> Any:
        """A size of which nothing is known but that it is one."""
        number = self.environment.create_unbacked_symint()
        self.environment.pending_fresh_unbacked_symbols.clear()
        self.environment._constrain_range_for_size(number.node._expr)
        return number

    def likely_symbol(self, value: int, dimension: int, text: str) -> Any:
        """A symbolic number for a size that has not varied yet.  Equal ones of the same dimension share a symbol, such as the batch of all
        inputs, but no others, and none with a size that did vary: a program that fixes the one would fix the other."""
        known = self.likely.get((value, dimension))
        if known is None:
            origin = Origin(text)
            symbol = self.environment.create_symbol(value, origin, DimDynamic.DYNAMIC)
            known = self.likely[value, dimension] = self.environment.create_symintnode(symbol, hint=value, source=origin)
        return known


class Computed(NamedTuple):
    """A number that only Python computes, of the numbers of some sources: the symbol that stands for it, how it is computed, and of what
    in this call."""

    symbol: Any
    expression: Any
    sources: tuple
    numbers: tuple


class Binding(NamedTuple):
    """A tensor (or number) whose sizes the conditions speak of: its source, the expressions that its sizes and strides must equal, as
    they were at entry, and what they are in this call."""

    source: Any
    sizes: tuple
    strides: tuple
    measured: tuple
    is_tensor: bool = True


def fact_of_input(state: Any, tensor: torch.Tensor, source: Any) -> TensorFact:
    """The fact of a real tensor, whose sizes may be symbolic."""
    known = fact_of(tensor)
    said = marks_of(state, tensor, source)
    dynamic = dynamic_dimensions(state, tensor, source, said)
    if not dynamic and not said.unbacked:
        return known
    shapes = shapes_of(state)
    likely = likely_dimensions(state, source, dynamic)
    numbers: list = list(tensor.shape)
    for dimension in sorted(dynamic):
        size, text = tensor.size(dimension), f"{source}.size({dimension})"
        numbers[dimension] = shapes.likely_symbol(size, dimension, text) if dimension in likely else shapes.symbol(size, text)
    for dimension in sorted(said.unbacked):
        numbers[dimension] = shapes.unbacked_symbol()
    for dimension in dynamic:
        shapes.comes_from(numbers[dimension], tensor.size(dimension), source.child("size", dimension))
    for dimension, mark in said.dynamic.items():
        if dimension in dynamic and mark.allows(tensor.size(dimension)):
            shapes.mark(Marked(mark, source, dimension, tensor.size(dimension), numbers[dimension]))
    strides = stride_expressions(tensor, numbers)
    shapes.bindings.append(Binding(source, _expressions(numbers), _expressions(strides), measured_of(tensor)))
    sizes = tuple(map(lift_size, numbers))
    return known.replace(sizes=sizes, strides=tuple(map(lift_size, strides)))


def _expressions(numbers: list) -> tuple:
    return tuple([n.node._expr if isinstance(n, torch.SymInt) else n for n in numbers])


def shapes_of(state: Any) -> Shapes:
    """The trace's symbolic sizes, made when the first is."""
    if state.shapes is None:
        state.shapes = Shapes(state.scalars, state.data_shapes)
    return state.shapes


class Said(NamedTuple):
    """What the program says of the dimensions of a tensor: those that vary, each with its mark, those that are fixed, and those whose
    number is not to be known."""

    dynamic: Mapping[int, Mark] = {}
    fixed: Container[int] = frozenset()
    unbacked: frozenset = frozenset()


NOTHING_SAID = Said()
MARKS = (DYNAMIC_MARK, STATIC_MARK, UNBACKED_MARK)


def marks_of(state: Any, tensor: torch.Tensor, source: Any) -> Said:
    """What the marks on a tensor and the declarations of the function's arguments say of its dimensions.  Raises WrongOption for a
    declaration of a dimension that the tensor does not have."""
    declared = state.session.declared
    marked = any(hasattr(tensor, name) for name in MARKS)
    if FIXED in state.session.decisions or not marked and declared is None:
        return NOTHING_SAID
    dynamic, fixed = dict(getattr(tensor, DYNAMIC_MARK, {})), set(getattr(tensor, STATIC_MARK, {}))
    if declared is not None:
        try:
            for dimension, said in declared.dimensions(source, tensor.dim()):
                if said is False:
                    fixed.add(dimension)
                else:
                    dynamic[dimension] = Mark(True, *(() if said is True else said))
        except IndexError as error:
            raise WrongOption(f"dynamic_shapes says something of dimension {error} of {source}, which has {tensor.dim()}") from None
    return Said(dynamic, fixed, frozenset(getattr(tensor, UNBACKED_MARK, {})) - fixed)


def dynamic_dimensions(state: Any, tensor: torch.Tensor, source: Any, said: Said) -> frozenset:
    """The dimensions of an input that may vary."""
    decisions = state.session.decisions
    everything = state.dynamic is True
    if FIXED in decisions:
        return frozenset()
    if not decisions and not everything and not said.dynamic:
        return frozenset()
    path = str(source)
    marked, fixed = said.dynamic, said.fixed
    parameter = isinstance(tensor, torch.nn.Parameter)
    return frozenset(
        i
        for i, size in enumerate(tensor.shape)
        if size > 1
        and i not in fixed
        and i not in said.unbacked
        and (
            i in marked and marked[i].allows(size)
            or everything and not parameter
            or DynamicDimension(path, i) in decisions
            or Likely(DynamicDimension(path, i)) in decisions
        )
    )


def likely_dimensions(state: Any, source: Any, dynamic: frozenset) -> frozenset:
    """Those of the varying dimensions of an input that have not varied yet."""
    decisions, path = state.session.decisions, str(source)
    return frozenset(
        i for i in dynamic if Likely(DynamicDimension(path, i)) in decisions and DynamicDimension(path, i) not in decisions
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
    shapes.bindings.append(Binding(source, (number.node._expr,), (), measured_of(value), False))
    shapes.comes_from(number, value, source)
    size = Size(number.node.expr, number)
    shapes.limit(size)
    return SizeFact(size)


def number_computed(state: Any, value: int, expression: Any, sources: tuple, numbers: tuple) -> SizeFact:
    """The symbolic number for a whole number that Python computes of the numbers of some sources before the graph runs."""
    shapes = shapes_of(state)
    number = shapes.number(value, f"computed{len(shapes.computed)}")
    shapes.computed.append(Computed(number.node.expr, expression, sources, numbers))
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


def likely(source: Any, wanted: Any, scope: Any) -> frozenset:
    """The sizes of an input that may vary where another input's did: all of what the call itself is given, none of what belongs to a module."""
    if source.root().step != "local" or issubclass(wanted.cls, torch.nn.Parameter):
        return frozenset()
    try:
        owners = [at.read(scope) for at in source.path()[:-1]]
    except Missing:
        return frozenset()
    if any(issubclass(type(owner), torch.nn.Module) for owner in owners):
        return frozenset()
    path = str(source)
    return frozenset(Likely(DynamicDimension(path, i)) for i in range(len(wanted.sizes)))


def kept(decision: Any) -> list | None:
    """A decision about sizes as it stands in a profile: the path, the dimension, and whether it has varied."""
    dimension = decision.dimension if type(decision) is Likely else decision
    if type(dimension) is not DynamicDimension or dimension.dimension is None:
        return None
    return [dimension.path, dimension.dimension, type(decision) is not Likely]


def restored(found: list) -> DynamicDimension | Likely:
    """The decision that `kept` gave these for.  Raises ValueError."""
    if [*map(type, found)] != [str, int, bool]:
        raise ValueError(f"no dimension: {found!r}")
    path, dimension, varied = found
    return DynamicDimension(path, dimension) if varied else Likely(DynamicDimension(path, dimension))


# -- the guard --------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where a number that conditions speak of is read: the index of its source among those of the guard, "size", "stride" or "number", the
    dimension, and what it was at capture."""

    source: int
    kind: str
    dimension: int
    hint: int | float

    def read(self, found: list) -> Any:
        """The number, of these (sizes, strides); raises LookupError where there is none, or one of another class."""
        number = found[self.source][self.kind == "stride"][self.dimension]
        if type(number) is not type(self.hint):
            raise LookupError(type(number))
        return number

    def tell(self, names: Sequence[str]) -> str:
        """As the program would write it."""
        name = names[self.source]
        return {"size": f"{name}.shape[{self.dimension}]", "stride": f"{name}.stride({self.dimension})", "number": name}[self.kind]


class Condition(NamedTuple):
    """A condition: an expression over places, and the user's instruction that asked for it, or None.

    shown: whether people are told of it; that a number is one that torch takes at all goes without saying.
    """

    expression: Any
    where: Any = None
    shown: bool = True

    def places(self, among: Sequence[Place]) -> list[Place]:
        """The places that it speaks of."""
        return list(dict.fromkeys(among[leaf.index] for leaf in _leaves(self.expression)))


def _leaves(expression: Any) -> Iterator[Leaf]:
    if type(expression) is Leaf:
        yield expression
    elif type(expression) is tuple:
        for operand in expression[1:]:
            yield from _leaves(operand)


class SizesPayload(NamedTuple):
    """The conditions on the sizes of one trace.

    others: the other sources they speak of.  places: where the numbers are read, by the index that leaves of the conditions have.
    """

    others: tuple
    places: tuple[Place, ...]
    conditions: tuple[Condition, ...]

    def holds(self, found: list) -> bool:
        """Whether all conditions hold of these (sizes, strides)."""
        return self.failing(found) is None

    def failing(self, found: list) -> Condition | None:
        """The first condition that does not hold of these (sizes, strides)."""
        try:
            numbers = [place.read(found) for place in self.places]
        except LookupError:
            return Condition(plain(False))
        return next((condition for condition in self.conditions if not _is_true(condition.expression, numbers)), None)

    def tell(self, names: Sequence[str], condition: Condition) -> str:
        """A condition as the program would write it."""
        return text_of(condition.expression, [place.tell(names) for place in self.places])


def _is_true(expression: Any, numbers: list) -> bool:
    try:
        return bool(compiled(expression)(*numbers))
    except (ArithmeticError, ValueError):
        return False


def add_guard(session: Any, state: Any) -> None:
    """Turn the conditions on symbolic sizes into a guard.  Called once, when the trace is over."""
    shapes = state.shapes
    if shapes is None or not shapes.bindings and not shapes.computed:
        return
    for marked in shapes.marked:
        if marked.mark.strict and shapes.environment.replace(marked.number.node.expr).is_number:
            raise fixed_by_program(shapes, marked)
    places = Places()
    checks = [*places.bind(shapes.bindings)]
    places.compute(shapes.computed)
    conditions = tuple(dict.fromkeys([*checks, *_conditions(shapes, places.translate)]))
    first, *others = places.sources
    session.guard("SIZES", first, SizesPayload(tuple(others), tuple(places.read), conditions))


class Places:
    """Where the symbols of a trace are read."""

    def __init__(self) -> None:
        self.sources: dict[Any, int] = {}
        self.read: list[Place] = []
        self.known: dict[tuple, Leaf] = {}
        self.symbols: dict[Any, Any] = {}
        self.translate = Translator(self.symbols.__getitem__)

    def place(self, source: Any, kind: str, dimension: int, hint: int | float) -> Leaf:
        """The leaf of a place, a new one where it is not known yet."""
        leaf = self.known.get((source, kind, dimension))
        if leaf is None:
            leaf = self.known[source, kind, dimension] = Leaf(len(self.read))
            self.read.append(Place(self.sources.setdefault(source, len(self.sources)), kind, dimension, hint))
        return leaf

    def bind(self, bindings: list[Binding]) -> list[Condition]:
        """Read each symbol where it is met first; what all other places must be.  Symbols first: expressions are of those."""
        others: list[tuple[Leaf, Any]] = []
        for binding in bindings:
            of_tensor = binding.is_tensor
            kinds = ("size" if of_tensor else "number", binding.sizes), ("stride", binding.strides)
            for kind, expressions in kinds:
                for dimension, expression in enumerate(expressions):
                    if hasattr(expression, "free_symbols"):
                        leaf = self.place(binding.source, kind, dimension, binding.measured[kind == "stride"][dimension])
                        if not expression.is_Symbol or self.symbols.setdefault(expression, leaf) is not leaf:
                            others.append((leaf, expression))
        return [Condition((operator.eq, leaf, self.translate(expression))) for leaf, expression in others]

    def compute(self, computed: list[Computed]) -> None:
        """Symbols of what is computed of numbers: what it is computed of takes their place."""
        for each in computed:
            leaves = [self.place(source, "number", 0, number) for source, number in zip(each.sources, each.numbers)]
            self.symbols[each.symbol] = _moved(each.expression, leaves)


def _moved(expression: Any, leaves: list[Leaf]) -> Any:
    if type(expression) is Leaf:
        return leaves[expression.index]
    if type(expression) is tuple:
        return (expression[0], *[_moved(operand, leaves) for operand in expression[1:]])
    return expression


def fixed_by_program(shapes: Shapes, marked: Marked) -> SizeFixed:
    """The error where the program asks what the size of a marked dimension is, with the place where it does."""
    (symbol,) = marked.number.node._expr.free_symbols
    asking = [number for number, noted in enumerate(shapes.environment.guards) if symbol in noted.expr.free_symbols]
    where = next((shapes.asked[number] for number in reversed(asking) if shapes.asked.get(number) is not None), None)
    size = f"{written(marked.source, where)}.shape[{marked.dimension}]"
    return SizeFixed(size, marked.size, users_first(chain_of(where))[1])


def _conditions(shapes: Shapes, translate: Callable[[Any], Any]) -> Iterator[Condition]:
    """Every condition over the symbols."""
    environment = shapes.environment
    seen = set()
    for number, noted in enumerate(environment.guards):
        if free_unbacked_symbols(noted.expr):
            continue
        asked = translate(noted.expr)
        if asked not in seen:
            seen.add(asked)
            yield Condition(asked, shapes.asked.get(number))
    for symbol, known in environment.replacements.items():
        if free_unbacked_symbols(symbol) or free_unbacked_symbols(known):
            continue
        yield Condition((operator.eq, translate(symbol), translate(known)))
    for symbol, bounds in environment.var_to_range.items():
        if free_unbacked_symbols(symbol):
            continue
        if bounds.lower.is_Integer:
            yield Condition((operator.ge, translate(symbol), plain(int(bounds.lower))))
        if bounds.upper.is_Integer:
            yield Condition((operator.le, translate(symbol), plain(int(bounds.upper))))
    for expression in shapes.limits:
        limited = translate(expression)
        taken = (every, (operator.ge, limited, plain(-(2**63))), (operator.lt, limited, plain(2**63)))
        yield Condition(taken, shown=False)


def sizes_hold(first: Any, payload: SizesPayload, scope: Any) -> bool:
    """Whether the sizes of a call meet the conditions."""
    try:
        found = [first, *[source.read(scope) for source in payload.others]]
    except Missing:
        return False
    measured = list(map(measured_of, found))
    return None not in measured and payload.holds(measured)


def measured_of(value: Any) -> tuple | None:
    """The sizes and strides of a tensor, or a number as if it were a size."""
    if isinstance(value, torch.Tensor):
        return value.shape, value.stride()
    return ((value,), ()) if type(value) in (int, float) else None


def sizes_text(source: str, payload: SizesPayload, *others: str) -> str:
    """The conditions as a person reads them."""
    names = [source, *others]
    return " and ".join(dict.fromkeys(payload.tell(names, condition) for condition in payload.conditions if condition.shown)) or "sizes agree"


CHECKS["SIZES"] = Check(sizes_hold, sizes_text, several=True)
