"""A whole training step in one compiled function: equal to eager, one break for the backward, none for the optimizer."""
from __future__ import annotations

import copy
from typing import Any, Callable

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler, swa_utils

import frameloom
from tests.models.reference import reference

STEPS = 20
OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "sgd_foreach": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "groups": lambda p: torch.optim.AdamW([{"params": list(p)[:2], "lr": 0.1}, {"params": list(p)[2:], "weight_decay": 0.0}], lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(5, 8)
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.drop(self.norm(self.first(x)).relu()))


def train(make: Callable, wrap: Callable, schedule: Callable | None = None, to_none: bool = True, steps: int = STEPS) -> list:
    """Losses, gradients, parameters and the optimizer's state after some steps."""
    torch.manual_seed(0)
    model = Model()
    optimizer = make(model.parameters())
    scheduler = schedule(optimizer) if schedule is not None else None

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=to_none)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach(), norm

    step = wrap(step)
    losses = []
    for number in range(steps):
        generator = torch.Generator().manual_seed(number)
        x, y = torch.randn(6, 5, generator=generator), torch.randint(3, (6,), generator=generator)
        losses.append(step(x, y))
        if scheduler is not None:
            scheduler.step()
    gradients = [p.grad for p in model.parameters()]
    return [losses, gradients, model.state_dict(), copy.deepcopy(optimizer.state_dict()), torch.get_rng_state()]


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, torch.Tensor):
        assert type(found) is type(expected) and found.dtype == expected.dtype and found.stride() == expected.stride()
        assert torch.equal(found, expected)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, (list, tuple)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for one, other in zip(found, expected):
            assert_same(one, other)
    else:
        assert found == expected and type(found) is type(expected)


@pytest.fixture(autouse=True)
def _fresh():
    frameloom.reset()
    yield
    frameloom.reset()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_step(name: str, backend: str) -> None:
    with reference():
        expected = train(OPTIMIZERS[name], lambda step: step)
    found = train(OPTIMIZERS[name], frameloom.compile(backend=backend))
    assert_same(found, expected)
    stats = frameloom.stats()
    assert set(stats.breaks) == {"FL306"}, stats
    assert stats.graphs <= 6, stats  # before and after the backward; again with gradients, again with the optimizer's state


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    "make", [lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True), lambda p: torch.optim.Adam(p, lr=0.01, foreach=True, amsgrad=True)]
)
def test_numbers_of_all_parameters_in_one_tensor(make: Callable, backend: str) -> None:
    """`_foreach_addcdiv_` reads its numbers from a tensor."""
    with reference():
        expected = train(make, lambda step: step, steps=6)
    assert_same(train(make, frameloom.compile(backend=backend), steps=6), expected)
    assert set(frameloom.stats().breaks) == {"FL306"} and frameloom.stats().graphs <= 6, frameloom.stats()


def test_numbers_in_a_tensor_of_another_length() -> None:
    def odd(x, numbers):
        try:
            torch._foreach_addcmul_([x, x.clone()], [x, x], [x, x], numbers)
        except RuntimeError as error:
            return x, str(error)[:20]
        return x, torch._foreach_addcdiv([x, x + 1], [x, x], (x, x), numbers)

    compiled = frameloom.compile(odd, backend="eager")
    for numbers in (torch.tensor([1.0, 2.0]), torch.ones(3), torch.ones(2, dtype=torch.float64), torch.ones(1, 2)):
        assert_same(compiled(torch.ones(3), numbers), odd(torch.ones(3), numbers))


def test_requires_grad_that_stays_as_it_is() -> None:
    layer = nn.Linear(2, 2)
    layer.bias.requires_grad = False

    def kept(x):
        layer.weight.requires_grad_()
        layer.bias.requires_grad_(False)
        y = layer(x)
        y.requires_grad = True
        return y.requires_grad_(True) is y, x.requires_grad_(False), y

    def changed(x):
        layer.requires_grad_(False)
        y = layer(x)
        layer.weight.requires_grad_(True)
        z = x.clone().requires_grad_()
        return y.requires_grad, layer(x), z, z.is_leaf

    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            if grad:
                found = frameloom.compile(kept, backend="eager", fullgraph=True)(torch.ones(2))
                assert found[0] and found[2].requires_grad and not found[1].requires_grad
            x = torch.ones(2)
            for found, expected in zip(frameloom.compile(changed, backend="eager")(x), changed(x)):
                assert getattr(found, "requires_grad", found) == getattr(expected, "requires_grad", expected)
                assert layer.weight.requires_grad and not layer.bias.requires_grad
    with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf"):
        frameloom.compile(lambda x: (x * 2).requires_grad_(False), backend="eager")(torch.ones(2, requires_grad=True))


