"""Seeds, states and generators of torch in captured functions: results and what generators go on from are eager's."""
from __future__ import annotations

import random
import subprocess
import sys
from typing import Any, Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import frameloom

pytestmark = pytest.mark.torch

OWN = torch.Generator()
BACKENDS = ("eager", "aot_eager")


def seeded_first(x):
    torch.manual_seed(7)
    return x + torch.rand(3), torch.rand(2)


def seeded_between(x):
    y = x + torch.rand(3)
    torch.manual_seed(7)
    return y, torch.rand(3)


def seeded_twice(x):
    torch.manual_seed(1)
    y = torch.rand(3)
    torch.manual_seed(1)
    return x + y, torch.rand(3)


def seeded_last(x):
    y = F.dropout(x, 0.5)
    torch.manual_seed(3)
    return y


def seeded_alone(x):
    torch.manual_seed(3)
    return 5


def seeded_by_what_it_gives(x):
    generator = torch.manual_seed(9)
    return torch.rand(3, generator=generator) + torch.rand(3), generator is torch.default_generator


def seed_refused(x):
    try:
        torch.manual_seed(2**70)
    except (RuntimeError, ValueError, OverflowError) as error:
        return type(error).__name__, torch.rand(3)


def seed_of_truth(x):
    torch.manual_seed(True)
    return torch.rand(3)


def seed_negative(x):
    y = torch.rand(1)
    torch.manual_seed(-5)
    return y, torch.rand(3)


def seed_of_float(x):
    torch.manual_seed(3.7)
    return torch.rand(3)


def forked(x):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        noise = torch.rand(3)
    return x + noise, torch.rand(2)


def forked_in_forked(x):
    with torch.random.fork_rng(devices=[]):
        a = torch.rand(2)
        with torch.random.fork_rng(devices=[]):
            b = torch.rand(2)
        c = torch.rand(2)
    return a, b, c, torch.rand(2), x


def forked_not(x):
    with torch.random.fork_rng(enabled=False):
        a = torch.rand(2)
    return a, torch.rand(2)


def forked_and_raised(x):
    try:
        with torch.random.fork_rng():
            torch.manual_seed(3)
            raise KeyError(1)
    except KeyError:
        return x + torch.rand(3)


def forked_and_broken(x):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        a = torch.rand(3)
        frameloom_break()
        b = torch.rand(3)
    return a, b, torch.rand(3)


@frameloom.disable
def frameloom_break():
    return None


def state_kept(x):
    state = torch.get_rng_state()
    first = torch.rand(3)
    torch.set_rng_state(state)
    return x + first, torch.rand(3)


def state_given_out(x):
    state = torch.get_rng_state()
    return state, torch.rand(3), torch.get_rng_state()


def state_written(x):
    state = torch.get_rng_state()
    state.zero_()
    return state, torch.rand(3)


STATE = torch.Generator().manual_seed(11).get_state()


def state_of_before(x):
    torch.set_rng_state(STATE)
    return torch.rand(3)


def state_refused(x):
    try:
        torch.set_rng_state(torch.zeros(5056, dtype=torch.uint8))
    except RuntimeError as error:
        return "refused", torch.rand(3)
    return torch.rand(3)


def state_refused_behind_draws(x):
    a = torch.rand(2)
    OWN.manual_seed(3)
    try:
        torch.set_rng_state(torch.zeros(5056, dtype=torch.uint8))
    except RuntimeError:
        return a, torch.rand(3), torch.rand(2, generator=OWN)


def state_refused_for_good(x):
    a = torch.rand(2)
    try:
        torch.set_rng_state(torch.zeros(5056, dtype=torch.uint8))
    except RuntimeError:
        raise ValueError("refused") from None


def fails_behind_draws(x):
    """The graph raises, and the frame runs again."""
    a, b = torch.rand(2), torch.rand(2, generator=OWN)
    try:
        return a, b, x[torch.tensor([5])]
    except IndexError:
        return a, b, torch.rand(2)


def state_too_short(x):
    try:
        torch.set_rng_state(torch.zeros(3, dtype=torch.uint8))
    except (RuntimeError, TypeError) as error:
        return str(error), torch.rand(3)


def own(x):
    return x + torch.rand(3, generator=OWN), torch.rand(3), torch.randn(3, generator=OWN)


def own_in_place(x):
    y = torch.empty(4).normal_(0, 2, generator=OWN)
    return y.uniform_(-1, 1, generator=OWN), torch.randperm(5, generator=OWN), torch.multinomial(torch.ones(4), 2, generator=OWN)


def own_for_weights(x):
    w = torch.empty(2, 3)
    nn.init.kaiming_uniform_(w, generator=OWN)
    nn.init.trunc_normal_(w, generator=OWN)
    return w


def own_seeded(x):
    again = OWN.manual_seed(4)
    return again is OWN, torch.rand(2, generator=OWN), torch.rand(2, generator=again)


def own_state(x):
    state = OWN.get_state()
    first = torch.rand(2, generator=OWN)
    OWN.set_state(state)
    return first, torch.rand(2, generator=OWN), OWN.device.type


def made(x):
    generator = torch.Generator()
    generator.manual_seed(4)
    return x + torch.randn(3, generator=generator), generator


def made_and_dropped(x):
    return torch.rand(3, generator=torch.Generator().manual_seed(2))


def made_of_another(x):
    twin = OWN.clone_state()
    return torch.rand(3, generator=twin), torch.rand(3, generator=OWN), twin


def made_and_broken(x):
    generator = torch.Generator(device="cpu").manual_seed(4)
    a = torch.rand(3, generator=generator)
    frameloom_break()
    return a, torch.rand(3, generator=generator)


