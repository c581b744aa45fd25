"""Sizes that change from call to call: a growing cache, and a last batch that is shorter."""
import pytest
import torch
from transformers import DynamicCache

import frameloom
from tests.models.compare import assert_same
from tests.models.recorder import Recorder
from tests.models.reference import reference
from tests.models.shrink import Sizes
from tests.models.tiny import inputs_for, model_for

pytestmark = [pytest.mark.torch, pytest.mark.models]
STEPS = 64
PROMPT = 8


@pytest.fixture(autouse=True)
def clean():
    frameloom.reset()
    yield
    frameloom.reset()


def test_decoding_with_a_growing_cache():
    model, recorder = model_for("llama", sizes=Sizes(positions=2 * STEPS)), Recorder()
    compiled = frameloom.compile(model, fullgraph=True, backend=recorder)
    tokens = torch.randint(4, 128, (2, PROMPT + STEPS), generator=torch.Generator().manual_seed(0))
    caches = DynamicCache(config=model.config), DynamicCache(config=model.config)
    with torch.no_grad():
        with reference():
            model(input_ids=tokens[:, :PROMPT], past_key_values=caches[0])
        compiled(input_ids=tokens[:, :PROMPT], past_key_values=caches[1])
        before = recorder.graphs
        for position in range(PROMPT, PROMPT + STEPS):
            token = tokens[:, position : position + 1]
            with reference():
                expected = model(input_ids=token, past_key_values=caches[0])
            result = compiled(input_ids=token, past_key_values=caches[1])
            assert result.past_key_values is caches[1]
            assert_same(expected, result, given=(token, token))
    assert caches[1].get_seq_length() == PROMPT + STEPS
    assert 1 <= recorder.graphs - before <= 3
    assert not frameloom.stats().eager


@pytest.mark.parametrize("name", ["bert", "llama", "vit"])
def test_shorter_last_batch(name):
    model, recorder = model_for(name), Recorder()
    compiled = frameloom.compile(model, fullgraph=True, backend=recorder)
    for batch in (4, 4, 4, 3):
        given = inputs_for(model, batch=batch, seed=batch)
        with torch.no_grad():
            with reference():
                expected = model(**given)
            assert_same(expected, compiled(**given), given=(given, given))
    assert 1 <= recorder.graphs <= 3


def test_many_lengths():
    """Once a length is symbolic, no other length is a new graph; 1 is never symbolic, and may be one more."""
    model, recorder = model_for("bert"), Recorder()
    compiled = frameloom.compile(model, fullgraph=True, backend=recorder)
    for length in (8, 5, 13, 21, 1, 2, 30):
        given = inputs_for(model, length=length, masked=length > 2)
        given.setdefault("attention_mask", torch.ones(2, length, dtype=torch.long))
        with torch.no_grad():
            with reference():
                expected = model(**given)
            assert_same(expected, compiled(**given), given=(given, given))
    assert 1 <= recorder.graphs <= 3
