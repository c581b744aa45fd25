/* The type GuardProgram: made from tuples, checked for sense, printed. */
#include "snapshot.h"
#include <structmember.h>

const OpcodeRow opcode_rows[OPCODE_COUNT] = {
#define X(name, kind, operand, runs) {#name, kind, operand, runs},
    OPCODES(X)
#undef X
};

/* ---- making ---- */

static int
opcode_number(PyObject *name)
{
    if (PyLong_CheckExact(name)) {
        long number = PyLong_AsLong(name);
        if (number >= 0 && number < OPCODE_COUNT) {
            return (int)number;
        }
        PyErr_Clear();
    }
    for (int i = 0; PyUnicode_Check(name) && i < OPCODE_COUNT; i++) {
        if (PyUnicode_CompareWithASCIIString(name, opcode_rows[i].name) == 0) {
            return i;
        }
    }
    PyErr_Format(PyExc_ValueError, "no guard opcode %R", name);
    return -1;
}

/* Whether rows of a kind read their source. */
static int
kind_reads(OpcodeKind kind)
{
    return kind == KIND_STEP || kind == KIND_CHECK || kind == KIND_PAIR || kind == KIND_MEMORY;
}

static int
parse_instruction(Instruction *instruction, PyObject *tuple)
{
    PyObject *name;
    int source, target, operand, guard;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "an instruction is a tuple");
        return 0;
    }
    if (!PyArg_ParseTuple(tuple, "Oiiii", &name, &source, &target, &operand, &guard)) {
        return 0;
    }
    int opcode = opcode_number(name);
    if (opcode < 0) {
        return 0;
    }
    if (source < 0 || source >= UINT16_MAX || target < 0 || target >= UINT16_MAX || guard < 0) {
        PyErr_SetString(PyExc_ValueError, "a register or guard is out of range");
        return 0;
    }
    instruction->opcode = (uint16_t)opcode;
    OpcodeKind kind = opcode_rows[opcode].kind;
    instruction->source = kind_reads(kind) ? (uint16_t)source : 0;
    instruction->target = (uint16_t)target;
    instruction->index = operand;
    instruction->guard = guard;
    return 1;
}

/* Registers known to be written, and by which part, as a byte for each; whether
 * one was written twice; whether this is the quiet part still. */
#define WRITTEN_LOUDLY 1
#define WRITTEN_QUIETLY 2
#define KEPT 4

typedef struct {
    uint8_t *written;
    int count;
    int again;
    int quiet;
} Written;

static int
reads(Written *written, int number)
{
    if (number >= written->count || !written->written[number]) {
        PyErr_Format(PyExc_ValueError, "register %d is read before it is written", number);
        return 0;
    }
    if (!written->quiet) {
        written->written[number] |= KEPT;
    }
    return 1;
}

static int
check_registers(Written *written, const Instruction *instruction)
{
    OpcodeRow row = opcode_rows[instruction->opcode];
    if (kind_reads(row.kind) && !reads(written, instruction->source)) {
        return 0;
    }
    if (row.kind == KIND_PAIR && !reads(written, instruction->target)) {
        return 0;
    }
    if (row.operand == OPERAND_REGISTERS || row.operand == OPERAND_CALL_MANY) {
        for (int i = 0; i < instruction->count; i++) {
            if (!reads(written, instruction->extra.registers[i])) {
                return 0;
            }
        }
    }
    if (row.operand == OPERAND_ARITHMETIC) {
        int count;
        const uint16_t *registers = arithmetic_registers(instruction->extra.arithmetic, &count);
        for (int i = 0; i < count; i++) {
            if (!reads(written, registers[i])) {
                return 0;
            }
        }
    }
    if (row.kind == KIND_ROOT || row.kind == KIND_STEP) {
        written->again |= written->written[instruction->target] != 0;
        written->written[instruction->target] |= written->quiet ? WRITTEN_QUIETLY : WRITTEN_LOUDLY;
        if (instruction->target >= written->count) {
            written->count = instruction->target + 1;
        }
    }
    return 1;
}

