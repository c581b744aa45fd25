/* The evaluator of guard programs.
 *
 * One loop, compiled twice. Up to the first instruction that may run Python code
 * nothing that registers refer to can go away, and they borrow; they also stay
 * as they are until the next evaluation, which may find that a dict has not
 * changed and pass over what was read of it. From there on they own. */
#include "snapshot.h"
#include <structmember.h>

/* ---- steps: the object found, borrowed, or NULL ---- */

static PyObject *
global_value(const GuardScope *scope, Key *name)
{
    PyObject *value;
    if (!PyDict_CheckExact(scope->globals)) {
        return NULL;
    }
    Look look = dict_look(scope->globals, name, &value);
    if (look == LOOK_ABSENT && PyDict_CheckExact(scope->builtins)) {
        look = dict_look(scope->builtins, name, &value);
    }
    return look == LOOK_FOUND ? value : NULL;
}

static PyObject *
dict_value(PyObject *dict, Key *key)
{
    PyObject *value;
    return PyDict_Check(dict) && dict_look(dict, key, &value) == LOOK_FOUND ? value : NULL;
}

static PyObject *
attribute_value(PyObject *object, Key *name)
{
    PyObject *value;
    return attribute_look(object, name, &value) == LOOK_FOUND ? value : NULL;
}

static PyObject *
sequence_item(PyObject *const *items, Py_ssize_t count, Py_ssize_t index)
{
    index = index < 0 ? index + count : index;
    return index < 0 || index >= count ? NULL : items[index];
}

static PyObject *
list_item(PyObject *list, Py_ssize_t index)
{
    if (!PyList_Check(list)) {
        return NULL;
    }
    return sequence_item(((PyListObject *)list)->ob_item, PyList_GET_SIZE(list), index);
}

static PyObject *
tuple_item(PyObject *tuple, Py_ssize_t index)
{
    if (!PyTuple_Check(tuple)) {
        return NULL;
    }
    return sequence_item(((PyTupleObject *)tuple)->ob_item, PyTuple_GET_SIZE(tuple), index);
}

static PyObject *
closure_cell(const GuardScope *scope, Py_ssize_t index)
{
    return scope->closure == NULL ? NULL : tuple_item(scope->closure, index);
}

static PyObject *
or_none(PyObject *object)
{
    return object == NULL ? Py_None : object;
}

/* Address of a member descriptor's slot in an object of its type, or NULL. */
static PyObject **
member_slot(const Instruction *instruction, PyObject *object)
{
    if (!PyObject_TypeCheck(object, PyDescr_TYPE(instruction->key.object))) {
        return NULL;
    }
    return (PyObject **)((char *)object + instruction->extra.number);
}

static PyObject *
member_value(const Instruction *instruction, PyObject *object)
{
    PyObject **slot = member_slot(instruction, object);
    if (slot == NULL) {
        return NULL;
    }
    return *slot == NULL && instruction->second ? Py_None : *slot;
}

static PyObject *
type_attribute(PyObject *type, PyObject *name)
{
    return PyType_Check(type) ? _PyType_Lookup((PyTypeObject *)type, name) : NULL;
}

/* Whether the classes of a type's MRO are just these. Static classes stand in
 * the tuple themselves, others by weak references. */
static int
type_order_is(PyObject *type, PyObject *classes)
{
    PyObject *mro = PyType_Check(type) ? ((PyTypeObject *)type)->tp_mro : NULL;
    if (mro == NULL || PyTuple_GET_SIZE(mro) != PyTuple_GET_SIZE(classes)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); i++) {
        PyObject *wanted = PyTuple_GET_ITEM(classes, i);
        if (PyWeakref_CheckRefExact(wanted)) {
            wanted = ((PyWeakReference *)wanted)->wr_object;
        }
        if (PyTuple_GET_ITEM(mro, i) != wanted) {
            return 0;
        }
    }
    return 1;
}

