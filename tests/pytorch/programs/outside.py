"""What may break the graph, but must not change the answer."""
import numpy
import torch

from tests.pytorch.programs.program import floats, fresh, program, two


@program(graphs=None)
def to_numpy_and_back(x):
    array = x.detach().numpy()
    return torch.from_numpy(array * 2) + x, array.sum(), array.shape


@program(lambda: (numpy.arange(3.0, dtype="float32"),), graphs=None)
def array_argument(array):
    return torch.from_numpy(array) + 1, numpy.sqrt(array)


@program(graphs=None)
def numpy_alias(x):
    y = x.detach().clone()
    array = y.numpy()
    array += 1
    return y


@program(lambda: (floats(3), numpy.float32(2)), graphs=None)
def numpy_scalar(x, scale):
    return x * scale


class Tagged(torch.Tensor):
    pass


@program(lambda: (floats(3).as_subclass(Tagged),), graphs=None)
def subclass_argument(x):
    return x + 1, type(x * 2), x.sum()


class Recorded(torch.Tensor):
    calls: list = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.calls.append(getattr(function, "__name__", "?"))
        return super().__torch_function__(function, types, args, kwargs or {})


@program(lambda: (floats(3).as_subclass(Recorded),), graphs=None)
def subclass_with_a_torch_function(x):
    before = len(Recorded.calls)
    y = torch.add(x, 1) * 2
    return y, len(Recorded.calls) > before


@program(lambda: (floats(3, 4), floats(4, 2)), graphs=None)
def autocast(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = x @ y
    return z, z.dtype, x @ y


@program(two, graphs=None)
def vmap(x, y):
    return torch.vmap(torch.dot)(x, y)


@program(graphs=None)
def functional_gradient(x):
    return torch.func.grad(lambda t: (t**2).sum())(x.detach())


@program(two, graphs=None)
def jacobian(x, y):
    return torch.func.jacrev(lambda t: t * y.detach())(x.detach())


@program(lambda: (floats(4, 3).to_sparse(),), graphs=None)
def sparse_argument(x):
    return x.to_dense() + 1, x.coalesce().values()


@program(graphs=None)
def sparse_made_inside(x):
    return x.detach().to_sparse().to_dense() * 2


@program(graphs=None)
def double_dispatch(x):
    class Scale:
        def __radd__(self, other):
            return other * 3

        def __rmul__(self, other):
            return other * 5

    return x + Scale(), x * Scale()


@fresh(graphs=None)
def torch_function_mode():
    class Negated(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            return -result if function is torch.sin else result

    def run(x):
        with Negated():
            return torch.sin(x), torch.cos(x)

    return run


@program(lambda: (torch.quantize_per_tensor(floats(3), 0.1, 10, torch.quint8),), graphs=None)
def quantised_argument(x):
    return x.dequantize() * 2


@program(lambda: (torch.complex(floats(3), floats(3)).conj(),), graphs=None)
def conjugated_argument(x):
    return x * 2, x.is_conj(), x.resolve_conj()


@program(graphs=None)
def saved_and_loaded(x):
    import io

    stream = io.BytesIO()
    torch.save(x.detach(), stream)
    stream.seek(0)
    return torch.load(stream) + 1


@program(graphs=None)
def exec_and_eval(x):
    scope = {"x": x}
    exec("y = x + 1", scope)
    return eval("y * 2", scope)


@program(graphs=None)
def storage_and_pointers(x):
    return x.data_ptr() == x[0:].data_ptr(), (x + 1).untyped_storage().nbytes()
