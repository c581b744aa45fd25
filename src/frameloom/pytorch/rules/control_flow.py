"""`torch.cond`, `while_loop`, `scan`, `map` and `associative_scan`: torch's operators that are given functions.

The public functions check and flatten their arguments in Python, which is inlined.  Outside of any graph they then have torch's own
compiler make a graph of one call of an operator; here the operator is called in the graph that is being made, with captured bodies.
What cannot be captured breaks at the call of the public function, so that torch sees all of it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._higher_order_ops import utils
from torch._higher_order_ops.associative_scan import _interleave, associative_scan, generic_associative_scan, safe_map
from torch._higher_order_ops.associative_scan import wrap_combine_fn_flat as combine_leaves
from torch._higher_order_ops.cond import cond, cond_op
from torch._higher_order_ops.map import MapImpl, map_impl
from torch._higher_order_ops.map import map as map_
from torch._higher_order_ops.scan import ScanOp, scan, scan_op
from torch._higher_order_ops.scan import wrap_combine_fn_flat as scan_leaves
from torch._higher_order_ops.while_loop import WhileLoopOp, while_loop, while_loop_op
from torch.utils import _pytree

from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import rule
from frameloom.pytorch import bodies
from frameloom.pytorch.bodies import Body, Given, Operator
from frameloom.pytorch.facts import TensorFact
from frameloom.pytorch.structure import is_tensor, put_together, taken_apart
from frameloom.symbolic.layouts import tuple_
from frameloom.symbolic.values import NONE, Const, Node, Value

COND, WHILE, SCAN, MAP, ASSOCIATIVE = (
    Operator("FL314", name) for name in ("torch.cond", "while_loop", "scan", "map", "associative_scan")
)

INLINED = (
    while_loop, scan, scan_leaves, map_, associative_scan, generic_associative_scan, combine_leaves, _interleave, safe_map,
    utils.validate_subgraph_args_types,
)
"""Functions of torch that are inlined, down to the operators that have rules here."""

for _public, _operator in ((while_loop, WHILE), (scan, SCAN), (map_, MAP), (associative_scan, ASSOCIATIVE)):
    bodies.breaks_as_one(_public, _operator)


@rule(utils._hop_compile_and_call)
def _compile_and_call(m: Machine, fn: Value, args: Value, kwargs: Value = NONE) -> Value:
    return m.invoke(fn, tuple_.items(m.session, args.body), {})


@rule(utils._maybe_compile_and_run_fn)
def _compile_and_run(m: Machine, fn: Value, *args: Value) -> Value:
    return m.invoke(fn, list(args), {})


# -- cond ----------------------------------------------------------------------------------------------------------------


def branch(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
    """As `torch.cond`: a number decides at once, as eager has it."""
    if isinstance(pred, (bool, int, float)):
        return true_fn(*operands) if pred else false_fn(*operands)
    return branch_by_data(pred, true_fn, false_fn, operands)


def branch_by_data(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    """Its rule records the operation."""
    raise AssertionError("branch is traced only")


@rule(cond)
def _cond(m: Machine, *args: Value, **kwargs: Value) -> Value:
    return bodies.run_as_one(m, COND, m.observe.constant(branch), list(args), kwargs)


@rule(branch_by_data)
def _cond_by_data(m: Machine, pred: Value, true_fn: Value, false_fn: Value, operands: Value) -> Value:
    given = _tensors(m, COND, operands)
    if not is_tensor(pred) or any(size != 1 for size in pred.fact.sizes):
        raise COND.refuse("its condition is no tensor of one element")
    found = [_capture(m, COND, fn, _facts(given)) for fn in (true_fn, false_fn)]
    one, other = found
    if one.shape != other.shape or not _alike(one.facts, other.facts):
        raise COND.refuse("its functions give results that are not alike")
    lifted = _lifted(found)
    true, false = (Subgraph(body, len(given), lifted) for body in found)

    def run(decided: Any, *operands: Any) -> tuple:
        return tuple(cond_op(decided, true, false, operands))

    return one.result(m.session, bodies.perform(m, COND, [pred, *given, *lifted], run, found))


# -- while_loop ------------------------------------------------------------------------------------------------------------


@rule(WhileLoopOp.__call__)
def _while_loop(m: Machine, op: Value, cond_fn: Value, body_fn: Value, carried: Value, additional: Value) -> Value:
    given = _tensors(m, WHILE, carried)
    test, step = (_capture(m, WHILE, fn, _facts(given)) for fn in (cond_fn, body_fn))
    if len(test.facts) != 1 or test.facts[0].sizes or test.facts[0].dtype is not torch.bool or test.shape.cls is not None:
        raise WHILE.refuse("its condition is no tensor of one truth value")
    if not _alike(step.facts, _facts(given)) or step.shape.cls not in (tuple, list):
        raise WHILE.refuse("its function gives something else than it takes")
    lifted = _lifted([test, step])
    again, advance = (Subgraph(body, len(given), lifted) for body in (test, step))

    def decide(*operands: Any) -> Any:
        return again(*operands)[0]

    def run(*operands: Any) -> tuple:
        return tuple(while_loop_op(decide, advance, operands[: len(given)], operands[len(given) :]))

    return step.result(m.session, bodies.perform(m, WHILE, [*given, *lifted], run, [test, step]))


# -- scan and map ----------------------------------------------------------------------------------------------------------


@rule(ScanOp.__call__)
def _scan(m: Machine, op: Value, combine_fn: Value, init: Value, xs: Value, additional_inputs: Value) -> Value:
    carried, scanned = _tensors(m, SCAN, init), _tensors(m, SCAN, xs)
    body = _capture(m, SCAN, combine_fn, [*_facts(carried), *[_slice(SCAN, node.fact) for node in scanned]])
    if body.shape.cls is not tuple or len(body.shape.parts) != 2 or not _alike(body.facts[: len(carried)], _facts(carried)):
        raise SCAN.refuse("its function does not carry what it is given")
    kept = put_together(m.session, body.shape.parts[0], iter(carried))
    alike = m.invoke(m.observe.constant(carries_alike), [combine_fn, kept], {})
    if type(alike) is not Const or alike.value is not True:
        raise SCAN.refuse("its function carries another structure than it is given")
    lifted = _lifted([body])
    step, first = Subgraph(body, len(carried) + len(scanned), lifted), len(carried)

    def run(*operands: Any) -> tuple:
        start, rows, others = operands[:first], operands[first : first + len(scanned)], operands[first + len(scanned) :]
        return tuple(scan_op(step, [*start], [*rows], others))

    return body.result(m.session, bodies.perform(m, SCAN, [*carried, *scanned, *lifted], run, [body]))


def carries_alike(combine_fn: Any, carry: Any) -> bool:
    """Whether what `scan`'s function carries on has the structure of what it was given."""
    return _pytree.tree_structure(carry) == combine_fn.keywords["spec_init"]