static PyObject *
function_part(PyObject *object, OpcodeNumber opcode)
{
    if (!PyFunction_Check(object)) {
        return NULL;
    }
    PyFunctionObject *function = (PyFunctionObject *)object;
    switch (opcode) {
    case OP_FUNC_CODE:
        return function->func_code;
    case OP_FUNC_DEFAULTS:
        return or_none(function->func_defaults);
    case OP_FUNC_KWDEFAULTS:
        return or_none(function->func_kwdefaults);
    case OP_FUNC_CLOSURE:
        return or_none(function->func_closure);
    case OP_FUNC_NAME:
        return function->func_name;
    case OP_FUNC_ANNOTATIONS: {
        PyObject *annotations = function->func_annotations;
        return annotations != NULL && PyDict_Check(annotations) ? annotations : NULL;
    }
    case OP_FUNC_QUALNAME:
        return function->func_qualname;
    default:
        return function->func_globals;
    }
}

static int
is_heap_type(PyObject *object)
{
    return PyType_Check(object) && (((PyTypeObject *)object)->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
}

/* ---- steps that make a reference; NULL with or without an exception ---- */

static PyObject *
call_noargs(PyObject *function)
{
    if (PyCFunction_GET_FLAGS(function) == METH_NOARGS) {
        return PyCFunction_GET_FUNCTION(function)(PyCFunction_GET_SELF(function), NULL);
    }
    return PyObject_CallNoArgs(function);
}

static PyObject *
getter_value(PyObject *descriptor, PyObject *object)
{
    if (!PyObject_TypeCheck(object, PyDescr_TYPE(descriptor))) {
        return NULL;
    }
    if (Py_TYPE(descriptor) == &PyMemberDescr_Type) {
        return PyMember_GetOne((char *)object, ((PyMemberDescrObject *)descriptor)->d_member);
    }
    PyGetSetDef *getset = ((PyGetSetDescrObject *)descriptor)->d_getset;
    return getset->get(object, getset->closure);
}

/* ---- checks ---- */

static int
int_is(PyObject *object, const Instruction *instruction)
{
    if (object == instruction->key.object) {
        return 1;
    }
    if (!PyLong_Check(object)) {
        return 0;
    }
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (instruction->second == 0) {
        return overflow == 0 && value == instruction->extra.number;
    }
    /* int's own comparison looks at the digits, of subclasses too */
    PyObject *equal = PyLong_Type.tp_richcompare(instruction->key.object, object, Py_EQ);
    Py_XDECREF(equal);
    return equal == Py_True;
}

static int
str_is(PyObject *object, PyObject *expected)
{
    if (object == expected) {
        return 1;
    }
    return PyUnicode_Check(object)
        && PyUnicode_GET_LENGTH(object) == PyUnicode_GET_LENGTH(expected)
        && PyUnicode_KIND(object) == PyUnicode_KIND(expected)
        && memcmp(PyUnicode_DATA(object), PyUnicode_DATA(expected),
                  (size_t)PyUnicode_GET_LENGTH(object) * PyUnicode_KIND(object)) == 0;
}

static int
bytes_are(PyObject *object, PyObject *expected)
{
    return PyBytes_Check(object) && PyBytes_GET_SIZE(object) == PyBytes_GET_SIZE(expected)
        && memcmp(PyBytes_AS_STRING(object), PyBytes_AS_STRING(expected),
                  (size_t)PyBytes_GET_SIZE(object)) == 0;
}

static int
bits_are(double value, double expected)
{
    return value != value ? expected != expected : memcmp(&value, &expected, sizeof(value)) == 0;
}

static int
complex_is(PyObject *object, PyObject *expected)
{
    if (!PyComplex_Check(object)) {
        return 0;
    }
    Py_complex value = ((PyComplexObject *)object)->cval;
    Py_complex wanted = ((PyComplexObject *)expected)->cval;
    return bits_are(value.real, wanted.real) && bits_are(value.imag, wanted.imag);
}

static int
payload_is(PyObject *object, PyObject *expected)
{
    if (PyLong_CheckExact(expected)) {
        if (!PyLong_Check(object)) {
            return 0;
        }
        PyObject *equal = PyLong_Type.tp_richcompare(expected, object, Py_EQ);
        Py_XDECREF(equal);
        return equal == Py_True;
    }
    if (PyFloat_CheckExact(expected)) {
        return PyFloat_Check(object)
            && bits_are(PyFloat_AS_DOUBLE(object), PyFloat_AS_DOUBLE(expected));
    }
    if (PyUnicode_CheckExact(expected)) {
        return str_is(object, expected);
    }
    return PyBytes_CheckExact(expected) ? bytes_are(object, expected)
                                        : complex_is(object, expected);
}

static int
int_in(PyObject *object, int64_t low, int64_t high)
{
    if (!PyLong_CheckExact(object)) {
        return 0;
    }
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) {
        return overflow < 0 ? low == OPEN_LOW : high == OPEN_HIGH;
    }
    return low <= value && value <= high;
}

