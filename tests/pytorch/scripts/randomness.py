"""Generators and seeds of torch, Python and NumPy; dropout."""
from __future__ import annotations

import random

import numpy
import torch
from torch import nn
from torch.nn import functional as F

from tests.pytorch.scripts.row import Wrap, called, row, trained

GROUP = "randomness"


@called(GROUP, grad=True)
def dropout(x):
    return F.dropout(x, 0.3)


@row(GROUP)
def dropout_in_training(wrap: Wrap):
    return trained(wrap, nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1)))


@called(GROUP)
def several_draws(x):
    return x + torch.rand(3), torch.randn_like(x), torch.randint(0, 9, (3,)), torch.bernoulli(x.sigmoid()), torch.randperm(4)


@called(GROUP)
def manual_seed(x):
    torch.manual_seed(7)
    return x + torch.rand(3)


@called(GROUP)
def forked(x):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        noise = torch.rand(3)
    return x + noise, torch.rand(2)


@row(GROUP)
def own_generator(wrap: Wrap):
    generator = torch.Generator().manual_seed(5)

    @wrap
    def f(x):
        return x + torch.rand(3, generator=generator)

    return [f(torch.zeros(3)) for _ in range(3)], generator.get_state()


@called(GROUP)
def generator_made_inside(x):
    generator = torch.Generator()
    generator.manual_seed(4)
    return x + torch.randn(3, generator=generator)


@called(GROUP)
def state_kept_and_set(x):
    state = torch.get_rng_state()
    first = torch.rand(3)
    torch.set_rng_state(state)
    return x + first, torch.rand(3)


@called(GROUP)
def random_of_python(x):
    return x * random.random() if random.random() < 2 else x, random.randint(0, 9)


@called(GROUP)
def seed_of_python(x):
    random.seed(3)
    return x * random.random()


@called(GROUP)
def random_of_numpy(x):
    return x * float(numpy.random.rand())


@row(GROUP)
def generator_passed_in(wrap: Wrap):
    @wrap
    def f(x, generator):
        return x + torch.randn(3, generator=generator), torch.rand(3)

    generators = [torch.Generator().manual_seed(seed) for seed in (1, 2, 1)]
    return [f(torch.zeros(3), g) for g in generators], [g.get_state() for g in generators]


@row(GROUP)
def seed_that_varies(wrap: Wrap):
    @wrap
    def f(x, step):
        torch.manual_seed(100 + step)
        return x + torch.rand(3)

    return [f(torch.zeros(3), step) for step in range(5)]


@called(GROUP)
def weights_by_own_generator(x):
    generator = torch.Generator().manual_seed(3)
    return nn.init.xavier_normal_(torch.empty(2, 3), generator=generator), torch.randperm(4, generator=generator)


@called(GROUP)
def seeds_of_all(x):
    random.seed(3)
    numpy.random.seed(4)
    torch.manual_seed(5)
    return x * random.random() + numpy.random.rand() + torch.rand(3)


@row(GROUP)
def new_generator_of_numpy(wrap: Wrap):
    generator = numpy.random.default_rng(7)

    @wrap
    def f(x):
        return x * generator.random() + generator.normal(0.0, 0.1)

    return [f(torch.ones(3)) for _ in range(3)], generator.random()


@called(GROUP)
def shuffled_by_python(x):
    order = [0, 1, 2]
    random.shuffle(order)
    return x[:, order]


@called(GROUP)
def array_of_numpy(x):
    return x + torch.from_numpy(numpy.random.rand(3))


@called(GROUP)
def filled_at_random(x):
    y = torch.empty_like(x).normal_(0, 2)
    return y.uniform_(-1, 1) + nn.init.kaiming_uniform_(torch.empty(2, 3))


@called(GROUP)
def stochastic_depth(x):
    for layer in range(3):
        if random.random() > 0.5:
            x = x.sin()
    return x


@called(GROUP, grad=True)
def mixup(x):
    weight = torch.distributions.Beta(0.4, 0.4).sample()
    order = torch.randperm(x.shape[0])
    return weight * x + (1 - weight) * x[order]


@called(GROUP, grad=True)
def reparameterised(x):
    return torch.distributions.Normal(x, 1.0).rsample()


@called(GROUP)
def categorical(x):
    return torch.distributions.Categorical(logits=x).sample()


@called(GROUP)
def gumbel(x):
    return F.gumbel_softmax(x, tau=0.5, hard=True)
