/* Operands of guard instructions: what each kind must be, and what is worked
 * out of it once so that no check has to. */
#include "guardvm.h"
#include <structmember.h>

/* T_OBJECT and T_OBJECT_EX, under either name. */
#define MEMBER_OBJECT 6
#define MEMBER_OBJECT_EX 16

static int
wrong(const char *expected)
{
    PyErr_Format(PyExc_TypeError, "%s expected", expected);
    return 0;
}

static int
prepare_hash(Instruction *instruction)
{
    instruction->key.hash = PyObject_Hash(instruction->key.object);
    return instruction->key.hash != -1 || !PyErr_Occurred();
}

static int
prepare_name(Instruction *instruction)
{
    if (!PyUnicode_CheckExact(instruction->key.object)) {
        return wrong("a str");
    }
    return prepare_hash(instruction);
}

static int
prepare_keys(Instruction *instruction)
{
    PyObject *keys = instruction->key.object;
    if (!PyTuple_CheckExact(keys)) {
        return wrong("a tuple of keys");
    }
    Py_ssize_t count = PyTuple_GET_SIZE(keys);
    Py_hash_t *hashes = PyMem_Malloc((size_t)(count + 1) * sizeof(Py_hash_t));
    if (hashes == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    instruction->extra.hashes = hashes;
    for (Py_ssize_t i = 0; i < count; i++) {
        hashes[i] = PyObject_Hash(PyTuple_GET_ITEM(keys, i));
        if (hashes[i] == -1 && PyErr_Occurred()) {
            return 0;
        }
    }
    return 1;
}

static int
prepare_registers(Instruction *instruction, PyObject *registers)
{
    if (!PyTuple_CheckExact(registers) || PyTuple_GET_SIZE(registers) > UINT16_MAX) {
        return wrong("a tuple of registers");
    }
    Py_ssize_t count = PyTuple_GET_SIZE(registers);
    uint16_t *numbers = PyMem_Malloc((size_t)(count + 1) * sizeof(uint16_t));
    if (numbers == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    instruction->extra.registers = numbers;
    instruction->count = (uint16_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(registers, i));
        if (number < 0 || number >= UINT16_MAX) {
            return PyErr_Occurred() ? 0 : wrong("a register");
        }
        numbers[i] = (uint16_t)number;
    }
    return 1;
}

static int
prepare_member(Instruction *instruction)
{
    PyObject *member = instruction->key.object;
    if (Py_TYPE(member) != &PyMemberDescr_Type) {
        return wrong("a member descriptor");
    }
    PyMemberDef *definition = ((PyMemberDescrObject *)member)->d_member;
    if (definition->type != MEMBER_OBJECT && definition->type != MEMBER_OBJECT_EX) {
        return wrong("a member descriptor of an object");
    }
    instruction->extra.number = definition->offset;
    instruction->second = definition->type == MEMBER_OBJECT;
    return 1;
}

static int
prepare_getter(Instruction *instruction)
{
    PyTypeObject *type = Py_TYPE(instruction->key.object);
    if (type == &PyMemberDescr_Type) {
        return 1;
    }
    if (type != &PyGetSetDescr_Type
        || ((PyGetSetDescrObject *)instruction->key.object)->d_getset->get == NULL) {
        return wrong("a getset or member descriptor");
    }
    return 1;
}

static int
prepare_noargs(PyObject *function)
{
    if (!PyCFunction_Check(function) || (PyCFunction_GET_FLAGS(function) & METH_O)) {
        return wrong("a built-in function without arguments");
    }
    return 1;
}

/* A constant of two items: the first stays the instruction's object. */
static int
prepare_pair(Instruction *instruction, PyObject **second)
{
    PyObject *pair = instruction->key.object;
    if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) {
        return wrong("a tuple of two");
    }
    instruction->key.object = PyTuple_GET_ITEM(pair, 0);
    *second = PyTuple_GET_ITEM(pair, 1);
    return 1;
}

static int
parse_bound(PyObject *bound, int64_t open, int64_t *number)
{
    if (bound == Py_None) {
        *number = open;
        return 1;
    }
    *number = PyLong_AsLongLong(bound);
    return *number != -1 || !PyErr_Occurred();
}

static int
prepare_range(Instruction *instruction)
{
    PyObject *high;
    return prepare_pair(instruction, &high)
        && parse_bound(instruction->key.object, OPEN_LOW, &instruction->extra.number)
        && parse_bound(high, OPEN_HIGH, &instruction->second);
}

static int
prepare_size_range(Instruction *instruction)
{
    PyObject *range = instruction->key.object;
    if (!PyTuple_CheckExact(range) || PyTuple_GET_SIZE(range) != 3) {
        return wrong("a tuple of three");
    }
    int64_t dimension;
    if (!parse_bound(PyTuple_GET_ITEM(range, 0), 0, &dimension)
        || !parse_bound(PyTuple_GET_ITEM(range, 1), 0, &instruction->extra.number)
        || !parse_bound(PyTuple_GET_ITEM(range, 2), OPEN_HIGH, &instruction->second)) {
        return 0;
    }
    instruction->dimension = (int32_t)dimension;
    return 1;
}

static int
prepare_dimensions(Instruction *instruction)
{
    PyObject *second;
    return prepare_pair(instruction, &second)
        && parse_bound(instruction->key.object, 0, &instruction->extra.number)
        && parse_bound(second, 0, &instruction->second);
}

static int
prepare_flags(Instruction *instruction)
{
    PyObject *flags;
    return prepare_pair(instruction, &flags) && (PyLong_CheckExact(flags) || wrong("an int"))
        && parse_bound(instruction->key.object, 0, &instruction->extra.number)
        && parse_bound(flags, 0, &instruction->second);
}