static int
length_is(PyObject *object, Py_ssize_t low, Py_ssize_t high)
{
    Py_ssize_t length = storage_length(object);
    return length >= 0 && low <= length && length <= high;
}

static int
size_is_int(PyObject *tensor, int64_t dimension, PyObject *number)
{
    int64_t size = tensor_size(tensor, dimension);
    return size >= 0 && int_in(number, size, size);
}

static int
sizes_are_equal(PyObject *one, PyObject *other, const Instruction *instruction)
{
    int64_t size = tensor_size(one, instruction->extra.number);
    return size >= 0 && size == tensor_size(other, instruction->second);
}

static int
size_in(PyObject *tensor, const Instruction *instruction)
{
    int64_t size = tensor_size(tensor, instruction->dimension);
    return size >= instruction->extra.number && size <= instruction->second && size >= 0;
}

/* All different: by comparing pairs when they are few, else through a small
 * hash table of the addresses. */
static int
are_distinct(PyObject *const *registers, const uint16_t *numbers, int count)
{
    if (count <= 12) {
        for (int i = 1; i < count; i++) {
            for (int j = 0; j < i; j++) {
                if (registers[numbers[i]] == registers[numbers[j]]) {
                    return 0;
                }
            }
        }
        return 1;
    }
    size_t mask = 31;
    while (mask < 2 * (size_t)count) {
        mask = mask * 2 + 1;
    }
    PyObject **table = PyMem_Calloc(mask + 1, sizeof(PyObject *));
    int distinct = table != NULL;
    for (int i = 0; distinct && i < count; i++) {
        PyObject *object = registers[numbers[i]];
        size_t place = (((size_t)object >> 4) * 0x9E3779B97F4A7C15u) >> 17 & mask;
        while (table[place] != NULL && table[place] != object) {
            place = (place + 1) & mask;
        }
        distinct = table[place] == NULL;
        table[place] = object;
    }
    PyMem_Free(table);
    return distinct;
}

static int
call_returns(const Instruction *instruction)
{
    PyObject *result = call_noargs(instruction->key.object);
    Py_XDECREF(result);
    return result == instruction->extra.other;
}

static int
truth_of(PyObject *result)
{
    int truth = result == NULL ? -1 : PyObject_IsTrue(result);
    Py_XDECREF(result);
    return truth > 0;
}

static int
python_says(const Instruction *instruction, PyObject *const *registers)
{
    PyObject *arguments = PyTuple_New(instruction->count);
    if (arguments == NULL) {
        return 0;
    }
    for (int i = 0; i < instruction->count; i++) {
        PyTuple_SET_ITEM(arguments, i, Py_NewRef(registers[instruction->extra.registers[i]]));
    }
    PyObject *result = PyObject_CallObject(instruction->key.object, arguments);
    Py_DECREF(arguments);
    return truth_of(result);
}

static int
is_exactly(const Instruction *instruction, PyObject *const *registers)
{
    const Arithmetic *doubted = instruction[-instruction->second].extra.arithmetic;
    return !arithmetic_doubted(doubted)
        || arithmetic_holds_exactly(instruction->extra.arithmetic, registers) > 0;
}

/* Whether the rest of a program must be run: not where all of it is EXACTLY, and
 * nothing is in doubt. */
static int
leaves_doubts(const GuardProgram *program)
{
    if (!program->only_doubts) {
        return 1;
    }
    for (Py_ssize_t i = program->quiet; i < program->count; i++) {
        const Instruction *row = &program->instructions[i];
        if (arithmetic_doubted(row[-row->second].extra.arithmetic)) {
            return 1;
        }
    }
    return 0;
}

/* ---- memory ---- */

/* The number of a dict's state, 0 where it does not tell enough: a key that is no
 * str may come to compare otherwise, and an OrderedDict has an order besides. */
static uint64_t
keyed_state(PyObject *dict)
{
    return DK_IS_UNICODE(((PyDictObject *)dict)->ma_keys) ? dict_state(dict) : 0;
}

static PyObject *
attributes_of(PyObject *object)
{
    PyObject *dict = PyType_Check(object) ? NULL : instance_dict(object);
    return dict == NULL || !PyDict_Check(dict) || PyODict_Check(dict) ? NULL : dict;
}

