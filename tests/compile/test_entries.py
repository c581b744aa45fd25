"""What an entry does is what the function does: results, identities, mutations, exceptions; on first and on later calls."""
from __future__ import annotations

import collections
import sys

import pytest

from frameloom.interpreter.registry import refuse
from tests.compile.calls import Compiled, outcome


class Box:
    def __init__(self, n: object = 0) -> None:
        self.n = n


class Slotted:
    __slots__ = ("a", "b")


class Named(Box):
    """Says how often its `__setattr__` ran."""

    def __init__(self) -> None:
        object.__setattr__(self, "count", 0)

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, "count", self.count + 1)
        object.__setattr__(self, name, value)


def breaks(value: object = None) -> object:
    return value


refuse("FL401", "the test breaks here", breaks)


# -- returning ---------------------------------------------------------------------------------------------------------


def test_an_argument_is_returned_as_it_is() -> None:
    call = Compiled(lambda a, b=3: a)
    thing = object()
    assert call(thing) is thing
    assert call(thing) is thing
    assert call.hits == 1
    assert call.plan.fresh == []


def test_fresh_containers_are_new_at_each_call() -> None:
    call = Compiled(lambda a: [a, (a, 1), {"k": [a]}])
    first, second = call(1), call(1)
    assert first == second == [1, (1, 1), {"k": [1]}]
    assert first is not second
    assert first[2]["k"] is not second[2]["k"]


def test_an_object_met_twice_is_one_object() -> None:
    def function(a):
        inner = [a]
        return inner, inner, (inner,)

    one, two, (three,) = Compiled(function)(1)
    assert one is two is three


def test_a_container_that_holds_itself() -> None:
    def function():
        items = [1]
        items.append(items)
        table = {"items": (items,)}
        table["self"] = table
        return table

    table = Compiled(function)()
    assert table["self"] is table
    assert table["items"][0][1] is table["items"][0]


def test_objects_that_nobody_reaches_are_not_made() -> None:
    def function(a):
        helper = Box([a])
        helper.other = Box(helper)
        return a

    call = Compiled(function)
    assert call(5) == 5
    assert call.plan.fresh == []


def test_an_instance_is_made_without_running_its_methods_again() -> None:
    def function(a):
        made = Named()
        made.x = a
        return made

    call = Compiled(function)
    for _ in range(2):
        made = call(4)
        assert (type(made), made.x, made.count) == (Named, 4, 1)
        assert list(vars(made)) == ["count", "x"]


def test_slots_of_a_fresh_object() -> None:
    def function(a):
        made = Slotted()
        made.a = a
        return made

    made = Compiled(function)([7])
    assert made.a == [7]
    assert not hasattr(made, "b")


class Words(list):
    def append(self, item: object) -> None:
        super().append((item, len(self)))


class Registry(collections.OrderedDict):
    pass


def test_subclasses_of_containers_keep_class_storage_and_attributes() -> None:
    def function(a):
        words = Words()
        words.append(a)
        words.title = "t"
        registry = Registry()
        registry["a"] = words
        return words, registry

    words, registry = Compiled(function)(3)
    assert (type(words), list(words), words.title) == (Words, [(3, 0)], "t")
    assert type(registry) is Registry
    assert list(registry.items()) == [("a", words)]


# -- closures ----------------------------------------------------------------------------------------------------------


def test_a_function_made_in_the_trace_shares_its_cells() -> None:
    def function(a):
        n = 1

        def read():
            return n + a

        def write(value):
            nonlocal n
            n = value

        n = 2
        return read, write

    read, write = Compiled(function)(10)
    assert read() == 12
    write(5)
    assert read() == 15
    assert (read.__name__, read.__qualname__.endswith("function.<locals>.read"), read.__module__) == ("read", True, __name__)


def counter():
    n = 0

    def count(step):
        nonlocal n
        n += step
        return n

    return count, lambda: n


def test_a_cell_of_the_closure_is_written() -> None:
    count, read = counter()
    call = Compiled(count)
    assert [call(2), read(), call(3), read(), call(3), read()] == [2, 2, 5, 5, 8, 8]


