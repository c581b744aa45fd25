"""Modules that training scripts are made of, and what is done to their parameters."""
from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, parametrize, stateless

from tests.pytorch.scripts.row import Wrap, called, derive, row, trained

GROUP = "modules"


@row(GROUP)
def batch_norm(wrap: Wrap):
    return trained(wrap, nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))


@row(GROUP)
def train_and_eval(wrap: Wrap):
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))
    called, x = wrap(model), torch.randn(4, 3)
    return [called(x), called.eval()(x), called.train()(x), *model.buffers()]


@row(GROUP)
def weight_norm(wrap: Wrap):
    return trained(wrap, parametrizations.weight_norm(nn.Linear(3, 2)))


@row(GROUP)
def weight_norm_of_old(wrap: Wrap):
    return trained(wrap, nn.utils.weight_norm(nn.Linear(3, 2)))


@row(GROUP)
def spectral_norm(wrap: Wrap):
    return trained(wrap, parametrizations.spectral_norm(nn.Linear(3, 2)))


@row(GROUP)
def spectral_norm_of_old(wrap: Wrap):
    return trained(wrap, nn.utils.spectral_norm(nn.Linear(3, 2)))


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(-1, -2)


@row(GROUP)
def parametrized(wrap: Wrap):
    model = nn.Linear(3, 3)
    parametrize.register_parametrization(model, "weight", Symmetric())
    return trained(wrap, model)


@row(GROUP)
def parametrized_and_cached(wrap: Wrap):
    model = nn.Linear(3, 3)
    parametrize.register_parametrization(model, "weight", Symmetric())
    called = wrap(model)
    with parametrize.cached():
        shown = [called(torch.ones(1, 3)), called(torch.ones(1, 3))]
    return shown


@row(GROUP)
def pruned(wrap: Wrap):
    model = nn.Linear(3, 3)
    nn.utils.prune.l1_unstructured(model, "weight", amount=2)
    return trained(wrap, model)


@row(GROUP)
def lazy(wrap: Wrap):
    model = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(1))
    called = wrap(model)
    shown = [called(torch.ones(2, 3)), called(torch.ones(2, 3))]
    return shown, list(model.parameters())


@row(GROUP)
def lazy_convolution(wrap: Wrap):
    model = nn.Sequential(nn.LazyConv2d(2, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(1))
    called, x = wrap(model), torch.ones(2, 1, 5, 5)
    for _ in range(3):
        called(x).sum().backward()
    return list(model.parameters()), list(model.buffers())


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.embed(torch.arange(4)) + x)


@row(GROUP)
def tied_weights(wrap: Wrap):
    return trained(wrap, Tied())


@row(GROUP)
def data_swapped(wrap: Wrap):
    model = nn.Linear(3, 1)
    called, x = wrap(model), torch.ones(2, 3)
    shown = [called(x)]
    model.weight.data = torch.zeros(1, 3)
    shown.append(called(x))
    model.weight.data = model.weight.data.double()
    model.bias.data = model.bias.data.double()
    return [*shown, called(x.double())]


@row(GROUP)
def data_swapped_inside(wrap: Wrap):
    w = nn.Parameter(torch.arange(3.0))

    @wrap
    def f(x):
        kept = w.data
        w.data = w.data.round() / 2
        y = (x * w).sum()
        w.data = kept
        return y

    f(torch.ones(3)).backward()
    return w, w.grad, f(torch.ones(3))


@row(GROUP)
def data_of_an_average(wrap: Wrap):
    model, average = nn.Linear(3, 1), nn.Linear(3, 1)

    @wrap
    def update():
        for kept, new in zip(average.parameters(), model.parameters()):
            kept.data.mul_(0.9).add_(new.data, alpha=0.1)

    loss = average(torch.ones(2, 3)).square().sum()
    for _ in range(2):
        update()
    loss.backward()
    return [(p.detach(), p.grad, p._version) for p in average.parameters()]


@row(GROUP)
def data_written_behind_the_loss(wrap: Wrap):
    w = nn.Parameter(torch.arange(3.0))

    @wrap
    def f(x):
        loss = (x * w * w).sum()
        w.data.clamp_(max=1)
        return loss

    f(torch.ones(3)).backward()
    return w, w.grad


@row(GROUP)
def data_exchanged(wrap: Wrap):
    one, other = nn.Linear(3, 1), nn.Linear(3, 1)

    @wrap
    def f(x):
        one.weight.data, other.weight.data = other.weight.data, one.weight.data
        return one(x) + other(x) * 2

    for _ in range(2):
        f(torch.ones(2, 3)).sum().backward()
    return [(p, p.grad) for p in (*one.parameters(), *other.parameters())]


@row(GROUP)
def data_read(wrap: Wrap):
    w = nn.Parameter(torch.arange(3.0))

    @wrap
    def f(x):
        return (x * w).sum() + w.data.abs().max()

    f(torch.ones(3)).backward()
    return w.grad


@row(GROUP)
def exponential_average(wrap: Wrap):
    model = nn.Linear(3, 1)
    average = copy.deepcopy(model)

    @wrap
    @torch.no_grad()
    def update():
        for kept, new in zip(average.parameters(), model.parameters()):
            kept.mul_(0.9).add_(new, alpha=0.1)

    for _ in range(3):
        with torch.no_grad():
            model.weight.add_(1)
        update()
    return list(average.parameters())


@row(GROUP)
def averaged_model(wrap: Wrap):
    model = nn.Linear(3, 1)
    average = torch.optim.swa_utils.AveragedModel(model)
    called = wrap(average)
    average.update_parameters(model)
    return called(torch.ones(2, 3)), average.n_averaged


