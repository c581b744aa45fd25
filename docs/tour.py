"""A tour of the house: one small function on its way from a code object to an entry, and what happens at its calls.

Run it with any supported Python: `python docs/tour.py`.  It prints what each stage made, and asserts what the text says, so
it cannot go out of date.  Torch is needed by the last section only, which is left out where there is none; until then a
domain of a few lines, below, stands for torch.

`docs/map.md` says where each stage lives, `docs/design/` has a page for each mechanism, `docs/glossary.md` the words.
"""
from __future__ import annotations

import dis
import importlib.util
import textwrap
import traceback
from typing import Any

import frameloom
from frameloom.bytecode.decode import decode
from frameloom.bytecode.verify import verify_code
from frameloom.codegen.emit import emit
from frameloom.codegen.plan import Break, Plan, Return
from frameloom.codegen.render import render
from frameloom.codegen.resume import state_of
from frameloom.compile import callables, guard_program
from frameloom.compile.hook import Settings, break_report
from frameloom.compile.locations import location_of
from frameloom.compile.pipeline import RUNTIME, Capture
from frameloom.compile.trace import trace
from frameloom.diagnostics import events
from frameloom.symbolic.domain import NOT_HANDLED, Domain, GraphCall
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import INPUT, Const, Node, Value


def section(number: int, title: str) -> None:
    print(f"\n{number}. {title}\n{'=' * (len(title) + len(str(number)) + 2)}")


def say(text: str) -> None:
    print(textwrap.fill(" ".join(text.split()), 100))


def show(text: str) -> None:
    print(textwrap.indent(text.rstrip(), "    "))


# -- a domain ------------------------------------------------------------------------------------------------------------
#
# The core of frameloom knows Python and no tensors.  A domain tells it which objects are its own and what operations on them
# are: it claims classes, makes a node of each input, with a guard for all that it looked at, and records operations.


class Vector:
    """Numbers that are added and scaled as a whole.  To the core it is opaque, as a tensor is."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = numbers

    def __add__(self, other: Vector) -> Vector:
        return Vector(*(a + b for a, b in zip(self.numbers, other.numbers)))

    def __mul__(self, factor: float) -> Vector:
        return Vector(*(a * factor for a in self.numbers))

    def __bool__(self) -> bool:
        return any(self.numbers)


def is_of_size(found: Any, size: int) -> bool:
    """The guard of an input."""
    return type(found) is Vector and len(found.numbers) == size


class VectorDomain(Domain):
    """Records `+` and `*` of vectors.  The fact of a node is its size."""

    name = "vectors"
    operators = {"+": Vector.__add__, "*": Vector.__mul__}

    def claims(self, cls: type) -> bool:
        return cls is Vector

    def input(self, session: Any, real: Any) -> Node:
        size = len(real.object.numbers)
        session.guard("CALL", real.source, (is_of_size, size, f"{{}} has {size} numbers"))
        return session.record(INPUT, (), {}, Vector, size, real=real)

    def operator(self, session: Any, name: str, operands: list[Value]) -> Any:
        function = self.operators.get(name)
        if function is None or type(operands[0]) is not Node or type(operands[1]) not in (Node, Const):
            return NOT_HANDLED
        return session.record(function, tuple(operands), {}, Vector, operands[0].fact)

    def truth(self, session: Any, node: Node) -> Any:
        raise GraphBreak("FL201", "this vector is known only when the graph has run")

    def finish(self, session: Any, outputs: list[Node]) -> GraphCall | None:
        """The graph, for whatever compiles graphs here: a Python function that runs the operations in order."""
        steps = [node for node in session.nodes if node.tape == "graph" and node.target is not INPUT]
        if not steps:
            return None
        arguments = {arg for step in steps for arg in step.args}
        inputs = [node for node in session.nodes if node.target is INPUT and (node.tape == "graph" or node in arguments)]

        def graph(*given: Any) -> tuple:
            known = dict(zip(map(id, inputs), given))
            for step in steps:
                known[id(step)] = step.target(*(arg.value if type(arg) is Const else known[id(arg)] for arg in step.args))
            return tuple(known[id(node)] for node in outputs)

        text = "\n".join(f"%{step.number} = {step.target.__name__}({', '.join(map(_argument, step.args))})" for step in steps)
        return GraphCall(graph, list(inputs), outputs, lambda: text, len(steps))


def _argument(value: Value) -> str:
    return repr(value.value) if type(value) is Const else str(value.real.source) if value.real else f"%{value.number}"


# -- the function that we follow -----------------------------------------------------------------------------------------


class Smoother:
    """Something with a state, so that there is an attribute to read and one to write."""

    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.last = ""

    def scaled(self, x: Vector) -> Vector:
        return x * self.factor


def smooth(smoother: Smoother, x: Vector) -> Vector:
    smoother.last = "smooth"
    return smoother.scaled(x) + x


def clip(smoother: Smoother, x: Vector) -> Vector:
    y = smoother.scaled(x)
    if y + x:
        return y * 2.0
    return y


def checked(smoother: Smoother, x: Vector) -> Vector:
    y = x + x
    return clip(smoother, y) + y


# -- the stages ----------------------------------------------------------------------------------------------------------


def from_code_to_program() -> None:
    section(1, "bytecode: a program")
    say("""CPython hands frameloom a code object.  `decode` makes a Program of it: canonical instructions, the same on each
    Python, without caches, prefixes and superinstructions.  Each knows its original group, which is what a break copies out,
    and the user's position.""")
    program = decode(smooth.__code__)
    raw = len(list(dis.get_instructions(smooth)))
    print(f"\n{raw} original instructions, {len(program.instructions)} canonical ones:\n")
    for index, instruction in enumerate(program.instructions):
        argument = "" if instruction.arg is None else repr(instruction.arg)
        group = [dis.opname[opcode] for opcode, _ in program.group_of(index).raws]
        show(f"{index:3} {instruction.op:<18} {argument:<12} line {instruction.position.lineno or '-':<4} from {' '.join(group)}")
    assert "RETURN_VALUE" in {instruction.op for instruction in program.instructions}
    assert all(instruction.op != "CACHE" for instruction in program.instructions)