def test_an_argument_that_becomes_a_cell() -> None:
    def function(a):
        def change():
            nonlocal a
            a = a + 1

        change()
        breaks()
        change()
        return a, locals()["a"]

    call = Compiled(function)
    assert call(1) == (3, 3)
    assert call(1) == (3, 3)


# -- mutations ---------------------------------------------------------------------------------------------------------


def test_attributes_are_written_in_order_and_once() -> None:
    def function(box):
        box.b = 1
        box.a = [2]
        box.b = 3
        del box.n
        return box.a

    call = Compiled(function)
    for _ in range(2):
        box = Box()
        assert call(box) is box.a
        assert list(vars(box).items()) == [("b", 3), ("a", [2])]
    assert len(call.plan.operations) == 3


def test_a_value_that_is_there_already_is_not_written() -> None:
    def function(box):
        old = box.n
        box.n = old + 1
        box.n = old
        return old

    call = Compiled(function)
    assert call(Box(1)) == 1
    assert call.plan.operations == []


def test_a_list_argument_of_growing_length_compiles_once() -> None:
    def function(items, value):
        items.append(value)

    call = Compiled(function)
    items: list = []
    for i in range(20):
        call(items, None)
    assert items == [None] * 20
    assert len(call.captures) == 1


def test_one_key_of_a_large_dictionary() -> None:
    def function(table):
        table["hits"] = table["hits"] + [1]
        return table["a"]

    table = {f"k{i}": i for i in range(10_000)} | {"a": "x", "hits": []}
    call = Compiled(function)
    assert call(table) == "x"
    assert len(call.captures[0].guards.guards) < 20
    assert table["hits"] == [1]


def test_counting_in_a_dictionary_compiles_twice_at_most() -> None:
    def function(table):
        table["n"] += 1
        return table["n"]

    table = {"n": 0}
    call = Compiled(function)
    assert [call(table) for _ in range(10)] == list(range(1, 11))
    assert len(call.captures) == 2


def test_counting_in_an_attribute_compiles_twice_at_most() -> None:
    def function(box):
        box.n += 1
        return box.n * 2

    box = Box(0)
    call = Compiled(function)
    assert [call(box) for _ in range(10)] == [2 * i for i in range(1, 11)]
    assert len(call.captures) == 2
    assert box.n == 10


def test_writes_to_what_was_read_do_not_change_what_is_returned() -> None:
    def function(box, items):
        old = box.n
        first = items[0]
        box.n = items
        items[0] = old
        return old, first

    call = Compiled(function)
    for _ in range(2):
        box, items, one, two = Box(), [0, 1], [1], [2]
        box.n, items[0] = one, two
        old, first = call(box, items)
        assert old is one
        assert first is two
        assert box.n is items
        assert items[0] is one


def test_aliased_arguments_are_told_apart_from_different_ones() -> None:
    def function(a, b):
        a.append(1)
        return len(b)

    call = Compiled(function)
    one: list = []
    assert call(one, one) == 1
    assert call([], [0]) == 1
    assert call([], []) == 0
    two: list = []
    assert call(two, two) == 1


def test_globals_are_read_and_written() -> None:
    space: dict = {"__name__": "somewhere", "limit": 3}
    exec("def function(a):\n    global limit, made\n    made = [a, limit]\n    limit = limit + 1\n    return made\n", space)
    call = Compiled(space["function"])
    assert call("x") == ["x", 3]
    assert space["made"] == ["x", 3]
    assert [space["limit"], call("y"), space["limit"]] == [4, ["y", 4], 5]


def test_one_code_object_in_two_modules() -> None:
    code = compile("def function():\n    global n\n    n = n + 1\n    return n\n", "<twice>", "exec")
    spaces = [{"n": 1}, {"n": 100}]
    for space in spaces:
        exec(code, space)
    functions = [space["function"] for space in spaces]
    functions[1].__code__ = functions[0].__code__
    call = Compiled(functions[0])
    from frameloom.native import Callable

    other = Callable(functions[1], call.compiler.engine)
    assert [call(), other(), call(), other()] == [2, 101, 3, 102]


