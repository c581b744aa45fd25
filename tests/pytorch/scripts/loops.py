"""Whole steps: schedulers, scaling, accumulation, data loaders, several processes."""
from __future__ import annotations

import os
import tempfile

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from tests.pytorch.scripts.row import Wrap, row

GROUP = "loops"


def stepped(wrap: Wrap, make, steps: int = 4, schedule=None, clip: bool = False) -> list:
    model = nn.Linear(3, 1)
    optimizer = make(model.parameters())
    scheduler = None if schedule is None else schedule(optimizer)

    @wrap
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        return loss.detach()

    shown = []
    for _ in range(steps):
        shown.append(step(torch.randn(4, 3)))
        if scheduler is not None:
            scheduler.step()
            shown.append(optimizer.param_groups[0]["lr"])
    state = [v for s in optimizer.state.values() for v in s.values()]
    return [*shown, *[p.detach().clone() for p in model.parameters()], *state]


@row(GROUP)
def step_schedule(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.SGD(p, 0.1), schedule=lambda o: torch.optim.lr_scheduler.StepLR(o, 2, 0.5))


@row(GROUP)
def cosine_schedule(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.AdamW(p, 0.1), schedule=lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 5))


@row(GROUP)
def warm_up(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.Adam(p, 0.1), schedule=lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda n: min(1, n / 3)))


@row(GROUP)
def one_cycle(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), schedule=lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.2, total_steps=8))


@row(GROUP)
def rate_in_a_tensor(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.AdamW(p, torch.tensor(0.1)))


@row(GROUP)
def nadam(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.NAdam(p, 0.1))


@row(GROUP)
def radam(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.RAdam(p, 0.1), steps=8)


@row(GROUP)
def adamax(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.Adamax(p, 0.1))


@row(GROUP)
def adadelta(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.Adadelta(p, 0.1))


@row(GROUP)
def adafactor(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.Adafactor(p, 0.1))


@row(GROUP)
def asgd(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.ASGD(p, 0.1))


@row(GROUP)
def rprop(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.Rprop(p, 0.1))


@row(GROUP)
def lbfgs(wrap: Wrap):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
    x = torch.randn(4, 3)

    @wrap
    def closure():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    return [optimizer.step(closure).detach() for _ in range(2)], list(model.parameters())


@row(GROUP)
def clipped_step(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.SGD(p, 0.1), clip=True)


@row(GROUP)
def maximised(wrap: Wrap):
    return stepped(wrap, lambda p: torch.optim.SGD(p, 0.1, maximize=True, nesterov=True, momentum=0.9, weight_decay=0.1))


@row(GROUP)
def gradient_accumulation(wrap: Wrap):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    forward = wrap(lambda x: model(x).square().mean() / 2)
    for number in range(4):
        forward(torch.randn(4, 3)).backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
    return list(model.parameters())


@row(GROUP)
def gradient_scaling(wrap: Wrap):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)

    @wrap
    def forward(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(x).float().square().mean()

    for _ in range(4):
        optimizer.zero_grad()
        scaler.scale(forward(torch.randn(4, 3))).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    return list(model.parameters()), scaler.get_scale()


@row(GROUP)
def gradient_scaling_inside(wrap: Wrap):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)

    @wrap
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return [step(torch.randn(4, 3)) for _ in range(4)], list(model.parameters()), scaler.get_scale()


@row(GROUP)
def data_loader(wrap: Wrap):
    model = nn.Linear(3, 1)
    loader = DataLoader(TensorDataset(torch.randn(10, 3), torch.randn(10, 1)), batch_size=4, shuffle=True)
    loss = wrap(lambda x, y: F.mse_loss(model(x), y))
    shown = []
    for _ in range(2):
        for x, y in loader:
            value = loss(x, y)
            value.backward()
            shown.append(value.detach())
    return shown, model.weight.grad


@row(GROUP)
def loop_over_a_loader(wrap: Wrap):
    model = nn.Linear(3, 1)
    loader = DataLoader(TensorDataset(torch.randn(6, 3)), batch_size=2)

    @wrap
    def epoch():
        total = torch.zeros(())
        for (x,) in loader:
            total = total + model(x).square().mean()
        return total

    epoch().backward()
    return model.weight.grad


@row(GROUP)
def evaluated_between(wrap: Wrap):
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 1))
    called, shown = wrap(model), []
    for _ in range(2):
        model.train()
        called(torch.randn(4, 3)).sum().backward()
        model.eval()
        with torch.no_grad():
            shown.append(called(torch.ones(4, 3)))
    return shown, [p.grad for p in model.parameters()]


@row(GROUP)
def metrics_kept(wrap: Wrap):
    losses: list = []
    totals = {"count": 0}
    model = nn.Linear(3, 1)

    @wrap
    def step(x):
        loss = model(x).square().mean()
        losses.append(loss.detach())
        totals["count"] += x.shape[0]
        return loss

    for _ in range(4):
        step(torch.randn(4, 3)).backward()
    return losses, totals


@row(GROUP)
def logged_number(wrap: Wrap):
    model = nn.Linear(3, 1)

    @wrap
    def step(x):
        loss = model(x).square().mean()
        print(f"loss {loss.item():.4f}")
        return loss * 2

    return [step(torch.randn(4, 3)).detach() for _ in range(2)]


@row(GROUP)
def early_stop(wrap: Wrap):
    model = nn.Linear(3, 1)

    @wrap
    def step(x):
        loss = model(x).square().mean()
        if torch.isnan(loss):
            return None
        return loss * 2

    return step(torch.ones(4, 3)), step(torch.full((4, 3), float("nan")))


@row(GROUP)
def distributed_data_parallel(wrap: Wrap):
    """One process; two are in the tests of this page."""
    import torch.distributed as dist

    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("gloo", init_method=f"file://{os.path.join(folder, 'store')}", rank=0, world_size=1)
        try:
            model = nn.parallel.DistributedDataParallel(nn.Linear(3, 1))
            called = wrap(model)
            for _ in range(2):
                called(torch.randn(4, 3)).sum().backward()
            return [p.grad for p in model.parameters()]
        finally:
            dist.destroy_process_group()


@row(GROUP)
def reduced_over_processes(wrap: Wrap):
    import torch.distributed as dist

    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("gloo", init_method=f"file://{os.path.join(folder, 'store')}", rank=0, world_size=1)
        try:
            @wrap
            def f(x):
                y = x * 2
                dist.all_reduce(y)
                return y + 1

            return f(torch.ones(3))
        finally:
            dist.destroy_process_group()
