"""Shapes, views, strides, and results that are their own argument."""
import torch

from tests.pytorch.programs.program import floats, one, program, two


@program()
def view_and_reshape(x):
    return x.view(-1), x.reshape(3, -1), x.flatten(), x.unflatten(0, (2, -1))


@program()
def transposes(x):
    return x.t(), x.T, x.mT, x.transpose(0, 1), x.permute(1, 0), x.movedim(0, 1)


@program()
def squeezes(x):
    return x.unsqueeze(0), x.unsqueeze(-1).squeeze(), x[None].squeeze(0), x.squeeze()


@program()
def expands(x):
    return x.expand(2, -1, -1), x[:1].expand_as(x), x.repeat(2, 1), torch.broadcast_to(x[0], x.shape)


@program()
def contiguous_returns_its_argument(x):
    return x.contiguous() is x, x.contiguous(), x.t().contiguous()


@program()
def to_returns_its_argument(x):
    return x.to(torch.float32) is x, x.to(x.dtype) is x, x.to("cpu") is x, x.float()


@program()
def result_is_an_argument(x):
    return x


@program()
def result_is_a_view_of_an_argument(x):
    return x[0], x.view(-1), x.detach()


@program()
def one_result_twice(x):
    y = x + 1
    return y, y, [y], {"again": y}


@program()
def results_share_a_storage(x):
    y = x + 1
    return y, y[0], y.t()


@program()
def chunk_split_unbind(x):
    first, second = x.chunk(2)
    parts = x.split([1, 2], dim=1)
    rows = x.unbind(0)
    return first, second, parts, rows[0], torch.tensor_split(x, 2)


@program(two)
def joined(x, y):
    return torch.cat([x, y]), torch.cat((x, y), dim=-1), torch.stack([x, y], 1), torch.hstack([x, y])


@program(graphs=None)
def as_strided(x):
    return x.as_strided((2, 2), (3, 1)), x.stride(), x.storage_offset(), x[1:].storage_offset()


@program()
def strides_of_results(x):
    y = x.t() + 1
    return y.stride(), y.is_contiguous(), y


@program(lambda: (floats(2, 3, 4, 4),))
def channels_last(x):
    y = x.to(memory_format=torch.channels_last)
    return y.stride(), y, y.is_contiguous(memory_format=torch.channels_last)


@program()
def other_views(x):
    return x.diagonal(), x.narrow(0, 1, 2), x.select(1, 0), x.unfold(0, 2, 1), x.view(torch.int32)


@program(one)
def rolled_and_flipped(x):
    return x.roll(1, 0), x.flip(0), torch.rot90(x), x.tril(), torch.meshgrid(x[0], x[1], indexing="ij")
