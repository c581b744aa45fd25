/* Snapshots: that nothing changed, told by comparing words.
 *
 * When rows of a guard program have held, what they depend on is written down
 * as (address, word): the number of a dict's state, the class of an object, the
 * pointer in a cell. As long as all these words are the same the rows hold, and
 * what they found is what it was. That may be stricter than the rows are, for
 * a word that differs only means that they are run.
 *
 * Two things have to be true of every word. Its address must be good to read
 * when the words before it are the same: it lies in an object that one of those
 * was just seen to hold. And a pointer says nothing of what it points to once
 * the object that was there may have died, and another may have taken its
 * place. So an object is FIXED when only its address is known to be the same,
 * and PROVEN when it must be the very object: it stood in a dict or class whose
 * number is the same (numbers are given once), in an immutable object that is
 * proven, or is owned. What can be said only of the very object (the value of
 * an int, identity with something that may die) needs it proven. */
#include "snapshot.h"

typedef uint64_t __attribute__((may_alias)) AnyWord;

typedef struct {
    const AnyWord *place;
    uint64_t value;
} Word;

/* Runs of the rows without another snapshot after one that was of little use. */
#define LONGEST_WAIT 4095
#define OF_USE 8

struct Snapshot {
    Word *words;
    size_t count, room;
    Word *steady;            /* those of them that do while no dict is being stored to */
    size_t steady_count, steady_room;
    AskedTensor *tensors;    /* whose facts are no words of Python's; those of one constant are in one place */
    size_t tensor_count, tensor_room;
    PyObject **atoms;        /* owned, so that no other atom takes their place */
    size_t atom_count, atom_room;
    int32_t wait, penalty;
    int32_t refused;         /* the row that words could not tell of, or -1 */
    uint64_t uses, recent_uses;
    char armed;
};

/* Words that a snapshot has besides the steady ones for it to be worth asking
 * whether they can be left out. */
#define WORTH_ASKING 16

static inline int
words_are(const Word *word, size_t count)
{
    for (const Word *end = word + count; word < end; word++) {
        if (*word->place != word->value) {
            return 0;
        }
    }
    return 1;
}

/* The order of all words makes every address good to read. That holds for the
 * steady ones alone only where no store has left a dict between two states. */
static int
words_hold(const Snapshot *snapshot)
{
    if (snapshot->count - snapshot->steady_count >= WORTH_ASKING && !may_be_storing()) {
        return words_are(snapshot->steady, snapshot->steady_count);
    }
    return words_are(snapshot->words, snapshot->count);
}

int
snapshot_holds(Snapshot *snapshot)
{
    if (!snapshot->armed) {
        return 0;
    }
    if (!words_hold(snapshot)) {
        snapshot->armed = 0;
        snapshot->penalty = snapshot->recent_uses >= OF_USE ? 0 : Py_MIN(2 * snapshot->penalty + 1, LONGEST_WAIT);
        snapshot->wait = snapshot->penalty;
        return 0;
    }
    snapshot->uses++;
    snapshot->recent_uses++;
    return 1;
}

int32_t
snapshot_tensors(const Snapshot *snapshot)
{
    const AskedTensor *changed = tensors_changed(snapshot->tensors, snapshot->tensor_count);
    return changed == NULL ? -1 : changed->row;
}

/* ---- taking one ---- */

typedef enum { UNSEEN, FIXED, PROVEN } Standing;

#define RECENT 512

typedef struct {
    Snapshot *snapshot;
    const Instruction *first;
    PyObject **registers;
    uint8_t *standing;       /* of what is in each register */
    uint32_t recent[RECENT]; /* where a word was put, by a hash of its place */
} Witness;

/* An array with a place for one more, which may be elsewhere now; NULL where there
 * is no memory, and then it is where it was. */
static void *
with_room(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    size_t more = 2 * *room + 16;
    void *grown = PyMem_Realloc(array, more * size);
    *room = grown == NULL ? *room : more;
    return grown;
}

static int
append_word(Word **words, size_t *count, size_t *room, const void *place, uint64_t value)
{
    Word *grown = with_room(*words, *count, room, sizeof(Word));
    if (grown == NULL) {
        return 0;
    }
    *words = grown;
    grown[(*count)++] = (Word){.place = place, .value = value};
    return 1;
}

static int
add_word(Witness *witness, const void *place, uint64_t value)
{
    Snapshot *snapshot = witness->snapshot;
    uint32_t *seen = &witness->recent[((uintptr_t)place >> 3) % RECENT];
    if (*seen < snapshot->count && snapshot->words[*seen].place == place) {
        return 1;
    }
    *seen = (uint32_t)snapshot->count;
    return append_word(&snapshot->words, &snapshot->count, &snapshot->room, place, value)
        && append_word(&snapshot->steady, &snapshot->steady_count, &snapshot->steady_room, place, value);
}

