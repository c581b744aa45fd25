"""Twenty architectures in eval mode are one graph each, and what comes out is what eager gives, to the last bit."""
import pytest
import torch

import frameloom
from tests.models.compare import assert_same
from tests.models.recorder import Recorder
from tests.models.reference import reference
from tests.models.tiny import ARCHITECTURES, inputs_for, model_for, takes_mask

pytestmark = [pytest.mark.torch, pytest.mark.models]
MASKED = [(name, masked) for name in ARCHITECTURES for masked in (False, True) if not (masked and name == "vit")]


@pytest.fixture(autouse=True)
def clean():
    frameloom.reset()
    yield
    frameloom.reset()


@pytest.mark.parametrize(("name", "masked"), MASKED)
def test_one_graph_equal_to_eager(name, masked):
    model = model_for(name)
    assert takes_mask(model) or not masked
    given = inputs_for(model, masked=masked)
    state = [given, list(model.parameters()), list(model.buffers())]
    with torch.no_grad(), reference():
        expected = model(**given)
    compiled = frameloom.compile(model, fullgraph=True, backend="eager")
    with torch.no_grad():
        results = [compiled(**given), compiled(**given)]
    for result in results:
        assert_same(expected, result, given=(state, state))
    stats = frameloom.stats()
    assert stats.graphs == 1
    assert not stats.breaks
    assert not stats.recompiles
    assert not stats.eager


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_other_inputs_reuse_the_graph(name):
    model, recorder = model_for(name), Recorder()
    compiled = frameloom.compile(model, fullgraph=True, backend=recorder)
    for seed in range(3):
        given = inputs_for(model, masked=True, seed=seed)
        with torch.no_grad(), reference():
            expected = model(**given)
        with torch.no_grad():
            assert_same(expected, compiled(**given), given=(given, given))
    assert recorder.graphs == 1


def test_the_graph_has_the_operations():
    """That a model is `whole` must not be because nothing of it was captured."""
    recorder = Recorder()
    model = model_for("bert")
    with torch.no_grad():
        frameloom.compile(model, fullgraph=True, backend=recorder)(**inputs_for(model))
    assert recorder.graphs == 1
    assert recorder.operations[0] > 30


def test_attributes_of_the_output_are_asked_as_usual():
    """Asking for hidden states installs hooks under a lock at the first call: a break is allowed there, a difference is not."""
    model = model_for("bert")
    given = inputs_for(model)
    with torch.no_grad():
        output = frameloom.compile(model, backend="eager")(**given, output_hidden_states=True)
    assert list(output) == ["last_hidden_state", "pooler_output", "hidden_states"]
    assert output[0] is output.last_hidden_state
    assert output.to_tuple()[-1] is output.hidden_states
    assert len(output.hidden_states) == 1 + model.config.num_hidden_layers
