"""Programs of tensors, sizes, ints and floats, and calls of them in which all of these vary.

Everything follows from one seed.  A program is text, so that one that fails can be read, cut down and kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any

import torch

INTS = ("{i} + {j}", "{i} - {j}", "{i} * {j}", "{i} // {k}", "{i} % {k}", "-{i}", "abs({i})", "max({i}, {j})", "min({i}, {j}, 5)", "{i} ** 2",
        "int({f})", "int({i} * 0.5)", "round({f} * 2)", "math.floor({i} / 3)", "math.ceil({f})", "{i} if {c} else {j}", "len({t})", "{t}.shape[0]",
        "{t}.shape[-1]", "{t}.numel()", "{t}.size(0)", "{t}.dim()", "{t}.stride(0)", "sum({t}.shape)", "divmod({i}, {k})[1]", "{i} >> 1",
        "({i}, {j})[{c}]", "math.prod({t}.shape)", "int({c})", "{i} & 3", "list(range({m}))[-1] if {m} else 0")  # fmt: skip
FLOATS = ("{f} + 1", "{f} * {i}", "{f} / 4", "{i} / {k}", "float({i})", "-{f}", "abs({f})", "math.sqrt(abs({f}))", "min({f}, 1.5)", "max({f}, {i})",
          "{f} - {g}", "{f} * {g}", "{f} if {c} else {g}", "round({f}, 1)", "{f} ** 2", "math.exp(min({f}, 3.0))", "{i} * 0.25", "{f} // 1", "{f} % 2")  # fmt: skip
CONDITIONS = ("{i} < {j}", "{i} == {j}", "{i} != {k}", "{i} % 2 == 0", "{f} > 1.0", "{f} <= {g}", "{i} >= {f}", "{c} and {d}", "{c} or {d}", "not {c}",
              "bool({i})", "{t}.shape[0] > 3", "{t}.shape == {u}.shape", "{t}.shape[0] == {i}", "{i} in (1, 2, 4)", "0 < {i} < 5", "{t}.dim() == 2",
              "{t}.numel() % 4 == 0", "{t}.is_contiguous()", "isinstance({i}, int)", "{f} == {i}")  # fmt: skip
TENSORS = ("{t} * {i}", "{t} + {f}", "{f} - {t}", "{t} / {k}", "{t} * {t}", "{t} + {u}", "{t}[:{m}]", "{t}[{m}:]", "{t}.reshape(-1)", "{t}.sum()", "{t}.sum(0)",
           "{t}.mean(-1)", "torch.cat([{t}, {t}])", "{t}.t()", "{t}.view({t}.shape[0], -1)", "{t}.flatten()", "{t}.unsqueeze(0)", "{t}.unsqueeze(-1).expand(*{t}.shape, {m} + 1)",
           "{t}.repeat({m} + 1, *[1] * ({t}.dim() - 1))", "torch.zeros({m} + 1, {t}.shape[-1])", "{t}.new_ones({t}.shape)", "torch.full(({m} + 1,), {f})",
           "torch.arange({m} + 2)", "{t}.clamp(min={f})", "{t} @ {t}.transpose(-1, -2)", "{t}[{t}.shape[0] - 1]", "{t}.transpose(0, -1).contiguous()", "{t}.chunk(2)[0]",
           "torch.stack([{t}, {t} * {f}])", "{t}.narrow(0, 0, {m} % {t}.shape[0] + 1)", "torch.nn.functional.pad({t}, (1, {m}))", "{t}[..., ::2]", "{t}.roll({i}, 0)",
           "{t}.unflatten(-1, (1, -1))", "torch.where({t} > {f}, {t}, {i})", "{t} if {c} else {u}", "{t}.split({k})[0]", "{t}.pow({m})", "torch.linspace(0, {f}, {m} + 1)",
           "{t}.diff(dim=0)", "{t}.cumsum(0)", "torch.tril({t} @ {t}.transpose(-1, -2))", "{t}.masked_fill({t} > {f}, {f})", "torch.nn.functional.softmax({t} / {k}, -1)")  # fmt: skip


class Box:
    """Holds the numbers of a call, in all the ways in which a program may find them."""

    def __init__(self, n: int, s: float) -> None:
        self.n, self.s = n, s
        self.count = 0
        self.items = {"n": n, "s": s}
        self.parts = [n] * abs(n)
        self.pair = (n, (s, "text"))


ORIGINS = (
    ("n, s = box.n, box.s",), ("n, s = box.n, box.s",), ("n, s = box.items['n'], box.items['s']",), ("n, s = box.pair[0], box.pair[1][0]",),
    ("n, s = len(box.parts), box.s",), ("def numbers(of):", "    return of.n, of.s * 2", "n, s = numbers(box)"), ("n, (s, *_) = box.pair",),
    ("n, s = getattr(box, 'n'), vars(box)['s']",), ("n, s = box.n + x.shape[0], box.s / x.shape[-1]",),
)  # fmt: skip
ENDS = ((), (), (), ("box.n += 1",), ("box.count += n", "box.s = s"), ("box.items['n'] = n",), ("box.parts.append(n)",), ("box.kept = x.shape[0], n",))


class Program:
    """Writes one function of two tensors, and of an int and a float in a box."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.names = {"t": ["x", "y"], "i": ["n"], "f": ["s"]}
        self.count = 0

    def text(self) -> str:
        """The function's source: where the numbers come from, what is done, and what is given back."""
        self.lines += [f"    {line}" for line in self.random.choice(ORIGINS)]
        for _ in range(self.random.randrange(2, 7)):
            self.statement("    ", 2)
            if self.random.random() < 0.06:
                self.lines.append("    frameloom.graph_break()")
        self.lines += [f"    {line}" for line in self.random.choice(ENDS)]
        results = [name for kind in "tif" for name in self.random.sample(self.names[kind], min(2, len(self.names[kind])))]
        return "\n".join(["def program(x, y, box):", *self.lines, f"    return {', '.join(results)}", ""])

    def filled(self, templates: tuple[str, ...], depth: int) -> str:
        """A template with operands in its places."""
        holes = {
            "i": lambda: self.number(depth), "j": lambda: self.number(depth), "k": lambda: str(self.random.choice((1, 2, 3, 4, 7))),
            "m": lambda: f"{self.random.choice(self.names['i'])} % {self.random.choice((3, 4))}", "f": lambda: self.real(depth), "g": lambda: self.real(depth),
            "c": lambda: self.condition(depth), "d": lambda: self.condition(depth), "t": lambda: self.random.choice(self.names["t"]),
            "u": lambda: self.random.choice(self.names["t"]),
        }  # fmt: skip
        template = self.random.choice(templates)
        same = {hole: fill() if hole in "tu" else None for hole, fill in holes.items() if f"{{{hole}}}" in template}
        return template.format(**{hole: text or f"({holes[hole]()})" for hole, text in same.items()})

    def number(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.random.choice([*self.names["i"] * 3, str(self.random.randrange(-2, 6))])
        return self.filled(INTS, depth - 1)

    def real(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.random.choice([*self.names["f"] * 3, "0.5", "2.0"])
        return self.filled(FLOATS, depth - 1)

    def condition(self, depth: int) -> str:
        return self.filled(CONDITIONS, depth - 1) if depth else f"{self.random.choice(self.names['i'])} > 1"

    def assign(self, kind: str, text: str, indent: str) -> None:
        self.count += 1
        name = self.random.choice(self.names[kind]) if self.random.random() < 0.3 else f"{kind}{self.count}"
        self.lines.append(f"{indent}{name} = {text}")
        if indent == "    " and name not in self.names[kind]:
            self.names[kind].append(name)

    def statement(self, indent: str, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.5 or depth == 0:
            self.assign("t", self.filled(TENSORS, 1), indent)
        elif kind < 0.65:
            self.assign("i", self.filled(INTS, 1), indent)
        elif kind < 0.75:
            self.assign("f", self.filled(FLOATS, 1), indent)
        elif kind < 0.88:
            self.lines.append(f"{indent}if {self.condition(2)}:")
            self.block(indent, depth)
            if self.random.random() < 0.5:
                self.lines.append(f"{indent}else:")
                self.block(indent, depth)
        elif kind < 0.95:
            self.count += 1
            self.lines.append(f"{indent}for _{self.count} in range({self.filled(('{m}', 'min({i}, 3)', 'min({t}.shape[0], 4)'), 1)}):")
            self.block(indent, depth)
        else:
            self.lines.append(f"{indent}{self.random.choice(self.names['t'])}.add_({self.real(1)})")

    def block(self, indent: str, depth: int) -> None:
        """What stands in a branch or loop changes names that are there already."""
        deeper = indent + "    "
        before = {kind: list(names) for kind, names in self.names.items()}
        for _ in range(self.random.randrange(1, 3)):
            if self.random.random() < 0.6:
                self.lines.append(f"{deeper}{self.random.choice(before['t'])} = {self.filled(TENSORS, 1)}")
            else:
                self.statement(deeper, depth - 1)


SIZES = (1, 2, 3, 4, 5, 6, 8, 11)
WHOLE = (0, 1, 2, 3, 4, 5, 7, 12, -1, -3, 100)
REAL = (0.5, 1.0, 2.5, -1.5, 0.0, 3.25, 10.0, -0.0, 0.1)


def arguments(seed: int, calls: int) -> Iterator[tuple[Any, ...]]:
    """Arguments of so many calls; each is made when it is asked for, so that two asking find equal ones."""
    random = Random(seed)
    box = Box(random.choice(WHOLE), random.choice(REAL)) if random.random() < 0.3 else None
    grown = random.random() < 0.3
    ranks = random.choice((1, 2, 2, 2, 3)), random.choice((1, 2))
    tied = random.random() < 0.6
    for _ in range(calls):
        sizes = [tuple(random.choice(SIZES) for _ in range(rank)) for rank in ranks]
        if tied:
            sizes[1] = sizes[0]
        x, y = (torch.arange(1.0, 1 + math.prod(size)).view(size) / 4 for size in sizes)
        if random.random() < 0.15:
            x = x.transpose(0, -1)
        if grown and random.random() < 0.8:
            x.requires_grad_()
        number, real = random.choice(WHOLE), random.choice(REAL)
        if box is None:
            yield x, y, Box(number, real)
            continue
        box.s = real  # the rest is as calls have left it
        yield x, y, box