/* Whether what was found in a dict is there still. The store of an attribute by
 * hot code (STORE_ATTR_WITH_HINT of 3.11) lets go of the old value, whose
 * finaliser may be what asks here, before it gives the dict a new number. It
 * replaces single values in a table that is not shared, and does nothing else. */
static int
found_is_there(const Instruction *memory, PyObject *dict, PyObject *const *registers)
{
    PyDictKeysObject *keys = ((PyDictObject *)dict)->ma_keys;
    PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
    for (int i = 0; i < memory->count; i++) {
        Found found = memory->extra.found[i];
        if (found.entry >= keys->dk_nentries
            || entries[found.entry].me_value != registers[found.target]) {
            return 0;
        }
    }
    return 1;
}

/* Whether the rows behind this one held in this very state. If not they must be
 * run, and the state is theirs if they hold: the end of them keeps it till then. */
static int
held_in(Instruction *memory, uint64_t state)
{
    if (state != 0 && (uint64_t)memory->second == state) {
        return 1;
    }
    memory->second = 0;
    memory[memory->index].second = (int64_t)state;
    return 0;
}

static int
dict_held(Instruction *memory, PyObject *dict, PyObject *const *registers)
{
    if (held_in(memory, dict == NULL ? 0 : keyed_state(dict))) {
        if (found_is_there(memory, dict, registers)) {
            return 1;
        }
        held_in(memory, 0);
    }
    return 0;
}

int
is_atom(PyObject *object)
{
    return object == Py_None || PyLong_CheckExact(object) || PyBool_Check(object)
        || PyUnicode_CheckExact(object) || PyFloat_CheckExact(object) || PyBytes_CheckExact(object)
        || PyComplex_CheckExact(object);
}

/* The rows between a row of memory and its end have held. */
static void
hold(Instruction *end, PyObject *const *registers)
{
    Instruction *memory = end - end->index;
    memory->second = end->second;
    memory->count = 0;
    if (end->second == 0 || memory->opcode == OP_SAME_TYPE) {
        return;
    }
    for (Instruction *row = memory + 1; row < end; row++) {
        if ((row->opcode == OP_DICT_ATTR || row->opcode == OP_DICT_ITEM)
            && row->source == memory->source && !is_atom(registers[row->target])) {
            memory->extra.found[memory->count++]
                = (Found){.entry = (int32_t)row->key.hint, .target = row->target};
        }
    }
}

/* ---- the loop ---- */

/* A failed instruction may have left an exception: an Exception means that it
 * does not hold; anything else (KeyboardInterrupt) is the caller's to raise. */
static int
failed_guard(const Instruction *instruction)
{
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) {
            return GUARDS_RAISED;
        }
        PyErr_Clear();
    }
    return instruction->guard;
}

#define STEP(expression)                                  \
    do {                                                  \
        PyObject *found = (expression);                   \
        if (found == NULL) {                              \
            return failed_guard(instruction);             \
        }                                                 \
        if (owning) {                                     \
            Py_INCREF(found);                             \
            Py_XSETREF(registers[instruction->target], found); \
        }                                                 \
        else {                                            \
            registers[instruction->target] = found;       \
        }                                                 \
    } while (0)

/* For the steps that make a reference, which the loop that borrows never sees. */
#define NEW_STEP(expression)                              \
    do {                                                  \
        PyObject *made = (expression);                    \
        if (made == NULL) {                               \
            return failed_guard(instruction);             \
        }                                                 \
        Py_XSETREF(registers[instruction->target], made); \
    } while (0)

#define CHECK(condition)                      \
    do {                                      \
        if (!(condition)) {                   \
            return failed_guard(instruction); \
        }                                     \
    } while (0)

#define CASE(name) \
    break;         \
    case OP_##name:

