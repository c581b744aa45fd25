"""Tensors in containers, closures, defaults, objects."""
import collections
import dataclasses
import enum
import functools
import itertools
from typing import NamedTuple

import torch

from tests.pytorch.programs.program import floats, fresh, program, two


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


@dataclasses.dataclass
class State:
    value: torch.Tensor
    step: int = 0
    extras: list = dataclasses.field(default_factory=list)


class Kind(enum.Enum):
    SUM = "sum"
    MEAN = "mean"


@program(lambda: ([floats(3), floats(3) + 1],), lambda: ([floats(3)],), lambda: ([floats(3)] * 3,))
def list_argument(tensors):
    return torch.stack(tensors).sum(0), len(tensors)


@program(lambda: ([floats(3)], floats(3)))
def append_to_an_argument(history, x):
    history.append(x * 2)
    return history[-1] + history[0]


@program(lambda: ({"x": floats(3), "scale": 2},), lambda: ({"x": floats(3), "scale": 3},), lambda: ({"scale": 2, "x": floats(3)},))
def dict_argument(state):
    return {name: value * 2 for name, value in state.items()}


@program(lambda: ({"x": floats(3)},))
def write_to_a_dict_argument(state):
    state["y"] = state["x"] + 1
    state["count"] = state.get("count", 0) + 1
    return state["y"]


@program(lambda: (Pair(floats(3), floats(3) + 1),))
def named_tuple_argument(pair):
    return pair._replace(left=pair.left + pair.right), pair.left * 2, Pair(*pair)


@program(lambda: (State(floats(3)),), lambda: (State(floats(3), 5),), graphs=1)
def dataclass_argument(state):
    state.step += 1
    state.value = state.value * state.step
    state.extras.append(state.value)
    return state


@program()
def dataclass_made_inside(x):
    state = State(x + 1, step=3)
    return dataclasses.replace(state, step=4), state == state, state.extras


@program(lambda: (collections.OrderedDict(a=floats(3), b=floats(3) + 1),))
def ordered_dict_argument(values):
    values.move_to_end("a")
    return list(values), functools.reduce(torch.add, values.values())


@program(lambda: (floats(3), Kind.SUM), lambda: (floats(3), Kind.MEAN))
def enum_argument(x, kind):
    return x.sum() if kind is Kind.SUM else x.mean(), kind.value


@program(lambda: (floats(3), "relu"), lambda: (floats(3), "tanh"))
def string_argument(x, name):
    return getattr(torch, name)(x), f"{name} of {x.shape[0]}"


@program(lambda: (floats(3), torch.sin), lambda: (floats(3), torch.cos), lambda: (floats(3), lambda t: t * 2))
def function_argument(x, function):
    return function(x) + 1


@fresh()
def closure_over_tensors():
    weight, bias = floats(3), torch.ones(3)
    return lambda x: x * weight + bias


@fresh(graphs=None)
def closure_that_counts():
    count = 0

    def run(x):
        nonlocal count
        count += 1
        return x * count

    return run


@fresh()
def partial():
    return functools.partial(torch.add, torch.ones(3), alpha=2)


@fresh()
def method_of_an_object():
    class Scaler:
        def __init__(self, scale):
            self.scale = scale

        def __call__(self, x):
            return self.apply(x)

        def apply(self, x):
            return x * self.scale

    return Scaler(torch.full((3,), 2.0)).apply


@fresh()
def default_arguments():
    def run(x, scale=2.0, weight=torch.ones(3), *rest, flag=True, **options):
        return x * scale + weight if flag else x, rest, options

    return run


@fresh(two)
def decorated_function():
    def doubled(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * 2

        return wrapper

    @doubled
    @doubled
    def run(x, y):
        return x + y

    return run


@fresh()
def function_made_inside_and_returned():
    def run(x):
        y = x + 1

        def later(z):
            return y + z

        return later(x), later.__name__

    return run


@program(two)
def list_building(x, y):
    parts = []
    for number in range(3):
        parts.append(x * number)
    parts.extend([y, y + 1])
    parts.insert(0, x)
    last = parts.pop()
    return torch.stack(parts), last, parts[::-1][0], len(parts)


@program(two)
def iterating_with_itertools(x, y):
    return [a * b for a, b in itertools.product([x, y], repeat=2)], list(itertools.accumulate([x, y], torch.add))


@program()
def sorting_and_filtering(x):
    rows = [(n, x[n]) for n in (2, 0, 1)]
    return sorted(rows, key=lambda row: row[0]), list(filter(lambda row: row[0], rows)), max(rows, key=lambda row: -row[0])


@program(two, graphs=None)
def tensors_as_keys(x, y):
    return {x: 1, y: 2}[x], x + (x in {x, y})


@program(lambda: ([floats(3), [floats(3), (floats(3), {"a": floats(3)})]],))
def nested_containers(tree):
    def total(node):
        if isinstance(node, torch.Tensor):
            return node.sum()
        return sum(map(total, node.values() if isinstance(node, dict) else node))

    return total(tree)


@program(lambda: (collections.deque([floats(3), floats(3)], maxlen=2), floats(3)), graphs=None)
def deque_argument(window, x):
    window.append(x)
    return sum(window)


@fresh(graphs=None)
def global_written():
    def run(x):
        global CALLS
        CALLS = globals().get("CALLS", 0) * 0 + 1
        return x * CALLS

    return run


@program()
def tree_map(x):
    return torch.utils._pytree.tree_map(lambda t: t * 2, {"a": [x, (x + 1,)]})
