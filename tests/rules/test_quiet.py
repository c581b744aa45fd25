"""Capture itself runs no code of the program's: neither a metaclass's, nor what an object says about itself."""

from __future__ import annotations

import abc
import collections.abc
import gc
import sys
import weakref

import pytest

from frameloom import native
from frameloom.symbolic.domain import Domain
from tests.cpython.watched import Figures, Watched
from tests.rules.running import breaks, compared, whole


class Hashing(type):
    """A metaclass that hashes classes in Python."""

    def __hash__(cls):
        raise RuntimeError("hashed")


class Hashed(metaclass=Hashing):
    pass


class Reading(type):
    """A metaclass that answers reads of a class's attributes."""

    def __getattribute__(cls, name):
        raise RuntimeError(name)


class Read(metaclass=Reading):
    def __init__(self, x):
        self.x = x


class Loud:
    def __getattribute__(self, name):
        raise RuntimeError(name)


LOUD = Loud()


class OddName:
    def __eq__(self, other):
        raise RuntimeError("compared")

    def __hash__(self):
        return hash("missing")


OddlyNamed = type("OddlyNamed", (), {OddName(): 1})


def test_a_metaclass_that_hashes_is_not_asked():
    breaks("FL112", lambda: Hashed().__class__.__name__)


def test_a_metaclass_that_reads_is_not_asked():
    whole(lambda: (isinstance(Read(5), int), isinstance(3, Read), Read(4).x))


def test_an_object_is_not_asked_for_its_class():
    whole(lambda: (isinstance([], Loud), LOUD is not None, type(LOUD).__name__))


def test_names_that_are_no_strings_are_not_compared():
    breaks("FL112", lambda: hasattr(OddlyNamed(), "missing"))


class Documented:
    @property
    def __doc__(self):
        return "of the object"


class DocReader:
    def __get__(self, obj, owner):
        return (obj is None, owner.__name__)


class DocRead:
    __doc__ = DocReader()


def test_the_text_of_a_class_is_bound():
    whole(lambda: (type(Documented.__doc__), Documented().__doc__, DocRead.__doc__, DocRead().__doc__, int.__doc__, Loud.__doc__))


# -- abstract base classes -------------------------------------------------------------------------------------------


class Hooked(metaclass=abc.ABCMeta):
    @classmethod
    def __subclasshook__(cls, other):
        return "word" in other.__dict__ if cls is Hooked else NotImplemented


class BelowHooked(metaclass=abc.ABCMeta):
    pass


class Between(BelowHooked):
    @classmethod
    def __subclasshook__(cls, other):
        return other is int


class Listed(metaclass=abc.ABCMeta):
    __subclasses__ = None


class Claims:
    @property
    def __class__(self):
        return list


def test_a_hook_is_asked_before_the_bases():
    breaks("FL112", lambda: issubclass(Hooked, Hooked))


def test_hooks_of_subclasses_are_not_run_by_capture():
    breaks("FL112", lambda: (issubclass(int, BelowHooked), issubclass(str, BelowHooked)))


def test_a_subclasses_method_of_the_programs_is_not_run():
    def asked():
        try:
            return issubclass(int, Listed)
        except TypeError:
            return "refused"

    breaks("FL112", asked)


def test_what_an_object_claims_to_be_counts():
    def claims():
        found = Claims()
        return isinstance(found, collections.abc.Sequence), isinstance(found, list), isinstance(found, Claims), isinstance(found, dict)

    whole(claims)


# -- descriptors of subclasses ---------------------------------------------------------------------------------------


class Named(property):
    pass


class Wrapped(classmethod):
    pass


class Static(staticmethod):
    pass


class Uses:
    def __init__(self):
        self.kept = 1

    @Named
    def value(self):
        return self.kept

    @value.setter
    def value(self, new):
        self.kept = new

    @Wrapped
    def of(cls):
        return cls.__name__

    @Static
    def plain(x):
        return x + 1


def test_subclasses_of_descriptors_bind_and_write():
    def used():
        obj = Uses()
        before = obj.value
        obj.value = 7
        return before, obj.value, obj.of(), Uses.of(), obj.plain(2), Uses.plain(3), Named.__get__(Uses.__dict__["value"], obj)

    whole(used)


def test_a_call_that_leads_to_itself_ends():
    class Endless:
        pass

    Endless.__call__ = Endless()

    def called():
        try:
            Endless()()
        except RecursionError:
            return "ended"

    breaks("FL006", called)


