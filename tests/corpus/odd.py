"""Odd functions that CPython 3.11 and later compile."""
from __future__ import annotations

import contextlib
import sys

from tests.corpus import LOG, call, case


class Manager:
    """A context manager that reports, and swallows what it is told to."""

    def __init__(self, name, swallow=()):
        self.name = name
        self.swallow = swallow

    def __enter__(self):
        LOG.append(("enter", self.name))
        return self

    def __exit__(self, kind, value, traceback):
        LOG.append(("exit", self.name, kind, sys.exc_info()[0]))
        return kind is not None and issubclass(kind, self.swallow)


class Counted:
    """Counts how often its truth is asked."""

    def __init__(self, truth):
        self.truth = truth

    def __bool__(self):
        LOG.append(("bool", self.truth))
        return self.truth


def note(value):
    LOG.append(value)
    return value


def handled():
    return type(sys.exception())


@case(call(1, 2), call(3, -3))
def arithmetic(a, b):
    c = a + b * 2 - a // 3
    c <<= 2
    c ^= b
    return -c, ~c, +c, not c, c ** 2, a @ Matrix() if c > 100 else a % 5


class Matrix:
    def __rmatmul__(self, other):
        return ("matmul", other)


@case(call(0), call(5), call(12))
def chained_comparison(x):
    if 0 < x < 10 <= x + 5:
        return "inside"
    return 0 <= x <= 10, x in (1, 2), x not in [5], x is None, x is not None, x != 3 > 1


class Sized:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length


class Returning:
    def __init__(self, result):
        return result


@case(call(0), call(2), call(-1), call("x"), call(1 << 70))
def lengths(n):
    try:
        return "long" if Sized(n) else "empty", Sized(n) or "or", not Sized(n)
    except (TypeError, ValueError) as e:
        return type(e), str(e)


@case(call(None), call(0))
def init_result(x):
    return type(Returning(x)), handled()


@case(call(True, True), call(True, False), call(False, True), call(0, 3), call(2, 0))
def boolean(a, b):
    x = a and b or "none"
    y = not (a or b)
    z = Counted(a) and Counted(b) or Counted(False)
    if Counted(a) and not Counted(b):
        return x, y, "first"
    return x, y, z.truth


@case(call(1), call(None), call(""))
def none_tests(x):
    if x is None:
        r = "none"
    elif x is not None and not x:
        r = "empty"
    else:
        r = "some"
    while x is not None:
        x = None
    return r, x


@case(call([]), call([1, 2, 3]), call([1, 0, 3]), call([5, 9]))
def loop_else(xs):
    total = 0
    for x in xs:
        if not x:
            break
        if x == 2:
            continue
        for y in range(x):
            total += y
            if y > 6:
                break
        else:
            total += 100
    else:
        total += 1000
    while total % 7:
        total += 1
    else:
        total *= 2
    return total


@case(call(1), call(0), call("a"), call([]))
def try_everything(x):
    try:
        y = 10 / x
    except ZeroDivisionError as e:
        y = repr(e)
    except (TypeError, ValueError) as e:
        y = handled(), type(e)
        if x == []:
            raise KeyError("from handler") from e
    else:
        note("else")
    finally:
        note(("finally", handled()))
    return y


@case(call(0), call(1), call(2), call(3))
def nested_handlers(n):
    out = []
    try:
        try:
            if n:
                raise ValueError(n)
        except ValueError:
            out.append(handled())
            try:
                if n > 1:
                    raise TypeError(n)
            except TypeError as inner:
                out.append((handled(), type(inner.__context__)))
                if n > 2:
                    raise
            out.append(handled())
            raise KeyError
    except LookupError as outer:
        out.append((handled(), type(outer.__context__)))
    except TypeError as outer:
        out.append(("type", type(outer.__context__), outer.__traceback__ is not None))
    finally:
        out.append(handled())
    return out, handled()


