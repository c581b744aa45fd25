"""Tensors made inside."""
import torch

from tests.pytorch.programs.program import fresh, program


@program()
def zeros_ones_full(x):
    return x + torch.zeros(3) + torch.ones(3) * torch.full((3,), 2.0), torch.empty(2, 0), torch.eye(3)


@program()
def ranges(x):
    return torch.arange(x.shape[1]) + x, torch.arange(1, 9, 2), torch.linspace(0, 1, 5), torch.arange(3.0)


@program()
def from_data(x):
    return torch.tensor([1.0, 2.0, 3.0]) + x, torch.tensor(3), torch.tensor([[True]]), torch.as_tensor([1, 2])


@program()
def from_sizes(x):
    return torch.tensor(x.shape), torch.tensor([x.shape[0], 2]), torch.ones(x.shape[::-1])


@program()
def like_the_argument(x):
    return torch.zeros_like(x), torch.ones_like(x, dtype=torch.int8), x.new_ones(2, 2), torch.empty_like(x).shape


@program(graphs=None)
def with_options(x):
    return torch.zeros(2, dtype=x.dtype, device=x.device), torch.ones(3, requires_grad=True), torch.zeros((2, 3), dtype=torch.int)


@program(graphs=None)
def under_a_device(x):
    with torch.device("cpu"):
        return x + torch.ones(3)


@program(graphs=None)
def on_the_meta_device(x):
    with torch.device("meta"):
        y = torch.ones(3)
    return y, y.shape, x + 1


@fresh()
def default_dtype():
    def run(x):
        return torch.ones(3).dtype, torch.tensor(1.0) + x

    return run


@program()
def causal_mask(x):
    length = x.shape[0]
    mask = torch.full((length, length), float("-inf")).triu(1)
    return mask + torch.ones(length, length).tril() * (torch.arange(length)[None] <= torch.arange(length)[:, None])


@program(graphs=None)
def cached_constant(x):
    cache = {}
    for key in ("a", "b", "a"):
        if key not in cache:
            cache[key] = torch.ones(3) * len(cache)
    return x + cache["a"] + cache["b"], cache