class Reduced:
    def __getnewargs_ex__(self):
        return (1,), {}


class NoIndex:
    def __index__(self):
        return None


def test_no_keywords_are_no_keywords():
    whole(lambda: Reduced().__reduce_ex__(4))


def test_an_index_must_be_a_number():
    def indexed():
        try:
            return [1][NoIndex()]
        except TypeError as error:
            return str(error)

    whole(indexed)


class WithDictionary:
    pass


class OddMeta(WithDictionary, type):
    pass


OddClass = OddMeta("OddClass", (), {"entry": 1})


def test_the_dictionary_of_a_class_is_that_of_its_built_in_base():
    whole(lambda: OddClass.__dict__["entry"])


# -- death -----------------------------------------------------------------------------------------------------------


class Mortal:
    pass


class Final:
    log: list = []

    def __del__(self):
        self.log.append("end")


def _runs(function):
    """What a function gives when called twice with every frame captured; the collector must not be needed."""
    figures = Figures()
    run = native.Callable(function, Watched(Domain(), figures).engine)
    found = [run(), run()]
    assert not figures.faults, figures.faults
    return found


def _deleted():
    mortal = Mortal()
    seen = weakref.ref(mortal)
    del mortal
    return seen() is None


def _overwritten():
    mortal = Mortal()
    seen = weakref.ref(mortal)
    mortal = None
    return seen() is None, mortal


def _inside():
    mortal = Mortal()
    held = [mortal]
    seen = weakref.ref(mortal)
    del mortal
    before = seen() is None
    del held
    return before, seen() is None


def _finalised():
    final = Final()
    before = list(Final.log)
    del final
    after = list(Final.log)
    Final.log.clear()
    return before, after


def _below():
    def inner(mortal):
        seen = weakref.ref(mortal)
        sys.getrefcount(mortal)
        return seen

    mortal = Mortal()
    seen = inner(mortal)
    del mortal
    return seen() is None


def _caught():
    def failing(mortal):
        (lambda: mortal)()
        try:
            sys.getrefcount(mortal)
            int("x")
        except ValueError as error:
            sys.getrefcount(mortal)
            mortal.error = error
        mortal = None

    def calling(mortal):
        failing(mortal)
        seen = weakref.ref(mortal)
        del mortal
        return seen() is None

    return calling(Mortal())


def _in_a_generator():
    def made():
        try:
            yield 1
        finally:
            log.append("closed")

    def used():
        generator = made()
        seen = weakref.ref(generator)
        next(generator)
        del generator
        return seen() is None, list(log)

    log: list = []
    return [used()]


@pytest.mark.parametrize("function", [_in_a_generator, _deleted, _overwritten, _inside, _finalised, _below])
def test_objects_die_when_the_program_lets_go_of_them(function):
    assert _runs(function) == [function(), function()]


def _deep():
    return _waits(Mortal())


def _waits(mortal):
    seen = weakref.ref(mortal)
    first = _middle(mortal, seen)
    return first, seen() is None


def _middle(mortal, seen):
    del mortal
    return seen() is None


def test_an_argument_of_a_waiting_frame_lives_as_long_as_that_frame_holds_it():
    assert _runs(_deep) == [_deep(), _deep()]


def _handed():
    def first(mortal):
        seen = weakref.ref(mortal)
        del mortal
        return seen() is None

    return first(Mortal())


@pytest.mark.parametrize("function", [_handed, _caught])
def test_a_bridge_keeps_nothing_of_the_frame_it_waits_for(function):
    assert _runs(function) == [True, True]  # under any hook, CPython's own calls keep the arguments on the caller's stack


def test_classes_that_were_seen_can_die():
    def made():
        class Gone:
            pass

        obj = Gone()
        obj.x = 1
        return weakref.ref(Gone), obj.x

    for seen, x in _runs(made):
        gc.collect()
        assert (seen(), x) == (None, 1)


def test_a_class_dies_though_an_entry_names_it():
    def made():
        class Parent:
            pass

        class Child(Parent):
            pass

        before = len(Parent.__subclasses__())
        del Child
        gc.collect()
        return before, len(Parent.__subclasses__())

    assert _runs(made) == [(1, 0), (1, 0)]


def test_what_explains_a_miss_keeps_no_key_alive():
    table = {}

    def known(key):
        return key in table, table.get(key)

    key = Mortal()
    table[key] = 1
    figures = Figures()
    run = native.Callable(known, Watched(Domain(), figures).engine)
    assert run(key) == (True, 1)
    assert run(Mortal()) == (False, None)
    assert not figures.faults
    seen = weakref.ref(key)
    table.clear()
    del key
    gc.collect()
    assert seen() is None


