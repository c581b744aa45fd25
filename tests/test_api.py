"""The public functions on torch programs: what can be compiled, what comes back, what is refused."""
from __future__ import annotations

import copy
import functools
import inspect
import logging
import pickle
import sys

import pytest
import torch

import frameloom
from frameloom import errors

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def clean():
    frameloom.reset()
    yield
    frameloom.reset()


def double(x, *, plus=0):
    """Twice x."""
    return x * 2 + plus


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.linear(x).relu()

    @frameloom.compile(backend="eager")
    def other(self, x):
        return self.linear(x) - 1


class Adder:
    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, x):
        return x + self.n

    def method(self, x):
        return x - self.n

    @staticmethod
    def static(x):
        return x * 3


X = torch.arange(3.0)


# -- what can be compiled ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [
    double, functools.partial(double, plus=3), Adder(2), Adder(2).method, Adder.static, lambda x: x.sum(),
    torch.nn.functional.relu,
])
def test_callables(target) -> None:
    compiled = frameloom.compile(target, backend="eager", fullgraph=True)
    for _ in range(2):
        assert torch.equal(compiled(X), target(X))
    assert frameloom.stats().graphs == 1
    assert not frameloom.stats().eager


def test_a_compiled_function_looks_like_the_function() -> None:
    compiled = frameloom.compile(double, backend="eager")
    assert (compiled.__name__, compiled.__doc__, compiled.__module__) == ("double", "Twice x.", __name__)
    assert compiled.__wrapped__ is double
    assert inspect.signature(compiled) == inspect.signature(double)


def test_decorators() -> None:
    @frameloom.compile(backend="eager")
    def one(x):
        return x + 1

    assert torch.equal(one(X), X + 1)
    net = Net()
    assert torch.equal(net.other(X), net.linear(X) - 1)
    assert frameloom.stats().graphs == 2


def test_a_compiled_callable_is_not_compiled_twice() -> None:
    compiled = frameloom.compile(frameloom.compile(double, backend="eager"), backend="eager")
    assert compiled.__wrapped__ is double


def test_static_and_class_methods() -> None:
    class Holder:
        factor = 3
        scaled = frameloom.compile(classmethod(lambda cls, x: x * cls.factor), backend="eager")
        plain = frameloom.compile(staticmethod(lambda x: x + 1), backend="eager")

    assert torch.equal(Holder.scaled(X), X * 3)
    assert torch.equal(Holder().plain(X), X + 1)


def test_disabled() -> None:
    compiled = frameloom.compile(double, disable=True)
    assert torch.equal(compiled(X), double(X))
    assert frameloom.stats().frames == 0


def test_disable_below_a_compiled_function() -> None:
    @frameloom.disable
    def eager(x):
        return double(x)

    compiled = frameloom.compile(lambda x: eager(x + 1) + 1, backend="eager")
    assert torch.equal(compiled(X), double(X + 1) + 1)
    stats = frameloom.stats()
    assert stats.breaks == {"FL402": 1}
    assert stats.ops == 2


def test_allow_in_graph() -> None:
    @frameloom.allow_in_graph
    def opaque(x):
        return torch.from_numpy(x.numpy() * 2) if type(x) is torch.Tensor and not isinstance(x, torch._subclasses.FakeTensor) else x * 2

    names = []

    def backend(gm, example_inputs):
        names.extend(node.name for node in gm.graph.nodes if node.op == "call_function")
        return gm.forward

    compiled = frameloom.compile(lambda x: opaque(x + 1) - 1, backend=backend, fullgraph=True)
    assert torch.equal(compiled(X), (X + 1) * 2 - 1)
    assert names[1].startswith("opaque")


# -- what is refused -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [3, "text", [double], len, torch.sin, "".join, Adder, torch.nn.Linear])
def test_what_has_no_python_code_is_refused(target) -> None:
    with pytest.raises(errors.NotCompilable) as caught:
        frameloom.compile(target, backend="eager")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [
    {"fullgraph": 1}, {"disable": None}, {"dynamic": "yes"}, {"mode": "fast"}, {"options": ["x"]},
    {"mode": "max-autotune", "options": {"max_autotune": True}}, {"backend": 3}, {"backend": "eager", "mode": "default"},
    {"options": {"no_such_option": 1}},
])
def test_wrong_options_are_refused(options) -> None:
    with pytest.raises(errors.WrongOption):
        compiled = frameloom.compile(double, **options)
        compiled(X)


def test_an_unknown_backend_is_refused_at_once() -> None:
    with pytest.raises(errors.UnknownBackend, match="inductor"):
        frameloom.compile(double, backend="inducto")


def test_a_generator_function_runs_and_says_so(caplog) -> None:
    def generated(x):
        yield x + 1

    with caplog.at_level(logging.WARNING, "frameloom"):
        compiled = frameloom.compile(generated, backend="eager")
    (record,) = caplog.records
    assert "FL908" in record.getMessage()
    assert torch.equal(next(compiled(X)), X + 1)


async def awaited(x):
    return x + 1


