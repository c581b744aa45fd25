"""nn.Module in its many shapes."""
import torch
from torch import nn
from torch.nn import functional

from tests.pytorch.programs.program import floats, fresh, one, whole_numbers


def seeded(make):
    """`make()` with weights that are the same in every run."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make()


@fresh()
def linear():
    return seeded(lambda: nn.Linear(3, 5))


@fresh()
def sequential():
    return seeded(lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4), nn.Linear(4, 2)).eval())


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))
        self.named = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Identity()})
        self.weights = nn.ParameterList(nn.Parameter(torch.ones(3)) for _ in range(2))

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            x = layer(x) * (number + 1)
        for name, layer in self.named.items():
            x = layer(x) + len(name)
        return self.layers[-1](x) * self.weights[0] + sum(self.weights) + len(self.layers)


@fresh()
def module_lists_and_dicts():
    return seeded(Lists)


class Buffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.full((3,), 2.0))
        self.register_buffer("count", torch.zeros(()), persistent=False)
        self.register_buffer("missing", None)
        self.plain = torch.ones(3)

    def forward(self, x):
        self.count += 1
        return x * self.scale + self.plain * self.count + (0 if self.missing is None else 1)


@fresh()
def buffers():
    return Buffers()


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.history = 0, []

    def forward(self, x):
        self.step += 1
        self.history.append(self.step)
        self.last = x.sum()
        return x * self.step


@fresh(graphs=None)
def attributes_written_in_forward():
    return Counter()


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.seen = []

    def forward(self, x):
        return self.inner(x)


@fresh()
def forward_hooks():
    module = seeded(Hooked)
    module.inner.register_forward_pre_hook(lambda inner, args: (args[0] * 2,))
    module.inner.register_forward_hook(lambda inner, args, output: output + args[0].sum())
    module.register_forward_hook(lambda outer, args, kwargs, output: outer.seen.append(output.shape), with_kwargs=True)
    return module


@fresh(graphs=None)
def hook_that_returns_another_type():
    module = seeded(Hooked)
    module.register_forward_hook(lambda outer, args, output: {"output": output})
    return module


@fresh(graphs=None)
def backward_hooks():
    module = seeded(Hooked)
    module.inner.register_full_backward_hook(lambda inner, grads_in, grads_out: module.seen.append(len(grads_out)))
    return module


class Block(nn.Module):
    scale = 0.5

    def __init__(self, width=3, *, activation=functional.gelu):
        super().__init__()
        self.project, self.activation = nn.Linear(width, width), activation

    def extra(self, x, *, bias=1.0):
        return x * self.scale + bias

    @property
    def width(self):
        return self.project.out_features

    @staticmethod
    def double(x):
        return x * 2

    def forward(self, x, *, residual=True):
        y = self.double(self.extra(self.activation(self.project(x)), bias=self.width))
        return x + y if residual else y


@fresh()
def methods_properties_and_defaults():
    return seeded(Block)


@fresh()
def inherited_forward():
    class Deep(Block):
        scale = 2.0

        def forward(self, x):
            return super().forward(x, residual=False) + super().width

    return seeded(Deep)


@fresh()
def shared_weights():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 3)
            self.b = nn.Linear(3, 3)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x)), self.a.weight is self.b.weight

    return seeded(Tied)


@fresh(lambda: (whole_numbers(2, 4),))
def embedding():
    return seeded(lambda: nn.Embedding(16, 3))


@fresh(lambda: (floats(2, 3, 8, 8),))
def convolution():
    return seeded(lambda: nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.MaxPool2d(2), nn.Flatten()))


@fresh(lambda: (floats(4, 3),))
def batch_norm_in_train_mode():
    return nn.BatchNorm1d(3).train()


@fresh()
def batch_norm_in_eval_mode():
    return nn.BatchNorm1d(3).eval()


@fresh()
def dropout_in_eval_mode():
    return nn.Dropout(0.5).eval()


@fresh()
def dropout_in_train_mode():
    return nn.Sequential(nn.Dropout(0.5), nn.ReLU()).train()


@fresh(lambda: (floats(2, 5, 8),), graphs=None)
def attention_module():
    attention = seeded(lambda: nn.MultiheadAttention(8, 2, batch_first=True))
    return lambda x: attention(x, x, x)


@fresh(lambda: (floats(2, 5, 3),), graphs=None)
def recurrent_module():
    return seeded(lambda: nn.LSTM(3, 4, batch_first=True))


@fresh(lambda: (floats(4, 3), whole_numbers(4) % 3))
def loss_module():
    loss = nn.CrossEntropyLoss(label_smoothing=0.1)
    return lambda x, target: loss(x, target) + functional.mse_loss(x, x * 2)


@fresh()
def module_as_an_argument_of_a_function():
    block = seeded(Block)

    def apply_twice(module, x):
        return module(module(x))

    return lambda x: apply_twice(block, x)


@fresh()
def training_flag():
    module = seeded(lambda: nn.Sequential(nn.Linear(3, 3)))

    def run(x):
        return module(x) + 1 if module.training else module(x)

    return run


@fresh(graphs=None)
def parameters_iterated():
    module = seeded(Lists)
    return lambda x: (x.sum() + sum(p.sum() for p in module.parameters()), [name for name, _ in module.named_parameters()],
                      len(list(module.modules())), list(module.state_dict()))  # fmt: skip


@fresh()
def getattr_of_a_module():
    class Forwarding(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

        def forward(self, x):
            return self.inner(x) * self.in_features + self.weight.sum()

    return seeded(Forwarding)


@fresh()
def setattr_of_a_module():
    class Guarded(nn.Module):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if name == "level":
                super().__setattr__("doubled", value * 2)

        def forward(self, x):
            self.level = 3
            return x * self.doubled

    return Guarded()


@fresh(graphs=None)
def parametrised_weight():
    return seeded(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)))


@fresh(one, graphs=None)
def checkpoint():
    from torch.utils.checkpoint import checkpoint

    block = seeded(Block)
    return lambda x: checkpoint(block, x, use_reentrant=False)


@fresh(graphs=None)
def buffer_replaced():
    module = Buffers()

    def run(x):
        module.scale = module.scale * 2
        return module(x)

    return run


@fresh(graphs=None)
def requires_grad_turned_off():
    module = seeded(lambda: nn.Linear(3, 3))
    module.requires_grad_(False)
    return module