# -- identity and blocked operations ---------------------------------------------------------------------------------


def test_whether_equal_texts_are_one_object_is_not_guessed():
    def told(a, b):
        return a is b

    text = "some text"
    breaks("FL501", told, lambda: text, lambda: "".join(["some", " text"]))
    breaks("FL501", told, lambda: text, lambda: text)
    one, small, other = "ab", 5, "cd"
    whole(lambda: (one is not None, small is 5 + 0, one is other))


class Blocked:
    __radd__ = None
    __eq__ = None
    __len__ = None


def test_none_blocks_an_operation():
    def tried(run):
        try:
            return run()
        except TypeError as error:
            return str(error)

    compared(lambda: [tried(lambda: 1 + Blocked()), tried(lambda: Blocked() == 1), tried(lambda: len(Blocked()))], (), 2, tuple)


class Huge:
    def __len__(self):
        return sys.maxsize + 1


class BadText:
    def __format__(self, spec):
        return 1.0


def test_what_special_methods_must_give():
    def tried(run):
        try:
            return run()
        except (TypeError, OverflowError) as error:
            return type(error).__name__, str(error)

    whole(
        lambda: [
            tried(lambda: len(Huge())),
            tried(lambda: format(BadText(), "")),
            tried(lambda: format(Mortal(), 4)),
            tried(lambda: Mortal().__format__(3)),
        ]
    )


PREDICATES = {len, repr, abs}


def test_a_member_leaves_a_copy_of_a_set_that_existed():
    def others(name):
        return sorted(found.__name__ for found in PREDICATES - {name})

    compared(others, (lambda: repr,), 2, tuple)
    compared(lambda: sorted({1, 2, 3} & {3, 2} | set(range(2))), (), 2, tuple)


def test_replaced_builtins_run_no_code_of_the_programs(monkeypatch):
    import builtins

    asked = []

    def size(items, original=len):
        asked.append(items)
        return original(items)

    def counted(items):
        return len(items)

    figures = Figures()
    run = native.Callable(counted, Watched(Domain(), figures).engine)
    monkeypatch.setattr(builtins, "len", size)
    found = run([1, 2])
    monkeypatch.undo()
    assert (found, asked) == (2, [[1, 2]])
    assert run([1, 2]) == 2
    assert not figures.faults


class Base:
    def __new__(cls, *args):
        raise RuntimeError("made")


class Restored(Base):
    __new__ = object.__new__

    def __init__(self, x):
        self.x = x


def test_a_class_that_had_a_new_of_its_own_refuses_arguments_as_eager_does():
    def made():
        try:
            return Restored(3).x
        except TypeError as error:
            return str(error)

    whole(made)


def test_an_object_with_names_that_are_no_strings_is_left_to_eager():
    def asked():
        class Evil:
            def __hash__(self):
                return hash("attr")

            def __eq__(self, other):
                Holder.attr = 2
                return False

        class Holder:
            attr = 1

        holder = Holder()
        holder.__dict__[Evil()] = 0
        return holder.attr, Holder.attr

    assert _runs(asked) == [asked(), asked()]


def test_functions_that_measure_memory_see_what_eager_has():
    class Compared:
        def __eq__(self, other):
            return False

    def counted():
        one = Compared()
        before = len(gc.get_objects())
        for _ in range(3):
            one == one
        return len(gc.get_objects()) - before

    def sized():
        class Holder:
            pass

        [Holder() for _ in range(30)]
        return sys.getsizeof(vars(Holder())) < sys.getsizeof({"a": 1})

    # Other threads of the process make and drop objects as well: what capture itself would add comes every time.
    gc.collect()
    gc.disable()
    try:
        assert min(counted() for _ in range(5)) == 0
        assert [0, 0] in [_runs(counted) for _ in range(3)]
        assert _runs(sized) == [sized(), sized()]
    finally:
        gc.enable()


def test_texts_that_the_program_makes_stay_other_objects():
    import operator

    def told():
        first = second = "xyzpdq"
        made = first[:3] + second[3:]
        spaced, again = "a b c", " ".join(["a", "b", "c"])
        return operator.is_(first, made), first is second, operator.is_(spaced, again), made == first

    assert _runs(told) == [told(), told()] == [(False, True, False, True)] * 2