static int
prepare_attribute(Instruction *instruction)
{
    return prepare_pair(instruction, &instruction->extra.other) && prepare_name(instruction);
}

static int
prepare_call(Instruction *instruction)
{
    return prepare_pair(instruction, &instruction->extra.other)
        && prepare_noargs(instruction->key.object);
}

static int
prepare_call_many(Instruction *instruction)
{
    PyObject *registers;
    if (!prepare_pair(instruction, &registers)) {
        return 0;
    }
    if (!PyCallable_Check(instruction->key.object)) {
        return wrong("a callable");
    }
    return prepare_registers(instruction, registers);
}

static int
prepare_int(Instruction *instruction)
{
    PyObject *number = instruction->key.object;
    if (!PyLong_CheckExact(number)) {
        return wrong("an int");
    }
    int overflow;
    instruction->extra.number = PyLong_AsLongLongAndOverflow(number, &overflow);
    instruction->second = overflow != 0;
    return 1;
}

static int
prepare_float(Instruction *instruction)
{
    if (!PyFloat_CheckExact(instruction->key.object)) {
        return wrong("a float");
    }
    instruction->extra.real = PyFloat_AS_DOUBLE(instruction->key.object);
    return 1;
}

static int
prepare_payload(PyObject *constant)
{
    return PyLong_CheckExact(constant) || PyUnicode_CheckExact(constant)
        || PyBytes_CheckExact(constant) || PyFloat_CheckExact(constant)
        || PyComplex_CheckExact(constant) || wrong("an int, str, bytes, float or complex");
}

static int
prepare_tensor(Instruction *instruction)
{
    instruction->extra.facts = tensor_facts_parse(instruction->key.object);
    return instruction->extra.facts != NULL;
}

static int
prepare_arithmetic(Instruction *instruction)
{
    instruction->extra.arithmetic = arithmetic_parse(instruction->key.object);
    return instruction->extra.arithmetic != NULL;
}

static int
prepare_constant(Instruction *instruction, OperandKind kind)
{
    PyObject *constant = instruction->key.object;
    switch (kind) {
    case OPERAND_NONE:
    case OPERAND_INDEX:
    case OPERAND_OBJECT:
        return 1;
    case OPERAND_NAME:
        return prepare_name(instruction);
    case OPERAND_KEY:
        return prepare_hash(instruction);
    case OPERAND_KEYS:
        return prepare_keys(instruction);
    case OPERAND_WEAK:
        return PyWeakref_CheckRefExact(constant) || wrong("a weakref.ref");
    case OPERAND_CLASSES:
        return PyTuple_CheckExact(constant) || wrong("a tuple of classes");
    case OPERAND_TYPE:
        return PyType_Check(constant) || wrong("a type");
    case OPERAND_MEMBER:
        return prepare_member(instruction);
    case OPERAND_GETTER:
        return prepare_getter(instruction);
    case OPERAND_NOARGS:
        return prepare_noargs(constant);
    case OPERAND_CALLABLE:
        return PyCallable_Check(constant) || wrong("a callable");
    case OPERAND_INT:
        return prepare_int(instruction);
    case OPERAND_STR:
        return PyUnicode_CheckExact(constant) || wrong("a str");
    case OPERAND_BYTES:
        return PyBytes_CheckExact(constant) || wrong("bytes");
    case OPERAND_FLOAT:
        return prepare_float(instruction);
    case OPERAND_COMPLEX:
        return PyComplex_CheckExact(constant) || wrong("a complex");
    case OPERAND_PAYLOAD:
        return prepare_payload(constant);
    case OPERAND_RANGE:
        return prepare_range(instruction);
    case OPERAND_FLAGS:
        return prepare_flags(instruction);
    case OPERAND_ATTRIBUTE:
        return prepare_attribute(instruction);
    case OPERAND_TENSOR:
        return prepare_tensor(instruction);
    case OPERAND_SIZE_RANGE:
        return prepare_size_range(instruction);
    case OPERAND_DIMENSIONS:
        return prepare_dimensions(instruction);
    case OPERAND_REGISTERS:
        return prepare_registers(instruction, constant);
    case OPERAND_CALL:
        return prepare_call(instruction);
    case OPERAND_CALL_MANY:
        return prepare_call_many(instruction);
    case OPERAND_ARITHMETIC:
        return prepare_arithmetic(instruction);
    }
    Py_UNREACHABLE();
}

int
operand_prepare(Instruction *instruction, PyObject *constants)
{
    OperandKind kind = opcode_rows[instruction->opcode].operand;
    if (kind != OPERAND_NONE && kind != OPERAND_INDEX) {
        if (instruction->index < 0 || instruction->index >= PyTuple_GET_SIZE(constants)) {
            PyErr_Format(PyExc_IndexError, "no constant %d", instruction->index);
            return 0;
        }
        instruction->key.object = PyTuple_GET_ITEM(constants, instruction->index);
    }
    return prepare_constant(instruction, kind);
}

void
operand_free(Instruction *instruction)
{
    switch (opcode_rows[instruction->opcode].operand) {
    case OPERAND_KEYS:
        PyMem_Free(instruction->extra.hashes);
        break;
    case OPERAND_REGISTERS:
    case OPERAND_CALL_MANY:
        PyMem_Free(instruction->extra.registers);
        break;
    case OPERAND_TENSOR:
        PyMem_Free(instruction->extra.facts);
        break;
    case OPERAND_ARITHMETIC:
        arithmetic_free(instruction->extra.arithmetic);
        break;
    default:
        break;
    }
    memset(&instruction->extra, 0, sizeof(instruction->extra));
}
