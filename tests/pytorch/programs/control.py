"""Branches, loops, exceptions, context managers."""
import contextlib

import torch

from tests.pytorch.programs.program import floats, program, two


@program(lambda: (floats(3), True), lambda: (floats(3), False), lambda: (floats(3), 1))
def flag(x, positive):
    return x + 1 if positive else x - 1


@program()
def loop_over_a_range(x):
    for number in range(3):
        x = x + number
        if number == 1:
            continue
        x = x * 2
    else:
        x = x - 1
    return x


@program(lambda: (floats(3), 2), lambda: (floats(3), 3), lambda: (floats(3), 0))
def while_loop(x, count):
    while count:
        x, count = x * 2, count - 1
    return x


@program(graphs=None)
def branch_on_data(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


@program(graphs=None)
def branch_on_data_in_a_callee(x):
    def inner(y):
        z = y * 2
        if z.max() > 1:
            z = z + 10
        return z + 1

    before = x + 1
    return inner(before) * before


@program(graphs=None)
def loop_until_data_says_so(x):
    count = 0
    while x.abs().max() > 0.1:
        x, count = x / 2, count + 1
    return x, count


@program()
def exception_caught_inside(x):
    try:
        {}["missing"]
    except KeyError as error:
        return x + len(error.args)


@program()
def exception_raised(x):
    y = x + 1
    raise ValueError(f"shape {tuple(y.shape)}")


@program(lambda: (floats(3), floats(4)))
def failing_operation(x, y):
    return x + y


@program(lambda: (floats(3), floats(4)), graphs=None)
def failing_operation_caught(x, y):
    try:
        return x + y
    except RuntimeError as error:
        return x * 2, type(error)


@program(graphs=None)
def finally_after_a_write(x):
    try:
        x.add_(1)
        raise KeyError("after the write")
    finally:
        x.mul_(2)


@program()
def own_context_manager(x):
    @contextlib.contextmanager
    def doubled(value):
        yield value * 2

    with doubled(x) as y, contextlib.nullcontext(y) as z:
        return z + 1


@program()
def assertion(x):
    assert x.ndim == 2, "two dimensions"
    return x.sum(0)


@program(graphs=None)
def assertion_on_data(x):
    assert (x < 1000).all()
    return x + 1


@program(graphs=None)
def item(x):
    return x.sum().item(), float(x[0, 0]), int(x.shape[0]), x * x.max().item()


@program(graphs=None)
def numbers_out_of_tensors(x):
    return x.tolist(), bool(x.any()), round(x.mean().item(), 2), x[0].tolist()


@program()
def match_statement(x):
    match tuple(x.shape):
        case (rows, 3):
            return x * rows
        case _:
            return x


@program(two)
def walrus_and_chains(x, y):
    if (size := x.shape[0]) > 1 and 0 < size < 100:
        return x + (z := y * 2), z
    return x


@program()
def recursion(x):
    def power(y, n):
        return y if n == 0 else power(y, n - 1) * 2

    return power(x, 5)


@program(lambda: (floats(3), lambda t: t.frobnicate()))
def missing_attribute(x, function):
    return function(x + 1)


@program(graphs=None)
def data_decides_a_size(x):
    count = (x > 0).sum()
    return torch.zeros(int(count)), x + 1


@program(graphs=None)
def nonzero(x):
    return x.nonzero(), torch.where(x > 0)