def from_program_to_trace() -> Any:
    section(2, "interpreter: a trace")
    say("""The interpreter runs the program on symbolic values, in a session.  To look at a real object is to guard it;
    what the domain claims becomes nodes; calls are followed into the callee; mutations go into a log.  Nothing real is touched.""")
    smoother, x = Smoother(0.5), Vector(1.0, 2.0)
    traced = trace(smooth, smooth.__code__, (smoother, x), VectorDomain(), frozenset(), ())
    session = traced.session
    print("\nguards, each with the user's line that needed it:\n")
    for guard in session.guards.values():
        place = location_of(guard.where[0], guard.where[1]) if guard.where else None
        show(f"{str(guard):<70} {'' if place is None else f'line {place.lineno} in {place.qualname}'}")
    print("\nnodes:\n")
    for node in session.nodes:
        what = "input" if node.target is INPUT else node.target.__name__
        show(f"%{node.number} {what:<8} {', '.join(map(_argument, node.args)) or node.real.source}")
    print("\nmutations:\n")
    for operation in session.operations:
        name, value = operation.arguments
        show(f"{operation.kind} {operation.target.real.source}.{name} = {_argument(value)}")
    texts = [str(guard) for guard in session.guards.values()]
    assert "smoother.factor == 0.5" in texts and "x has 2 numbers" in texts
    assert [node.target for node in session.nodes] == [INPUT, Vector.__mul__, Vector.__add__]
    assert [operation.kind for operation in session.operations] == ["attribute.set"]
    assert type(traced.exit) is Return and smoother.last == ""
    return traced


def from_trace_to_plan(traced: Any) -> Plan:
    section(3, "codegen: a plan")
    say("""What is known at the end is put in order: what is read at entry, the graph with its inputs and outputs, fresh
    objects, effects, and how the frame ends.  The domain gives its graph to a backend here.""")
    session = traced.session
    plan = Plan(traced.program, session, traced.exit, lambda outputs: VectorDomain().finish(session, outputs))
    print()
    show(render(plan))
    print("\nthe graph:\n")
    show(plan.graph.text)
    assert plan.graph.operations == 2 and len(plan.operations) == 1 and not plan.has_break
    return plan


def from_plan_to_code(plan: Plan) -> Any:
    section(4, "codegen: bytecode")
    say("""`emit` writes the plan as a code object that has the user's name, slots and lines: load the inputs, call the graph,
    replay the effects, leave as the user's function does.  A verifier reads the result before anything runs it.""")
    emitted = emit(plan, RUNTIME)
    verify_code(emitted.code)
    print()
    show("\n".join(f"{i.opname:<22} {i.argrepr[:60]}" for i in dis.get_instructions(emitted.code)))
    assert emitted.code.co_name == "smooth" and emitted.code.co_varnames[:2] == ("smoother", "x")
    assert [slot for slot in emitted.slots if slot[1] is plan.graph.function], "the graph is reached through a slot"
    return emitted


def from_guards_to_program(traced: Any) -> None:
    section(5, "compile: the guard program")
    say("""The guards become a program for a small evaluator in C: a walk over the paths by which values were reached, with the
    checks of each object where it is read.  The number behind an instruction is the guard that it fails.""")
    lowered = guard_program.lower(traced.session.guards.values(), smooth.__code__)
    print()
    show("\n".join(line[:100] for line in lowered.program.dump().splitlines()))
    assert len(lowered.guards) == len(traced.session.guards)