/* A word that the number of a dict's state stands for, but while a store is under way. */
static int
see_late(Witness *witness, const void *place)
{
    Snapshot *snapshot = witness->snapshot;
    return append_word(&snapshot->words, &snapshot->count, &snapshot->room, place, *(const AnyWord *)place);
}

/* A word of memory as it is now. */
static int
see(Witness *witness, const void *place)
{
    return add_word(witness, place, *(const AnyWord *)place);
}

static int
own(Witness *witness, PyObject *atom)
{
    Snapshot *snapshot = witness->snapshot;
    PyObject **atoms = with_room(snapshot->atoms, snapshot->atom_count, &snapshot->atom_room, sizeof(PyObject *));
    if (atoms == NULL) {
        return 0;
    }
    snapshot->atoms = atoms;
    snapshot->atoms[snapshot->atom_count++] = Py_NewRef(atom);
    return 1;
}

static int
fix(Witness *witness, int number)
{
    if (witness->standing[number] == UNSEEN) {
        witness->standing[number] = FIXED;
        return see(witness, &witness->registers[number]);
    }
    return 1;
}

/* The very object, not just one at its address. */
static int
prove(Witness *witness, int number)
{
    if (!fix(witness, number)) {
        return 0;
    }
    if (witness->standing[number] == FIXED) {
        if (!is_atom(witness->registers[number]) || !own(witness, witness->registers[number])) {
            return 0;
        }
        witness->standing[number] = PROVEN;
    }
    return 1;
}

/* Objects of such a class never have another one. */
static int
is_class_for_good(PyTypeObject *type)
{
    return (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE)
        && !PyType_IsSubtype(type, &PyModule_Type);
}

static int
see_class(Witness *witness, int number)
{
    PyObject *object = witness->registers[number];
    return fix(witness, number)
        && ((witness->standing[number] == PROVEN && is_class_for_good(Py_TYPE(object)))
            || see(witness, &object->ob_type));
}

/* What is read has the layout of its class: the class of an object that is
 * not proven comes first. */
static int
look_into(Witness *witness, int number)
{
    return fix(witness, number)
        && (witness->standing[number] == PROVEN || see_class(witness, number));
}

/* A pointer in an object that is looked into, put into a register. */
static int
see_pointer(Witness *witness, const Instruction *row, PyObject *const *place)
{
    if (!look_into(witness, row->source) || !see(witness, place)) {
        return 0;
    }
    witness->standing[row->target] = FIXED;
    return 1;
}

/* The same where the object never points elsewhere. */
static int
see_constant_pointer(Witness *witness, const Instruction *row, PyObject *const *place)
{
    if (fix(witness, row->source) && witness->standing[row->source] == PROVEN) {
        witness->standing[row->target] = PROVEN;
        return 1;
    }
    return see_pointer(witness, row, place);
}

/* ---- dicts ---- */

static int
keys_are_plain(PyDictObject *dict)
{
    PyObject *key;
    Py_ssize_t position = 0;
    while (!DK_IS_UNICODE(dict->ma_keys) && PyDict_Next((PyObject *)dict, &position, &key, NULL)) {
        if (!is_plain_key(key)) {
            return 0;
        }
    }
    return 1;
}

/* What was found in a table that one dict has for itself: see found_is_there. */
static int
see_entry(Witness *witness, PyDictObject *dict, Py_ssize_t index, PyObject *value)
{
    PyDictKeysObject *keys = dict->ma_keys;
    if (dict->ma_values != NULL || is_atom(value)) {
        return 1;
    }
    if (index >= keys->dk_nentries) {
        return 0;
    }
    PyObject **place = DK_IS_UNICODE(keys) ? &DK_UNICODE_ENTRIES(keys)[index].me_value
                                           : &DK_ENTRIES(keys)[index].me_value;
    return *place == value && see_late(witness, &dict->ma_keys) && see_late(witness, place);
}

/* The state of a dict that is alive, and what a row found in it. */
static int
see_dict(Witness *witness, PyObject *dict, const Instruction *row)
{
    const void *number = PyDict_Check(dict) ? dict_state_place(dict) : NULL;
    if (number == NULL || !keys_are_plain((PyDictObject *)dict) || !see(witness, number)) {
        return 0;
    }
    if (row->opcode == OP_DICT_ATTR || row->opcode == OP_DICT_ITEM) {
        witness->standing[row->target] = PROVEN;
        return see_entry(witness, (PyDictObject *)dict, row->key.hint, witness->registers[row->target]);
    }
    return 1;
}