@row(GROUP)
def tensors_swapped(wrap: Wrap):
    model = nn.Linear(3, 1)
    called, x = wrap(model), torch.ones(2, 3)
    shown = [called(x)]
    torch.utils.swap_tensors(model.weight, nn.Parameter(torch.ones(1, 3)))
    return [*shown, called(x)]


@row(GROUP)
def stateless_call(wrap: Wrap):
    model = nn.Linear(3, 1)

    @wrap
    def f(x):
        with stateless._reparametrize_module(model, {"weight": x[:1] * 2}):
            return model(x)

    return f(torch.ones(2, 3)), model.weight


@row(GROUP)
def state_loaded(wrap: Wrap):
    model, other = nn.Linear(3, 1), nn.Linear(3, 1)
    called, x = wrap(model), torch.ones(2, 3)
    first = called(x)
    model.load_state_dict(other.state_dict())
    return first, called(x), model.load_state_dict(other.state_dict(), assign=True), called(x)


@row(GROUP)
def frozen_and_thawed(wrap: Wrap):
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    called = wrap(model)
    shown = []
    for frozen in (True, False, True):
        model[0].requires_grad_(not frozen)
        model.zero_grad()
        called(torch.ones(2, 3)).sum().backward()
        shown += [model[0].weight.grad, model[1].weight.grad]
    return shown


@row(GROUP)
def embedding_of_a_bag(wrap: Wrap):
    bag = nn.EmbeddingBag(5, 3, mode="mean")

    @wrap
    def f(ids):
        return bag(ids, torch.tensor([0, 2]))

    f(torch.tensor([0, 1, 2, 4])).sum().backward()
    return bag.weight.grad


@row(GROUP)
def recurrent(wrap: Wrap):
    model = nn.GRU(3, 4, batch_first=True)
    called, x = wrap(model), torch.randn(2, 5, 3)
    y, state = called(x)
    y.sum().backward()
    return y, state, [p.grad for p in model.parameters()]


@row(GROUP)
def long_short_term(wrap: Wrap):
    model = nn.LSTM(3, 4, num_layers=2)
    called, x = wrap(model), torch.randn(5, 2, 3)
    y, (h, c) = called(x)
    y.sum().backward()
    return y, h, c, [p.grad for p in model.parameters()]


@row(GROUP)
def attention(wrap: Wrap):
    model = nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True)

    @wrap
    def f(x):
        return model(x, x, x, need_weights=False)[0]

    x = torch.randn(2, 5, 4, requires_grad=True)
    f(x).sum().backward()
    return x.grad, [p.grad for p in model.parameters()]


@row(GROUP)
def transformer_layer(wrap: Wrap):
    return trained(wrap, nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), size=(2, 5, 4))


@row(GROUP)
def convolutions(wrap: Wrap):
    return trained(wrap, nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()), size=(2, 1, 6, 6))


@row(GROUP)
def added_inside(wrap: Wrap):
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("steps", torch.zeros(()))
            self.calls = 0

        def forward(self, x):
            self.steps += 1
            self.calls += 1
            self.last = x.detach()
            return x * self.steps

    model = Counting()
    called = wrap(model)
    return [called(torch.ones(2)) for _ in range(4)], model.steps, model.calls, model.last


@row(GROUP)
def buffer_registered_inside(wrap: Wrap):
    class Cached(nn.Module):
        def forward(self, x):
            if not hasattr(self, "mask"):
                self.register_buffer("mask", torch.ones(3, 3).tril(), persistent=False)
            return x * self.mask

    model = Cached()
    called = wrap(model)
    return [called(torch.ones(3)) for _ in range(2)], list(model.buffers())


@row(GROUP)
def clipped(wrap: Wrap):
    w = nn.Parameter(torch.arange(3.0))

    @wrap
    def clip():
        return nn.utils.clip_grad_norm_([w], 1.0)

    w.grad = torch.arange(3.0)
    first = clip()
    w.grad = torch.ones(3)
    return first, clip(), w.grad


@row(GROUP)
def clipped_by_value(wrap: Wrap):
    w = nn.Parameter(torch.arange(3.0))

    @wrap
    def clip():
        nn.utils.clip_grad_value_([w], 1.0)

    w.grad = torch.arange(3.0)
    clip()
    return w.grad


@row(GROUP)
def vector_of_parameters(wrap: Wrap):
    model = nn.Linear(3, 2)

    @wrap
    def f():
        vector = nn.utils.parameters_to_vector(model.parameters())
        return vector.norm()

    f().backward()
    return [p.grad for p in model.parameters()]


@row(GROUP)
def weight_initialised(wrap: Wrap):
    model = nn.Linear(3, 2)

    @wrap
    def reset():
        nn.init.xavier_uniform_(model.weight)
        nn.init.zeros_(model.bias)

    reset()
    return list(model.parameters())


@called(GROUP)
def module_made_inside(x):
    return nn.functional.linear(x, torch.ones(2, 3)) + nn.ReLU()(x).sum()


@row(GROUP)
def losses(wrap: Wrap):
    criteria = [nn.MSELoss(), nn.SmoothL1Loss(), nn.KLDivLoss(reduction="batchmean"), nn.BCEWithLogitsLoss(), nn.HuberLoss()]

    @wrap
    def f(x):
        return sum(criterion(x, torch.sigmoid(x.detach())) for criterion in criteria)

    x = torch.arange(6.0).view(2, 3).requires_grad_()
    derive(f(x))
    return x.grad


@row(GROUP)
def sequences(wrap: Wrap):
    @wrap
    def f(x):
        return F.ctc_loss(x.log_softmax(-1), torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2]))

    x = torch.randn(4, 1, 3, requires_grad=True)
    f(x).backward()
    return x.grad