def calls() -> None:
    section(6, "native: calls, hits and misses")
    say("""A compiled callable is entered from C.  A call that meets the guards of an entry runs it; a call that meets none is
    captured, and told why if there were entries.""")
    captures: list[Capture] = []
    compiled = callables.compiled(smooth, Settings(VectorDomain(), on_capture=captures.append))
    smoother = Smoother(0.5)
    reports = []
    with events.listen(lambda kind, data: reports.append(data["report"]) if kind == "recompile" else None):
        for factor in (0.5, 0.5, 0.25):
            smoother.factor = factor
            result = compiled(smoother, Vector(1.0, 2.0))
            expected = smooth(Smoother(factor), Vector(1.0, 2.0))
            assert result.numbers == expected.numbers and smoother.last == "smooth"
            print(f"\nfactor {factor}: {result.numbers}, {compiled.engine.counters()['hits']} hits, {len(captures)} captures")
    print()
    show(reports[0].render())
    assert (len(captures), compiled.engine.counters()["hits"], len(reports)) == (2, 1, 1)
    assert reports[0].title == "recompile of smooth: value of smoother.factor changed"


def breaks() -> None:
    section(7, "a graph break")
    say("""`clip` branches on a vector, which no graph can.  The trace goes back to the instruction and ends there.  `clip` was
    inlined into `checked`, so both frames are suspended: `checked` by a bridge, its own code in which the call is replaced by a
    call of what goes on in `clip`, under its own exception table.  What follows is captured with the whole chain in one trace: no
    work before or behind the break is lost.""")
    captures: list[Capture] = []
    compiled = callables.compiled(checked, Settings(VectorDomain(), on_capture=captures.append))
    result = compiled(Smoother(0.5), Vector(1.0, 2.0))
    assert result.numbers == checked(Smoother(0.5), Vector(1.0, 2.0)).numbers
    first = captures[0]
    print()
    show(break_report(first.trace).render())
    print("\nthe end of the plan:\n")
    show(render(first.plan).partition("exit\n")[2])
    print("\nwhat was captured, in order:\n")
    for capture in captures:
        code = capture.trace.program.code
        state = state_of(code)
        what = "the function" if state is None else f"the rest of it, from line {decode(state.code).instructions[state.index].position.lineno}"
        operations = 0 if capture.plan.graph is None else capture.plan.graph.operations
        show(f"{code.co_qualname:<16} {what:<32} {operations} operations")
    say("(`Vector.__bool__` is Python, so the engine looked at its frame too, and found nothing to capture.)")
    assert type(first.plan.exit) is Break and [f.program.code.co_name for f in first.plan.exit.frames] == ["checked", "clip"]
    assert break_report(first.trace).kind.code == "FL201" and first.plan.graph.operations == 3
    names = [capture.trace.program.code.co_qualname for capture in captures]
    assert [name for name in names if name != "Vector.__bool__"] == ["checked", "checked"]
    assert sum(capture.plan.graph.operations for capture in captures if capture.plan.graph) == 5


def language() -> None:
    section(8, "the language alone")
    say("""Without a domain there are no graphs, and what remains is Python: with `replay` every frame gets an entry, which must do
    what the frame does.  So CPython's own tests can run under capture.  An exception of the program is no graph break: the entry
    hands over to the instruction that raises, and the traceback is CPython's.""")
    captures: list[Capture] = []

    def divided(numbers: list, by: int) -> list:
        numbers.append(by)
        return [number / by for number in numbers]

    compiled = callables.compiled(divided, Settings(Domain(), replay=True, on_capture=captures.append))
    given = [6]
    assert compiled(given, 2) == [3.0, 1.0] and given == [6, 2]
    print()
    show(render(captures[0].plan))
    try:
        compiled([], 0)
    except ZeroDivisionError as error:
        places = [(frame.name, frame.line) for frame in traceback.extract_tb(error.__traceback__)[1:]]
        print(f"\n{type(error).__name__}: {error}, at {places}")
    assert places[0] == ("divided", "return [number / by for number in numbers]")


def torch_programs() -> None:
    section(9, "torch")
    if importlib.util.find_spec("torch") is None:
        say("There is no torch in this environment: the tour ends here.")
        return
    say("""Torch is a domain too.  Its facts are types, sizes, strides and more; its graph is a `torch.fx` graph; its backends
    are callables that take `(gm, example_inputs)`.  `explain` shows for a call what the stages above made.""")
    import torch

    layer = torch.nn.Linear(3, 3)
    graphs = []

    def backend(gm: Any, example_inputs: list) -> Any:
        graphs.append(gm)
        return gm.forward

    def halved(x: Any) -> Any:
        y = layer(x).relu()
        if y.sum() > 100:
            y = y / 2
        return y + 1

    x = torch.ones(2, 3)
    explanation = frameloom.explain(halved, backend=backend)(x)
    print()
    show(str(explanation))
    assert torch.equal(explanation.result, halved(x))
    assert (explanation.graphs, [report.kind.code for report in explanation.breaks]) == (2, ["FL201"])
    assert len(graphs) == 2 and all(isinstance(gm, torch.fx.GraphModule) for gm in graphs)


def main() -> None:
    """Walk through all sections."""
    say("""frameloom turns Python that works on tensors into graphs, by running bytecode on symbolic values.  This is the way of one
    function through its rooms.""")
    from_code_to_program()
    traced = from_program_to_trace()
    plan = from_trace_to_plan(traced)
    from_plan_to_code(plan)
    from_guards_to_program(traced)
    calls()
    breaks()
    language()
    torch_programs()


if __name__ == "__main__":
    main()