async def streamed(x):
    yield x + 1


@pytest.mark.parametrize("function", [awaited, streamed])
def test_asynchronous_functions_keep_their_own_code_and_say_so(function, caplog) -> None:
    with caplog.at_level(logging.WARNING, "frameloom"):
        compiled = frameloom.compile(function, backend="eager")
    (record,) = caplog.records
    assert "FL908" in record.getMessage() and "\n" not in record.getMessage()
    called = compiled(X) if function is awaited else anext(compiled(X))
    with pytest.raises(StopIteration) as stopped:
        called.__await__().send(None)
    assert torch.equal(stopped.value.value, X + 1)
    assert frameloom.stats().eager == {"FL908": 1}


def test_under_a_tracer_calls_run_eagerly_and_say_so_once(caplog) -> None:
    compiled = frameloom.compile(double, backend="eager")
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        with caplog.at_level(logging.WARNING, "frameloom"):
            results = [compiled(X) for _ in range(2)]
    finally:
        sys.settrace(before)
    assert all(torch.equal(result, double(X)) for result in results)
    (record,) = caplog.records
    assert "FL903" in record.getMessage() and "\n" not in record.getMessage()
    assert frameloom.stats().eager == {"FL903": 2} and frameloom.stats().graphs == 0


@pytest.mark.parametrize("target", [3, len, Adder])
@pytest.mark.parametrize("asked", [frameloom.explain, frameloom.compile(backend="eager")])
def test_what_cannot_be_compiled_is_refused_at_once(asked, target) -> None:
    with pytest.raises(errors.NotCompilable):
        asked(target)


def test_an_option_that_explain_does_not_have_is_named() -> None:
    with pytest.raises(errors.WrongOption, match="no option 'bakend'; there are .*backend"):
        frameloom.explain(double, bakend="eager")


def test_marks_are_for_dimensions_of_tensors() -> None:
    with pytest.raises(TypeError, match="not on an object of class int"):
        frameloom.mark_dynamic(3, 0)
    with pytest.raises(IndexError, match="no dimension 5"):
        frameloom.mark_dynamic(torch.ones(2), 5)
    with pytest.raises(TypeError, match="a dimension is a whole number, not 'a'"):
        frameloom.mark_dynamic(torch.ones(2), "a")
    with pytest.raises(TypeError, match="a dimension is a whole number, not None"):
        frameloom.mark_dynamic(torch.ones(2), None)


def test_a_backend_that_gives_nothing_to_call_is_named() -> None:
    def nothing(gm, example_inputs):
        return None

    with pytest.raises(errors.BackendError, match="nothing.*NoneType"):
        frameloom.compile(double, backend=nothing)(X)


def test_a_backend_that_fails_is_named() -> None:
    def broken(gm, example_inputs):
        raise ValueError("no way")

    with pytest.raises(errors.BackendError, match="broken.*no way") as caught:
        frameloom.compile(double, backend=broken)(X)
    assert type(caught.value.__cause__) is ValueError


def test_fullgraph() -> None:
    def function(x):
        y = x + 1
        if y.sum() > 0:
            return y
        return x

    with pytest.raises(errors.GraphBreakError) as caught:
        frameloom.compile(function, fullgraph=True, backend="eager")(X)
    assert caught.value.code == "FL201"
    assert torch.equal(frameloom.compile(function, backend="eager")(X), X + 1)


# -- modules ---------------------------------------------------------------------------------------------------------------


def test_a_compiled_module_is_the_module_under_another_hat() -> None:
    net = Net()
    compiled = frameloom.compile(net, backend="eager", fullgraph=True)
    assert compiled is not net
    assert isinstance(compiled, Net)
    assert compiled.__dict__ is net.__dict__
    assert list(compiled.state_dict()) == list(net.state_dict())
    assert torch.equal(compiled(X), net.linear(X).relu())
    assert net.calls == 1
    compiled.eval()
    assert net.training is False
    assert frameloom.stats().graphs == 1
    net(X)
    assert frameloom.stats().graphs == 1


def test_edits_of_the_module_are_seen() -> None:
    net = Net()
    compiled = frameloom.compile(net, backend="eager")
    with torch.no_grad():
        compiled(X)
        net.linear = torch.nn.Linear(3, 2)
        assert torch.equal(compiled(X), net.linear(X).relu())
        compiled.linear.weight.zero_()
        assert torch.equal(compiled(X), net.linear(X).relu())
        net.register_forward_hook(lambda module, args, output: output + 1)
        assert torch.equal(compiled(X), net.linear(X).relu() + 1)


def test_copies_and_pickles_of_a_compiled_module() -> None:
    net = Net()
    compiled = frameloom.compile(net, backend="eager", fullgraph=True)
    expected = net(X)
    for made in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled)), copy.copy(compiled)):
        assert made is not compiled
        assert type(made).__mro__[1] is Net
        before = frameloom.stats().graphs
        assert torch.equal(made(X), expected)
        assert frameloom.stats().graphs == before + 1
    deep = copy.deepcopy(compiled)
    assert deep.linear.weight is not net.linear.weight


