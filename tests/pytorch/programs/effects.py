"""Output, warnings, random numbers and clocks: what happens besides the result."""
import logging
import random
import warnings

import torch

from tests.pytorch.programs.program import floats, fresh, program

log = logging.getLogger(__name__)


@program(graphs=None)
def printed(x):
    y = x + 1
    print("shape", y.shape, 3)
    return y * 2


@program(graphs=None)
def tensor_printed(x):
    print(x + 1)
    return x * 2


@program(graphs=None)
def formatted(x):
    return f"{x.shape} {x.dtype} {x.sum():.2f}", str(x.ndim)


@program(graphs=None)
def warned(x):
    warnings.warn("once or always", UserWarning, stacklevel=2)
    return x + 1


@program(graphs=None)
def logged(x):
    log.debug("not shown %s", x.shape)
    return x + 1


@program()
def normal_numbers(x):
    return x + torch.randn(3), torch.rand(2), torch.randint(0, 9, (3,)), torch.randperm(4)


@program()
def like_random(x):
    return torch.rand_like(x), torch.bernoulli(torch.full((4,), 0.5)), torch.empty(3).normal_(), torch.empty(3).uniform_()


@program(graphs=None)
def seeded_inside(x):
    torch.manual_seed(7)
    return x + torch.rand(3)


@program(graphs=None)
def own_generator(x):
    generator = torch.Generator().manual_seed(3)
    return x + torch.rand(3, generator=generator)


@program(lambda: (floats(3), torch.Generator().manual_seed(5)), graphs=None)
def generator_argument(x, generator):
    return x + torch.rand(3, generator=generator), torch.rand(2, generator=generator)


@program()
def functional_dropout(x):
    return torch.nn.functional.dropout(x, 0.5, training=True), torch.nn.functional.dropout(x, 0.5, training=False)


@program(graphs=None)
def python_random_numbers(x):
    return x * random.random() + random.randint(0, 5), random.choice([1, 2, 3])


@program(graphs=None)
def random_state_restored(x):
    state = torch.get_rng_state()
    first = torch.rand(2)
    torch.set_rng_state(state)
    return x + 1, first, torch.rand(2)


@fresh(graphs=None)
def memory_of_calls():
    seen = []

    def run(x):
        seen.append(x.shape[0])
        return x * len(seen), list(seen)

    return run


@fresh(graphs=None)
def input_kept_for_later():
    kept = {}

    def run(x):
        previous = kept.get("x", x)
        kept["x"] = x + 1
        return x + previous.sum()

    return run