/* ---- attributes ---- */

/* Attributes without a dict: how many there are, and in which order, is written
 * beside the values. */
static int
see_values(Witness *witness, PyObject *object, PyObject **values, const Instruction *row)
{
    size_t count;
    const AnyWord *order = instance_order_words(object, &count);
    if (order == NULL || !see(witness, &object->ob_type) || !see(witness, instance_values_place(object))) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!see(witness, order + i)) {
            return 0;
        }
    }
    if (row->opcode != OP_DICT_ATTR) {
        return 1;
    }
    witness->standing[row->target] = FIXED;
    return values[row->key.hint] == witness->registers[row->target]
        && see(witness, &values[row->key.hint]);
}

/* An instance without attributes, or one that never has any. */
static int
see_no_dict(Witness *witness, PyObject *object, PyObject *const *place)
{
    const void *values = instance_values_place(object);
    return see(witness, &object->ob_type) && (place == NULL || see(witness, place))
        && (values == NULL || see(witness, values));
}

static int
see_attributes(Witness *witness, const Instruction *row)
{
    PyObject *object = witness->registers[row->source];
    PyDictKeysObject *keys;
    if (!look_into(witness, row->source) || PyType_Check(object)) {
        return 0;
    }
    PyObject **values = instance_values(object, &keys);
    if (values != NULL) {
        return keys != NULL && see_values(witness, object, values, row);
    }
    PyObject *const *place = instance_dict_place(object);
    if (place == NULL || *place == NULL) {
        return see_no_dict(witness, object, place);
    }
    return !PyODict_Check(*place) && see(witness, place) && see_dict(witness, *place, row);
}

/* That `__dict__` is what CPython makes of it is said by the class, as it is now. */
static int
see_plain_attributes(Witness *witness, const Instruction *row)
{
    PyObject *object = witness->registers[row->source];
    const void *state = type_state_place(Py_TYPE(object));
    PyObject *const *place = instance_dict_place(object);
    return look_into(witness, row->source) && see(witness, &object->ob_type)
        && state != NULL && see(witness, state) && see(witness, &Py_TYPE(object)->tp_flags)
        && place != NULL && see(witness, place) && (*place == NULL || see(witness, &(*place)->ob_type));
}

/* ---- classes ---- */

static int
see_class_attribute(Witness *witness, const Instruction *row)
{
    PyObject *type = witness->registers[row->source];
    if (!look_into(witness, row->source) || !PyType_Check(type)) {
        return 0;
    }
    const void *place = type_state_place((PyTypeObject *)type);
    if (place == NULL || !see(witness, place) || !see(witness, &((PyTypeObject *)type)->tp_flags)) {
        return 0;
    }
    if (row->opcode == OP_TYPE_ATTR) {
        witness->standing[row->target] = PROVEN;
    }
    return 1;
}

/* ---- the rest ---- */

static int
see_weak(Witness *witness, PyObject *weak)
{
    return see(witness, &((PyWeakReference *)weak)->wr_object);
}

static int
see_length(Witness *witness, const Instruction *row)
{
    PyObject *object = witness->registers[row->source];
    if (PyTuple_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object)) {
        return fix(witness, row->source)
            && (witness->standing[row->source] == PROVEN
                || (PyTuple_Check(object) && see_class(witness, row->source)
                    && see(witness, &((PyVarObject *)object)->ob_size))
                || prove(witness, row->source));
    }
    if (!look_into(witness, row->source)) {
        return 0;
    }
    if (PyDict_Check(object)) {
        return see(witness, &((PyDictObject *)object)->ma_used);
    }
    if (PyAnySet_Check(object)) {
        return see(witness, &((PySetObject *)object)->used);
    }
    return see(witness, &((PyVarObject *)object)->ob_size);
}

static int
see_list_item(Witness *witness, const Instruction *row)
{
    PyListObject *list = (PyListObject *)witness->registers[row->source];
    Py_ssize_t index = row->index < 0 ? row->index + PyList_GET_SIZE(list) : row->index;
    return look_into(witness, row->source) && see(witness, &((PyVarObject *)list)->ob_size)
        && see(witness, &list->ob_item) && see_pointer(witness, row, &list->ob_item[index]);
}

static int
see_tuple_item(Witness *witness, const Instruction *row)
{
    PyTupleObject *tuple = (PyTupleObject *)witness->registers[row->source];
    Py_ssize_t index = row->index < 0 ? row->index + PyTuple_GET_SIZE(tuple) : row->index;
    return look_into(witness, row->source)
        && (witness->standing[row->source] == PROVEN || see(witness, &((PyVarObject *)tuple)->ob_size))
        && see_constant_pointer(witness, row, &tuple->ob_item[index]);
}