def test_a_module_in_a_module() -> None:
    net = torch.nn.Sequential(Net(), frameloom.compile(Net(), backend="eager"), torch.nn.ReLU())
    compiled = frameloom.compile(net, backend="eager")
    with torch.no_grad():
        assert torch.equal(compiled(X), net(X))


# -- looking ---------------------------------------------------------------------------------------------------------------


def test_a_name_of_a_backend_is_text() -> None:
    with pytest.raises(TypeError, match="the name of a backend is a string, not 3"):
        frameloom.register_backend(3)


def test_explain_says_why_nothing_was_captured() -> None:
    def doubled(x):
        yield x * 2

    explanation = frameloom.explain(doubled)(torch.ones(2))
    assert [report.kind.code for report in explanation.eager] == ["FL908"]
    assert "running eager FL908" in str(explanation)


def test_a_resume_function_calls_its_values_as_the_program_does() -> None:
    def inner(x, limit):
        if x.sum() > 0:
            return x * limit
        return x

    def outer(x, limit):
        return inner(x, limit) + 1

    explanation = frameloom.explain(outer)(torch.ones(2), 5)
    checks = [check.text for check in explanation.frames[1].checks if not check.detail]
    assert "limit == 5" in checks and not any(".resume" in check for check in checks)
    assert "def forward(self, x)" in explanation.frames[1].graph
    frameloom.reset()
    compiled = frameloom.compile(outer, backend="eager")
    compiled(torch.ones(2), 5)
    compiled(torch.ones(2), 6)
    assert set(frameloom.stats().recompiles) == {"EQUAL limit"}


def test_explain() -> None:
    def function(x):
        y = x + 1
        frameloom.graph_break()
        return y * 2

    explanation = frameloom.explain(function)(X)
    assert torch.equal(explanation.result, (X + 1) * 2)
    assert (explanation.graphs, len(explanation.breaks), len(explanation.frames)) == (2, 1, 2)
    text = str(explanation)
    assert "FL401" in text
    assert "x is a Tensor float32[3] on cpu" in text


def test_stats_count_and_reset_forgets() -> None:
    compiled = frameloom.compile(double, backend="eager")
    compiled(X)
    compiled(X)
    stats = frameloom.stats()
    assert (stats.frames, stats.graphs, stats.ops) == (1, 1, 2)
    frameloom.reset()
    assert frameloom.stats().frames == 0
    compiled(X)
    assert frameloom.stats().frames == 1


def test_backends_by_name() -> None:
    @frameloom.register_backend(name="test_api_backend")
    def mine(gm, example_inputs):
        return gm.forward

    assert "test_api_backend" in frameloom.list_backends()
    assert torch.equal(frameloom.compile(double, backend="test_api_backend")(X), double(X))


@pytest.mark.parametrize("mark", [frameloom.mark_dynamic, frameloom.maybe_mark_dynamic])
def test_mark_dynamic(mark) -> None:
    graphs = []

    def backend(gm, example_inputs):
        graphs.append(gm)
        return gm.forward

    compiled = frameloom.compile(lambda x: x.sum(0) * x.shape[0], backend=backend)
    for size in (3, 4, 5):
        x = torch.ones(size, 2)
        mark(x, 0)
        assert torch.equal(compiled(x), x.sum(0) * size)
    assert len(graphs) == 1
    with pytest.raises(IndexError):
        mark(torch.ones(2), 1)


def test_mark_static() -> None:
    compiled = frameloom.compile(lambda x: x * 2, backend="eager", dynamic=True)
    for size in (3, 4, 5):
        x = torch.ones(size, 6)
        frameloom.mark_static(x, 0)
        assert torch.equal(compiled(x), x * 2)
    assert frameloom.stats().graphs == 3
    frameloom.reset()
    for size in (7, 8):
        x = torch.ones(5, size)
        frameloom.mark_static(x)
        assert torch.equal(compiled(x), x * 2)
    assert frameloom.stats().graphs == 2
    with pytest.raises(IndexError):
        frameloom.mark_static(torch.ones(2), 1)


def test_a_size_that_changes_is_symbolic_from_then_on() -> None:
    compiled = frameloom.compile(lambda x: x * 2, backend="eager")
    for size in (3, 4, 5, 6, 7):
        assert compiled(torch.ones(size)).shape == (size,)
    assert frameloom.stats().graphs == 2


def test_a_graph_that_fails_runs_again_from_its_start() -> None:
    def lookup(table, index):
        return (table * 2)[index]

    compiled = frameloom.compile(lookup, backend="eager")
    table = torch.ones(3)
    compiled(table, torch.tensor([1]))
    with pytest.raises(IndexError) as caught:
        compiled(table, torch.tensor([7]))
    assert caught.traceback[-1].name == "lookup"
    assert caught.value.__context__ is None
    assert frameloom.stats().eager == {"FL912": 1}
    assert torch.equal(compiled(table, torch.tensor([2])), torch.tensor([2.0]))
