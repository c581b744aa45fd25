"""The standard library and built-in functions, as programs use them: one table a module, of expressions and of short programs."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .expressions import number
from .scope import Scope, indent, nested, simple

EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "builtins": (
        "max(xs[:1] + [{v}], key=lambda e: 1)",
        "any(e == {v} for e in (1, 2))",
        "type(box)({v}, [2]).twice",
        "getattr(box, 'nothing', {v})",
        "hasattr(box, 'n') and vars(box)['n']",
        "setattr(box, 'n', {v})",
        "isinstance({v}, (int, str))",
        "callable(box.apply)",
        "[*dict(p={v}, q=2).items()]",
        "[*map(lambda p, q: (p, q), xs, (1, {v}))]",
        "sorted([3, {v}, 1], key=lambda e: -e, reverse=True)",
        "[*iter(lambda: 4, 4)]",
        "repr({v}), str({v}), ascii('ä'), format({v}, '>6')",
        "all(map(log, (1, 2)))",
        "dict(zip('ab', (1, {v})))",
        "list(reversed(range(3))), list(range(5, 0, -2))",
        "complex(1, 2) * 2, (3 + 4j).conjugate(), abs(3 + 4j)",
        "bytes(3), bytearray(b'ab') + b'c', b'%d' % 3",
        "(7).bit_length(), (255).to_bytes(2, 'big'), int.from_bytes(b'\\x01\\x02', 'little')",
        "(2.5).is_integer(), (1.5).as_integer_ratio(), 1e16 + 1, -0.0, float('inf') - 1",
        "-7 // 2, -7 % 3, pow(3, -1, 7), 1 << 70, ~5, 5 ^ 3 & 6 | 8, round(-3.567, 2)",
    ),
    "text": (
        "'a,b,,c'.rsplit(',', 1), 'x=y'.partition('='), ' a '.strip(), 'abc'.center(7, '*')",
        "'{{0[x]}} {{1.n!r}} {{2:+d}}'.format(table, box, 3) if 'x' in table else 0",
        "'%(k)s %%' % {{'k': {v}}}, 'abc'.translate({{97: 'z'}}), 'ß'.casefold(), 'aXb'.swapcase()",
        "'abc'.find('c'), 'abcabc'.count('b'), 'abc'.index('z')",
        "'one two'.title(), 'x1'.isalnum(), '12'.isdigit(), '3'.zfill(4), 'a\\tb'.expandtabs(4)",
        "'ab'.encode().decode(), 'abc'.removeprefix('a').removesuffix('c'), 'a\\nb'.splitlines()",
        "f'{{box.n!r:>4}}|{{3:#x}}|{{2.5:08.3f}}|{{12345:,}}|{{True}}|{{None!s:^6}}'",
        "'abc' < 'abd', 'a' 'b' in 'cabd', 'abc'[-2:], min('cab'), 'ab' * 2, sorted('cab')",
    ),
    "functools": (
        "functools.reduce(lambda p, q: p + q, xs, {v})",
        "functools.partial(lambda p, q: [p, q], {v})(3)",
        "functools.partial(functools.partial(max, 3), {v})(2)",
        "sorted([3, 1, 2], key=functools.cmp_to_key(lambda p, q: q - p))",
        "shape({v}), shape('a'), shape(box)",
        "remembered(3), remembered(3), remembered.cache_info().hits",
        "Ordered({v}) >= Ordered(2), max(Ordered(1), Ordered(2)).n",
        "box_of.total, box_of.total, box_of.counted",
    ),
    "operator": (
        "operator.itemgetter(0, -1)(xs)",
        "operator.attrgetter('n', 'gain')(box)",
        "operator.methodcaller('copy')(xs)",
        "operator.add(1, {v}), operator.contains(xs, 4), operator.index(3), operator.is_(box, other)",
        "operator.iadd(xs, [{v}]), operator.concat([1], [2]), operator.countOf(xs, 4)",
    ),
    "itertools": (
        "[*itertools.chain(xs[:2], (1, {v}))], [*itertools.chain.from_iterable(['ab', 'c'])]",
        "[*itertools.islice(itertools.count(3, 2), 3)], [*itertools.repeat({v}, 2)]",
        "[*itertools.accumulate([1, 2, 3], lambda p, q: p * q)], [*itertools.pairwise('abc')]",
        "[*itertools.product((1, 2), 'ab')], [*itertools.combinations('abc', 2)], [*itertools.permutations((1, 2, 3), 2)][:3]",
        "[*itertools.zip_longest([1], [2, 3], fillvalue={v})], [*itertools.starmap(pow, [(2, 3)])]",
        "[*itertools.takewhile(lambda e: e < 3, (1, 2, 3, 1))], [*itertools.dropwhile(lambda e: e < 3, (1, 2, 3, 1))]",
        "[(key, [*part]) for key, part in itertools.groupby('aabc')]",
        "[*itertools.compress('abc', (1, 0, {v}))], [*itertools.filterfalse(None, (0, 1))]",
        "[[*one] for one in itertools.tee(gen(2))], [*itertools.islice(itertools.cycle((1, 2)), 5)]",
    ),
    "collections": (
        "collections.Counter('abca').most_common(1), collections.Counter(a=2) - collections.Counter(a=1, b=1)",
        "collections.OrderedDict(a=1, b={v}).popitem(last=False)",
        "collections.defaultdict(list, a=[1])['z'], collections.defaultdict(int).get('q')",
        "[*collections.deque([1, 2, {v}], maxlen=2)], collections.deque('ab').pop()",
        "dict(collections.ChainMap({{'a': 1}}, {{'a': 2, 'b': {v}}}))",
        "Point({v}, 2).norm()",
        "Point({v}, 2) == Point({v}, 2)",
        "Point(1, y={v})._replace(x=3), Point._fields, Point(1, 2)._asdict()",
    ),
    "classes": (
        "repr(Pair({v}, 2))",
        "Pair({v}, [1]) == Pair({v}, [1])",
        "dataclasses.replace(Pair({v}, [1]), right=3), dataclasses.asdict(Pair(1, [{v}])), dataclasses.astuple(Pair(1))",
        "Color(2).name",
        "Color.RED is Color(1), Color['BLUE'].value, Color(9)",
        "[c.value for c in Color], len(Color), Color.RED in Color",
        "Slotted({v}).twice()",
        "Slotted({v}).missing",
        "Told({v}).n, Told(1).other, Told.__dict__['n'].name",
        "copy.copy(box).n, copy.deepcopy([xs[:1], {{'a': (1, [2])}}])",
        "copy.copy(Pair(1, [2])), copy.deepcopy(Pair({v}, Pair(1)))",
        "isinstance(box, Sized), issubclass(list, Sized), isinstance([], Sized)",
        "inspect.signature(breaking).parameters.keys() and [*inspect.signature(breaking).bind(1, value=2).arguments]",
        "typing.cast(int, {v}), list[int], typing.get_type_hints(Pair)",
    ),
    "random": (
        "random.random() < 2",
        "random.choice([1, {v}])",
        "random.randint(1, 6), random.uniform(1, 2) > 0, random.sample(range(9), 2)",
        "random.Random(3).random(), random.getrandbits(8), random.gauss(0, 1)",
    ),
    "math": (
        "math.floor(-2.5), math.sqrt(16), math.gcd(12, 18), math.isclose(0.1 + 0.2, 0.3), math.prod((1, 2, 3))",
        "math.inf > {v}, math.isnan(math.nan), math.hypot(3, 4), math.copysign(1, -0.0), math.fsum([0.1] * 3)",
    ),
}
PROGRAMS: dict[str, tuple[list[str], ...]] = {
    "contextlib": (
        ["with contextlib.suppress(KeyError, Problem):", "    log(1)", "    {stop}", "    raise Problem({v})", "log(2)"],
        ["with contextlib.ExitStack() as stack:", "    stack.callback(log, 'called')", "    stack.enter_context(Manager(log, 'x', False))", "    {stop}"],
        ["with contextlib.ExitStack() as stack:", "    stack.push(lambda *raised: log(raised[0] is None))", "    stack.callback(log, {v})", "    raise Problem(1)"],
        ["with contextlib.nullcontext({v}) as got, contextlib.closing(gen(2)) as made:", "    log((got, next(made)))", "    {stop}"],
        ["with contextlib.redirect_stdout(io.StringIO()) as out:", "    print('a', {v}, end='!')", "log(out.getvalue())"],
    ),
    "state": (
        ["token = variable.set({v})", "log(variable.get())", "{stop}", "variable.reset(token)", "log(variable.get())"],
        ["local.n = getattr(local, 'n', 0) + 1", "{stop}", "log(local.n)"],
        ["random.seed(3)", "kept = random.getstate()", "log(random.randint(1, 9))", "random.setstate(kept)", "{stop}", "log(random.randint(1, 9))"],
        ["with warnings.catch_warnings(record=True) as seen:", "    warnings.simplefilter('always')", "    warnings.warn('w')", "    {stop}", "log([str(w.message) for w in seen])"],
        ["part = xs[:]", "random.shuffle(part)", "log(part)"],
    ),
    "containers": (
        ["queue = collections.deque((1, 2), maxlen=3)", "queue.append({v})", "queue.appendleft(0)", "{stop}", "queue.rotate(1)", "log([*queue])", "box.seen = queue"],
        ["ordered = collections.OrderedDict(a=1, b=2)", "ordered['c'] = {v}", "ordered.move_to_end('a')", "{stop}", "log([*ordered.items()])", "box.seen = ordered"],
        ["counts = collections.Counter()", "counts.update('ab')", "counts['a'] += 1", "{stop}", "log((counts.total(), counts['z'], dict(counts)))"],
        ["groups = collections.defaultdict(list)", "groups[1].append({v})", "groups['n']", "{stop}", "log(dict(groups))", "box.seen = groups"],
        ["class Doubling(list):", "    def append(self, item):", "        super().append(item * 2)", "made = Doubling([1])", "made.append(2)", "{stop}", "log((made, len(made)))"],
        ["class Missing(dict):", "    def __missing__(self, key):", "        return str(key)", "made = Missing(a=1)", "{stop}", "log((made['a'], made[{v}], made.get('z')))"],
    ),
    "objects": (
        ["told = Told({v})", "told.n = told.n + 1", "{stop}", "log(told.n)", "del told.n", "told.n"],
        ["seeing = Seeing({v})", "log(seeing.n)", "{stop}", "seeing.n += 1", "log((seeing.n, seeing.asked))"],
        ["reference = weakref.ref(box)", "log(reference() is box)", "{stop}", "log(reference().n)"],
        ["short = Box({v}, [])", "reference = weakref.ref(short)", "{stop}", "short = None", "log(reference() is None)"],
        ["one = copy.copy(box)", "one.items.append({v})", "{stop}", "one.n = 9", "two = copy.deepcopy(other)", "two.items.append(1)", "log((box.n, two.n))"],
        ["log(remembered(4))", "{stop}", "log((remembered(4), remembered.cache_info()[:2]))", "remembered.cache_clear()"],
    ),
    "ends": (
        ["ending = Ending({v}, log)", "{stop}", "ending = None", "log('behind')"],
        ["held = [Ending(1, log), Ending(2, log)]", "held[0] = {v}", "log('between')", "{stop}", "held.clear()", "log('behind')"],
        ["held = {{'a': Ending({v}, log)}}", "{stop}", "del held['a']", "log('behind')"],
        ["log(Ending(1, log).n)", "log('behind')"],
        ["def keep(ending):", "    {stop}", "    ending = None", "    log('inside')", "keep(Ending({v}, log))", "log('behind')"],
        ["ending = Ending(1, log)", "ending.part = Ending(2, log)", "ending.part = {v}", "log('between')", "{stop}", "del ending", "log('behind')"],
        ["ending = Ending({v}, log)", "reads = lambda: ending.n", "log(reads())", "{stop}", "ending = 0", "log('behind')"],
        ["for ending in (Ending(1, log), Ending({v}, log)):", "    {stop}", "    log('turn')", "ending = None", "log('behind')"],
        ["box.kept = Ending({v}, log)", "{stop}", "box.kept = None", "log('behind')"],
    ),
    "asynchronous": (
        ["async def later(p):", "    {stop}", "    return p + 1", "async def wholly(p):", "    first = await later(p)", "    return first * 2", "running = wholly({v})", "try:", "    running.send(None)", "except StopIteration as end:", "    log(end.value)"],
        ["async def steps():", "    yield 1", "    {stop}", "    yield {v}", "async def gather():", "    return [step async for step in steps()]", "try:", "    gather().send(None)", "except StopIteration as end:", "    log(end.value)"],
    ),
}
ERRORS = "except (TypeError, AttributeError, LookupError, NameError, ValueError, RuntimeError, Problem) as error:"
STOPS = ("breaker()", "log('on')", "log(breaking(box, 1))")


@simple
def library(draw: Any, scope: Scope) -> list[str]:
    """The value of an expression, logged."""
    forms = EXPRESSIONS[draw(st.sampled_from(sorted(EXPRESSIONS)))]
    made = draw(st.sampled_from(forms)).format(v=draw(number(scope, deep=False)))
    return ["try:", f"    log(({made}))", ERRORS, "    log(type(error).__name__)"]


@nested
def used(draw: Any, scope: Scope) -> list[str]:
    """A few statements about one thing, a break among them."""
    program = draw(st.sampled_from(PROGRAMS[draw(st.sampled_from(sorted(PROGRAMS)))]))
    given = {"v": draw(number(scope, deep=False)), "stop": draw(st.sampled_from(STOPS))}
    return ["try:", *indent([line.format(**given) for line in program]), ERRORS, "    log(type(error).__name__)"]
