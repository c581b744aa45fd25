"""What a tensor says of itself, and what it is told to be."""
import torch

from tests.pytorch.programs.program import floats, program, two, whole_numbers


@program(graphs=None)
def facts(x):
    return x.dtype, x.device, x.shape, x.ndim, x.requires_grad, x.layout, x.is_sparse, x.itemsize, x.is_floating_point()


@program()
def sizes(x):
    batch, width = x.shape
    return x.size(), x.size(0), x.numel(), len(x), batch * width, x.shape[-1], x.dim(), (x + 1).shape


@program()
def size_arithmetic(x):
    half = x.shape[0] // 2
    return x.reshape(2, half, -1) if x.shape[0] % 2 == 0 else x, x.new_zeros(x.shape[0] + 1), torch.Size([half, 2])


@program()
def slices_of_a_shape(x):
    return x.view(*x.shape[:-1], x.shape[-1], 1), x.shape[1:] + (1,), list(x.shape)


@program()
def branch_on_a_shape(x):
    if x.shape[0] > 4:
        return x.sum(0)
    return x.mean(0) if x.ndim == 2 else x


@program()
def branch_on_a_dtype(x):
    if x.dtype == torch.float64:
        return x * 2
    return x.double() if x.is_floating_point() else x


@program()
def branch_on_requires_grad(x):
    return x * 2 if x.requires_grad else x + 2


@program()
def branch_on_contiguity(x):
    return x.view(-1) * 2 if x.is_contiguous() else x.reshape(-1) + 2


@program(two)
def conversions(x, y):
    return x.double(), x.to(torch.int64), x.half(), y.type_as(x), x.bool(), x.to(y), x.type(torch.int32)


@program()
def converted_by_name(x):
    return x.to(dtype=torch.float64, copy=True), x.to("cpu", torch.float16), x.type("torch.DoubleTensor")


@program(graphs=None)
def facts_of_dtypes(x):
    return torch.finfo(x.dtype).max, torch.iinfo(torch.int32).min, x.dtype.is_floating_point, torch.get_default_dtype()


@program()
def masked_by_the_least_float(x):
    return x.masked_fill(x > 0, torch.finfo(x.dtype).min)


@program()
def python_attribute(x):
    y = x + 1
    y.tag = "fresh"
    return y, y.tag, hasattr(x, "tag")


@program()
def python_attribute_of_an_argument(x):
    x.seen = getattr(x, "seen", 0) + 1
    return x * x.seen


@program(graphs=None)
def kinds(x):
    return isinstance(x, torch.Tensor), isinstance(x, torch.nn.Parameter), torch.is_tensor(x), type(x), type(x + 1)


@program(lambda: (torch.nn.Parameter(floats(3)), floats(3)), lambda: (floats(3), torch.nn.Parameter(floats(3))))
def parameter_or_tensor(x, y):
    return x * 2 if isinstance(x, torch.nn.Parameter) else x - y


@program(lambda: (whole_numbers(3), 7), lambda: (floats(3), 7))
def filled_like(x, value):
    return x.new_full((2,), value), torch.full_like(x, value), x.new_tensor([1, 2]), x.new_empty(0)


@program(two)
def same_object(x, y):
    return x is y, x is x, x + 1 if x is y else x + 2, x in [x], id(x) == id(y)


@program(lambda: (None, floats(3)), lambda: (floats(3), floats(3)))
def optional_argument(x, y):
    return y if x is None else x + y