def told_apart(x):
    other = torch.Generator()
    return other is OWN, other == other, isinstance(other, torch.Generator), type(OWN) is torch.Generator, OWN is torch.default_generator


def seed_asked(x):
    return OWN.initial_seed(), torch.initial_seed()


def drawn_and_differentiated(x):
    w = x.clone().requires_grad_()
    torch.manual_seed(2)
    y = (w * torch.rand(3)).sum()
    torch.manual_seed(2)
    (g,) = torch.autograd.grad(y, w)
    return g, torch.rand(3), g


def with_python(x):
    a = random.random()
    torch.manual_seed(5)
    b = random.random()
    return x * a + torch.rand(3) * b


def in_checkpoint(x):
    def body(t):
        torch.manual_seed(1)
        return t * torch.rand(3)

    return checkpoint(body, x, use_reentrant=False)


def own_in_checkpoint(x):
    return checkpoint(lambda t: t * torch.rand(3, generator=OWN), x, use_reentrant=False)


def raises_behind(x):
    a = torch.rand(3)
    torch.manual_seed(6)
    raise ValueError(str(a.shape))


FUNCTIONS = [function for name, function in list(globals().items()) if callable(function) and getattr(function, "__code__", None) is not None
             and function.__code__.co_varnames[:1] == ("x",) and function.__code__.co_argcount == 1]


def leaves(found: Any) -> Any:
    if isinstance(found, torch.Tensor):
        return found.detach().tolist(), found.dtype, found.requires_grad
    if isinstance(found, torch.Generator):
        return found.get_state().tolist()
    return tuple(map(leaves, found)) if isinstance(found, tuple) else found


def outcomes(function: Callable) -> list:
    """What three calls give, and what all generators go on from after each."""
    shown = []
    random.seed(1)
    torch.manual_seed(1)
    OWN.manual_seed(1)
    for number in range(3):
        try:
            shown.append(leaves(function(torch.arange(3.0) + number)))
        except ValueError as error:
            shown.append(str(error))
        shown += [torch.get_rng_state().tolist(), OWN.get_state().tolist(), random.random()]
    return shown


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_generators(function, backend):
    frameloom.reset()
    compiled = frameloom.compile(function, backend=backend)
    assert outcomes(compiled) == outcomes(function)
    assert frameloom.stats().eager.keys() <= {"FL912"}


WHOLE = (
    seeded_first, seeded_between, seeded_twice, seeded_by_what_it_gives, seed_negative, forked, forked_in_forked, forked_not, forked_and_raised,
    state_kept, state_given_out, state_written, state_of_before, own, own_in_place, own_seeded, own_state, made,
    made_and_dropped, made_of_another, told_apart, drawn_and_differentiated, with_python,
)


@pytest.mark.parametrize("function", WHOLE, ids=lambda function: function.__name__)
def test_whole(function):
    frameloom.reset()
    outcomes(frameloom.compile(function, backend="eager"))
    assert not frameloom.stats().breaks
    assert frameloom.stats().entries == 1


def test_seed_before_all_is_no_part_of_the_graph():
    """Backends that trace a graph again would seed while they compile only."""
    frameloom.reset()
    outcomes(frameloom.compile(seeded_first, backend="aot_eager"))
    assert not frameloom.stats().breaks


@pytest.mark.parametrize("backend", BACKENDS)
def test_seed_that_varies(backend):
    frameloom.reset()

    def noise(x, seed):
        y = x * torch.rand(3)
        torch.manual_seed(seed + 1)
        return y + torch.rand(3)

    def run(function):
        torch.manual_seed(0)
        return [leaves(function(torch.ones(3), seed)) for seed in (3, 4, 5, 6, 2**40, -1)], torch.get_rng_state().tolist()

    assert run(frameloom.compile(noise, backend=backend)) == run(noise)
    assert frameloom.stats().entries < 6


@pytest.mark.parametrize("backend", BACKENDS)
def test_generator_as_an_argument(backend):
    frameloom.reset()

    def noise(x, generator):
        return x + torch.rand(3, generator=generator)

    def run(function):
        torch.manual_seed(0)
        one, other = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
        return [leaves(function(torch.ones(3), g)) for g in (one, other, one, None, torch.default_generator, one)]

    assert run(frameloom.compile(noise, backend=backend)) == run(noise)


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_names_of_one_generator(backend):
    frameloom.reset()

    def noise(one, other):
        torch.manual_seed(3)
        a = torch.rand(2, generator=one)
        other.manual_seed(8)
        return a, torch.rand(2, generator=one), one is other

    def run(function):
        one, other = torch.Generator(), torch.Generator()
        return [leaves(function(*pair)) for pair in ((one, other), (one, one), (other, one), (other, other))]

    assert run(frameloom.compile(noise, backend=backend)) == run(noise)


def test_backend_that_runs_the_graph_to_see():
    """Capturing draws nothing, whatever the backend tries."""
    frameloom.reset()

    def backend(module, examples):
        module(*examples)
        return module

    assert outcomes(frameloom.compile(own_state, backend=backend)) == outcomes(own_state)
    assert outcomes(frameloom.compile(seeded_between, backend=backend)) == outcomes(seeded_between)


def test_seeds_where_torch_compile_was_there_first():
    """It puts a closure around `torch.manual_seed` that it puts around much else too."""
    program = """
import torch, torch._dynamo
import frameloom

def f(x, w):
    torch.manual_seed(3)
    return (x * torch.rand(3) * w).sum()

def step(x, optimizer, w):
    optimizer.zero_grad()
    return f(x, w)

w = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([w], 0.1)
compiled = frameloom.compile(step, backend="eager", fullgraph=True)
assert compiled(torch.ones(3), optimizer, w).item() == step(torch.ones(3), optimizer, w).item()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