@case(call(0), call(1))
def bare_raise(n):
    try:
        [][n]
    except IndexError:
        try:
            {}[n]
        except KeyError as k:
            note(type(k.__context__))
            if n:
                raise
        raise


@case(call(1), call(2), call(3))
def return_in_finally(n):
    for i in range(3):
        try:
            if n == 1:
                return "try"
            if n == 2:
                raise ValueError
            continue
        finally:
            note(i)
            if n == 2:
                return "finally"
    return "end"


@case(call(0), call(1), call(2))
def break_in_finally(n):
    while True:
        try:
            if n == 0:
                break
            if n == 1:
                raise OSError(n)
            n -= 1
        finally:
            note(n)
            if n == 1:
                break
    return n


@case(call(None), call(ValueError), call(KeyError))
def with_blocks(error):
    with Manager("a", KeyError) as a, Manager("b"):
        note(a.name)
        with Manager("c", ValueError):
            if error:
                raise error("x")
            note("body")
        note(handled())
    return a.name, handled()


@case(call(1), call(2), call(3))
def with_exits(n):
    for i in range(4):
        with Manager(i, ZeroDivisionError):
            if n == 1 and i == 1:
                return "returned"
            if n == 2:
                if i == 2:
                    break
                continue
            note(1 / (i - 1))
    return i


@case(call(0), call(1))
def with_failing(n):
    with contextlib.suppress(AttributeError), contextlib.ExitStack() as stack:
        stack.callback(note, "callback")
        if n:
            with n:
                pass
        None.nothing
    return "suppressed"


@case(call([ValueError(1), TypeError(2)]), call([ValueError(3)]), call([OSError(4), KeyError(5)]), call([]))
def except_star(errors):
    try:
        if errors:
            raise ExceptionGroup("group", errors)
        note("nothing")
    except* ValueError as group:
        note([*map(repr, group.exceptions)])
        note(handled())
    except* (TypeError, OSError) as group:
        note(type(group))
        raise LookupError("again")
    else:
        note("else")
    finally:
        note(handled())
    return len(errors)