def test_scaled_gradients() -> None:
    def run(wrap: Callable) -> list:
        torch.manual_seed(0)
        model, scaler = Model(), torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)

        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_value_(model.parameters(), 0.5)
            scaler.step(optimizer)
            scaler.update()
            return loss.detach()

        step = wrap(step)
        losses = [step(torch.randn(6, 5) * (1e38 if number == 2 else 1), torch.randint(3, (6,))) for number in range(5)]
        return [losses, model.state_dict(), copy.deepcopy(optimizer.state_dict()), scaler.state_dict()]

    with reference():
        expected = run(lambda step: step)
    found = run(frameloom.compile(backend="eager"))
    assert str(found) == str(expected)


@pytest.mark.parametrize("how", ["multi", "each", "mean"])
def test_averaged_models(how: str) -> None:
    ways = {
        "multi": {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)},
        "each": {"avg_fn": swa_utils.get_ema_avg_fn(0.9)},
        "mean": {},
    }

    def run(wrap: Callable) -> list:
        torch.manual_seed(0)
        model = nn.Linear(3, 3)
        averaged = swa_utils.AveragedModel(model, **ways[how], use_buffers=True)

        def step(x: torch.Tensor) -> None:
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.add_(x)
            averaged.update_parameters(model)

        step = wrap(step)
        for _ in range(4):
            step(torch.randn(3))
        return list(averaged.state_dict().values())

    assert_same(run(frameloom.compile(backend="eager")), run(lambda step: step))


def test_beside_another_compiler() -> None:
    """Once torch.compile has run in a process, parts of torch's optimizers are wrapped to keep it out."""
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
    test_step("adam", "eager")


def test_gradients_set_to_zero() -> None:
    with reference():
        expected = train(OPTIMIZERS["momentum"], lambda step: step, to_none=False, steps=4)
    assert_same(train(OPTIMIZERS["momentum"], frameloom.compile(backend="eager"), to_none=False, steps=4), expected)


@pytest.mark.parametrize(
    "schedule",
    [
        lambda o: lr_scheduler.StepLR(o, 1, gamma=0.9),
        lambda o: lr_scheduler.CosineAnnealingLR(o, 10),
        lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=30),
        lambda o: lr_scheduler.LambdaLR(o, lambda n: 1 / (n + 1)),
    ],
)
@pytest.mark.parametrize("name", ["momentum", "adamw"])
def test_schedulers(schedule: Callable, name: str) -> None:
    with reference():
        expected = train(OPTIMIZERS[name], lambda step: step, schedule)
    assert_same(train(OPTIMIZERS[name], frameloom.compile(backend="eager"), schedule), expected)
    assert frameloom.stats().graphs <= 8, frameloom.stats()


def test_a_number_that_an_operation_refuses_is_refused_in_the_program() -> None:
    def refused(x):
        try:
            return x.add_(torch.ones(2, dtype=torch.int64), alpha=torch.tensor(1.5))
        except RuntimeError as error:
            return str(error)

    given = torch.ones(2, dtype=torch.int64)
    assert frameloom.compile(refused, backend="eager")(given.clone()) == refused(given.clone())


def test_a_label_within_itself() -> None:
    def labelled(x):
        label = torch.autograd.profiler.record_function("part")
        with label, label:
            y = x * 2
        return y, vars(label).keys(), label.run_callbacks_on_exit

    found, names, flag = frameloom.compile(labelled, backend="eager", fullgraph=True)(torch.ones(2))
    assert found.tolist() == [2, 2] and flag is True and "_entered" not in names
