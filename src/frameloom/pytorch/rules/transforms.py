"""torch.func: `vmap`, `grad`, `grad_and_value`, `jvp`, `vjp`, and what torch makes of them (`jacrev`, `jacfwd`, `hessian`).

Each is one operation of the graph, which hands the captured function to torch's own transform.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple

import torch
from torch._functorch import apis, eager_transforms
from torch._functorch import vmap as mapping

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule, see_through
from frameloom.pytorch import bodies
from frameloom.pytorch.bodies import Body, Given, Operator
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.structure import LEAF, Shape, count, is_tensor, put_together, taken_apart
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.layouts.base import Layout, register
from frameloom.symbolic.values import FALSE, NONE, Const, Node, Obj, Value

VMAP, GRAD, VJP, JVP = (Operator("FL303", f"torch.func.{name}") for name in ("vmap", "grad", "vjp", "jvp"))

INLINED = (
    apis.vmap, apis.grad, apis.grad_and_value, apis._wraps_without_dynamo_attrs, mapping._check_randomness_arg, mapping.get_chunk_sizes,
    *[
        getattr(eager_transforms, name)
        for name in (
            "grad_impl", "jvp", "vjp", "jacrev", "jacfwd", "hessian", "error_if_complex", "_slice_argnums", "_validate_and_wrap_argnums",
            "_validate_and_wrap_argnum", "_check_unique_non_empty", "_chunked_standard_basis_for_", "_construct_standard_basis_for",
            "_safe_zero_index", "safe_unflatten",
        )
    ],
)
"""Functions of torch that are inlined, down to the transforms that have rules here."""

see_through("torch._functorch.vmap", "doesnt_support_saved_tensors_hooks.<locals>.fn", "f")


# -- vmap ----------------------------------------------------------------------------------------------------------------


@rule(mapping.vmap_impl)
def _vmap(
    m: Machine, func: Value, in_dims: Value, out_dims: Value, randomness: Value, chunk_size: Value, *args: Value, **kwargs: Value
) -> Value:
    session = m.session
    leaves, shape = taken_apart(session, m.tuple(list(args)), VMAP.kind)
    places = [None if dim is None else _place(leaf, dim) for leaf, dim in zip(leaves, _dimensions(m, in_dims, shape))]
    mapped = [leaf for leaf, place in zip(leaves, places) if place is not None]
    if not mapped:
        raise VMAP.refuse("no argument is mapped over")
    dims = tuple([place for place in places if place is not None])
    if len({leaf.fact.sizes[dim] for leaf, dim in zip(mapped, dims)}) != 1:
        raise VMAP.refuse("arguments are mapped over dimensions of different sizes")

    def given(stand_ins: list[Node]) -> Given:
        return Given(_with_stand_ins(m, shape, leaves, stand_ins, [place is not None for place in places]), kwargs)

    body = bodies.capture(m, VMAP, func, [_row(leaf.fact, dim) for leaf, dim in zip(mapped, dims)], given)
    if not body.all_tensors:
        raise VMAP.refuse("its function gives something that is no tensor")
    outs = tuple(_dimensions(m, out_dims, body.shape))
    chunk = m.need_constant(chunk_size, VMAP.kind, "a chunk size known at run time only")
    kind = m.need_constant(randomness, VMAP.kind, "randomness known at run time only")
    module, size = body.module, len(mapped)

    def run(*operands: Any) -> tuple:
        flat, lifted = operands[:size], operands[size:]
        one = torch.func.vmap(lambda *rows: module.forward(*rows, *lifted), dims, outs, kind, chunk_size=chunk)
        return tuple(one(*flat))

    return body.result(session, bodies.perform(m, VMAP, [*mapped, *body.lifted], run, [body]))


def _place(leaf: Value, dim: Any) -> int:
    if not is_tensor(leaf) or type(dim) is not int or not -leaf.fact.ndim <= dim < leaf.fact.ndim:
        raise VMAP.refuse("an argument cannot be mapped over in this way")
    return dim % leaf.fact.ndim


def _row(fact: TensorFact, dim: int) -> TensorFact:
    """The fact of a tensor without the dimension that is mapped over."""
    sizes, strides = fact.sizes, fact.strides
    return fact.replace(
        sizes=sizes[:dim] + sizes[dim + 1 :], strides=strides[:dim] + strides[dim + 1 :], is_leaf=not fact.requires_grad
    )


def _dimensions(m: Machine, given: Value, shape: Shape) -> list:
    """The dimension for each leaf of a structure, from a structure that may end earlier."""
    leaves, own = taken_apart(m.session, given, VMAP.kind)
    if not all(type(leaf) is Const and (leaf.value is None or type(leaf.value) is int) for leaf in leaves):
        raise VMAP.refuse("dimensions that are no numbers")
    if shape is LEAF and own.cls is tuple and len(own.parts) == 1:
        own = own.parts[0]
    return _spread(own, iter([leaf.value for leaf in leaves]), shape)


def _spread(own: Shape, numbers: Iterator, shape: Shape) -> list:
    if own.cls is None:
        return [next(numbers)] * count(shape)
    if own.cls is not shape.cls or len(own.parts) != len(shape.parts) or own.keys != shape.keys:
        raise VMAP.refuse("dimensions of another structure than what they are for")
    return [number for part, other in zip(own.parts, shape.parts) for number in _spread(part, numbers, other)]


def _with_stand_ins(m: Machine, shape: Shape, leaves: list[Value], stand_ins: list[Node], replaced: list[bool]) -> list[Value]:
    """The arguments, with nodes that stand for those that are `replaced`."""
    new = iter(stand_ins)
    call = put_together(m.session, shape, iter([next(new) if takes else leaf for leaf, takes in zip(leaves, replaced)]))
    return tuple_.items(m.session, call.body)


# -- derivatives -----------------------------------------------------------------------------------------------------------


class Arguments(NamedTuple):
    """The arguments of a function that is derived: leaves and structure of all, which leaves are tensors, which of those the function is
    derived by, and the structure of these."""

    leaves: list[Value]
    shape: Shape
    tensors: list[Node]
    derived: tuple[int, ...]
    by: Shape

    def facts(self) -> list[TensorFact]:
        own = set(self.derived)
        return [node.fact.replace(requires_grad=place in own, is_leaf=True) for place, node in enumerate(self.tensors)]

    def given(self, m: Machine, stand_ins: list[Node], kwargs: dict[str, Value]) -> Given:
        return Given(_with_stand_ins(m, self.shape, self.leaves, stand_ins, list(map(is_tensor, self.leaves))), kwargs)


def _arguments(m: Machine, operator: Operator, args: list[Value], argnums: Value) -> Arguments:
    if m.session.torch.inference:
        raise operator.refuse("inference mode is on")
    leaves, shape = taken_apart(m.session, m.tuple(args), operator.kind)
    numbers, by = _chosen(m, operator, shape, argnums)
    ends = list(itertools.accumulate(map(count, shape.parts), initial=0))
    wanted = {place for number in numbers for place in range(ends[number], ends[number + 1])}
    tensors = [(place, leaf) for place, leaf in enumerate(leaves) if is_tensor(leaf)]
    derived = tuple([index for index, (place, _) in enumerate(tensors) if place in wanted])
    if len(derived) != len(wanted) or not derived:
        raise operator.refuse("it is derived by something that is no tensor")
    for index in derived:
        dtype = tensors[index][1].fact.dtype
        if not (dtype.is_floating_point or dtype.is_complex):
            raise operator.refuse(f"it is derived by a tensor of dtype {dtype}")
    return Arguments(leaves, shape, [leaf for _, leaf in tensors], derived, by)


def _chosen(m: Machine, operator: Operator, shape: Shape, argnums: Value) -> tuple[list[int], Shape]:
    """The numbers of the arguments that a function is derived by, and the structure of the derivative."""
    size = len(shape.parts)
    if type(argnums) is Const and argnums.value is None:
        return list(range(size)), shape
    leaves, own = taken_apart(m.session, argnums, operator.kind)
    if own.cls not in (None, tuple) or not all(type(leaf) is Const and type(leaf.value) is int and -size <= leaf.value < size for leaf in leaves):
        raise operator.refuse("argnums that are no numbers of arguments")
    numbers = [leaf.value % size for leaf in leaves]
    if numbers != sorted(set(numbers)):
        raise operator.refuse("argnums that are not in order")
    return numbers, shape.parts[numbers[0]] if own is LEAF else Shape(tuple, tuple([shape.parts[number] for number in numbers]))


def _flag(m: Machine, operator: Operator, value: Value) -> bool:
    return bool(m.need_constant(value, operator.kind, "a flag known at run time only"))


class Halves(NamedTuple):
    """The result of a function that gives, perhaps, something else beside what is derived: how many tensors each half has."""

    main: int
    main_shape: Shape


def _halves(operator: Operator, body: Body, has_aux: bool) -> Halves:
    shape = body.shape
    if has_aux:
        if shape.cls is not tuple or len(shape.parts) != 2:
            raise operator.refuse("its function does not give a pair")
        shape = shape.parts[0]
    size = count(shape)
    if not size or not body.all_tensors:
        raise operator.refuse("its function gives something that is no tensor")
    return Halves(size, shape)


def _other(m: Machine, body: Body, tensors: list[Value]) -> Value:
    """What the function gives beside what is derived."""
    return put_together(m.session, body.shape.parts[1], iter(tensors))


@rule(eager_transforms.grad_and_value_impl.__wrapped__)
def _grad_and_value(m: Machine, func: Value, argnums: Value, has_aux: Value, args: Value, kwargs: Value) -> Value:
    aux = _flag(m, GRAD, has_aux)
    call = _arguments(m, GRAD, tuple_.items(m.session, args.body), argnums)
    named = _named(m, kwargs)
    body = bodies.capture(m, GRAD, func, call.facts(), lambda stand_ins: call.given(m, stand_ins, named), grad=True)
    halves = _halves(GRAD, body, aux)
    if halves.main_shape is not LEAF:
        raise GRAD.refuse("its function does not give a tensor")
    module, size, derived = body.module, len(call.tensors), call.derived

    def run(*operands: Any) -> tuple:
        def function(*flat: Any) -> tuple:
            first, *others = module.forward(*flat, *operands[size:])
            return first, tuple(others)

        gradients, (value, others) = torch.func.grad_and_value(function, derived, True)(*operands[:size])
        return (*gradients, value, *others)

    found = bodies.perform(m, GRAD, [*call.tensors, *body.lifted], run, [body])
    gradient = put_together(m.session, call.by, iter(found[: len(derived)]))
    value = found[len(derived)]
    if aux:
        value = m.tuple([value, _other(m, body, found[len(derived) + 1 :])])
    return m.tuple([gradient, value])


def _named(m: Machine, kwargs: Value) -> dict[str, Value]:
    leaves, shape = taken_apart(m.session, kwargs, GRAD.kind)
    left = iter(leaves)
    return {key: put_together(m.session, part, left) for key, part in zip(shape.keys, shape.parts)}


def _of_points(module: Any, flat: Sequence[Any], derived: Sequence[int], lifted: Sequence[Any], main: int) -> Callable:
    """A body as a function of the tensors that are derived by: gives its first `main` results, and the others apart."""

    def function(*points: Any) -> tuple:
        found = [*flat]
        for place, point in zip(derived, points):
            found[place] = point
        made = module.forward(*found, *lifted)
        return made[:main], made[main:]

    return function


@rule(eager_transforms._jvp_with_argnums)
def _jvp(
    m: Machine, func: Value, primals: Value, tangents: Value, argnums: Value, *, strict: Value = FALSE, has_aux: Value
) -> Value:
    if type(primals) is not Obj or primals.cls is not tuple:
        raise JVP.refuse("primals that are no tuple")
    aux, exact = _flag(m, JVP, has_aux), _flag(m, JVP, strict)
    call = _arguments(m, JVP, tuple_.items(m.session, primals.body), argnums)
    directions, shape = taken_apart(m.session, tangents, JVP.kind)
    wanted = call.by if type(argnums) is Const and argnums.value is None or call.by.cls is tuple else Shape(tuple, (call.by,))
    if shape not in (wanted, call.by) or not all(map(is_tensor, directions)):
        raise JVP.refuse("tangents of another structure than the primals")
    body = bodies.capture(m, JVP, func, call.facts(), lambda stand_ins: call.given(m, stand_ins, {}))
    halves = _halves(JVP, body, aux)
    module, size, derived, main = body.module, len(call.tensors), call.derived, halves.main

    def run(*operands: Any) -> tuple:
        flat, moved, lifted = operands[:size], operands[size : size + len(derived)], operands[size + len(derived) :]
        function = _of_points(module, flat, derived, lifted, main)
        values, changes, others = torch.func.jvp(function, tuple([flat[place] for place in derived]), moved, strict=exact, has_aux=True)
        return (*values, *changes, *others)

    found = bodies.perform(m, JVP, [*call.tensors, *directions, *body.lifted], run, [body])
    parts = [put_together(m.session, halves.main_shape, iter(part)) for part in (found[:main], found[main : 2 * main])]
    return m.tuple([*parts, _other(m, body, found[2 * main :])] if aux else parts)


# -- vjp -------------------------------------------------------------------------------------------------------------------


class Pull:
    """What the function that `vjp` gives works with.  It exists in a trace only."""


class PullBody:
    """`run` gives the derivatives by `call.derived`, of cotangents behind its operands; `first` is how many nodes the trace had."""

    __slots__ = ("call", "body", "halves", "run", "operands", "first")

    def __init__(self, call: Arguments, body: Body, halves: Halves, run: Callable, operands: list[Node], first: int) -> None:
        self.call = call
        self.body = body
        self.halves = halves
        self.run = run
        self.operands = operands
        self.first = first


@register(Pull)
class PullLayout(Layout):
    """A captured function, of which nothing can be left behind."""

    def is_bound(self, obj: Obj) -> bool:
        return True


def pulling(pull: Pull) -> Callable:
    """The function that `vjp` gives: traced only."""

    def wrapper(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        return pulled(pull, cotangents, retain_graph, create_graph)

    return wrapper


def pulled(pull: Pull, cotangents: Any, retain_graph: bool, create_graph: bool | None) -> Any:
    """Its rule records the operation."""
    raise AssertionError("what vjp gives is called in traces only")


@rule(eager_transforms._vjp_with_argnums.__wrapped__)
def _vjp(m: Machine, func: Value, *primals: Value, argnums: Value = NONE, has_aux: Value = FALSE) -> Value:
    aux = _flag(m, VJP, has_aux)
    call = _arguments(m, VJP, list(primals), argnums)
    body = bodies.capture(m, VJP, func, call.facts(), lambda stand_ins: call.given(m, stand_ins, {}), grad=True)
    if body.draws:
        raise VJP.refuse("its function draws random numbers")
    halves = _halves(VJP, body, aux)
    module, size, derived, main = body.module, len(call.tensors), call.derived, halves.main

    def derive(operands: tuple) -> tuple:
        flat, lifted = operands[:size], operands[size:]
        function = _of_points(module, flat, derived, lifted, main)
        return torch.func.vjp(function, *[flat[place] for place in derived], has_aux=True)

    def run(*operands: Any) -> tuple:
        values, _, others = derive(operands)
        return (*values, *others)

    def run_back(*operands: Any) -> tuple:
        return tuple(derive(operands[:-main])[1](operands[-main:]))

    operands = [*call.tensors, *body.lifted]
    found = bodies.perform(m, VJP, operands, run, [body])
    pull = m.session.alloc_bound(Pull, PullBody(call, body, halves, run_back, operands, len(m.session.nodes)))
    back = m.invoke(m.observe.constant(pulling), [pull], {})
    value = put_together(m.session, halves.main_shape, iter(found[:main]))
    return m.tuple([value, back, _other(m, body, found[main:])] if aux else [value, back])


@rule(pulled)
def _pulled(m: Machine, pull: Value, cotangents: Value, retain_graph: Value, create_graph: Value) -> Value:
    kept: PullBody = pull.body
    if [type(flag) is Const and flag.value for flag in (retain_graph, create_graph)] != [True, None]:
        raise VJP.refuse("its result is called with settings of its own")
    leaves, shape = taken_apart(m.session, cotangents, VJP.kind)
    if shape != kept.halves.main_shape or not all(map(is_tensor, leaves)):
        raise VJP.refuse("cotangents of another structure than the results")
    state = m.session.torch
    roots = {state.root_of(node) for node in kept.operands}
    if any(root in roots for node in m.session.nodes[kept.first :] for root in state.writes.get(node, ())):
        raise VJP.refuse("what its function was called with has been written to")
    found = bodies.perform(m, VJP, [*kept.operands, *leaves], kept.run, [kept.body])
    return put_together(m.session, kept.call.by, iter(found))
