"""What the torch domain keeps about one trace, beside the session.  Every change goes through the session's journal."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from frameloom.symbolic.values import Node


class View(NamedTuple):
    """How a tensor shares storage with `root`.

    `base` is the tensor whose differentiable view it is (then it requires grad where the base does), or None: a detached
    alias.  `safe` tells whether autograd follows a write through it; it refuses one through a view that was made without
    gradients, or that is one of several views of one operation.
    """

    root: Node
    base: Node | None
    safe: bool


class State:
    """grad: whether gradients are recorded at the present instruction; inference: likewise inference mode;
    autocast, entry_autocast: its settings at the present instruction and at entry, as far as they are known.

    views: node -> View; members: root node -> the nodes that share its storage; written: root nodes whose storage the trace
    wrote to; impure: nodes of operations that must run whoever reads them; sizes: (node, fact, dimension) -> node of a size;
    numbers: host node -> its symbolic number, asked of `number_input(state, node)` for inputs and of `number_computed(state, value,
    expression, sources)` for what Python alone computes; given: host nodes of the second kind;
    twins: host node -> the node in the graph with its number; wrapped: (host node, dtype) -> a tensor with its number;
    scalars, data_shapes: whether numbers, and sizes, that follow from data are captured;
    takes_numbers: whether the backend reads numbers among the inputs when the graph runs;
    gradients: node -> the Value of its `.grad`, where the trace has read or set it;
    tries: how many parts of the program are being tried, to be taken back whatever comes;
    bodies: how many functions that operations of torch run are being captured, inside each other; getitem: what indexing a tensor
    calls at the present instruction;
    recomputed: node -> the region of `checkpoint` that it is in, named by a number; regions_open: what was written to when each of
    those that are open was entered;
    makes_backward: whether the backend is known to make backward graphs of its own;
    hooked: root nodes on whose storage a tensor with a hook of the trace lies; as_it_is: whether the backend must run the
    graph's operations as they are; uncompiled: whether they do so in its place;
    settings, entry_settings: setting of torch -> what it holds at the present instruction, and held at entry, where the trace knows;
    unversioned: nodes that are aliases whose writes count as no versions (`.data`); silent: root node -> whether it was written to by way
    of those alone;
    functions: node -> the host node of its `grad_fn`; dual: whether the trace is on the level of dual numbers;
    arrays: the real arrays of NumPy that were looked at; alarms: the nodes of truth values that are True where NumPy would warn.
    """

    __slots__ = (
        "session", "grad", "entry_grad", "inference", "autocast", "views", "members", "written", "impure", "sizes", "shapes",
        "inputs", "memo", "writes", "dynamic", "default_dtype", "numbers", "number_input", "number_computed", "given", "entry_facts", "regions", "arrays",
        "alarms", "gradients", "entry_autocast", "autocast_cleared", "tries", "regions_open", "recomputed", "twins", "wrapped",
        "takes_numbers", "scalars", "data_shapes", "hooked", "bodies", "makes_backward", "as_it_is", "uncompiled", "getitem",
        "settings", "entry_settings",
        "functions", "dual", "unversioned", "silent",
    )

    def __init__(
        self, session: Any, dynamic: bool | None = None, number_input: Any = None, number_computed: Any = None, takes_numbers: bool = True
    ) -> None:
        self.session = session
        self.grad = True
        self.entry_grad = True
        self.inference = False
        self.autocast: Any = None
        self.entry_autocast: Any = None
        self.settings: dict[Any, Any] = {}
        self.entry_settings: dict[Any, Any] = {}
        self.autocast_cleared = False
        self.tries = 0
        self.bodies = 0
        self.getitem: Any = operator.getitem
        self.regions_open: tuple = ()
        self.recomputed: dict[Node, int] = {}
        self.default_dtype: Any = None
        self.views: dict[Node, View] = {}
        self.members: dict[Node, tuple[Node, ...]] = {}
        self.written: dict[Node, bool] = {}
        self.impure: dict[Node, bool] = {}
        self.hooked: dict[Node, bool] = {}
        self.as_it_is = False
        self.uncompiled = False
        self.dual = False
        self.unversioned: dict[Node, bool] = {}
        self.silent: dict[Node, bool] = {}
        self.functions: dict[Node, Node] = {}
        self.makes_backward = False
        self.writes: dict[Node, tuple[Node, ...]] = {}
        self.sizes: dict[tuple, Node] = {}
        self.inputs: list[Node] = []
        self.dynamic = dynamic
        self.memo: dict[tuple, Any] = {}
        self.shapes: Any = None
        self.numbers: dict[Node, Any] = {}
        self.number_input = number_input
        self.number_computed = number_computed
        self.given: set[Node] = set()
        self.regions: dict[Any, Any] = {}
        self.entry_facts: dict[Node, Any] = {}
        self.arrays: list[Any] = []
        self.alarms: list[Node] = []
        self.gradients: dict[Node, Any] = {}
        self.twins: dict[Node, Node] = {}
        self.wrapped: dict[tuple, Node] = {}
        self.takes_numbers = takes_numbers
        self.scalars = False
        self.data_shapes = False

    @property
    def modes(self) -> tuple:
        """What, besides its arguments, the facts of an operation's result depend on."""
        return (self.grad, self.inference, self.autocast.casts, self.default_dtype)

    def root_of(self, node: Node) -> Node:
        """The node whose storage a node shares."""
        view = self.views.get(node)
        return node if view is None else view.root
