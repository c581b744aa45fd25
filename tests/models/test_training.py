"""A training step of the task classes: the loss and every gradient are eager's, to the last bit."""
from typing import Any

import pytest
import torch

import frameloom
from examples import train
from tests.models.compare import assert_same
from tests.models.reference import reference
from tests.models.tiny import ARCHITECTURES, inputs_for, training_model

pytestmark = [pytest.mark.torch, pytest.mark.models]
MAY_BREAK = {"bloom"}  # its activation is an autograd.Function
BACKWARD_IN_PYTHON = {"mixtral"}  # of a custom operator; autograd runs it in the break of `backward()`, where it is captured, or breaks


@pytest.fixture(autouse=True)
def clean():
    frameloom.reset()
    yield
    frameloom.reset()


def step(run: Any, model: torch.nn.Module, given: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, Any]]:
    """The loss and the gradients by parameter name of one forward and backward pass of `run`, which trains `model`."""
    model.zero_grad(set_to_none=True)
    loss = run(**given).loss
    loss.backward()
    return loss.detach().clone(), {name: parameter.grad for name, parameter in model.named_parameters()}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_loss_and_gradients_equal_eager(name):
    model = training_model(name)
    given = inputs_for(model, labels=True)
    with reference():
        expected = step(model, model, given)
    assert sum(gradient is not None for gradient in expected[1].values()) > 5
    compiled = frameloom.compile(model, fullgraph=name not in MAY_BREAK, backend="aot_eager")
    for _ in range(2):
        assert_same(expected, step(compiled, model, given), place=False)
    assert frameloom.stats().graphs >= 1
    assert not frameloom.stats().eager


def test_three_steps_of_an_optimiser():
    """Weights that an optimiser changes in place between calls are seen by the next call, without a new capture."""
    trained = []
    for engine in (lambda model: model, lambda model: frameloom.compile(model, fullgraph=True, backend="aot_eager")):
        model = training_model("gpt2")
        given, run = inputs_for(model, labels=True), engine(model)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        with reference():
            losses = [take(optimiser, run, model, given) for _ in range(3)]
        trained.append((losses, dict(model.named_parameters())))
    assert_same(*trained, place=False)
    assert frameloom.stats().graphs == 1
    assert len({float(loss) for loss in trained[0][0]}) == 3


def take(optimiser: torch.optim.Optimizer, run: Any, model: torch.nn.Module, given: dict) -> torch.Tensor:
    loss, _ = step(run, model, given)
    optimiser.step()
    return loss


def trained(name: str, wrap: Any, steps: int) -> tuple:
    """All that shows of a training with dropout whose steps are one function each: losses, model, optimizer and random numbers."""
    model = training_model(name, dropout=True)
    given, optimizer = inputs_for(model, labels=True), torch.optim.AdamW(model.parameters(), lr=1e-2)

    def whole_step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(**given).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    torch.manual_seed(3)
    take_step = wrap(whole_step)
    losses = [take_step() for _ in range(steps)]
    return losses, model.state_dict(), optimizer.state_dict(), torch.get_rng_state()


FEW = [("bert", "aot_eager", 4), ("t5", "eager", 4)]
MANY = [pytest.param(name, backend, 20, marks=pytest.mark.slow) for name in ARCHITECTURES for backend in ("eager", "aot_eager")]


@pytest.mark.parametrize("name, backend, steps", [*FEW, *MANY])
def test_whole_steps_with_dropout(name: str, backend: str, steps: int) -> None:
    """One break at most for the backward, no capture after the third step, and everything eager's to the last bit."""
    with reference():
        expected = trained(name, lambda step: step, steps)
    assert_same(expected, trained(name, frameloom.compile(backend=backend), steps), place=False)
    stats = frameloom.stats()
    assert not stats.eager
    if name not in MAY_BREAK | BACKWARD_IN_PYTHON:
        assert set(stats.breaks) <= {"FL306"} and stats.frames <= 6


@pytest.mark.parametrize("backend", ["eager", pytest.param("aot_eager", marks=pytest.mark.slow)])
def test_the_example_that_trains(backend: str) -> None:
    """Its losses, and its parameters at the end, are eager's bit for bit."""
    plain, compiled, agree = train.compare(backend, 8)
    assert agree and len(set(plain.run.losses)) == 8
    assert not frameloom.stats().eager and set(frameloom.stats().breaks) <= {"FL306", "FL113"}