# -- exceptions ----------------------------------------------------------------------------------------------------------


def test_the_users_exception_comes_out_with_its_traceback() -> None:
    def inner(a):
        return [1][a]

    def function(a):
        return inner(a)

    call = Compiled(function)
    for _ in range(2):
        with pytest.raises(IndexError) as caught:
            call(4)
        names = [entry.name for entry in caught.traceback if entry.path == caught.traceback[-1].path]
        assert names[-2:] == ["function", "inner"]
        assert caught.value.__context__ is None


def test_a_caught_exception_costs_no_break() -> None:
    def function(table):
        try:
            return table["missing"]
        except KeyError:
            return "default"

    call = Compiled(function)
    assert call({}) == "default"
    assert len(call.captures) == 1
    assert call({"missing": 1}) == 1


def test_an_exception_that_escapes_its_handler_is_a_real_one() -> None:
    def function(table):
        try:
            table["missing"]
        except KeyError as error:
            return error

    error = Compiled(function)({})
    assert (type(error), error.args) == (KeyError, ("missing",))
    assert error.__traceback__ is not None
    assert error.__traceback__.tb_lineno == function.__code__.co_firstlineno + 2


# -- breaks ------------------------------------------------------------------------------------------------------------


def test_a_break_in_the_middle_of_an_expression() -> None:
    def function(a, items):
        return (a, items.append(a), breaks(items), [a])

    call = Compiled(function)
    for _ in range(2):
        items: list = []
        assert call(1, items) == (1, None, [1], [1])
    assert call.hits > 0


def test_locals_are_the_users_at_a_break() -> None:
    def function(a, b):
        c = a
        del b
        breaks()
        seen = breaks(locals())
        return seen, c

    call = Compiled(function)
    seen, c = call(1, 2)
    assert (seen, c) == ({"a": 1, "c": 1}, 1)


def test_a_break_below_handlers_and_finally() -> None:
    log: list = []

    def inner(a):
        breaks()
        raise KeyError(a)

    def function(a):
        try:
            return inner(a)
        except KeyError as error:
            breaks()
            return "handled", error.args, sys.exc_info()[1] is error
        finally:
            log.append("finally")

    call = Compiled(function)
    for _ in range(2):
        assert call(1) == ("handled", (1,), True)
    assert log == ["finally", "finally"]
    assert sys.exc_info() == (None, None, None)


def test_a_bare_raise_in_a_handler_behind_a_break() -> None:
    def function(a):
        try:
            [][a]
        except IndexError:
            breaks()
            try:
                raise
            except IndexError as again:
                return again.__context__, type(again)

    assert Compiled(function)(0) == (None, IndexError)


def test_breaks_at_three_depths() -> None:
    def low(a):
        b = breaks(a) + 1
        return [b]

    def middle(a):
        made = low(a)
        breaks()
        return made + low(a)

    def function(a):
        first = [a]
        return first + middle(a) + middle(a)

    call = Compiled(function)
    for _ in range(2):
        assert call(1) == [1, 2, 2, 2, 2]


def test_a_break_in_a_constructor_and_in_a_property() -> None:
    class Made:
        def __init__(self, a):
            self.a = breaks(a)

        @property
        def twice(self):
            breaks()
            return self.a * 2

        def __bool__(self):
            return breaks(False)

    def function(a):
        made = Made(a)
        return made.twice, "true" if made else "false", not made, made.a

    call = Compiled(function)
    for _ in range(2):
        assert call(4) == (8, "false", True, 4)


def test_a_manager_that_is_open_at_a_break() -> None:
    class Manager:
        def __init__(self, log):
            self.log = log

        def __enter__(self):
            self.log.append("in")
            return self

        def __exit__(self, kind, error, traceback):
            self.log.append(kind)
            return True

    def function(log):
        with Manager(log) as manager:
            breaks()
            manager.log.append("body")
            breaks([][1])
        return log

    call = Compiled(function)
    for _ in range(2):
        assert call([]) == ["in", "body", IndexError]