static inline __attribute__((always_inline)) int
run(Instruction *instruction, Instruction *end, const GuardScope *scope, PyObject **registers,
    const int count, const int owning)
{
    for (; instruction < end; instruction++) {
        PyObject *object = registers[instruction->source];
        Key *key = &instruction->key;
        PyObject *value;
        switch ((OpcodeNumber)instruction->opcode) {
        case OPCODE_COUNT:
            Py_UNREACHABLE();
        CASE(LOCAL)
            STEP(sequence_item(scope->locals, scope->local_count, instruction->index));
        CASE(CELL)
            STEP(closure_cell(scope, instruction->index));
        CASE(GLOBALS)
            STEP(scope->globals);
        CASE(BUILTINS)
            STEP(scope->builtins);
        CASE(GLOBAL)
            STEP(global_value(scope, key));
        CASE(BUILTIN)
            STEP(dict_value(scope->builtins, key));
        CASE(CONST)
            STEP(key->object);
        CASE(CONST_WEAK)
            STEP(weak_referent(key->object));
        CASE(CALL0)
            NEW_STEP(call_noargs(key->object));
        CASE(CONTENTS)
            STEP(PyCell_Check(object) ? PyCell_GET(object) : NULL);
        CASE(TYPE_OF)
            STEP((PyObject *)Py_TYPE(object));
        CASE(DICT_ATTR)
            STEP(attribute_value(object, key));
        CASE(DICT_ATTRS)
            STEP(PyType_Check(object) ? NULL : instance_dict(object));
        CASE(SLOT)
            STEP(member_value(instruction, object));
        CASE(TYPE_ATTR)
            STEP(type_attribute(object, key->object));
        CASE(TYPE_DICT)
            STEP(PyType_Check(object) ? type_dict((PyTypeObject *)object) : NULL);
        CASE(TYPE_MRO)
            STEP(PyType_Check(object) ? ((PyTypeObject *)object)->tp_mro : NULL);
        CASE(LIST_ITEM)
            STEP(list_item(object, instruction->index));
        CASE(TUPLE_ITEM)
            STEP(tuple_item(object, instruction->index));
        CASE(DICT_ITEM)
            STEP(dict_value(object, key));
        CASE(DICT_KEY)
            STEP(PyDict_Check(object) ? dict_key_at(object, instruction->index) : NULL);
        CASE(FUNC_CODE)
            STEP(function_part(object, OP_FUNC_CODE));
        CASE(FUNC_DEFAULTS)
            STEP(function_part(object, OP_FUNC_DEFAULTS));
        CASE(FUNC_KWDEFAULTS)
            STEP(function_part(object, OP_FUNC_KWDEFAULTS));
        CASE(FUNC_CLOSURE)
            STEP(function_part(object, OP_FUNC_CLOSURE));
        CASE(FUNC_GLOBALS)
            STEP(function_part(object, OP_FUNC_GLOBALS));
        CASE(FUNC_NAME)
            STEP(function_part(object, OP_FUNC_NAME));
        CASE(FUNC_QUALNAME)
            STEP(function_part(object, OP_FUNC_QUALNAME));
        CASE(FUNC_ANNOTATIONS)
            STEP(function_part(object, OP_FUNC_ANNOTATIONS));
        CASE(TYPE_NAME)
            STEP(is_heap_type(object) ? ((PyHeapTypeObject *)object)->ht_name : NULL);
        CASE(TYPE_QUALNAME)
            STEP(is_heap_type(object) ? ((PyHeapTypeObject *)object)->ht_qualname : NULL);
        CASE(METHOD_FUNC)
            STEP(PyMethod_Check(object) ? PyMethod_GET_FUNCTION(object) : NULL);
        CASE(METHOD_SELF)
            STEP(PyMethod_Check(object) ? PyMethod_GET_SELF(object) : NULL);
        CASE(BUILTIN_SELF)
            STEP(PyCFunction_Check(object) ? PyCFunction_GET_SELF(object) : NULL);
        CASE(REFERENT)
            value = PyWeakref_CheckRef(object) ? weak_referent(object) : NULL;
            STEP(value == NULL && PyWeakref_CheckRef(object) ? Py_None : value);
        CASE(GETTER)
            NEW_STEP(getter_value(key->object, object));
        CASE(PY_STEP)
            NEW_STEP(PyObject_CallOneArg(key->object, object));
        CASE(TYPE_IS)
            CHECK((PyObject *)Py_TYPE(object) == key->object);
        CASE(TYPE_IS_WEAK)
            CHECK((PyObject *)Py_TYPE(object) == weak_referent(key->object));
        CASE(IS)
            CHECK(object == key->object);
        CASE(IS_WEAK)
            CHECK(object == weak_referent(key->object));
        CASE(IS_NOT)
            CHECK(object != key->object);
        CASE(EQ_INT)
            CHECK(PyLong_CheckExact(object) && int_is(object, instruction));
        CASE(EQ_STR)
            CHECK(PyUnicode_CheckExact(object) && str_is(object, key->object));
        CASE(EQ_BYTES)
            CHECK(PyBytes_CheckExact(object) && bytes_are(object, key->object));
        CASE(EQ_FLOAT)
            CHECK(PyFloat_CheckExact(object)
                  && bits_are(PyFloat_AS_DOUBLE(object), instruction->extra.real));
        CASE(EQ_COMPLEX)
            CHECK(PyComplex_CheckExact(object) && complex_is(object, key->object));
        CASE(PAYLOAD_EQ)
            CHECK(payload_is(object, key->object));
        CASE(INT_IN)
            CHECK(int_in(object, instruction->extra.number, instruction->second));
        CASE(LEN)
            CHECK(length_is(object, instruction->index, instruction->index));
        CASE(LEN_AT_LEAST)
            CHECK(length_is(object, instruction->index, PY_SSIZE_T_MAX));
        CASE(HAS_KEY)
            CHECK(PyDict_Check(object) && dict_look(object, key, &value) == LOOK_FOUND);
        CASE(NO_KEY)
            CHECK(PyDict_Check(object) && dict_look(object, key, &value) == LOOK_ABSENT);
        CASE(DICT_KEYS)
            CHECK(PyDict_Check(object) && dict_keys_are(object, key->object));
        CASE(DICT_KEY_SET)
            CHECK(PyDict_Check(object)
                  && dict_key_set_is(object, key->object, instruction->extra.hashes));
        CASE(ODICT_KEYS)
            CHECK(PyODict_Check(object) && odict_keys_are(object, key->object));
        CASE(INSTANCE_KEYS)
            CHECK(instance_keys_are(object, key->object));
        CASE(NO_DICT_ATTR)
            CHECK(attribute_look(object, key, &value) == LOOK_ABSENT);
        CASE(PLAIN_ATTRS)
            CHECK(attributes_are_plain(object));
        CASE(SLOT_EMPTY)
            PyObject **slot = member_slot(instruction, object);
            CHECK(slot != NULL && *slot == NULL && !instruction->second);
        CASE(CELL_EMPTY)
            CHECK(PyCell_Check(object) && PyCell_GET(object) == NULL);
        CASE(TYPE_ATTR_IS)
            CHECK(type_attribute(object, key->object) == instruction->extra.other);
        CASE(TYPE_ATTR_ABSENT)
            CHECK(PyType_Check(object) && type_attribute(object, key->object) == NULL);
        CASE(TYPE_ORDER)
            CHECK(type_order_is(object, key->object));
        CASE(TYPE_FLAGS)
            CHECK(PyType_Check(object)
                  && (int64_t)(((PyTypeObject *)object)->tp_flags & (unsigned long)instruction->extra.number)
                         == instruction->second);
        CASE(SET_HAS)
            CHECK(PyAnySet_Check(object)
                  && set_look(object, key->object, key->hash) == LOOK_FOUND);
        CASE(SET_HAS_NOT)
            CHECK(PyAnySet_Check(object)
                  && set_look(object, key->object, key->hash) == LOOK_ABSENT);
        CASE(SET_EQ)
            CHECK(PyAnySet_Check(object)
                  && set_is(object, key->object, instruction->extra.hashes));
        CASE(SET_ORDER)
            CHECK(PyAnySet_Check(object) && set_order_is(object, key->object));
        CASE(TENSOR)
            CHECK(tensor_facts_hold(instruction->extra.facts, object));
        CASE(SIZE_IN)
            CHECK(size_in(object, instruction));
        CASE(PY_CHECK)
            CHECK(truth_of(PyObject_CallOneArg(key->object, object)));
        CASE(SAME)
            CHECK(object == registers[instruction->target]);
        CASE(SIZE_EQ)
            CHECK(sizes_are_equal(object, registers[instruction->target], instruction));
        CASE(SIZE_EQ_INT)
            CHECK(size_is_int(object, instruction->index, registers[instruction->target]));
        CASE(SAME_DICT)
            if (!owning && dict_held(instruction, PyDict_Check(object) ? object : NULL, registers)) {
                instruction += instruction->index;
            }
        CASE(SAME_ATTRS)
            if (!owning && dict_held(instruction, attributes_of(object), registers)) {
                instruction += instruction->index;
            }
        CASE(SAME_TYPE)
            if (!owning && held_in(instruction, PyType_Check(object) ? type_state((PyTypeObject *)object) : 0)) {
                instruction += instruction->index;
            }
        CASE(HELD)
            if (!owning) {
                hold(instruction, registers);
            }
        CASE(SNAPSHOT)
            if (!owning && snapshot_holds(instruction->extra.snapshot)) {
                int32_t failed = snapshot_tensors(instruction->extra.snapshot);
                if (failed >= 0) {
                    return instruction[1 + failed].guard;
                }
                instruction += instruction->index;
            }
        CASE(TAKEN)
            if (!owning) {
                Instruction *snapshot = instruction - instruction->index;
                snapshot_take(snapshot->extra.snapshot, snapshot + 1, instruction, registers, count);
            }
        CASE(DISTINCT)
            CHECK(are_distinct(registers, instruction->extra.registers, instruction->count));
        CASE(CALL0_IS)
            CHECK(call_returns(instruction));
        CASE(PY_CHECK_MANY)
            CHECK(python_says(instruction, registers));
        CASE(ARITHMETIC)
            CHECK(arithmetic_holds(instruction->extra.arithmetic, registers));
        CASE(EXACTLY)
            CHECK(is_exactly(instruction, registers));
        CASE(FAIL)
            return instruction->guard;
        }
    }
    return -1;
}