/* A pointer that may be none, for which the register has None. */
static int
see_optional_pointer(Witness *witness, const Instruction *row, PyObject *const *place)
{
    if (!see_pointer(witness, row, place)) {
        return 0;
    }
    if (*place == NULL) {
        witness->standing[row->target] = PROVEN;  /* None itself */
    }
    return 1;
}

static int
see_slot(Witness *witness, const Instruction *row)
{
    char *object = (char *)witness->registers[row->source];
    PyObject **place = (PyObject **)(object + row->extra.number);
    if (row->opcode == OP_SLOT_EMPTY) {
        return look_into(witness, row->source) && see(witness, place);
    }
    return see_optional_pointer(witness, row, place);
}

/* How many tensors back facts of the same constant are looked for. */
#define SHARING 64

/* What a tensor is can be told of the one that the words lead to. */
static int
ask_tensor(Witness *witness, const Instruction *row)
{
    Snapshot *snapshot = witness->snapshot;
    AskedTensor *tensors = with_room(snapshot->tensors, snapshot->tensor_count, &snapshot->tensor_room, sizeof(AskedTensor));
    if (tensors == NULL) {
        return 0;
    }
    snapshot->tensors = tensors;
    if (!fix(witness, row->source)) {
        return 0;
    }
    PyObject *tensor = witness->registers[row->source];
    AskedTensor asked = {.tensor = tensor, .implementation = tensor_implementation(tensor), .facts = row->extra.facts,
                         .row = (int32_t)(row - witness->first), .constant = row->index};
    for (size_t back = 1; back <= SHARING && back <= snapshot->tensor_count; back++) {
        const AskedTensor *other = &snapshot->tensors[snapshot->tensor_count - back];
        if (other->constant == asked.constant) {
            asked.facts = other->facts;
            break;
        }
    }
    snapshot->tensors[snapshot->tensor_count++] = asked;
    return 1;
}

/* Both registers as they were: so is whether they are one. */
static int
see_same(Witness *witness, const Instruction *row)
{
    return fix(witness, row->source) && fix(witness, row->target);
}

/* Identity with an object that the program owns, or with one that lives. */
static int
see_identity(Witness *witness, const Instruction *row, int weakly)
{
    if (!fix(witness, row->source)) {
        return 0;
    }
    if (witness->standing[row->source] == FIXED) {
        witness->standing[row->source] = PROVEN;
        return !weakly || see_weak(witness, row->key.object);
    }
    return 1;
}