@rule(MapImpl.__call__)
def _map(m: Machine, op: Value, f: Value, xs: Value, pos_args: Value) -> Value:
    mapped, others = _tensors(m, MAP, xs), _tensors(m, MAP, pos_args)
    body = _capture(m, MAP, f, [*[_slice(MAP, node.fact) for node in mapped], *_facts(others)])
    lifted = _lifted([body])
    each, size = Subgraph(body, len(mapped) + len(others), lifted), len(mapped)

    def run(*operands: Any) -> tuple:
        return tuple(map_impl(each, [*operands[:size]], [*operands[size:]]))

    return body.result(m.session, bodies.perform(m, MAP, [*mapped, *others, *lifted], run, [body]))


# -- what they share -------------------------------------------------------------------------------------------------------


class Subgraph:
    """A body as torch's operators take it: of what they hand over, it picks its own arguments and operands."""

    def __init__(self, body: Body, arguments: int, lifted: list[Node]) -> None:
        self.module = body.module
        self.places = (*range(arguments), *[arguments + lifted.index(node) for node in body.lifted])
        self.__name__ = "body"

    def __call__(self, *operands: Any) -> tuple:
        return self.module.forward(*[operands[place] for place in self.places])


def _tensors(m: Machine, operator: Operator, value: Value) -> list[Node]:
    """The operands, a tuple or list of tensors."""
    leaves, shape = taken_apart(m.session, value, operator.kind)
    if shape.cls not in (tuple, list) or len(shape.parts) != len(leaves) or not all(is_tensor(leaf) for leaf in leaves):
        raise operator.refuse("an operand is no tensor")
    return leaves


def _facts(nodes: list[Node]) -> list[TensorFact]:
    return [node.fact for node in nodes]


def _slice(operator: Operator, fact: TensorFact) -> TensorFact:
    """The fact of a slice along the first dimension."""
    if not fact.ndim:
        raise operator.refuse("a tensor without dimensions is to be taken apart")
    return fact.replace(sizes=fact.sizes[1:], strides=fact.strides[1:], is_leaf=not fact.requires_grad)


def _capture(m: Machine, operator: Operator, function: Value, facts: list[TensorFact]) -> Body:
    """A body whose results are new tensors, each of its own, as torch's operators ask."""
    body = bodies.capture(m, operator, function, facts, lambda stand_ins: Given([*stand_ins], {}))
    if not body.all_tensors:
        raise operator.refuse("its function gives something that is no tensor")
    if body.shares:
        raise operator.refuse("its function gives a tensor that is not made for this result alone")
    return body


def _alike(some: Any, others: Any) -> bool:
    """Whether tensors may stand for each other from one run to the next."""
    return [_look(fact) for fact in some] == [_look(fact) for fact in others]


def _look(fact: TensorFact) -> tuple:
    return fact.dtype, fact.device, fact.sizes, fact.strides


def _lifted(found: list[Body]) -> list[Node]:
    """The operands of all bodies, each once."""
    return list(dict.fromkeys(node for body in found for node in body.lifted))
