"""Operations in place, also through views and aliases."""
import torch

from tests.pytorch.programs.program import floats, one, program, two


@program()
def add_to_a_fresh_tensor(x):
    y = x * 1
    y.add_(1)
    y *= 2
    return y


@program()
def add_to_an_argument(x):
    x.add_(1)
    return x


@program()
def argument_and_nothing_returned(x):
    x.mul_(2)


@program(two)
def augmented_assignment(x, y):
    x += y
    return x is not y, x * 2


@program(two)
def two_arguments_written(x, y):
    x.add_(y)
    y.mul_(x)
    return x + y


@program()
def through_a_view(x):
    row = x[0]
    row.zero_()
    return x.sum(), row


@program()
def view_made_before_the_write(x):
    flat = x.view(-1)
    x.add_(1)
    return flat * 2


@program()
def order_of_reads_and_writes(x):
    before = x + 0
    x.neg_()
    return before, x + 0


@program(lambda: (lambda base: (base, base[1:]))(floats(4, 3)), two)
def arguments_that_overlap(x, part):
    part.zero_()
    return x + 1


@program()
def set_item(x):
    y = x.clone()
    y[0] = 1
    y[:, 1] = y[:, 0] * 2
    y[-1, ...] += 5
    return y


@program()
def set_item_of_an_argument(x):
    x[0] = x[1]
    return x[0].sum()


@program()
def set_item_by_a_mask(x):
    y = x.clone()
    y[y > 0] = 0.5
    return y


@program()
def set_item_by_indices(x):
    y = x.clone()
    y[torch.tensor([0, 2])] = -1.0
    y[1:3, [0, 1]] = 9.0
    return y


@program()
def copy_and_fill(x):
    y = torch.empty_like(x)
    y.copy_(x)
    y[0].fill_(3)
    return y.zero_() is y, y


@program()
def change_of_shape_in_place(x):
    y = x.clone()
    y.unsqueeze_(0)
    y.transpose_(1, 2)
    return y.shape, y


@program()
def dtype_kept_by_in_place_operations(x):
    y = torch.ones(x.shape, dtype=torch.float64)
    y.add_(x)
    return y


@program(one)
def index_add_and_scatter(x):
    y = torch.zeros_like(x)
    y.index_add_(0, torch.tensor([0, 0]), x[:2])
    return y.scatter_(1, torch.tensor([[0], [1]]), 7.0), y.index_fill(0, torch.tensor([1]), 2.0)


@program()
def clone_is_no_alias(x):
    y = x.clone()
    y.add_(1)
    return x, y


@program()
def detach_is_an_alias(x):
    y = x.detach()
    y.add_(1)
    return y


@program(graphs=None)
def data_of_a_tensor(x):
    x.data.add_(1)
    return x * 2