/* The words that a row which holds depends on; 0 where words cannot tell. */
static int
see_row(Witness *witness, const Instruction *row)
{
    PyObject *object = witness->registers[row->source];
    PyFunctionObject *function = (PyFunctionObject *)object;
    switch ((OpcodeNumber)row->opcode) {
    case OP_SAME_DICT:
    case OP_SAME_ATTRS:
    case OP_SAME_TYPE:
    case OP_HELD:
        return 1;
    case OP_CONST:
        witness->standing[row->target] = PROVEN;
        return 1;
    case OP_CONST_WEAK:
        witness->standing[row->target] = PROVEN;
        return see_weak(witness, row->key.object);
    case OP_TYPE_OF:
        witness->standing[row->target] = FIXED;
        return see_class(witness, row->source);
    case OP_TYPE_IS:
        return see_class(witness, row->source);
    case OP_TYPE_IS_WEAK:
        return see_class(witness, row->source) && see_weak(witness, row->key.object);
    case OP_IS:
        return see_identity(witness, row, 0);
    case OP_IS_WEAK:
        return see_identity(witness, row, 1);
    case OP_IS_NOT:
        return fix(witness, row->source);
    case OP_EQ_INT:
    case OP_EQ_STR:
    case OP_EQ_BYTES:
    case OP_EQ_FLOAT:
    case OP_EQ_COMPLEX:
    case OP_INT_IN:
    case OP_PAYLOAD_EQ:
        return prove(witness, row->source);
    case OP_DICT_ATTR:
    case OP_NO_DICT_ATTR:
    case OP_INSTANCE_KEYS:
        return see_attributes(witness, row);
    case OP_TENSOR:
        return ask_tensor(witness, row);
    case OP_SAME:
        return see_same(witness, row);
    case OP_PLAIN_ATTRS:
        return see_plain_attributes(witness, row);
    case OP_DICT_ITEM:
    case OP_HAS_KEY:
    case OP_NO_KEY:
    case OP_DICT_KEYS:
    case OP_DICT_KEY_SET:
        return look_into(witness, row->source) && see_dict(witness, object, row);
    case OP_TYPE_ATTR:
    case OP_TYPE_ATTR_IS:
    case OP_TYPE_ATTR_ABSENT:
    case OP_TYPE_ORDER:
    case OP_TYPE_FLAGS:
        return see_class_attribute(witness, row);
    case OP_LEN:
    case OP_LEN_AT_LEAST:
        return see_length(witness, row);
    case OP_LIST_ITEM:
        return see_list_item(witness, row);
    case OP_TUPLE_ITEM:
        return see_tuple_item(witness, row);
    case OP_SLOT:
    case OP_SLOT_EMPTY:
        return see_slot(witness, row);
    case OP_CONTENTS:
        return see_pointer(witness, row, &((PyCellObject *)object)->ob_ref);
    case OP_CELL_EMPTY:
        return look_into(witness, row->source) && see(witness, &((PyCellObject *)object)->ob_ref);
    case OP_FUNC_CODE:
        return see_pointer(witness, row, &function->func_code);
    case OP_FUNC_DEFAULTS:
        return see_optional_pointer(witness, row, &function->func_defaults);
    case OP_FUNC_KWDEFAULTS:
        return see_optional_pointer(witness, row, &function->func_kwdefaults);
    case OP_FUNC_CLOSURE:
        return see_optional_pointer(witness, row, &function->func_closure);
    case OP_FUNC_GLOBALS:
        return see_constant_pointer(witness, row, &function->func_globals);
    case OP_FUNC_NAME:
        return see_pointer(witness, row, &function->func_name);
    case OP_FUNC_QUALNAME:
        return see_pointer(witness, row, &function->func_qualname);
    case OP_FUNC_ANNOTATIONS:
        return see_pointer(witness, row, &function->func_annotations);
    case OP_TYPE_DICT:
        return see_pointer(witness, row, &((PyTypeObject *)object)->tp_dict);
    case OP_TYPE_NAME:
        return see_pointer(witness, row, &((PyHeapTypeObject *)object)->ht_name);
    case OP_TYPE_QUALNAME:
        return see_pointer(witness, row, &((PyHeapTypeObject *)object)->ht_qualname);
    case OP_METHOD_FUNC:
        return see_constant_pointer(witness, row, &((PyMethodObject *)object)->im_func);
    case OP_METHOD_SELF:
        return see_constant_pointer(witness, row, &((PyMethodObject *)object)->im_self);
    default:
        return 0;
    }
}

static void
drop_atoms(Snapshot *snapshot)
{
    while (snapshot->atom_count > 0) {
        Py_DECREF(snapshot->atoms[--snapshot->atom_count]);
    }
}

void
snapshot_take(Snapshot *snapshot, Instruction *first, Instruction *end, PyObject **registers,
              int count)
{
    if (!WORDS_TELL) {
        return;
    }
    if (snapshot->wait > 0) {
        snapshot->wait--;
        return;
    }
    Witness witness = {.snapshot = snapshot, .first = first, .registers = registers};
    witness.standing = PyMem_Calloc((size_t)count + 1, 1);
    snapshot->count = snapshot->steady_count = snapshot->tensor_count = 0;
    drop_atoms(snapshot);
    int all = witness.standing != NULL;
    snapshot->refused = -1;
    for (Instruction *row = first; all && row < end; row++) {
        all = see_row(&witness, row);
        snapshot->refused = all ? -1 : (int32_t)(row - first);
    }
    PyMem_Free(witness.standing);
    snapshot->armed = (char)all;
    snapshot->recent_uses = 0;
    snapshot->wait = all ? 0 : LONGEST_WAIT;
}

/* ---- making ---- */

Snapshot *
snapshot_new(void)
{
    Snapshot *snapshot = PyMem_Calloc(1, sizeof(Snapshot));
    if (snapshot != NULL) {
        snapshot->wait = 1;
        snapshot->refused = -1;
    }
    return snapshot;
}

PyObject *
snapshot_describe(Snapshot *snapshot, int rows)
{
    return Py_BuildValue("(inKi)", rows - 1, snapshot->armed ? (Py_ssize_t)snapshot->count : 0,
                         (unsigned long long)snapshot->uses, snapshot->refused);
}

void
snapshot_free(Snapshot *snapshot)
{
    if (snapshot != NULL) {
        drop_atoms(snapshot);
        PyMem_Free(snapshot->atoms);
        PyMem_Free(snapshot->tensors);
        PyMem_Free(snapshot->words);
        PyMem_Free(snapshot->steady);
        PyMem_Free(snapshot);
    }
}
