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


@pytest.mark.parametrize("backend", ["eager", pytest.param("aot_eager", marks=pytest.mark.slow)])
def test_the_example_that_trains(backend: str) -> None:
    """Its losses, and its parameters at the end, are eager's bit for bit."""
    plain, compiled, agree = train.compare(backend, 8)
    assert agree and len(set(plain.run.losses)) == 8
    assert not frameloom.stats().eager and set(frameloom.stats().breaks) <= {"FL306", "FL113"}
