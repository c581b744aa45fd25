"""The canonical form of particular instructions, and what a Program tells about them."""
from __future__ import annotations

import gc
import opcode
import weakref

import pytest

from frameloom.bytecode.canonical import JUMPS, OPCODES
from frameloom.bytecode.decode import decode
from frameloom.bytecode.program import Slot
from frameloom.bytecode.slots import read_slots
from frameloom.bytecode.versions import version
from tests.bytecode.stdlib import codes


def program_of(function):
    return decode(function.__code__)


def body_of(function):
    """(op, arg) pairs behind the prefix."""
    program = program_of(function)
    return [(instruction.op, instruction.arg) for instruction in program.instructions[program.start :]]


def arguments_of(function, op):
    return [arg for name, arg in body_of(function) if name == op]


def test_operators_are_texts():
    def f(a, b):
        a += b
        return a < b, a is not b, a not in b, a @ b

    assert arguments_of(f, "BINARY_OP") == ["+=", "@"]
    assert arguments_of(f, "COMPARE_OP") == [("<", False)]
    assert arguments_of(f, "IS_OP") == [True]
    assert arguments_of(f, "CONTAINS_OP") == [True]


def test_conditions_are_bools():
    def f(a, b):
        if a:
            return not b
        while a is None:
            pass

    found = body_of(f)
    for at, (op, _) in enumerate(found):
        if op in ("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "UNARY_NOT"):
            assert found[at - 1][0] in ("TO_BOOL", "COMPARE_OP")
    assert "POP_JUMP_IF_NOT_NONE" in dict(found) or "POP_JUMP_IF_NONE" in dict(found)


def test_calls_carry_their_keywords():
    def f(g):
        return g(1, x=2, y=3)

    found = dict(body_of(f))
    if "CALL_KW" in found:
        assert found["CALL_KW"] == 3 and ("LOAD_CONST", ("x", "y")) in body_of(f)
    else:
        assert found["CALL"] == (3, ("x", "y"))


def test_a_method_says_where_its_null_goes():
    def f(a):
        return a.method(1), a.attribute

    assert arguments_of(f, "LOAD_METHOD") == [("method", version.NULL_FIRST)]
    assert arguments_of(f, "LOAD_ATTR") == ["attribute"]


def test_a_look_up_comes_before_its_null():
    def f():
        return len("")

    found = body_of(f)
    at = found.index(("LOAD_GLOBAL", "len"))
    assert found[at + 1] == ("PUSH_NULL", None)
    assert (found[at + 2] == ("SWAP", 2)) == version.NULL_FIRST


def test_loops_jump_past_what_only_cpython_needs():
    def f(xs):
        for x in xs:
            pass
        return 5

    program = program_of(f)
    (target,) = arguments_of(f, "FOR_ITER")
    depth = program.depth_at(target)
    assert depth == 0
    assert program.instructions[target].op == "LOAD_CONST"


def test_only_the_first_instruction_of_a_group_has_an_effect_that_others_see():
    silent = {"PUSH_NULL", "SWAP", "POP_TOP", "RETURN_VALUE", "UNARY_NOT"} | (JUMPS - {"FOR_ITER", "SEND"})
    for code in codes(200):
        program = decode(code)
        for group in program.groups:
            for instruction in program.instructions[group.first + 1 : group.first + group.count]:
                assert instruction.op in silent, (instruction, group)


def test_constants_keep_type_and_identity():
    def f():
        return 1, True, 1.0, -0.0, 0.0, "s", b"s", (1, 1.0), frozenset({2}), None, ...

    program = program_of(f)
    loaded = [instruction.arg for instruction in program.instructions if instruction.op == "LOAD_CONST"]
    for value in loaded:
        assert any(value is constant for constant in f.__code__.co_consts)


def test_positions_are_the_users():
    def f(a):
        return (a +
                a)

    line = f.__code__.co_firstlineno + 1
    program = program_of(f)
    (add,) = [instruction for instruction in program.instructions if instruction.op == "BINARY_OP"]
    assert (add.position.lineno, add.position.end_lineno) == (line, line + 1)
    assert add.position.col_offset == 16


def test_slots():
    def f(a, b=1, *c, d, **e):
        g = a
        return lambda: (b, g, h)

    h = 1
    assert read_slots(f.__code__) == (
        Slot("a", "local", True),
        Slot("b", "cell", True),
        Slot("d", "local", True),
        Slot("c", "local", True),
        Slot("e", "local", True),
        Slot("g", "cell", False),
        Slot("h", "free", False),
    )


def test_a_name_may_have_two_slots():
    """From 3.12 on a comprehension is inlined, whose variable may have the name of a free variable."""
    x = 1

    def f(y):
        return [x for x in y], x

    names = [slot.name for slot in read_slots(f.__code__)]
    assert names.count("x") == (2 if "LOAD_FAST_AND_CLEAR" in opcode.opmap else 1)


def test_the_prefix_stays_apart():
    x = 1

    def f(a):
        def g():
            return a, x

        yield g

    program = program_of(f)
    ops = [instruction.op for instruction in program.instructions[: program.start]]
    assert sorted(ops) == ["COPY_FREE_VARS", "MAKE_CELL", "POP_TOP", "RESUME", "RETURN_GENERATOR"]
    assert ops[-1] == "RESUME"


def test_withs_are_found_through_handlers():
    def f(a, b):
        with a:
            try:
                a.one()
            finally:
                with b as c:
                    a.two(c)
        return a.three()

    program = program_of(f)

    def at(name):
        return next(i for i, instruction in enumerate(program.instructions) if instruction.op == "LOAD_METHOD" and instruction.arg[0] == name)

    assert [found.exit for found in program.withs_at(at("one"))] == [0]
    assert [found.exit for found in program.withs_at(at("two"))] == [0, 1]
    assert program.withs_at(at("three")) == ()
    for found in program.withs_at(at("two")):
        assert program.instructions[found.target + 1].op == "WITH_EXCEPT_START"


def test_live_slots():
    def f(a, b, c):
        d = b
        try:
            if a:
                b = 1
            c.call()
        except ValueError:
            return d
        return c

    program = program_of(f)
    live = lambda index: {program.slots[slot].name for slot in program.live_slots(index)}
    assert live(program.start) == {"a", "b", "c"}
    call = next(i for i, instruction in enumerate(program.instructions) if instruction.op == "CALL")
    assert live(call) == {"c", "d"}
    assert live(len(program.instructions) - 1) == set()


def test_cells_stored_to_are_live():
    def f(a):
        a = 2
        return lambda: a

    program = program_of(f)
    assert program.live_slots(program.start) == {0}


def test_depths():
    def f(a):
        return [a, (a, a)]
        a.unreachable

    program = program_of(f)
    depths = [program.depth_at(index) for index in range(program.start, len(program.instructions))]
    assert depths[:5] == [0, 1, 2, 3, 2]


def test_handlers_name_canonical_instructions():
    def f(a):
        try:
            return a()
        except ValueError:
            pass

    program = program_of(f)
    call = next(i for i, instruction in enumerate(program.instructions) if instruction.op == "CALL")
    handler = program.handler_at(call)
    assert handler is not None and (handler.depth, handler.lasti) == (0, False)
    assert program.instructions[handler.target].op == "PUSH_EXC_INFO"
    assert program.handler_at(program.start - 1) is None


def test_offsets_lead_back_to_groups():
    for code in codes(400):
        program = decode(code)
        for group in program.groups:
            first = program.index_at(group.offset)
            assert program.group_of(first).offset == group.offset and first <= group.first


def test_decoding_once_for_each_code_object():
    one, other = (eval("lambda a: a + 1") for _ in range(2))
    assert one.__code__ == other.__code__
    assert decode(one.__code__) is decode(one.__code__) is not decode(other.__code__)
    assert decode(other.__code__).code is other.__code__


def test_the_cache_keeps_nothing_alive():
    function = eval("lambda a: a + 1")
    program, code = decode(function.__code__), weakref.ref(function.__code__)
    del function
    gc.collect()
    assert code() is None
    with pytest.raises(ReferenceError):
        program.code


def test_every_opcode_of_the_running_python_has_a_row():
    internal = {"CACHE", "EXTENDED_ARG", "RESERVED", "INTERPRETER_EXIT", "EXIT_INIT_CHECK", "ENTER_EXECUTOR"}
    real = {name for name, number in opcode.opmap.items() if number < 256 and not name.startswith("INSTRUMENTED_")}
    expected = real - internal - set(version.CONTINUES) - set(version.PAIRS)
    assert expected <= version.ROWS.keys()
    assert version.ROWS.keys() <= real
    assert {*version.LANDINGS} <= JUMPS


def test_every_row_has_a_meaning():
    for name, row in OPCODES.items():
        assert name.isupper() and row.meaning
        assert (row.jump is not None) == (row.arg == "target")
