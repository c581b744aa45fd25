"""Attributes of tensors that C code computes: read from facts, recorded as operations, guarded on inputs, or refused."""

from __future__ import annotations

import functools
from typing import Any, Callable

import torch

from frameloom.interpreter.operators import binary
from frameloom.pytorch import aliases, data, grad_functions, gradients, inputs, own_code, record, results
from frameloom.pytorch.facts import GeneratorFact, SizeFact, TensorFact
from frameloom.pytorch.state import State
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, INPUT, NONE, Const, Node, Value, boolean

Getter = Callable[[State, Node], Value]
GETTERS: dict[str, Getter] = {}


def getter(*names: str) -> Callable[[Getter], Getter]:
    """Decorator: the function reads these attributes."""

    def add(function: Getter) -> Getter:
        for name in names:
            GETTERS[name] = function
        return function

    return add


def read(state: State, node: Node, name: str) -> Any:
    """The value of a C attribute of a tensor node, or NOT_HANDLED for everything else."""
    if type(node.fact) is not TensorFact:
        return _of_others(node, name)
    found = GETTERS.get(name)
    if found is not None:
        if state.bodies and name in OF_LEVELS:
            raise GraphBreak("FL303", f"{name} of a tensor is asked inside the function of a transform")
        return found(state, node)
    if name in C_ATTRIBUTES:
        raise GraphBreak("FL103", f"attribute {name!r} of a tensor")
    return NOT_HANDLED


OF_LEVELS = frozenset({"requires_grad", "is_leaf", "grad_fn", "grad", "_grad", "_base", "retains_grad", "output_nr", "name", "_version"})
"""What a transform answers for its own level."""

C_ATTRIBUTES = frozenset(
    name for name, value in vars(torch._C.TensorBase).items() if type(value).__name__ == "getset_descriptor"
)
"""Data descriptors of the C base: they come before whatever an instance's own dictionary holds."""


def _of_others(node: Node, name: str) -> Any:
    if type(node.fact) is SizeFact and name in ("real", "numerator"):
        return node
    if type(node.fact) is GeneratorFact and name == "device":
        return Const(node.fact.device)
    return NOT_HANDLED


@getter("shape")
def _shape(state: State, node: Node) -> Value:
    return results.size_tuple(state, node)


@getter("dtype")
def _dtype(state: State, node: Node) -> Value:
    return Const(node.fact.dtype)


@getter("device")
def _device(state: State, node: Node) -> Value:
    return Const(node.fact.device)


@getter("layout")
def _layout(state: State, node: Node) -> Value:
    return Const(torch.strided)


@getter("ndim")
def _ndim(state: State, node: Node) -> Value:
    return Const(len(node.fact.sizes))


@getter("itemsize")
def _itemsize(state: State, node: Node) -> Value:
    return Const(node.fact.dtype.itemsize)


@getter("nbytes")
def _nbytes(state: State, node: Node) -> Value:
    sizes = [results.size_of(state, node, i) for i in range(len(node.fact.sizes))]
    return functools.reduce(functools.partial(binary, state.session.machine, "*"), sizes, Const(node.fact.dtype.itemsize))


@getter("requires_grad")
def _requires_grad(state: State, node: Node) -> Value:
    if node.target is INPUT and not state.entry_grad and not state.grad:
        inputs.guard_requires_grad(state.session, node)
    return boolean(node.fact.requires_grad)


@getter("is_leaf")
def _is_leaf(state: State, node: Node) -> Value:
    aliases.require_history(state, node)
    if node.target is INPUT:
        inputs.guard_requires_grad(state.session, node)
        inputs.guard_leaf(state.session, node)
    return boolean(node.fact.is_leaf)


@getter("grad_fn")
def _grad_fn(state: State, node: Node) -> Value:
    """None where there is none; the object itself exists only outside the trace."""
    aliases.require_history(state, node)
    if node.target is INPUT and node not in state.written:
        if inputs.attribute_is_none(state.session, node, "grad_fn"):
            return NONE
    elif not node.fact.requires_grad or node.fact.is_leaf:
        return NONE
    else:
        found = grad_functions.behind(state, node)
        if found is not None:
            return found
    raise GraphBreak("FL308", "grad_fn of a tensor is read")


GETTERS["grad"] = gradients.read


@getter("_base", "_backward_hooks", "_post_accumulate_grad_hooks", "_grad_fn", "output_nr", "retains_grad", "name")
def _autograd_internals(state: State, node: Node) -> Value:
    raise GraphBreak("FL308", "autograd's own state of a tensor is read")


