"""The tools around the models: the same seed gives the same things, rules shrink, tables say what was measured."""
import pytest
import torch

from benchmarks.row import Row, rows_in, show
from benchmarks.table import duration, markdown
from benchmarks.timing import interleaved, median_ratio
from tests.models import survey
from tests.models.compare import differences
from tests.models.recorder import Recorder
from tests.models.reference import reference
from tests.models.shrink import Sizes, shrink_kinds, shrink_list, shrink_number
from tests.models.tiny import ARCHITECTURES, TASKS, inputs_for, model_for, training_model

pytestmark = [pytest.mark.torch, pytest.mark.models]


def test_twenty_architectures():
    assert len(ARCHITECTURES) == 20


@pytest.mark.parametrize("name", ["bert", "vit"])
def test_seeded(name):
    models = [model_for(name) for _ in range(2)]
    assert differences(dict(models[0].named_parameters()), dict(models[1].named_parameters())) == []
    assert differences(inputs_for(models[0]), inputs_for(models[1])) == []
    other = inputs_for(models[0], seed=1)
    assert differences(inputs_for(models[0]), other)


def test_building_leaves_the_random_state_alone():
    before = torch.get_rng_state()
    model_for("bert")
    assert torch.equal(before, torch.get_rng_state())


def test_inputs():
    model = model_for("bart")
    given = inputs_for(model, masked=True)
    assert set(given) == {"input_ids", "attention_mask", "decoder_input_ids"}
    assert given["input_ids"].shape == (2, 8)
    assert given["attention_mask"].sum() == 14
    assert inputs_for(model_for("vit"))["pixel_values"].shape == (2, 3, 32, 32)


@pytest.mark.parametrize("name", TASKS)
def test_training_models_have_no_randomness(name):
    """What `train mode without dropout` means: two steps of one model are the same."""
    model = training_model(name)
    assert model.training
    given = inputs_for(model, labels=True)
    assert differences(*[model(**given).loss.detach() for _ in range(2)]) == []


@pytest.mark.parametrize(
    ("field", "old", "new"),
    [("hidden_size", 768, 32), ("num_attention_heads", 12, 4), ("ffn_dim", 3072, 64), ("pad_token_id", 50256, 127),
     ("encoder_layers", 12, 2), ("num_experts_per_tok", 8, 2), ("vocab_size", 30522, 128), ("kernel_size", 7, 7),
     ("hidden_size", 16, 16), ("head_dim", 128, 8), ("num_feat_extract_layers", 7, 7)],
)  # fmt: skip
def test_rules_on_names(field, old, new):
    assert shrink_number(field, old, Sizes()) == new


def test_lists_shrink_with_the_layers():
    assert shrink_kinds(["a", "a", "a", "b"], Sizes()) == ["a", "b"]
    assert shrink_kinds(["a", "a", "a"], Sizes()) == ["a", "a"]
    assert shrink_list("depths", [3, 4, 6], Sizes()) == [1, 1, 1]


def test_reference_says_that_it_is_compiled():
    assert not torch.compiler.is_compiling()
    with reference():
        assert torch.compiler.is_compiling()
    assert not torch.compiler.is_compiling()


def test_recorder_counts_operations():
    recorder = Recorder()
    gm = torch.fx.symbolic_trace(lambda x: (x + 1).sin())
    assert torch.equal(recorder(gm, [])(torch.zeros(2)), torch.ones(2).sin())
    assert (recorder.graphs, recorder.operations) == (1, [2])


def test_survey_draws_by_seed():
    names = [f"model {number}" for number in range(20)]
    assert survey.draw(0, list(names)) == survey.draw(0, list(names)) != survey.draw(1, list(names))


def test_survey_reports_every_verdict():
    rows = [survey.Row("a", "whole", 1, 10), survey.Row("b", "broken", 3, 20, "FL014"), survey.Row("c", unusable="no")]
    text = survey.report(7, rows)
    assert "SEED=7: 2 model types captured, 1 more drawn had no eager model." in text
    assert "| 1 | 1 | 0 | 0 |" in text
    assert "| b | broken | 3 | 20 | FL014 |" in text


def test_survey_examines_eager_failure_as_unusable():
    assert survey.examine("no such model", "eager").unusable.startswith("KeyError")


def test_turns_are_interleaved():
    order = []
    interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, turns=2)
    changes = sum(left != right for left, right in zip(order, order[1:]))
    assert changes >= 4


def test_ratio_is_the_median_of_ratios():
    assert median_ratio([1.0, 2.0, 30.0], [2.0, 4.0, 10.0]) == 0.5


def test_rows_travel_by_print(capsys):
    show("call", "x", {"torch": [2.0], "frameloom": [1.0]})
    (row,) = rows_in(["noise", *capsys.readouterr().out.splitlines()])
    assert row == Row("call", "x", {"torch": [2.0], "frameloom": [1.0]})
    assert row.ratio() == 0.5


def test_table():
    rows = [Row("second capture", "BERT 12", {"torch": [2.0], "frameloom": [0.5]}),
            Row("second capture", "T5 6", {"torch": [1.0], "frameloom": [1.0]}),
            Row("fake-tensor pass", "BERT 12", {"floor": [0.2]})]  # fmt: skip
    text = markdown(rows)
    assert "| second capture | BERT 12 | 2 s | 500 ms | 0.250 |" in text
    assert "0.500 of 2 models" in text
    assert "0.100 of torch's second capture" in text


@pytest.mark.parametrize(("seconds", "text"), [(None, "-"), (1.5, "1.5 s"), (2.5e-5, "25 us"), (3e-9, "3 ns")])
def test_duration(seconds, text):
    assert duration(seconds) == text
