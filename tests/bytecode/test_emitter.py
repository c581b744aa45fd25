"""What the emitter writes does what it says, on every version."""
from __future__ import annotations

import types

import pytest

from frameloom.bytecode.assemble import AssemblyError, Label
from frameloom.bytecode.decode import decode
from frameloom.bytecode.emitter import Emitter
from frameloom.bytecode.program import Position
from frameloom.bytecode.verify import verify_code


def base(a, b):
    pass


def made(emit, like=base, globals_=None, **finish):
    """A function with the parameters of `like` whose body is what `emit` emits."""
    out = Emitter(like.__code__)
    out.prefix()
    emit(out)
    code = out.finish(**finish).code
    verify_code(code)
    return types.FunctionType(code, globals() if globals_ is None else globals_, like.__name__, None, like.__closure__)


def test_constants_are_kept_apart_by_identity():
    one, other = [], []
    values = [1, True, 1.0, 0.0, -0.0, one, other, (1,), (1.0,), "a b", None, 1, float("nan")]

    def emit(out):
        for value in values:
            out.load_const(value)
        out.build_list(len(values))
        out.return_value()

    got = made(emit)(0, 0)
    assert len(got) == len(values)
    assert all(found is value for found, value in zip(got, values))


def test_calls():
    def emit(out):
        out.begin_call(max)
        out.load_fast("a")
        out.load_fast("b")
        out.call(2)
        out.load_callable(lambda: out.load_global("sorted"))
        out.load_fast("b")
        out.build_list(1)
        out.load_const(True)
        out.call_kw(2, ("reverse",))
        out.load_fast("a")
        out.call_constant_under(pow, 2)
        out.load_fast("a")
        out.call_constant_before(divmod, 7)
        out.load_fast("b")
        out.call_constant_under(abs, at=Label())
        out.build_tuple(5)
        out.return_value()

    assert made(emit)(3, -5) == (3, [-5], 9, (2, 1), 5)


def test_attributes_items_and_operators():
    def emit(out):
        out.load_fast("a")
        out.load_fast("b")
        out.store_attr("kept")
        out.load_fast("b")
        out.load_attr("kept")
        out.load_const(2)
        out.load_subscript()
        out.load_const(5)
        out.binary_op("+")
        out.load_const(10)
        out.compare_op("<=")
        out.load_fast("a")
        out.load_const(None)
        out.is_op(True)
        out.load_const(7)
        out.load_fast("a")
        out.contains_op(True)
        out.load_fast("a")
        out.unary_not()
        out.load_fast("a")
        out.to_bool()
        out.build_tuple(5)
        out.load_fast("b")
        out.delete_attr("kept")
        out.return_value()

    space = types.SimpleNamespace()
    assert made(emit)([1, 2, 3], space) == (True, True, True, False, True)
    assert not vars(space)


@pytest.mark.parametrize("operator", ["<", "<=", "==", "!=", ">", ">="])
def test_comparisons_stay_right_when_specialised(operator):
    def emit(out):
        out.load_fast("a")
        out.load_fast("b")
        out.compare_op(operator)
        other = Label()
        out.jump_if_true(other)
        out.load_const("no")
        out.return_value()
        out.place(other)
        out.load_const("yes")
        out.return_value()

    compare = eval(f"lambda a, b: 'yes' if a {operator} b else 'no'")
    written = made(emit)
    for a, b in ((1, 2), (2, 1), (1, 1), (1.5, 2.5), (2.5, 1.5), ("a", "a"), ("a", "b")):
        for _ in range(80):
            assert written(a, b) == compare(a, b)


def test_variables_of_every_kind():
    free = "free"

    def like(a, b):
        c = b
        return lambda: (a, free, c)

    def emit(out):
        temporary = out.scratch(".temporary")
        out.load_deref("a")
        out.store_fast(temporary)
        out.load_const("new")
        out.store_deref("c")
        out.load_deref("free")
        out.load_closure("a")
        out.load_closure("free")
        out.load_fast(".temporary")
        out.delete_deref("a")
        out.move_fast("b")
        out.load_deref("c")
        out.build_tuple(6)
        out.return_value()

    value, cell, other, kept, b, c = made(emit, like)(1, 2)
    assert (value, kept, b, c) == ("free", 1, 2, "new")
    assert other is like.__closure__[0] and cell != other
    with pytest.raises(ValueError):
        cell.cell_contents


