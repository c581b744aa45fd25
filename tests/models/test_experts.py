"""Models with a mixture of experts are one graph each, and serve other sizes with a second one: the routing is left to the graph."""

from __future__ import annotations

import pytest
import torch

import frameloom
from frameloom.diagnostics import events
from tests.models.compare import assert_same
from tests.models.reference import reference
from tests.models.tiny import inputs_for, model_for

pytestmark = [pytest.mark.torch, pytest.mark.models]
MODELS = ("mixtral", "jetmoe", "qwen2_moe", "granitemoe", "olmoe", "phimoe", "nllb-moe")
QUICK = ("qwen2_moe",)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in MODELS])
def test_whole(name) -> None:
    frameloom.reset()
    model = model_for(name)
    compiled = frameloom.compile(model, fullgraph=True, backend="eager")
    for seed, (batch, length) in enumerate(((2, 8), (2, 11), (3, 8))):
        given = inputs_for(model, masked=True, batch=batch, length=length, seed=seed)
        with torch.no_grad():
            with reference():
                expected = model(**given)
            assert_same(expected, compiled(**given), given=(given, given))
    assert frameloom.stats().graphs == 2
    assert not frameloom.stats().breaks and not frameloom.stats().eager
    frameloom.reset()


def test_an_expert_chosen_by_name() -> None:
    """The one exception: this forward writes numbers of a tensor into text, by which it looks experts up, so that it breaks there; the rest is captured."""
    frameloom.reset()
    model, places = model_for("switch_transformers"), set()
    compiled = frameloom.compile(model, backend="eager")
    given = inputs_for(model, masked=True)
    # its decoder wants a mask where a compiler runs
    given["decoder_attention_mask"] = torch.ones_like(given["decoder_input_ids"])

    def heard(kind, data):
        if kind == "break":
            places.add((data["report"].kind.code, data["report"].location.qualname))

    with torch.no_grad(), events.listen(heard):
        with reference():
            expected = model(**given)
        assert_same(expected, compiled(**given), given=(given, given))
    assert {place for _, place in places} == {"SwitchTransformersExperts.forward"}
    assert {code for code, _ in places} == {"FL203", "FL205"}
    assert frameloom.stats().graphs > 8 and not frameloom.stats().eager
    frameloom.reset()
