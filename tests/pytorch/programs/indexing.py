"""Reading items."""
import torch

from tests.pytorch.programs.program import floats, program, whole_numbers


@program()
def integers_and_slices(x):
    return x[0], x[-1], x[1:], x[:-1], x[::2], x[1, 2], x[1:3, 0]


@program(lambda: (floats(2, 3, 4),))
def none_and_ellipsis(x):
    return x[None], x[..., 0], x[:, None, ..., -1], x[..., None], x[...]


@program()
def lists_and_tensors(x):
    return x[[0, 2]], x[torch.tensor([1, 0])], x[:, [0, 1]], x[torch.tensor([0, 1]), torch.tensor([1, 2])]


@program(graphs=None)
def boolean_mask(x):
    return x[x > 0]


@program()
def boolean_mask_of_numbers(x):
    return x[[True, False, True, False][: x.shape[0]]] if x.shape[0] == 4 else x


@program(lambda: (floats(4, 3), 1), lambda: (floats(4, 3), 2), lambda: (floats(4, 3), -1))
def index_argument(x, index):
    return x[index] * 2


@program(lambda: (floats(4, 3), slice(1, 3)), lambda: (floats(4, 3), slice(None, 2)))
def slice_argument(x, part):
    return x[part].sum()


@program(lambda: (floats(10, 3), whole_numbers(4)))
def gathered(x, index):
    return x[index], x.index_select(0, index), x.gather(0, index[:, None]), torch.take(x, index)


@program()
def iterated(x):
    total = 0
    for row in x:
        total = total + row
    return total


@program()
def unpacked(x):
    first, *rest = x
    return first, rest, len(x)


@program()
def enumerated_and_zipped(x):
    return [row * number for number, row in enumerate(x)], [a + b for a, b in zip(x, x.flip(0))]


@program(graphs=None)
def index_by_a_tensor_of_no_dimensions(x):
    return x[torch.tensor(1)], x[x.argmax() % x.shape[0]]


@program(lambda: (floats(4, 3), whole_numbers(4, 3)))
def one_hot_and_take_along(x, index):
    return torch.nn.functional.one_hot(index, 12), torch.take_along_dim(x, index % 3, 1)


@program()
def out_of_range(x):
    return (x + 1)[100]