/* What a row of memory or a snapshot writes into. */
static int
make_room(Instruction *row)
{
    OpcodeKind kind = opcode_rows[row->opcode].kind;
    if (kind == KIND_MEMORY) {
        row->extra.found = PyMem_Calloc((size_t)row->index, sizeof(Found));
    }
    else {
        row->extra.snapshot = snapshot_new();
    }
    if (row->extra.found == NULL) {
        PyErr_NoMemory();
    }
    return row->extra.found != NULL;
}

static void
free_room(Instruction *row)
{
    OpcodeKind kind = opcode_rows[row->opcode].kind;
    if (kind == KIND_MEMORY) {
        PyMem_Free(row->extra.found);
    }
    if (kind == KIND_SNAPSHOT) {
        snapshot_free(row->extra.snapshot);
    }
}

/* The kind of row at the other end of a stretch that this kind begins or ends. */
static int
other_end(OpcodeKind kind)
{
    switch (kind) {
    case KIND_MEMORY:
        return KIND_END;
    case KIND_END:
        return KIND_MEMORY;
    case KIND_SNAPSHOT:
        return KIND_TAKEN;
    case KIND_TAKEN:
        return KIND_SNAPSHOT;
    default:
        return -1;
    }
}

/* A stretch of memory has nothing but rows that read, a snapshot stretches of
 * memory besides, whole ones. */
static int
may_stand_in(OpcodeKind outer, Instruction *row, Instruction *end)
{
    OpcodeRow inner = opcode_rows[row->opcode];
    if (inner.runs || inner.kind == KIND_SNAPSHOT || inner.kind == KIND_TAKEN) {
        return 0;
    }
    if (outer == KIND_SNAPSHOT && inner.kind == KIND_MEMORY) {
        return row + row->index < end;
    }
    return other_end(inner.kind) < 0 || outer == KIND_SNAPSHOT;
}

static int
check_stretch(GuardProgram *self, Instruction *row)
{
    OpcodeKind kind = opcode_rows[row->opcode].kind;
    int begins = kind == KIND_MEMORY || kind == KIND_SNAPSHOT;
    Py_ssize_t number = row - self->instructions;
    Py_ssize_t other = begins ? number + row->index : number - row->index;
    if (row->index <= 0 || other < 0 || other >= self->count
        || (int)opcode_rows[self->instructions[other].opcode].kind != other_end(kind)
        || self->instructions[other].index != row->index) {
        PyErr_SetString(PyExc_ValueError, "a row that begins a stretch and its end do not name each other");
        return 0;
    }
    Instruction *end = self->instructions + other;
    for (Instruction *inner = row + 1; begins && inner < end; inner++) {
        if (!may_stand_in(kind, inner, end)) {
            PyErr_SetString(PyExc_ValueError, "a row that memory cannot stand for");
            return 0;
        }
    }
    return !begins || make_room(row);
}

/* Rows of memory and snapshots end where they say, and stand for registers
 * nobody else writes. */
static int
check_memory(GuardProgram *self, const Written *written)
{
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Instruction *row = &self->instructions[i];
        if (other_end(opcode_rows[row->opcode].kind) < 0) {
            continue;
        }
        if (!check_stretch(self, row)) {
            return 0;
        }
        if (written->again) {
            PyErr_SetString(PyExc_ValueError, "a register is written twice in a program with memory");
            return 0;
        }
    }
    return 1;
}

/* Which ARITHMETIC the row is about that decides its doubts. */
static int
link_exactly(GuardProgram *self, Instruction *row)
{
    for (Instruction *before = row - 1; before >= self->instructions; before--) {
        if (before->opcode == OP_ARITHMETIC && before->index == row->index) {
            row->second = row - before;
            return 1;
        }
    }
    PyErr_SetString(PyExc_ValueError, "EXACTLY without its ARITHMETIC");
    return 0;
}

