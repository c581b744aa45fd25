"""The elements of arrays as tensors of the graph: reading, writing, new arrays, and the alarm that stands for NumPy's warnings."""

from __future__ import annotations

from typing import Any

import numpy
import torch

from frameloom.interpreter.machine import Machine
from frameloom.pytorch import record
from frameloom.pytorch.arrays.layouts import ArrayBody, View
from frameloom.pytorch.arrays.spec import DTYPES, Spec, is_contiguous
from frameloom.pytorch.facts import TensorFact
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node, Obj, Value

BASE = torch._C.TensorBase
CLONE, COPY, TO, CONTIGUOUS = (vars(BASE)[name] for name in ("clone", "copy_", "to", "contiguous"))


def is_array(value: Value) -> bool:
    """Whether a value is an array whose operations are known."""
    return type(value) is Obj and type(value.body) is ArrayBody


def need_array(value: Value) -> Obj:
    """The value; a break at an array of another kind."""
    if not is_array(value):
        raise GraphBreak("FL304", f"an object of class {value.cls.__name__} that is read-only, of a subclass, or of a dtype of its own")
    return value


def root_of(array: Obj) -> Obj:
    """The array whose memory an array is over."""
    while array.body.view is not None:
        array = array.body.view.parent
    return array


def call(m: Machine, function: Any, *args: Any, **kwargs: Any) -> Node:
    """Record an operation of torch on nodes and constants."""
    given = [value if isinstance(value, Value) else m.lift(value) for value in args]
    return record.apply(m.session.torch, function, given, {name: m.lift(value) for name, value in kwargs.items()})


# -- reading ----------------------------------------------------------------------------------------------------------


def elements_of(m: Machine, array: Obj) -> Node:
    """The tensor of an array's elements as they are now; of a view, a view of its parent's wherever torch has one."""
    body = array.body
    view = body.view
    if view is None:
        return body.tensor
    parent = elements_of(m, view.parent)
    root = root_of(array).body
    basis = (parent, -1 if view.aliases else root.version)
    if body.basis != basis or root.exposed or root.shares is not None:
        tensor = view.derive(m, parent)
        m.journal.set_field(body, "tensor", tensor)
        m.journal.set_field(body, "basis", basis)
    return body.tensor


# -- making -----------------------------------------------------------------------------------------------------------


def new_array(m: Machine, spec: Spec, elements: Node) -> Obj:
    """A fresh array with memory of its own; nobody else may have the tensor."""
    fact = elements.fact
    if fact.dtype is not DTYPES[spec.dtype] or fact.sizes != spec.shape:
        raise AssertionError(f"{fact!r} is not {spec}")
    if fact.strides != tuple(stride // spec.dtype.itemsize for stride in spec.strides) and is_contiguous(spec):
        elements = call(m, CONTIGUOUS, elements)
    return m.session.alloc(numpy.ndarray, ArrayBody(spec, elements))


def copied(m: Machine, spec: Spec, array: Obj) -> Obj:
    """A fresh array of this spec with the elements of another."""
    made = call(m, CLONE, elements_of(m, array))
    dtype = DTYPES[spec.dtype]
    return new_array(m, spec, made if made.fact.dtype is dtype else call(m, TO, made, dtype))


def view_of(m: Machine, parent: Obj, spec: Spec, view: View) -> Obj:
    """A fresh view; its elements are known to exist before it is given out."""
    made = m.session.alloc(numpy.ndarray, ArrayBody(spec, None, view))
    sizes = elements_of(m, made).fact.sizes
    if sizes != spec.shape:
        raise AssertionError(f"{sizes} is not {spec.shape}")
    return made


# -- writing ----------------------------------------------------------------------------------------------------------


def write(m: Machine, array: Obj, elements: Node) -> None:
    """Give an array other elements, of its dtype and of a shape that broadcasts to its own."""
    root = root_of(array)
    body, journal = root.body, m.journal
    _require_way(array)
    _require_no_history(m, body)
    if root.real is not None and not body.exposed and not body.written:
        journal.set_field(body, "tensor", call(m, CLONE, body.tensor))
        journal.set_field(body, "written", True)
    target = elements_of(m, array)
    state = m.session.torch
    if state.root_of(elements) is state.root_of(target):
        elements = call(m, CLONE, elements)
    call(m, COPY, target, elements)
    journal.set_field(body, "version", body.version + 1)
    if body.written:
        m.session.operation("array.write", root, call(m, CLONE, body.tensor))


def _require_way(array: Obj) -> None:
    while array.body.view is not None:
        if not array.body.view.aliases:
            raise GraphBreak("FL304", "an array is written to through a view that runs backwards")
        array = array.body.view.parent


def _require_no_history(m: Machine, body: ArrayBody) -> None:
    """Autograd does not see what NumPy writes to a tensor's memory, and would see a write in the graph."""
    if (body.exposed or body.shares is not None) and any(
        type(node.fact) is TensorFact and node.fact.requires_grad for node in m.session.nodes
    ):
        raise GraphBreak("FL304", "an array over the memory of a tensor is written to where gradients are recorded")


# -- warnings ---------------------------------------------------------------------------------------------------------

PLAIN_ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
SILENT = "nothing that may warn"
"""The decision to break at operations that may warn: the graph could not fail for them, since it writes or draws."""


def alarm(m: Machine, unusual: Node) -> None:
    """Let the call of the graph fail if an element is True: eager then runs, and NumPy itself warns."""
    session = m.session
    if SILENT in session.decisions:
        raise GraphBreak("FL304", "an operation that may warn, where what was done before cannot be done again")
    if numpy.geterr() != PLAIN_ERRORS:
        raise GraphBreak("FL304", "errors of floating point are handled in another way than NumPy's own")
    session.guard("RETURNS", session.sources.const(numpy.geterr), PLAIN_ERRORS)
    m.journal.append(session.torch.alarms, call(m, torch.any, unusual))