static int
run_quietly(GuardProgram *program, const GuardScope *scope)
{
    Instruction *first = program->instructions;
    return run(first, first + program->quiet, scope, program->memory, program->registers, 0);
}

/* What runs here is the engine's own code: its frames are not looked up. The
 * registers are those that the quiet part leaves to it, and its own. */
static Py_NO_INLINE int
run_owning(GuardProgram *program, const GuardScope *scope)
{
    PyObject **registers = PyMem_Malloc(((size_t)program->registers + 1) * sizeof(PyObject *));
    if (registers == NULL) {
        PyErr_NoMemory();
        return GUARDS_RAISED;
    }
    registers[0] = NULL;
    for (int i = 0; i < program->owned; i++) {
        registers[program->own[i]] = i < program->kept ? Py_NewRef(program->memory[program->own[i]]) : NULL;
    }
    Thread *thread = thread_state();
    Scope saved;
    scope_enter(thread, &saved, MODE_CAPTURING);
    Py_INCREF(program);
    Instruction *first = program->instructions;
    int failed = run(first + program->quiet, first + program->count, scope, registers, 0, 1);
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    for (int i = 0; i < program->owned; i++) {
        Py_XDECREF(registers[program->own[i]]);
    }
    Py_DECREF(program);
    PyErr_Restore(type, error, traceback);
    scope_leave(thread, &saved);
    PyMem_Free(registers);
    return failed;
}