static int
fill_program(GuardProgram *self, PyObject *sequence, Written *written)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
    self->instructions = PyMem_Calloc((size_t)count + 1, sizeof(Instruction));
    if (self->instructions == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Instruction *instruction = &self->instructions[i];
        if (!parse_instruction(instruction, PySequence_Fast_GET_ITEM(sequence, i))) {
            return 0;
        }
        self->count = i + 1;
        written->quiet = written->quiet && !opcode_rows[instruction->opcode].runs;
        self->quiet += written->quiet;
        if (!operand_prepare(instruction, self->constants)
            || !check_registers(written, instruction)
            || (instruction->opcode == OP_EXACTLY && !link_exactly(self, instruction))) {
            return 0;
        }
    }
    self->only_doubts = 1;
    for (Py_ssize_t i = self->quiet; i < count; i++) {
        self->only_doubts &= self->instructions[i].opcode == OP_EXACTLY;
    }
    self->registers = written->count;
    return check_memory(self, written);
}

static int
fill_gather(GuardProgram *self, PyObject *gather, Py_ssize_t packed, Written *written)
{
    Py_ssize_t count = gather == NULL ? 0 : PyTuple_GET_SIZE(gather);
    if (count > UINT16_MAX) {
        PyErr_SetString(PyExc_ValueError, "too much is gathered");
        return 0;
    }
    if (packed < 0 || packed > count) {
        PyErr_SetString(PyExc_ValueError, "packed: how many of those that are gathered");
        return 0;
    }
    self->gather = PyMem_Calloc((size_t)count + 1, sizeof(uint16_t));
    if (self->gather == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(gather, i));
        if (number == -1 && PyErr_Occurred()) {
            return 0;
        }
        if (number < 0 || number >= UINT16_MAX || !(written->written[number] & WRITTEN_QUIETLY)) {
            PyErr_SetString(PyExc_ValueError, "what is gathered is read without running Python code");
            return 0;
        }
        self->gather[i] = (uint16_t)number;
    }
    self->gathered = (int)count;
    self->packed = (int)packed;
    return 1;
}

/* The registers, and which of them outlive the quiet part. */
static int
make_registers(GuardProgram *self, const Written *written)
{
    self->memory = PyMem_Calloc((size_t)self->registers + 1, sizeof(PyObject *));
    self->own = PyMem_Calloc((size_t)self->registers + 1, sizeof(uint16_t));
    if (self->memory == NULL || self->own == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (int i = 0; i < self->registers; i++) {
        if ((written->written[i] & (KEPT | WRITTEN_QUIETLY)) == (KEPT | WRITTEN_QUIETLY)) {
            self->own[self->owned++] = (uint16_t)i;
        }
    }
    self->kept = self->owned;
    for (int i = 0; i < self->registers; i++) {
        if (written->written[i] & WRITTEN_LOUDLY
            && (written->written[i] & (KEPT | WRITTEN_QUIETLY)) != (KEPT | WRITTEN_QUIETLY)) {
            self->own[self->owned++] = (uint16_t)i;
        }
    }
    return 1;
}

static PyObject *
program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"instructions", "constants", "gather", "packed", NULL};
    PyObject *instructions, *constants = NULL, *gather = NULL;
    Py_ssize_t packed = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O!O!n:GuardProgram", names, &instructions,
                                     &PyTuple_Type, &constants, &PyTuple_Type, &gather, &packed)) {
        return NULL;
    }
    PyObject *sequence = PySequence_Fast(instructions, "a sequence of instructions expected");
    if (sequence == NULL) {
        return NULL;
    }
    GuardProgram *self = (GuardProgram *)type->tp_alloc(type, 0);
    Written written = {.written = PyMem_Calloc(UINT16_MAX, 1), .quiet = 1};
    int made = 0;
    if (self != NULL && written.written != NULL) {
        self->constants = constants == NULL ? PyTuple_New(0) : Py_NewRef(constants);
        made = self->constants != NULL && fill_program(self, sequence, &written)
            && fill_gather(self, gather, packed, &written) && make_registers(self, &written);
    }
    PyMem_Free(written.written);
    Py_DECREF(sequence);
    if (!made) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int
