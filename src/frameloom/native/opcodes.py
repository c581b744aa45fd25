"""The instructions of a guard program: the one table of them. `opcodes.h` is written from it.

A guard program is a flat list of instructions over registers. It is a pre-order walk of a trie of access paths: a step
reads the object in one register and puts what it finds into another; a check reads a register and says yes or no. Each
instruction is a tuple

    (name, source, target, operand, guard)

    name     a row of OPCODES
    source   the register it reads (0 where the row reads none)
    target   the register a step writes; for a check of two registers the second one it reads; else 0
    operand  a small int, or the index of a constant, as the row says; 0 where it takes none
    guard    the number that `check` returns when this instruction fails: a check that says no, or a step that finds nothing

Registers are numbered from 0 and must be written before they are read. Steps never run Python code, and look at storage:
an item of a list subclass is the item in its list storage, whatever its `__getitem__` says. Rows of the flag `runs` may run
Python code; a program that has one keeps every object it looks at alive while it runs.

Keys. A look-up never calls a Python `__eq__` or `__hash__`. Keys are found by identity, or by value where the comparison
of both is that of object, str, bytes, int, float, complex, or a tuple of such. Where only Python code could tell, the
instruction fails: HAS_KEY and NO_KEY both. The own order of an OrderedDict can only be read where all its keys are exactly
str, bytes, int, bool, float, complex, None, or tuples of such.

Memory. CPython 3.11 numbers the states of every dict (PEP 509) and class: while the number is the same, so is the storage.
Rows that read nothing but the storage of one dict or class, and what follows from it for good (the values of immutable objects
found there, their classes), stand between SAME_DICT, SAME_ATTRS or SAME_TYPE and HELD; they are passed over while the number is that of the last
time they held, with what they found still in the registers. Where there are no such numbers they are read every time. In a
program with such rows each register is written by one row, and the rows between are none that run Python code.

Snapshots. Between SNAPSHOT and TAKEN stand rows of STEADY and memory, over a whole tree of objects. When they have held, the words of
memory that they depend on are written down (`snapshot.c`); as long as these are the same, the rows are passed over.

    python -m frameloom.native.opcodes       writes opcodes.h anew
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

HEADER = Path(__file__).with_name("opcodes.h")


class Opcode(NamedTuple):
    """One row. `kind`: root (writes target), step (source to target), check (reads source), pair (reads source and
    target), test (reads neither: its operand says what), memory (reads source) and its end, snapshot and taken (these read neither).
    `operand`: what the fourth field is; kinds but none and index are indices of constants."""

    name: str
    kind: str
    operand: str
    meaning: str
    runs: bool = False


OPCODES = (
    # roots
    Opcode("LOCAL", "root", "index", "argument slot i of the frame, in order: parameters, *args tuple, **kwargs dict"),
    Opcode("CELL", "root", "index", "cell i of the function's closure"),
    Opcode("GLOBALS", "root", "none", "the function's globals dict"),
    Opcode("BUILTINS", "root", "none", "the function's builtins dict"),
    Opcode("GLOBAL", "root", "name", "a name found in the globals, else in the builtins"),
    Opcode("BUILTIN", "root", "name", "a name found in the builtins"),
    Opcode("CONST", "root", "object", "the object itself, owned by the program"),
    Opcode("CONST_WEAK", "root", "weak", "the referent of a weakref.ref; fails when it is dead"),
    Opcode("CALL0", "root", "noargs", "result of a built-in function called without arguments", runs=True),
    # steps
    Opcode("CONTENTS", "step", "none", "contents of a cell; fails when it is empty"),
    Opcode("TYPE_OF", "step", "none", "exact type"),
    Opcode("DICT_ATTR", "step", "name", "attribute in the instance's own dict or inline values, none made; not of types"),
    Opcode("DICT_ATTRS", "step", "none", "the instance's dict object; fails when there is none yet, and for types"),
    Opcode("SLOT", "step", "member", "object in the slot of a member descriptor; fails when it is empty"),
    Opcode("TYPE_ATTR", "step", "name", "attribute of a type found along its MRO, not bound"),
    Opcode("TYPE_DICT", "step", "none", "own dict of a type"),
    Opcode("TYPE_MRO", "step", "none", "MRO tuple of a type"),
    Opcode("LIST_ITEM", "step", "index", "item i of list storage, from the end when negative"),
    Opcode("TUPLE_ITEM", "step", "index", "item i of tuple storage, from the end when negative"),
    Opcode("DICT_ITEM", "step", "key", "value of a key in dict storage"),
    Opcode("DICT_KEY", "step", "index", "key i of dict storage in its order, from the end when negative"),
    Opcode("FUNC_CODE", "step", "none", "code of a Python function"),
    Opcode("FUNC_DEFAULTS", "step", "none", "its defaults, a tuple or None"),
    Opcode("FUNC_KWDEFAULTS", "step", "none", "its keyword defaults, a dict or None"),
    Opcode("FUNC_CLOSURE", "step", "none", "its closure, a tuple or None"),
    Opcode("FUNC_GLOBALS", "step", "none", "its globals dict"),
    Opcode("FUNC_NAME", "step", "none", "its name"),
    Opcode("FUNC_QUALNAME", "step", "none", "its qualified name"),
    Opcode("FUNC_ANNOTATIONS", "step", "none", "its annotations, a dict; fails when nobody has asked for them yet"),
    Opcode("TYPE_NAME", "step", "none", "name of a class made by a class statement; fails for others"),
    Opcode("TYPE_QUALNAME", "step", "none", "qualified name of such a class"),
    Opcode("METHOD_FUNC", "step", "none", "function of a bound method"),
    Opcode("METHOD_SELF", "step", "none", "object of a bound method"),
    Opcode("BUILTIN_SELF", "step", "none", "object a built-in method is bound to; fails when there is none"),
    Opcode("REFERENT", "step", "none", "what a weak reference refers to, None where that is dead"),
    Opcode("GETTER", "step", "getter", "result of a C getset or member descriptor", runs=True),
    Opcode("PY_STEP", "step", "callable", "result of callable(object)", runs=True),
    # checks of one object
    Opcode("TYPE_IS", "check", "type", "its exact type"),
    Opcode("TYPE_IS_WEAK", "check", "weak", "its exact type, held weakly"),
    Opcode("IS", "check", "object", "identity with an owned object"),
    Opcode("IS_WEAK", "check", "weak", "identity with an object held weakly; fails when that is dead"),
    Opcode("IS_NOT", "check", "object", "another object than this"),
    Opcode("EQ_INT", "check", "int", "exactly an int of this value"),
    Opcode("EQ_STR", "check", "str", "exactly a str of this value"),
    Opcode("EQ_BYTES", "check", "bytes", "exactly bytes of this value"),
    Opcode("EQ_FLOAT", "check", "float", "exactly a float of these bits, NaN one class"),
    Opcode("EQ_COMPLEX", "check", "complex", "exactly a complex of these bits, NaN one class"),
    Opcode("PAYLOAD_EQ", "check", "payload", "int, str, bytes, float or complex storage of a subclass instance"),
    Opcode("INT_IN", "check", "range", "exactly an int, low <= value <= high; constant (low or None, high or None)"),
    Opcode("LEN", "check", "index", "length of list, tuple, dict, set, frozenset, str, bytes, bytearray, deque storage"),
    Opcode("LEN_AT_LEAST", "check", "index", "no shorter than this"),
    Opcode("HAS_KEY", "check", "key", "key in dict storage"),
    Opcode("NO_KEY", "check", "key", "key not in dict storage"),
    Opcode("DICT_KEYS", "check", "keys", "keys of dict storage, all and in order; constant: a tuple"),
    Opcode("DICT_KEY_SET", "check", "keys", "keys of dict storage, all, in any order; constant: a tuple"),
    Opcode("ODICT_KEYS", "check", "keys", "keys of an OrderedDict in its own order, if they are plain (see above); constant: a tuple"),
    Opcode("INSTANCE_KEYS", "check", "keys", "names in an instance's own dict or inline values, all and in order; a tuple"),
    Opcode("NO_DICT_ATTR", "check", "name", "attribute not in the instance's own dict or inline values; fails for types"),
    Opcode("PLAIN_ATTRS", "check", "none", "an instance, no module, whose `__dict__` is exactly a dict, or not made yet"),
    Opcode("SLOT_EMPTY", "check", "member", "nothing in the slot of a member descriptor"),
    Opcode("CELL_EMPTY", "check", "none", "a cell without contents"),
    Opcode("TYPE_ATTR_IS", "check", "attribute", "a type finds this object along its MRO; constant (name, object)"),
    Opcode("TYPE_ATTR_ABSENT", "check", "name", "a type finds nothing of this name along its MRO"),
    Opcode("TYPE_ORDER", "check", "classes", "a type's MRO, all and in order; constant: a tuple of static classes and weakref.ref of others"),
    Opcode("TYPE_FLAGS", "check", "flags", "a type's flags under a mask; constant (mask, flags)"),
    Opcode("SET_HAS", "check", "key", "element in set storage"),
    Opcode("SET_HAS_NOT", "check", "key", "element not in set storage"),
    Opcode("SET_EQ", "check", "keys", "elements of set storage, all, in any order; constant: a tuple"),
    Opcode("SET_ORDER", "check", "keys", "elements of set storage in the order of iteration; constant: a tuple"),
    Opcode("TENSOR", "check", "tensor", "facts of a tensor; constant: see frameloom.native.tensors.facts"),
    Opcode("SIZE_IN", "check", "size_range", "size of a tensor's dimension; constant (dimension, low, high or None)"),
    Opcode("PY_CHECK", "check", "callable", "truth of callable(object)", runs=True),
    # checks of two registers
    Opcode("SAME", "pair", "none", "one object"),
    Opcode("SIZE_EQ", "pair", "dimensions", "two tensors' sizes are equal; constant (dimension, dimension)"),
    Opcode("SIZE_EQ_INT", "pair", "index", "size of dimension i of the tensor in source equals the int in target"),
    # memory: these never fail
    Opcode("SAME_DICT", "memory", "index", "passes over the next i rows where this dict is as it was when they held last"),
    Opcode("SAME_ATTRS", "memory", "index", "the same for the instance's own dict"),
    Opcode("SAME_TYPE", "memory", "index", "the same for what this type finds along its MRO"),
    Opcode("HELD", "end", "index", "the rows behind the row of memory i rows before this one have held"),
    Opcode("SNAPSHOT", "snapshot", "index", "passes over the next i rows where no word of memory that they depend on has changed"),
    Opcode("TAKEN", "taken", "index", "the rows behind the snapshot i rows before this one have held"),
    # checks that name no register, or many in their constant
    Opcode("DISTINCT", "test", "registers", "all different objects; constant: a tuple of registers"),
    Opcode("CALL0_IS", "test", "call", "a built-in function called without arguments returns this object; constant (f, object)"),
    Opcode("PY_CHECK_MANY", "test", "call_many", "truth of callable(*objects); constant (callable, registers)", runs=True),
    Opcode("ARITHMETIC", "test", "arithmetic", "numbers and sizes come out as they should; constant (registers, values, rows): see ARITHMETIC"),
    Opcode("EXACTLY", "test", "arithmetic", "the ARITHMETIC of the same constant, where that was in doubt, in Python's numbers", runs=True),
    Opcode("FAIL", "test", "none", "never holds"),
)

class Row(NamedTuple):
    """One row of arithmetic. `operands`: a letter for each field that is used."""

    name: str
    operands: str
    meaning: str


ARITHMETIC = (
    Row("WHOLE", "r", "the int in a register; exactly an int, or all of it does not hold"),
    Row("REAL", "r", "the float in a register; exactly a float, or all of it does not hold"),
    Row("SIZE", "rn", "a size of the tensor in a register"),
    Row("STRIDE", "rn", "a stride of the tensor in a register"),
    Row("ADD", "ss", "a + b"),
    Row("SUB", "ss", "a - b"),
    Row("MUL", "ss", "a * b"),
    Row("TRUE_DIV", "ss", "a / b"),
    Row("FLOOR_DIV", "ss", "a // b"),
    Row("MOD", "ss", "a % b"),
    Row("POW", "ss", "a ** b"),
    Row("LSHIFT", "ss", "a << b"),
    Row("RSHIFT", "ss", "a >> b"),
    Row("AND", "ss", "a & b"),
    Row("OR", "ss", "a | b"),
    Row("XOR", "ss", "a ^ b"),
    Row("LT", "ss", "a < b, as 0 or 1"),
    Row("LE", "ss", "a <= b"),
    Row("EQ", "ss", "a == b"),
    Row("NE", "ss", "a != b"),
    Row("GT", "ss", "a > b"),
    Row("GE", "ss", "a >= b"),
    Row("MIN", "ss", "min(a, b)"),
    Row("MAX", "ss", "max(a, b)"),
    Row("NEG", "s", "-a"),
    Row("POS", "s", "+a"),
    Row("ABS", "s", "abs(a)"),
    Row("INVERT", "s", "~a"),
    Row("NOT", "s", "not a, as 0 or 1"),
    Row("TRUNC", "s", "int(a)"),
    Row("FLOOR", "s", "math.floor(a)"),
    Row("CEIL", "s", "math.ceil(a)"),
    Row("ROUND", "s", "round(a)"),
    Row("FLOAT", "s", "float(a)"),
    Row("SQRT", "s", "math.sqrt(a)"),
    Row("SKIP_IF", "sj", "where a is true, passes over so many rows"),
    Row("SKIP_UNLESS", "sj", "where a is false, passes over so many rows"),
    Row("CHOOSE", "sss", "b where a is true, else c; the other may have been passed over"),
    Row("HOLDS", "s", "a is true, or all of it does not hold"),
)
"""The rows of arithmetic, each a tuple (name, a, b, c): an operand is a slot (`s`: the number that row i made, or value i as -1 - i), a
register (`r`: an index into those of the constant), a number (`n`), or how many rows to pass over (`j`).  What raises in Python does not
hold."""

NUMBERS = {opcode.name: number for number, opcode in enumerate(OPCODES)}
KINDS = ("root", "step", "check", "pair", "test", "memory", "end", "snapshot", "taken")
STEADY = frozenset(
    """CONST CONST_WEAK CONTENTS TYPE_OF DICT_ATTR SLOT TYPE_ATTR LIST_ITEM TUPLE_ITEM DICT_ITEM FUNC_CODE FUNC_DEFAULTS
    FUNC_KWDEFAULTS FUNC_CLOSURE FUNC_GLOBALS FUNC_NAME FUNC_QUALNAME FUNC_ANNOTATIONS TYPE_DICT TYPE_NAME
    TYPE_QUALNAME METHOD_FUNC METHOD_SELF TYPE_IS TYPE_IS_WEAK IS IS_WEAK
    IS_NOT EQ_INT EQ_STR EQ_BYTES EQ_FLOAT EQ_COMPLEX INT_IN LEN LEN_AT_LEAST HAS_KEY NO_KEY DICT_KEYS DICT_KEY_SET INSTANCE_KEYS
    NO_DICT_ATTR PLAIN_ATTRS SLOT_EMPTY CELL_EMPTY TYPE_ATTR_IS TYPE_ATTR_ABSENT TYPE_ORDER TYPE_FLAGS SAME_DICT SAME_ATTRS SAME_TYPE HELD TENSOR SAME""".split()
)
"""rows that a snapshot can stand for"""


def operands() -> tuple[str, ...]:
    """The kinds of operand, in order of first use: `operand.c` knows how to prepare each."""
    return tuple(dict.fromkeys(opcode.operand for opcode in OPCODES))


def header() -> str:
    """The text of opcodes.h."""
    rows = [
        f"    X({opcode.name}, KIND_{opcode.kind.upper()}, OPERAND_{opcode.operand.upper()}, {int(opcode.runs)}) \\"
        for opcode in OPCODES
    ]
    kinds = ", ".join(f"KIND_{kind.upper()}" for kind in KINDS)
    names = "\n".join(f"    OPERAND_{operand.upper()}," for operand in operands())
    table = "\n".join(rows).removesuffix(" \\")
    arithmetic = "\n".join(f'    X({row.name}, "{row.operands}") \\' for row in ARITHMETIC).removesuffix(" \\")
    return (
        "/* Written from opcodes.py by `python -m frameloom.native.opcodes`: do not edit. */\n"
        "#ifndef FRAMELOOM_OPCODES_H\n#define FRAMELOOM_OPCODES_H\n\n"
        f"/* X(name, kind, operand, runs Python code) */\n#define OPCODES(X) \\\n{table}\n\n"
        f"typedef enum {{ {kinds} }} OpcodeKind;\n\n"
        f"typedef enum {{\n{names}\n}} OperandKind;\n\n"
        "typedef enum {\n#define X(name, kind, operand, runs) OP_##name,\n    OPCODES(X)\n#undef X\n"
        "    OPCODE_COUNT\n} OpcodeNumber;\n\n"
        f"/* X(name, operands) */\n#define ARITHMETIC(X) \\\n{arithmetic}\n\n"
        "typedef enum {\n#define X(name, operands) ARITHMETIC_##name,\n    ARITHMETIC(X)\n#undef X\n"
        "    ARITHMETIC_COUNT\n} ArithmeticNumber;\n\n#endif\n"
    )


if __name__ == "__main__":
    HEADER.write_text(header())