@case(call(3), call(0))
def comprehensions(n):
    k = 2
    a = [i * k for i in range(n) if i % 2 or not i]
    b = {i: [j for j in range(i)] for i in range(n)}
    c = {i // k for i in range(n)}
    d = sum(i + k for i in range(n))
    i = "outer"
    e = [(i, j) for i in range(n) for j in range(i)]
    return a, b, c, d, e, i


@case(call([1, 2]), call([0]), call([]))
def comprehension_fails(xs):
    x = "kept"
    try:
        ys = [1 // x for x in xs]
    except ZeroDivisionError:
        return x, "caught"
    return x, ys


@case(call([1, 2, 3]))
def comprehension_cells(xs):
    x = "outer"
    before = lambda: x
    fs = [lambda: x for x in xs]
    gs = [(lambda y: lambda: (x, y))(y) for y in xs if y > 1]
    return before(), x, [f() for f in fs], [g() for g in gs]


@case(call(1), call(2))
def cell_arguments(a, b=10, *rest, c=3, **more):
    def add(n):
        nonlocal a
        a += n + b + c
        return a

    first = add(1)
    c = 4
    rest = (*rest, add(2))
    get = lambda: (rest, more)
    return first, a, get(), b, c


@case(call(1), call(0))
def deleted(n):
    x = y = n
    z = [lambda: y]
    del x
    if n:
        x = 2
    try:
        x
    except UnboundLocalError as e:
        note(str(e))
    del y
    try:
        return z[0]()
    except NameError as e:
        note(str(e))
    y = n
    del z
    try:
        return z
    except UnboundLocalError:
        return y


@case(call(1), call(0))
def unbound_escapes(n):
    if n:
        value = n
    return value


@case(call(0), call(1))
def empty_cell(n):
    if n:
        free = n
    get = lambda: free
    return get()


@case(
    call(1), call("a"), call([1, 2, 3]), call([]), call({"k": 1, "z": 2}), call({"k": 1}), call(3.5), call((1, [2, 3])), call(range(1, 9, 2)), call(None)
)
def matching(subject):
    match subject:
        case 1 | 2:
            return "small"
        case str() as s if s == "b":
            return "b"
        case [first, *rest, last] if rest:
            return first, rest, last
        case (a, [b, c]):
            return a, b, c
        case {"k": value, **others}:
            return value, others
        case float(x):
            return x
        case range(start=s, step=t):
            return s, t
        case []:
            return "empty"
        case _:
            return "other"


@case(call([1, 2, 3, 4]), call([1, 2]), call([1]))
def unpacking(xs):
    a, *b, c = xs
    (d, e), *f = zip(xs, xs)
    g, h = h, g = a, c
    return a, b, c, d, e, f, g, h


@case(call((1, 2), {"z": 3}), call((), {}), call((1,), {"a": 2}))
def star_calls(args, kwargs):
    def f(*a, z=None, **k):
        return a, z, k

    r = f(*args, *args, 1, **kwargs)
    s = f(1, *args, z=2) if "z" not in kwargs else f(*args, **kwargs, q=1)
    t = [*args, *args], {**kwargs, "y": 1}, {*args, 7}, (*args, 5)
    try:
        return r, s, t, f(z=1, **kwargs)
    except TypeError as e:
        return str(e).partition("f()")[2]


@case(call(2))
def keywords(n):
    def f(a, /, b, c=3, *, d, e=5):
        return a, b, c, d, e

    g = lambda x=n, *, y=n + 1: (x, y)
    return f(1, n, d=4), f(1, b=n, c=9, d=0, e=8), g(), g(1, y=2), sorted([3, 1, n], key=lambda v: -v, reverse=True), dict(a=n, b=1)


@case(call([1, 2, 3, 4]))
def walrus(xs):
    if (n := len(xs)) > 3 and (last := xs[-1]):
        note((n, last))
    return [y for x in xs if (y := x * n) > 4], y, n


@case(call(3.14159, "w", 7))
def formatted(x, s, width):
    return f"{x:.2f} {s!r:>{width}} {s!s} {x!a} {{}} {width}{x=}", "%s-%d" % (s, width), f"{s}" "tail"


@case(call([0, 1, 2, 3, 4]))
def subscripts(xs):
    xs = list(xs)
    xs[1] += 10
    xs[2:4] = ["a", "b", "c"]
    del xs[0]
    del xs[-1:]
    d = {}
    d["k"] = d["j"] = xs[1:]
    d["k"][0] *= 2
    del d["j"]
    return xs, d, xs[::2], xs[slice(1, None)], xs[:-1]


class Plain:
    kind = "plain"

    def __init__(self, n):
        self.n = n

    def method(self, k=1):
        return self.n * k

    @property
    def double(self):
        return self.n * 2

    @classmethod
    def make(cls, n):
        return cls(n)


class Derived(Plain):
    def __init__(self, n):
        super().__init__(n + 1)
        self.extra = super().kind

    def method(self, k=2):
        get = lambda: super(Derived, self).method(k)
        return super().method(k), get(), __class__.__name__, super().double


@case(call(3))
def attributes(n):
    o = Derived(n)
    o.n += 1
    o.extra, o.new = o.new if hasattr(o, "new") else o.extra, n
    r = o.method(), o.method(k=5), Derived.make(n).double
    del o.new
    o.callback = note
    try:
        return r, o.callback("called"), o.new
    except AttributeError as e:
        return r, str(e), vars(o).keys() - {"callback"}


@case(call(Derived(1), 2), call(Plain(1), 3))
def derived_method(self, k):
    return Derived.method(self, k)


@case(call(1, 2, c=3))
def local_names(a, *rest, c):
    b = a
    get = lambda: (b, inner)
    before = sorted(locals())
    inner = 5
    del a
    return before, sorted(locals().items(), key=lambda item: item[0])[:3], "b" in dir(), vars()["inner"], eval("b + 1"), get()


@case(call(2))
def global_names(n):
    global made_here
    made_here = n
    result = made_here, len([n]), LOG is not None
    del made_here
    try:
        made_here
    except NameError as e:
        return result, str(e)


@case(call(2))
def classes(n):
    class Local(Plain):
        attribute = n

        def get(self):
            return self.attribute, n, __class__ is Local

    return Local(1).get(), Local.__qualname__, Local.__mro__[1]


@case(call(0), call(1))
def assertions(n):
    assert n >= 0
    assert n, f"not {n}"
    return n


@case(call())
def imports():
    import os.path as p
    from os import getcwd, sep as s
    import contextlib

    try:
        from os import nothing_there
    except ImportError as e:
        note(type(e))
    try:
        import frameloom_nothing_there
    except ModuleNotFoundError as e:
        note(e.name)
    return p.join("a", "b") == f"a{s}b", callable(getcwd), contextlib.suppress is not None


def counting(n):
    try:
        for i in range(n):
            got = yield i
            if got:
                note(got)
    finally:
        note("closed")


@case(call(3), call(0))
def consumes_generators(n):
    g = counting(n)
    out = []
    for i in g:
        out.append(i)
        if i == 1:
            break
    g.close()
    h = counting(n)
    out.append(next(h, None))
    try:
        out.append(h.send("sent"))
    except StopIteration as stop:
        out.append(stop.value)
    return out, list(counting(n)), sum(x for x in counting(n) if x), handled()


@case(call())
def long_jumps():
    total = 0
    for i in range(3):
        if i:
            total += 1; total += 2; total += 3; total += 4; total += 5; total += 6; total += 7; total += 8; total += 9
            total += 1; total += 2; total += 3; total += 4; total += 5; total += 6; total += 7; total += 8; total += 9
            total += 1; total += 2; total += 3; total += 4; total += 5; total += 6; total += 7; total += 8; total += 9
            total += 1; total += 2; total += 3; total += 4; total += 5; total += 6; total += 7; total += 8; total += 9
            total += 1; total += 2; total += 3; total += 4; total += 5; total += 6; total += 7; total += 8; total += 9
    return total


@case(call(2), call(0))
def decorated(n):
    def twice(f):
        return lambda *a: (f(*a), f(*a))

    @twice
    @(lambda f: f)
    def inner(x: int, y: "str" = "d") -> float:
        return x // n, y

    return inner(5)


@case(call(5), call(1))
def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


@case(call("x"))
def cause_and_context(x):
    try:
        try:
            int(x)
        except ValueError as e:
            raise RuntimeError("cause") from e
    except RuntimeError as r:
        try:
            raise LookupError from None
        except LookupError as k:
            return type(r.__cause__), r.__suppress_context__, k.__context__ is r, k.__suppress_context__


@case(call(ValueError), call(KeyError))
def escapes(error):
    try:
        with Manager("w"):
            raise error("escaping")
    except KeyError:
        raise
    finally:
        note(handled())


@case(call(3))
def exec_and_eval(n):
    space = {}
    exec("y = n * 2", {"n": n}, space)
    return space["y"], eval("n + 1"), [eval("k", {"k": k}) for k in range(n)]


@case(call(3))
def frames(n):
    frame = sys._getframe()
    return frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno >= 0, frame.f_locals["n"], frame.f_globals is globals()


class Countdown:
    """An iterator, a container and an owner of odd attributes, all in Python."""

    def __init__(self, n, fails=None):
        self.n = n
        self.fails = fails

    def __setattr__(self, name, value):
        LOG.append(("set", name))
        if value == "refused":
            raise AttributeError(name)
        object.__setattr__(self, name, value)

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n == self.fails:
            raise LookupError(self.n)
        if self.n < 0:
            raise StopIteration
        return self.n

    def __contains__(self, item):
        return item < self.n

    def __getitem__(self, key):
        return {"a": 1}[key]

    def __setitem__(self, key, value):
        LOG.append((key, value))

    @property
    def call(self):
        LOG.append("property")
        return lambda n: self.n + n


@case(call(3), call(3, 1), call(0))
def python_protocols(n, fails=None):
    out = []
    try:
        for i in Countdown(n, fails):
            out.append(i)
        else:
            out.append("else")
    except LookupError as e:
        out.append(repr(e))
    c = Countdown(5)
    out += [4 in c, 4 not in c, 9 in c, c["a"], c.call(2), c.call]
    c["k"] = out[0]
    try:
        c["missing"]
    except KeyError as e:
        out.append((type(e), [len(part) for part in [[x for x in Countdown(2)]]]))
    try:
        c.refused = "refused"
    finally:
        note(type(out.pop(5)))
        return out[:5], handled()


class Answering:
    """Special methods that give what they are told to."""

    def __init__(self, answer):
        self.answer = answer

    def __add__(self, other):
        LOG.append("add")
        return self.answer

    def __radd__(self, other):
        LOG.append("radd")
        return self.answer

    def __iadd__(self, other):
        LOG.append("iadd")
        return self.answer

    def __eq__(self, other):
        LOG.append("eq")
        return self.answer

    def __lt__(self, other):
        return self.answer

    def __len__(self):
        return self.answer

    def __iter__(self):
        return self.answer

    def __str__(self):
        return self.answer

    def __repr__(self):
        return self.answer

    def __format__(self, spec):
        return self.answer


@case(*(call(*pair) for pair in ((1, 2), (NotImplemented, 3), (NotImplemented, NotImplemented))))
def answered_sums(one, other):
    a, b = Answering(one), Answering(other)
    found = []
    for left, right in ((a, b), (a, 1), (1, a)):
        try:
            found.append(left + right)
            left += right
            found.append(left)
        except TypeError as error:
            found.append(str(error))
    for right in (b, 1):
        left = a
        try:
            left += right
            found.append(left)
        except TypeError as error:
            found.append(str(error))
    return found


@case(*(call(*pair) for pair in ((1, ""), (NotImplemented, 3), (NotImplemented, NotImplemented))))
def answered_comparisons(one, other):
    a, b = Answering(one), Answering(other)
    found = []
    for right in (b, 1, a):
        found.append((a == right, a != right, 1 if a == right else 2))
        try:
            found.append(a < right)
        except TypeError as error:
            found.append(str(error))
    return found


@case(call("ab"), call(2), call(None))
def answered_conversions(answer):
    found = []
    try:
        found.append([x for x in Answering(iter(answer) if answer == "ab" else answer)])
    except TypeError as error:
        found.append(str(error))
    a = Answering(answer)
    try:
        found.append(len(a))
    except TypeError as error:
        found.append(str(error))
    try:
        found.append(f"{a!s}")
        found.append(f"{a!r}")
    except TypeError as error:
        found.append(str(error))
    try:
        found.append(f"{a:>3}")
    except TypeError as error:
        found.append(str(error))
    return found


def first(x):
    try:
        return second(x) + 1
    except KeyError:
        return "first"
    finally:
        note("first")


def second(x):
    with Manager("second", ZeroDivisionError):
        return third(x) * 2
    return third(x + 1)


def third(x):
    try:
        return 10 // x
    except TypeError as e:
        raise {"a": ValueError, "b": KeyError}[x]("third") from e
    finally:
        note(("third", handled()))


@case(call(0), call(1), call("a"), call("b"), call("c"), call(None))
def chain(x):
    try:
        return first(x)
    except ValueError as e:
        return repr(e), type(e.__cause__), handled()


@case(call("a"))
def chain_fails(x):
    return first(x)
