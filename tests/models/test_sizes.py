"""Twenty architectures called with six pairs of batch and length: two graphs each, whatever comes, and what eager gives."""
import pytest
import torch

import frameloom
from tests.models.compare import assert_same
from tests.models.reference import reference
from tests.models.tiny import ARCHITECTURES, inputs_for, model_for

pytestmark = [pytest.mark.torch, pytest.mark.models]
PAIRS = ((2, 8), (2, 11), (3, 8), (3, 17), (5, 11), (2, 17))
QUICK = ("bert", "llama", "t5", "vit")
NAMES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ARCHITECTURES]


@pytest.fixture(autouse=True)
def clean():
    frameloom.reset()
    yield
    frameloom.reset()


@pytest.mark.parametrize("name", NAMES)
def test_two_graphs_for_all_sizes(name):
    model = model_for(name)
    compiled = frameloom.compile(model, fullgraph=True, backend="eager")
    for seed, (batch, length) in enumerate(PAIRS):
        given = inputs_for(model, masked=name != "vit", batch=batch, length=length, seed=seed)
        with torch.no_grad(), reference():
            expected = model(**given)
        with torch.no_grad():
            assert_same(expected, compiled(**given), given=(given, given))
    assert frameloom.stats().graphs == 2
    assert not frameloom.stats().eager


@pytest.mark.parametrize(("name", "static", "most"), [("llama", False, 3), ("llama", True, 2), ("gpt2", False, 3)])
def test_a_loop_of_generation(name, static, most):
    """Prompt, then one token after the other with a cache: what is computed is eager's, and the captures are few."""
    from transformers import DynamicCache, StaticCache

    model, steps = model_for(name, "AutoModelForCausalLM", max_position_embeddings=128, n_positions=128), 64

    def generate(call):
        cache = StaticCache(config=model.config, max_cache_len=80) if static else DynamicCache(config=model.config)
        ids, position, told = torch.arange(5)[None], torch.arange(5)[None], []
        for _ in range(steps):
            scores = call(input_ids=ids, past_key_values=cache, use_cache=True, position_ids=position).logits[:, -1:]
            ids, position = scores.argmax(-1), position[:, -1:] + 1
            told.append(scores)
        return told

    with torch.no_grad():
        with reference():
            expected = generate(model)
        assert_same(expected, generate(frameloom.compile(model, fullgraph=True, backend="eager")))
    assert frameloom.stats().graphs <= most