@getter("_cdata", "_version")
def _memory(state: State, node: Node) -> Value:
    raise GraphBreak("FL206", "the memory of a tensor is looked at")


GETTERS["data"] = data.read


def _device_flag(name: str, kind: str) -> None:
    GETTERS[name] = lambda state, node: boolean(node.fact.device.type == kind)


for _name, _kind in {
    "is_cpu": "cpu", "is_cuda": "cuda", "is_xpu": "xpu", "is_xla": "xla", "is_mps": "mps", "is_meta": "meta",
    "is_ipu": "ipu", "is_maia": "maia", "is_vulkan": "vulkan", "is_mtia": "mtia",
}.items():
    _device_flag(_name, _kind)


@getter("is_sparse", "is_sparse_csr", "is_quantized", "is_mkldnn", "is_nested", "volatile")
def _never(state: State, node: Node) -> Value:
    return Const(False)


@getter("_has_symbolic_sizes_strides")
def _symbolic(state: State, node: Node) -> Value:
    return Const(False)


@getter("_python_dispatch")
def _python_dispatch(state: State, node: Node) -> Value:
    return Const(False)


def _recorded(name: str) -> None:
    GETTERS[name] = lambda state, node: record.apply(state, getattr, [node, Const(name)], {})


for _name in ("T", "mT", "H", "mH", "imag"):
    _recorded(_name)


@getter("real")
def _real(state: State, node: Node) -> Value:
    return record.apply(state, getattr, [node, Const("real")], {})


# -- writing ----------------------------------------------------------------------------------------------------------

WRITE_REFUSALS: dict[str, tuple[str, str]] = {
    "_grad": ("FL308", ".grad of a tensor is set"),
    "_backward_hooks": ("FL308", "the hooks of a tensor are replaced"),
    "_post_accumulate_grad_hooks": ("FL308", "the hooks of a tensor are replaced"),
    "names": ("FL311", "a tensor is given names of dimensions"),
}


def write(state: State, node: Node, name: str, value: Value) -> Any:
    """Perform `node.name = value` for a C attribute, or NOT_HANDLED for an attribute in the node's own dictionary."""
    if name == "data" and value is node and type(node.fact) is TensorFact and not node.fact.inference:
        return None  # as it is: `Module.to` does that to parameters that have the dtype and device already
    refusal = WRITE_REFUSALS.get(name)
    if refusal is not None:
        raise GraphBreak(*refusal)
    if name == "requires_grad":
        set_requires_grad(state, node, value)
        return None
    if name == "grad":
        gradients.write(state, node, value)
        return None
    if name == "data" and value is not ABSENT:
        data.replace(state, node, value)
        return None
    if name in ("real", "imag") and value is not ABSENT:
        part = record.apply(state, getattr, [node, Const(name)], {})
        record.apply(state, COPY, [part, value], {})
        return None
    if name in C_ATTRIBUTES:
        raise GraphBreak("FL505", f"attribute {name!r} of a tensor is written")
    return NOT_HANDLED


def set_requires_grad(state: State, node: Value, wanted: Value) -> None:
    """Set `requires_grad` to what it is, or make a leaf of a result; else a break, since every other holder of the tensor sees it."""
    if type(node) is Node and type(wanted) is Const and type(node.fact) is TensorFact and not state.inference and not state.bodies:
        if type(wanted.value) is bool and not node.fact.inference:
            if _requires_grad(state, node).value is wanted.value or wanted.value and _make_leaf(state, node):
                return
    raise GraphBreak("FL308", "requires_grad of a tensor is set")


def _make_leaf(state: State, node: Node) -> bool:
    """Have a result that nothing leads to require grad; False where that cannot be in the graph."""
    view = state.views.get(node)
    family = [node, *[other for other in state.members.get(state.root_of(node), ()) if state.views[other].base is node]]
    if node.target is INPUT or view is not None and view.base is not None or len(family) > 1 or state.tries or state.regions_open:
        return False
    if not (node.fact.dtype.is_floating_point or node.fact.dtype.is_complex) or not own_code.require(state):
        return False
    made = state.session.record(REQUIRES_GRAD, (node,), {}, node.cls, node.fact)
    state.session.journal.set_item(state.impure, made, True)
    state.session.set_fact(node, node.fact.replace(requires_grad=True, is_leaf=True))
    return True


REQUIRES_GRAD = torch._C.TensorBase.__dict__["requires_grad_"]


COPY = torch._C.TensorBase.__dict__["copy_"]
