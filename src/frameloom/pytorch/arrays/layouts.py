"""The storage of NumPy's objects: what is looked at in real ones, and how fresh ones are made.

An array's elements are a tensor of the graph (`ArrayBody.tensor`), and its dtype, shape and strides are known exactly.  A real
array is read where it lies; what the trace writes to it is written back behind the graph, as an effect.  A view is made anew by
the call of NumPy that made it in the program, from the array that it is a view of; any other fresh array owns its memory.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy
import torch

from frameloom.pytorch.arrays.spec import DTYPES, Spec, spec_of
from frameloom.pytorch.fakes import fact_of
from frameloom.symbolic.layouts.base import Layout, register, replay
from frameloom.symbolic.source import STEPS, Missing, Step
from frameloom.symbolic.values import INPUT, Const, Node, Obj, Value

SCALARS = frozenset(
    {
        numpy.bool_, numpy.int8, numpy.int16, numpy.int32, numpy.int64, numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64,
        numpy.float16, numpy.float32, numpy.float64,
    }
)
"""The classes whose instances are modelled."""


class ScalarBody:
    """`scalar`: the object."""

    __slots__ = ("scalar",)

    def __init__(self, scalar: Any) -> None:
        self.scalar = scalar


def has_bytes(found: Any, wanted: bytes) -> bool:
    """Guard: whether a scalar has these bytes; its class is a guard of its own."""
    return found.tobytes() == wanted


@register(numpy.generic)
class ScalarLayout(Layout):
    """NumPy's scalars.  All are real: those that are computed at capture are constants of the compiled code."""

    def look(self, obj: Obj, session: Any) -> ScalarBody | None:
        found = obj.real.object
        if type(found) not in SCALARS:
            return None
        source = obj.real.source
        if source.base is not None or source.step != "const":
            session.guard("CALL", source, (has_bytes, found.tobytes(), f"{{}} == {found!r}"))
        return ScalarBody(found)


# -- arrays -----------------------------------------------------------------------------------------------------------


class View(NamedTuple):
    """How an array is a view of another: `function(parent, *args)` makes it, and `derive(session, tensor)` makes its tensor of the
    parent's, as a view if `aliases`; torch has no view that runs backwards."""

    parent: Obj
    function: Callable
    args: tuple
    derive: Callable
    aliases: bool


class ArrayBody:
    """spec: dtype, shape and strides.  tensor: the node of the elements; of a view, that which was derived last, from `basis`.

    view: a View, or None for an array of its own.  shares: the node of the tensor that was asked for this array (`t.numpy()`), or
    None.  written: whether a real array's elements are a copy already.  exposed: whether a tensor was made of the memory.
    version: how often the memory of an array of its own was written to.
    """

    __slots__ = ("spec", "tensor", "basis", "view", "shares", "written", "exposed", "version")

    def __init__(self, spec: Spec, tensor: Node | None, view: View | None = None, shares: Node | None = None) -> None:
        self.spec = spec
        self.tensor = tensor
        self.basis: Any = None
        self.view = view
        self.shares = shares
        self.written = False
        self.exposed = False
        self.version = 0


def holds_spec(found: numpy.ndarray, spec: Spec) -> bool:
    """Guard: whether an array is as it was, its elements aside."""
    return found.dtype is spec.dtype and found.shape == spec.shape and found.strides == spec.strides and is_plain(found)


def is_plain(found: numpy.ndarray) -> bool:
    """Whether the memory of an array can be written and a tensor can share it."""
    flags = found.flags
    return flags.writeable and flags.aligned


def is_modelled(found: Any) -> bool:
    """Whether an array is of a kind whose operations are known."""
    if type(found) is not numpy.ndarray or found.dtype not in DTYPES or not is_plain(found):
        return False
    return all(stride >= 0 and stride % found.itemsize == 0 for stride in found.strides)


def elements_over(found: Any, _: Any = None) -> torch.Tensor:
    """A tensor over the memory of an array."""
    if not is_modelled(found):
        raise Missing("an array of another kind")
    return torch.from_numpy(found)


STEPS["elements"] = Step(
    elements_over, lambda out, key: out.call_constant_under(torch.from_numpy), lambda base, key: f"torch.from_numpy({base})"
)

UNMODELLED = "arrays stay outside"
"""The decision to leave every array of a capture to NumPy."""


@register(numpy.ndarray)
class ArrayLayout(Layout):
    """NumPy's arrays."""

    def look(self, obj: Obj, session: Any) -> ArrayBody | None:
        found, source = obj.real.object, obj.real.source
        if UNMODELLED in session.decisions or not is_modelled(found):
            return None
        spec = spec_of(found)
        session.guard("CALL", source, (holds_spec, spec, f"{{}} is an array {spec}"))
        elements = session.observe.real(elements_over(found), source.child("elements"))
        fact = fact_of(elements.object)
        node = session.record(INPUT, (), {}, torch.Tensor, fact, real=elements)
        state = session.torch
        session.journal.append(state.inputs, node)
        session.journal.set_item(state.entry_facts, node, fact)
        session.journal.append(state.arrays, obj)
        return ArrayBody(spec, node)

    def is_bound(self, obj: Obj) -> bool:
        return obj.body.exposed

    def children(self, obj: Obj) -> list:
        return self.needs_first(obj)

    def needs_first(self, obj: Obj) -> list[Value]:
        body = obj.body
        return [body.tensor if body.view is None else body.view.parent]

    def create(self, obj: Obj, build: Any) -> None:
        body = obj.body
        if body.view is not None:
            build.call_values(body.view.function, (body.view.parent, *map(Const, body.view.args)))
        elif body.shares is not None:
            build.call_values(NUMPY, (body.shares,))
        else:
            build.call_values(new_array, (*map(Const, body.spec), body.tensor))


NUMPY = torch._C.TensorBase.__dict__["numpy"]


def new_array(dtype: numpy.dtype, shape: tuple, strides: tuple, elements: torch.Tensor) -> numpy.ndarray:
    """An array that owns its memory; called by compiled code."""
    made = numpy.ndarray(shape, dtype, strides=strides)
    numpy.copyto(made, elements.numpy())
    return made


def write_back(array: numpy.ndarray, elements: torch.Tensor) -> None:
    """Give an array its elements; called by compiled code."""
    numpy.copyto(array, elements.numpy())


@replay("array.write", location=lambda elements: None)
def _replay_write(build: Any, target: Obj, elements: Node) -> None:
    build.call_effect(write_back, target, elements)
