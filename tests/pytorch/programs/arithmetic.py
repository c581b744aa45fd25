"""Operators, type promotion, Python numbers, keyword and out= arguments."""
import math

import torch

from tests.pytorch.programs.program import floats, one, program, two, whole_numbers


@program(two)
def operators(x, y):
    return (x + y) * (x - y) / (y + 100) ** 2


@program(two)
def comparisons(x, y):
    return x < y, x == y, (x > 0) & (y > 0) | ~(x != y)


@program()
def reflected_operators(x):
    return 1 - x, 2 / (x + 100), 2**x, 3 * x, 7 // (x + 100), 7 % (x + 100)


@program(lambda: (whole_numbers(4, 3),))
def integers(x):
    return x // 2, x % 3, -x, x << 1, x & 1, x / 2


@program(lambda: (whole_numbers(3), floats(3), torch.ones(3, dtype=torch.float64), torch.ones(3, dtype=torch.bool)), graphs=None)
def promotion(i, f, d, b):
    return i + f, f + d, b + i, i * 1.5, b * 2, f + 1j, torch.result_type(i, 1.0)


@program(lambda: (floats(3), 2), lambda: (floats(3), 3), lambda: (floats(3), 2.0), lambda: (floats(3), True))
def python_number_argument(x, n):
    return x * n + n


@program()
def math_module(x):
    return x * math.sqrt(x.shape[-1]) + math.pi


@program(two)
def keyword_arguments(x, y):
    return torch.add(input=x, other=y, alpha=2), torch.sum(x, dim=1, keepdim=True), x.mean(dim=-1)


@program(two)
def out_argument(x, y):
    result = torch.empty_like(x)
    returned = torch.add(x, y, out=result)
    return result, returned is result


@program(lambda: (floats(4, 3), torch.empty(0)), graphs=None)
def out_argument_of_the_caller(x, out):
    torch.mul(x, 2, out=out)
    return out.sum()


@program(lambda: (floats(2, 3), floats(3, 4)))
def matrix_product(x, y):
    return x @ y, torch.einsum("ij,jk->ki", x, y), torch.matmul(x, y)


@program(lambda: (floats(2, 3, 4), floats(2, 4, 5)))
def einsum_with_a_batch(x, y):
    return torch.einsum("bij,bjk->bik", x, y), torch.einsum("b...->...", x)


@program()
def reductions(x):
    return x.sum(), x.mean(0), x.std(), x.amax(dim=1), x.prod(), x.norm(), x.argmax(), x.cumsum(0)


@program()
def where(x):
    return torch.where(x > 0, x, torch.zeros_like(x)), torch.where(x > 0, 1.0, x), x.masked_fill(x < 0, -1.0)


@program()
def clamp_and_friends(x):
    return x.clamp(-1, 1), x.clamp(min=0), torch.relu(x), x.abs().sqrt(), x.sign(), x.round(decimals=1)


@program(one)
def chained_methods(x):
    return x.float().mul(2).add(1).neg().exp().log1p()


@program(two)
def unpacked_arguments(x, y):
    pair, names = [x, y], {"alpha": 3}
    return torch.add(*pair, **names)


@program()
def operator_of_a_name(x):
    return getattr(torch, "tanh")(x) + getattr(x, "sin")()


@program(two)
def sums_of_a_list(x, y):
    return sum([x, y, x * y])


@program(two)
def augmented_assignment_of_a_name(x, y):
    z = x
    z = z + y
    z += 1
    return z


@program()
def complex_numbers(x):
    z = torch.complex(x, x + 1)
    return z.real, z.imag, z.conj(), z.abs(), torch.view_as_real(z)