program_traverse(GuardProgram *self, visitproc visit, void *arg)
{
    Py_VISIT(self->constants);
    return 0;
}

static void
program_free_instructions(GuardProgram *self)
{
    Instruction *instructions = self->instructions;
    Py_ssize_t count = self->count;
    self->instructions = NULL;
    self->count = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        free_room(&instructions[i]);
        operand_free(&instructions[i]);
    }
    PyMem_Free(instructions);
}

/* No tp_clear: a program may be walked while its entry is cleared, and a cycle
 * through it goes through the entry, which has one. */
static void
program_dealloc(GuardProgram *self)
{
    PyObject_GC_UnTrack(self);
    program_free_instructions(self);
    PyMem_Free(self->gather);
    PyMem_Free(self->own);
    PyMem_Free(self->memory);
    Py_CLEAR(self->constants);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* ---- use ---- */

/* The scope that check() and gather() are given; 0 with an exception. */
static int
parse_scope(PyObject *args, GuardScope *scope)
{
    PyObject *locals, *closure = Py_None, *globals = NULL, *builtins = NULL;
    if (!PyArg_ParseTuple(args, "O!|OO!O!", &PyTuple_Type, &locals, &closure, &PyDict_Type,
                          &globals, &PyDict_Type, &builtins)) {
        return 0;
    }
    if (closure != Py_None && !PyTuple_Check(closure)) {
        PyErr_SetString(PyExc_TypeError, "closure: a tuple or None expected");
        return 0;
    }
    *scope = (GuardScope){
        .locals = ((PyTupleObject *)locals)->ob_item,
        .local_count = PyTuple_GET_SIZE(locals),
        .closure = closure == Py_None ? NULL : closure,
        .globals = globals == NULL ? PyEval_GetGlobals() : globals,
        .builtins = builtins == NULL ? PyEval_GetBuiltins() : builtins,
    };
    return 1;
}

/* Checks, with what is gathered as a new tuple where all guards hold. */
static int
check_into_tuple(GuardProgram *self, PyObject *args, PyObject **gathered)
{
    GuardScope scope;
    if (!parse_scope(args, &scope) || (*gathered = PyTuple_New(guards_gathered(self))) == NULL) {
        return GUARDS_RAISED;
    }
    int failed = guards_check(self, &scope, ((PyTupleObject *)*gathered)->ob_item);
    if (failed != -1) {
        Py_CLEAR(*gathered);
    }
    return failed;
}

static PyObject *
program_check(GuardProgram *self, PyObject *args)
{
    PyObject *gathered = NULL;
    int failed = check_into_tuple(self, args, &gathered);
    Py_XDECREF(gathered);
    return failed == GUARDS_RAISED ? NULL : PyLong_FromLong(failed);
}

static PyObject *
program_gather(GuardProgram *self, PyObject *args)
{
    PyObject *gathered = NULL;
    int failed = check_into_tuple(self, args, &gathered);
    return failed == GUARDS_RAISED ? NULL : failed == -1 ? gathered : Py_NewRef(Py_None);
}

/* "  3  r2 = DICT_ATTR r1 'weight'        guard 5" */
static PyObject *
dump_line(GuardProgram *self, Py_ssize_t number)
{
    Instruction *instruction = &self->instructions[number];
    OpcodeRow row = opcode_rows[instruction->opcode];
    char target[24] = "", source[40] = "";
    if (row.kind == KIND_ROOT || row.kind == KIND_STEP) {
        snprintf(target, sizeof(target), "r%d = ", instruction->target);
    }
    if (row.kind == KIND_STEP || row.kind == KIND_CHECK || row.kind == KIND_MEMORY) {
        snprintf(source, sizeof(source), " r%d", instruction->source);
    }
    if (row.kind == KIND_PAIR) {
        snprintf(source, sizeof(source), " r%d r%d", instruction->source, instruction->target);
    }
    PyObject *operand;
    if (row.operand == OPERAND_NONE) {
        operand = PyUnicode_FromString("");
    }
    else if (row.operand == OPERAND_INDEX) {
        operand = PyUnicode_FromFormat(" %d", instruction->index);
    }
    else {
        operand = PyUnicode_FromFormat(" %A", PyTuple_GET_ITEM(self->constants, instruction->index));
    }
    if (operand == NULL) {
        return NULL;
    }
    PyObject *line = PyUnicode_FromFormat("%3zd  %s%s%s%U  ; guard %d\n", number, target, row.name,
                                          source, operand, instruction->guard);
    Py_DECREF(operand);
    return line;
}

static PyObject *
program_dump(GuardProgram *self, PyObject *Py_UNUSED(unused))
{
    PyObject *lines = PyList_New(0);
    for (Py_ssize_t i = 0; lines != NULL && i < self->count; i++) {
        PyObject *line = dump_line(self, i);
        if (line == NULL || PyList_Append(lines, line) < 0) {
            Py_CLEAR(lines);
        }
        Py_XDECREF(line);
    }
    PyObject *empty = lines == NULL ? NULL : PyUnicode_FromString("");
    PyObject *text = empty == NULL ? NULL : PyUnicode_Join(empty, lines);
    Py_XDECREF(empty);
    Py_XDECREF(lines);
    return text;
}

static Py_ssize_t
program_length(PyObject *self)
{
    return ((GuardProgram *)self)->count;
}

static PySequenceMethods program_sequence = {.sq_length = program_length};

static PyMethodDef program_methods[] = {
    {"check", (PyCFunction)program_check, METH_VARARGS,
     "check(locals, closure=None, globals=..., builtins=..., /)\n--\n\n"
     "-1 when all guards hold, else the guard of the first instruction that failed."},
    {"gather", (PyCFunction)program_gather, METH_VARARGS,
     "gather(locals, closure=None, globals=..., builtins=..., /)\n--\n\n"
     "A tuple of what the gathered registers hold, or None when a guard fails."},
    {"dump", (PyCFunction)program_dump, METH_NOARGS,
     "dump()\n--\n\nThe program as ASCII text, one instruction a line."},
    {NULL},
};

static PyMemberDef program_members[] = {
    {"constants", T_OBJECT, offsetof(GuardProgram, constants), READONLY, "the constants, a tuple"},
    {"registers", T_INT, offsetof(GuardProgram, registers), READONLY, "how many registers it uses"},
    {"quiet", T_PYSSIZET, offsetof(GuardProgram, quiet), READONLY,
     "how many instructions come before the first that may run Python code"},
    {NULL},
};

static PyObject *
program_runs(GuardProgram *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(self->quiet < self->count);
}

static PyObject *
program_snapshots(GuardProgram *self, void *Py_UNUSED(closure))
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < self->count; i++) {
        Instruction *row = &self->instructions[i];
        if (row->opcode != OP_SNAPSHOT) {
            continue;
        }
        PyObject *described = snapshot_describe(row->extra.snapshot, row->index);
        if (described == NULL || PyList_Append(list, described) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(described);
    }
    return list;
}

static PyGetSetDef program_getset[] = {
    {"snapshots", (getter)program_snapshots, NULL,
     "(rows, words, times it stood for them, refused) of each snapshot; no words: not taken", NULL},
    {"runs", (getter)program_runs, NULL, "whether some instruction may run Python code", NULL},
    {NULL},
};

PyTypeObject GuardProgram_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "frameloom.native.GuardProgram",
    .tp_doc = "GuardProgram(instructions, constants=(), gather=(), packed=0)\n--\n\n"
              "Guards as one flat program; see frameloom.native.opcodes for the instructions, which may\n"
              "be named by number. gather: registers whose objects are handed to an entry's code,\n"
              "the first `packed` of them as one tuple.",
    .tp_basicsize = sizeof(GuardProgram),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .tp_new = program_new,
    .tp_dealloc = (destructor)program_dealloc,
    .tp_traverse = (traverseproc)program_traverse,
    .tp_as_sequence = &program_sequence,
    .tp_methods = program_methods,
    .tp_members = program_members,
    .tp_getset = program_getset,
};