def test_functions_take_the_running_globals_and_cells():
    free = "free"

    def like(a, b):
        return free, a, b

    inner = compile("lambda: (free, g)", "f", "eval").co_consts[0]

    def reads():
        return free, g  # noqa: F821

    def emit(out):
        out.make_function(lambda: out.load_const(reads.__code__), ["free"])
        out.return_value()

    function = made(emit, like, {"g": "global"})(1, 2)
    assert function() == ("free", "global") and inner is not None
    assert function.__closure__[0] is like.__closure__[0]


def test_jumps_and_far_jumps():
    def emit(out):
        far = Label()
        out.load_fast("a")
        out.jump_if_false(far)
        for _ in range(400):
            out.load_fast("b")
            out.call_constant_under(abs)
            out.pop_top()
        out.load_const("near")
        out.return_value()
        out.place(far)
        out.load_const("far")
        out.return_value()

    function = made(emit)
    assert (function(0, 1), function(1, 1)) == ("far", "near")


def test_a_loop():
    def emit(out):
        again, done = Label(), Label()
        out.place(again)
        out.load_fast("a")
        out.jump_if_false(done)
        out.load_fast("a")
        out.load_const(1)
        out.binary_op("-=")
        out.store_fast("a")
        out.jump(again)
        out.place(done)
        out.load_fast("a")
        out.return_value()

    assert made(emit)(1000, 0) == 0


def test_a_conditional_jump_backward_needs_an_opcode():
    def emit(out):
        again = Label()
        out.place(again)
        out.load_fast("a")
        out.jump_if_true(again)
        out.load_fast("a")
        out.return_value()

    try:
        function = made(emit)
    except AssemblyError as error:
        assert "backward" in str(error)
    else:
        assert function(0, 0) == 0


def test_regions():
    def emit(out):
        handler = Label()
        out.load_const("below")
        with out.region(handler, 1):
            out.load_fast("a")
            out.load_const(0)
            out.binary_op("//")
        out.build_tuple(2)
        out.return_value()
        out.place(handler)
        out.op("PUSH_EXC_INFO")
        out.call_constant_under(type)
        out.swap()
        out.op("POP_EXCEPT")
        out.build_tuple(2)
        out.return_value()

    assert made(emit)(1, 0) == ("below", ZeroDivisionError)
    with pytest.raises(ValueError, match="nest"):
        out = Emitter(base.__code__)
        out.begin_region(Label(), 0)
        out.begin_region(Label(), 0)


def test_positions():
    def emit(out):
        with out.at(Position(1234, 1235, 5, 9)):
            out.load_fast("a")
            out.load_const(0)
            out.binary_op("//")
        with out.at(Position(7, 6, 1, 2)):  # nonsense keeps its line
            out.return_value()

    function = made(emit, name="named", qualname="Some.named", filename="elsewhere.py", firstlineno=1200)
    with pytest.raises(ZeroDivisionError) as caught:
        function(1, 1)
    assert caught.traceback[-1].lineno == 1233
    code = function.__code__
    assert (code.co_name, code.co_qualname, code.co_filename, code.co_firstlineno) == ("named", "Some.named", "elsewhere.py", 1200)
    (add,) = [i for i in decode(code).instructions if i.op == "BINARY_OP"]
    assert add.position == (1234, 1235, 5, 9)
    assert decode(code).instructions[-1].position == (7, 7, None, None)


def test_parameters_are_the_argument_slots():
    def like(a, /, b, *c, d=1, **e):
        pass

    def emit(out):
        for name in "abcde":
            out.load_fast(name)
        out.build_tuple(5)
        out.return_value()

    function = made(emit, like)
    assert function(1, 2, 3, 4, 5) == (1, 2, 4, 3, 5)
    assert function.__code__.co_flags & 12 == 0


def test_slots_of_one_name():
    x = "free"

    def like(y):
        return [x for x in y], x

    out = Emitter(like.__code__)
    frees = [index for index, slot in enumerate(out.slots) if slot.kind == "free"]
    out.prefix()
    out.load_deref(frees[0])
    out.return_value()
    code = out.finish().code
    verify_code(code)
    assert types.FunctionType(code, {}, "f", None, like.__closure__)([]) == "free"


def test_names_are_taken_once():
    out = Emitter(base.__code__)
    with pytest.raises(ValueError, match="already"):
        out.scratch("a")
    out.scratch(".s")
    with pytest.raises(ValueError, match="already"):
        out.scratch(".s")
    with pytest.raises(KeyError):
        out.slot("nothing")
