"""From symbolic values to the arguments of a recorded operation.

An argument tree has nodes and plain constants as leaves, in tuples, lists, dictionaries and slices.  While it is made, so is
the key under which the operation's outcome is remembered: facts for nodes, class and value for constants.
"""

from __future__ import annotations

from typing import Any, Callable

from frameloom.interpreter.registry import kind_of_class
from frameloom.symbolic.layouts import dict_, list_, tuple_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.payload import PayloadBody
from frameloom.symbolic.layouts.slice_ import SliceBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Lazy, Node, Obj, Value

from frameloom.pytorch import generators
from frameloom.pytorch.facts import GeneratorFact, SizeFact, TensorFact
from frameloom.pytorch.numbers import host_number, in_graph

OPEN, CLOSE = "(", ")"


def _unknown(cls: type) -> GraphBreak:
    """The break at an argument of a torch function that cannot go into a graph."""
    kind = kind_of_class(cls, "FL101")
    what = WHAT.get(kind, "a torch function is given an object")
    return GraphBreak(kind, f"{what} of class {cls.__qualname__}")


WHAT = {"FL305": "a tensor", "FL311": "a sparse, quantised or nested tensor"}


class Arguments:
    """The arguments of one call: `args` and `kwargs` as trees, `nodes` the distinct nodes in them in order, `key`.

    `exact` asks for facts that also tell whether a tensor is a leaf (for operations that write); `symbolic` tells whether a
    size that is not a number takes part.
    """

    __slots__ = ("session", "args", "kwargs", "nodes", "key", "graded", "exact", "symbolic", "numbers")

    def __init__(self, session: Any, args: list[Value], kwargs: dict[str, Value], graded: bool, exact: bool) -> None:
        self.session = session
        self.nodes: list[Node] = []
        self.key: list = []
        self.graded = graded
        self.exact = exact
        self.symbolic = False
        self.numbers: dict[Node, SizeFact] = {}
        take = self.take
        self.args = tuple([take(value) for value in args])
        self.kwargs = {name: self._named(name, value) for name, value in kwargs.items()} if kwargs else kwargs

    def _named(self, name: str, value: Value) -> Any:
        self.key.append(name)
        return self.take(value)

    def take(self, value: Value) -> Any:
        """The tree of one argument."""
        kind = type(value)
        if kind is Node:
            return self._node(value)
        if kind is Const:
            plain = value.value
            if type(plain) is slice:
                return self._slice(Const(plain.start), Const(plain.stop), Const(plain.step))
            self.key.append(type(plain))
            self.key.append(plain)
            return plain
        if kind is Obj:
            taker = TAKERS.get(type(value.body))
            if taker is not None:
                return taker(self, value)
        elif kind is Lazy:
            return self.take(self.session.observe.resolve(value))
        raise _unknown(value.cls)

    def _node(self, node: Node) -> Any:
        if node.tape == "host" and node.fact is None:
            found = self._host(node)
            if type(found) is Const:
                return self.take(found)
            node = found
        nodes = self.nodes
        for index, known in enumerate(nodes):
            if known is node:
                self.key.append(index)
                return node
        nodes.append(node)
        fact = node.fact
        if type(fact) is TensorFact:
            self.key.append(self.fact_key(fact))
            self.symbolic |= fact.symbolic
        elif type(fact) is SizeFact:
            self.key.append(fact.size)
            self.symbolic = True
        elif type(fact) is GeneratorFact:
            generators.require(self.session.torch, "a generator of its own draws")
            self.key.append(fact)
        elif node.tape == "host":
            self._number(node)
        else:
            raise GraphBreak("FL101", f"a torch function is given a graph value of class {node.cls.__name__}")
        return node

    def _host(self, node: Node) -> Value:
        """What stands for a number of the host: a node of the graph where it is whole and follows from what is read at entry; else its
        value, guarded, but for a float if the backend takes one, or for what only running code knows."""
        state = self.session.torch
        if host_number(state, node) is not None:
            return in_graph(state, node)
        if node.cls is float and state.takes_numbers:
            return node
        found = self.session.machine.settle(node)
        if type(found) is Node and not state.takes_numbers:
            raise GraphBreak("FL207", "this backend would take a number known at run time only for a constant")
        return found

    def _number(self, node: Node) -> None:
        number = host_number(self.session.torch, node)
        if number is None:
            self.key.append(("host", node.cls))
            return
        self.numbers[node] = number
        self.key.append(number.size)
        self.symbolic = True

    def fact_key(self, fact: TensorFact) -> TensorFact:
        """The fact as far as it matters for the outcome."""
        if not self.graded:
            return fact._ungraded or fact.ungraded
        return fact if self.exact else fact._graded or fact.graded

    def _sequence(self, marker: Any, items: list[Value]) -> list:
        self.key.append(marker)
        taken = [self.take(item) for item in items]
        self.key.append(CLOSE)
        return taken

    def _list(self, value: Obj) -> list:
        self._plain_class(value, list)
        return self._sequence(list, list_.items(self.session, value.body))

    def _tuple(self, value: Obj) -> tuple:
        return tuple(self._sequence(tuple, tuple_.items(self.session, value.body)))

    def _dict(self, value: Obj) -> dict:
        self._plain_class(value, dict)
        self.key.append(dict)
        taken = {}
        for key, entry in dict_.entries(self.session, value.body):
            if entry is not ABSENT:
                taken[self.take(key)] = self.take(entry)
        self.key.append(CLOSE)
        return taken

    def _plain_class(self, value: Obj, *classes: type) -> None:
        if value.cls not in classes:
            raise _unknown(value.cls)

    def _slice_object(self, value: Obj) -> slice:
        return self._slice(*value.body.parts)

    def _slice(self, start: Value, stop: Value, step: Value) -> slice:
        self.key.append(slice)
        return slice(self.take(start), self.take(stop), self.take(step))

    def _payload(self, value: Obj) -> Any:
        return self.take(value.body.value)


TAKERS: dict[type, Callable[[Arguments, Obj], Any]] = {
    ListBody: Arguments._list,
    TupleBody: Arguments._tuple,
    DictBody: Arguments._dict,
    SliceBody: Arguments._slice_object,
    PayloadBody: Arguments._payload,
}


def fill(tree: Any, leaf: Callable[[Node], Any]) -> Any:
    """The tree with each node replaced by `leaf(node)`."""
    kind = type(tree)
    if kind is Node:
        return leaf(tree)
    if kind is tuple:
        return tuple([fill(item, leaf) for item in tree])
    if kind is list:
        return [fill(item, leaf) for item in tree]
    if kind is slice:
        return slice(fill(tree.start, leaf), fill(tree.stop, leaf), fill(tree.step, leaf))
    if kind is dict:
        return {key: fill(item, leaf) for key, item in tree.items()}
    return tree


def nodes_in(tree: Any, found: list[Node]) -> list[Node]:
    """Every node of a tree, in order, added to `found`."""
    kind = type(tree)
    if kind is Node:
        found.append(tree)
    elif kind in (tuple, list):
        for item in tree:
            nodes_in(item, found)
    elif kind is dict:
        for item in tree.values():
            nodes_in(item, found)
    elif kind is slice:
        for item in (tree.start, tree.stop, tree.step):
            nodes_in(item, found)
    return found