def test_a_million_breaks_need_no_stack() -> None:
    def function(n):
        total = 0
        for i in range(n):
            total += 1
            breaks()
        return total

    call = Compiled(function, replay=False)
    assert call(20_000) == 20_000


def test_what_an_unknown_call_calls_is_captured() -> None:
    def below(a):
        return [a]

    def function(a):
        return breaks(list(map(below, [a]))), breaks(below)(a)

    call = Compiled(function)
    assert call(1) == ([[1]], [1])


# -- generators --------------------------------------------------------------------------------------------------------


def generated(items):
    try:
        for item in items:
            got = yield item
            if got:
                yield got
    finally:
        items.append("closed")


def test_a_suspended_generator_is_rebuilt_where_it_stood() -> None:
    def function(items):
        made = generated(items)
        return next(made), made

    call = Compiled(function)
    for _ in range(2):
        items = [1, 2, 3]
        first, made = call(items)
        assert first == 1
        assert made.gi_frame.f_locals["item"] == 1
        assert made.__name__ == "generated"
        assert made.send("sent") == "sent"
        assert next(made) == 2
        made.close()
        assert items[-1] == "closed"


def test_generators_that_have_not_begun_and_that_are_over() -> None:
    def function(items):
        new = generated(items)
        over = generated([1])
        return new, list(over), over

    items = [1, 2]
    new, listed, over = Compiled(function)(items)
    assert listed == [1]
    assert list(over) == []
    new.close()
    assert items == [1, 2]


def handling():
    try:
        [][1]
    except IndexError:
        yield 1
        try:
            raise
        except IndexError as error:
            yield type(error), error.__traceback__.tb_lineno - handling.__code__.co_firstlineno


def test_a_generator_that_is_suspended_in_a_handler() -> None:
    def function():
        made = handling()
        first = next(made)
        breaks()
        return first, list(made), sys.exc_info()

    call = Compiled(function)
    for _ in range(2):
        assert call() == function()


def test_a_generator_that_can_reach_itself() -> None:
    def function():
        def generated():
            yield me
            yield 2

        me = generated()
        return next(me) is me, list(me)

    assert Compiled(function)() == (True, [2])


def test_a_list_that_grew_and_shrank_is_empty_again() -> None:
    def function(items):
        items.append(1)
        taken = items.pop()
        return taken, bool(items), len(items)

    assert Compiled(function)([]) == (1, False, 0)


def test_an_iterator_over_a_dictionary_that_has_changed() -> None:
    def function(table):
        iterator = iter(table)
        breaks()
        table["new"] = 1
        breaks()
        return next(iterator)

    call = Compiled(function)
    for _ in range(2):
        assert outcome(call, {"a": 1}) == outcome(function, {"a": 1})


# -- arguments ---------------------------------------------------------------------------------------------------------


def test_all_kinds_of_parameters() -> None:
    def function(a, /, b, *rest, c, d=4, **named):
        breaks()
        return a, b, rest, c, d, named

    call = Compiled(function)
    for _ in range(2):
        assert call(1, 2, 3, c=5, x=6) == (1, 2, (3,), 5, 4, {"x": 6})
    assert outcome(call, 1) == outcome(function, 1)


def test_what_a_capture_saw_does_not_live_on() -> None:
    import gc
    import weakref

    def function(box):
        box.n = [box.n, box]
        breaks()
        return 1

    call = Compiled(function, on_capture=None)
    box = Box()
    reference = weakref.ref(box)
    gc.disable()
    try:
        call(box)
        box.n.clear()
        del box
        assert reference() is None
    finally:
        gc.enable()


def test_a_function_that_asks_for_its_frame_runs_as_a_whole() -> None:
    def inner(a):
        frame = sys._getframe()
        b = breaks([a])
        del a
        return frame, b

    def function(a):
        return inner(a)

    call = Compiled(function)
    frame, _ = call(1)
    assert frame.f_code is inner.__code__
    assert sorted(frame.f_locals) == ["b", "frame"]
