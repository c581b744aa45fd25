"""Numbers that NumPy draws one by one: eager's, with what the generators go on from."""
from __future__ import annotations

import random

import numpy
import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch

OWN = numpy.random.RandomState(5)
NEW = numpy.random.default_rng(5)


def scaled(x):
    return x * numpy.random.rand()


def several(x):
    return x * numpy.random.uniform(-1, 1) + numpy.random.normal(0.0, scale=2.0), numpy.random.randint(0, 9), numpy.random.beta(0.4, 0.4)


def own(x):
    return x + OWN.random_sample() + OWN.randn(), OWN.poisson(3.0), numpy.random.random()


def new(x):
    return x + NEW.random() * NEW.standard_normal(), NEW.uniform(2, 3)


def seeded(x):
    first = numpy.random.rand()
    numpy.random.seed(3)
    return x * numpy.random.rand() - first, random.random()


def mixed(x):
    lam = numpy.random.beta(1.0, 1.0)
    return lam * x + (1 - lam) * x.flip(0)


def cropped(x):
    start = numpy.random.randint(0, 2)
    return x[start : start + 2]


def with_python(x):
    a = random.random()
    b = numpy.random.rand()
    return x * a + b * random.random()


def unused(x):
    numpy.random.rand()
    return x + 1


def branched(x):
    return x.sin() if numpy.random.rand() < 0.5 else x.cos()


def an_array(x):
    return x + torch.from_numpy(numpy.random.rand(3))


def a_scalar_of_numpy(x):
    return x + int(NEW.integers(0, 9))


def shuffled(x):
    order = [0, 1, 2]
    numpy.random.shuffle(order)
    return x[order], numpy.random.permutation(3).tolist()


def chosen(x):
    return x * numpy.random.choice([1.0, 2.0, 3.0]), numpy.random.choice(5)


def refused(x):
    try:
        return x * numpy.random.normal(0, -1)
    except ValueError as error:
        return str(error), numpy.random.rand()


def badly_seeded(x):
    try:
        numpy.random.seed(-1)
    except ValueError as error:
        return str(error), numpy.random.rand()


def state_kept(x):
    state = numpy.random.get_state()
    a = numpy.random.rand()
    numpy.random.set_state(state)
    return x * a, numpy.random.rand()


WHOLE = (scaled, several, own, new, seeded, mixed, with_python, unused)
FUNCTIONS = (*WHOLE, cropped, branched, an_array, a_scalar_of_numpy, shuffled, chosen, refused, badly_seeded, state_kept)


def outcome(function):
    """What five calls give, and what generators go on from."""
    random.seed(1), numpy.random.seed(1), OWN.seed(1)
    NEW.bit_generator.state = numpy.random.default_rng(1).bit_generator.state
    shown = []
    for _ in range(5):
        found = function(torch.arange(3.0))
        parts = found if isinstance(found, tuple) else (found,)
        shown.append([(type(part), part.tolist() if isinstance(part, torch.Tensor) else part) for part in parts])
    return shown, numpy.random.rand(), OWN.rand(), NEW.random(), random.random()


@pytest.mark.parametrize("backend", ("eager", "aot_eager"))
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_draws(function, backend):
    frameloom.reset()
    assert outcome(frameloom.compile(function, backend=backend)) == outcome(function)
    assert not frameloom.stats().eager


@pytest.mark.parametrize("function", WHOLE, ids=lambda function: function.__name__)
def test_whole(function):
    frameloom.reset()
    outcome(frameloom.compile(function, backend="eager"))
    assert not frameloom.stats().breaks
    assert frameloom.stats().entries == 1