/* A tuple is made without the collector, which might let go of what is about to
 * be put into it. */
static PyObject *
tuple_of_packed(const GuardProgram *program)
{
    int collecting = PyGC_Disable();
    PyObject *tuple = PyTuple_New(program->packed);
    if (collecting) {
        PyGC_Enable();
    }
    for (int i = 0; tuple != NULL && i < program->packed; i++) {
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(program->memory[program->gather[i]]));
    }
    return tuple;
}

static int
gather(const GuardProgram *program, PyObject **gathered)
{
    if (program->packed > 0) {
        *gathered = tuple_of_packed(program);
        if (*gathered++ == NULL) {
            return 0;
        }
    }
    for (int i = program->packed; i < program->gathered; i++) {
        *gathered++ = Py_NewRef(program->memory[program->gather[i]]);
    }
    return 1;
}

int
guards_check(GuardProgram *program, const GuardScope *scope, PyObject **gathered)
{
    int failed = run_quietly(program, scope);
    if (failed != -1) {
        return failed;
    }
    if (!gather(program, gathered)) {
        return GUARDS_RAISED;
    }
    if (program->quiet == program->count || !leaves_doubts(program)) {
        return -1;
    }
    int count = guards_gathered(program);
    failed = run_owning(program, scope);
    for (int i = 0; failed != -1 && i < count; i++) {
        Py_CLEAR(gathered[i]);
    }
    return failed;
}

int
guards_gathered(GuardProgram *program)
{
    return program->gathered - program->packed + (program->packed > 0);
}
