/* Reads of CPython's storages that cannot run Python code.
 *
 * The public look-ups of dicts and sets compare keys with __eq__, which may be
 * the user's. Here a key is found by identity, or by value where C code alone
 * decides; a collision that only Python code could settle is LOOK_UNSURE. */
#include "storage.h"

static PyTypeObject *deque_type;

/* ---- equality ---- */

/* Families of types whose comparison is C code, subclasses included as long as
 * they do not define their own. Objects of two families are never equal, but
 * for the numbers, which compare with each other. */
typedef enum { BY_PYTHON, BY_IDENTITY, NUMBER, STRING, BYTES, TUPLE } Family;

static Family
family_of(PyObject *object)
{
    richcmpfunc compare = Py_TYPE(object)->tp_richcompare;
    if (compare == PyUnicode_Type.tp_richcompare) {
        return STRING;
    }
    if (compare == PyLong_Type.tp_richcompare || compare == PyFloat_Type.tp_richcompare
        || compare == PyComplex_Type.tp_richcompare) {
        return NUMBER;
    }
    if (compare == PyBytes_Type.tp_richcompare) {
        return BYTES;
    }
    if (compare == PyTuple_Type.tp_richcompare) {
        return TUPLE;
    }
    if (compare == PyBaseObject_Type.tp_richcompare || compare == NULL || object == Py_None) {
        return BY_IDENTITY;
    }
    return BY_PYTHON;
}

int
is_plain_key(PyObject *key)
{
    if (!PyTuple_CheckExact(key)) {
        return key == Py_None || PyUnicode_CheckExact(key) || PyLong_CheckExact(key)
            || PyBool_Check(key) || PyFloat_CheckExact(key) || PyComplex_CheckExact(key)
            || PyBytes_CheckExact(key);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        if (!is_plain_key(PyTuple_GET_ITEM(key, i))) {
            return 0;
        }
    }
    return 1;
}

static int
compare_in_c(PyObject *one, PyObject *other)
{
    int equal = PyObject_RichCompareBool(one, other, Py_EQ);
    if (equal < 0) {
        PyErr_Clear();
    }
    return equal;
}

static int
tuples_equal(PyObject *one, PyObject *other)
{
    Py_ssize_t count = PyTuple_GET_SIZE(one);
    if (count != PyTuple_GET_SIZE(other)) {
        return 0;
    }
    int all = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        int equal = safe_equal(PyTuple_GET_ITEM(one, i), PyTuple_GET_ITEM(other, i));
        if (equal == 0) {
            return 0;
        }
        all = all == 1 ? equal : all;
    }
    return all;
}

int
safe_equal(PyObject *one, PyObject *other)
{
    if (one == other) {
        return 1;
    }
    Family family = family_of(one), other_family = family_of(other);
    if (family == BY_PYTHON || other_family == BY_PYTHON) {
        return -1;
    }
    if (family != other_family || family == BY_IDENTITY) {
        return 0;
    }
    return family == TUPLE ? tuples_equal(one, other) : compare_in_c(one, other);
}

static inline int
same_bits(double one, double other)
{
    return (one != one && other != other) || memcmp(&one, &other, sizeof one) == 0;
}

/* Equal keys may be told apart once they are looked at: 1, True and 1.0 are
 * one key to a dict, and so are 0.0 and -0.0, or tuples of such. */
static int
same_key(PyObject *one, PyObject *other)
{
    if (one == other) {
        return 1;
    }
    if (Py_TYPE(one) != Py_TYPE(other)) {
        return 0;
    }
    if (PyFloat_CheckExact(one)) {
        return same_bits(PyFloat_AS_DOUBLE(one), PyFloat_AS_DOUBLE(other));
    }
    if (PyComplex_CheckExact(one)) {
        Py_complex a = ((PyComplexObject *)one)->cval, b = ((PyComplexObject *)other)->cval;
        return same_bits(a.real, b.real) && same_bits(a.imag, b.imag);
    }
    if (!PyTuple_CheckExact(one)) {
        return safe_equal(one, other) == 1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(one);
    if (count != PyTuple_GET_SIZE(other)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!same_key(PyTuple_GET_ITEM(one, i), PyTuple_GET_ITEM(other, i))) {
            return 0;
        }
    }
    return 1;
}

/* ---- dicts ---- */

static inline Py_ssize_t
index_at(PyDictKeysObject *keys, size_t place)
{
    uint8_t log2 = DK_LOG_SIZE(keys);
    const char *indices = keys->dk_indices;
    if (log2 < 8) {
        return ((const int8_t *)indices)[place];
    }
    if (log2 < 16) {
        return ((const int16_t *)indices)[place];
    }
    if (log2 < 32) {
        return ((const int32_t *)indices)[place];
    }
    return (Py_ssize_t)((const int64_t *)indices)[place];
}

static inline PyObject *
key_at(PyDictKeysObject *keys, Py_ssize_t index, Py_hash_t *hash)
{
    if (DK_IS_UNICODE(keys)) {
        PyObject *key = DK_UNICODE_ENTRIES(keys)[index].me_key;
        *hash = key == NULL ? -1 : ((PyASCIIObject *)key)->hash;
        return key;
    }
    *hash = DK_ENTRIES(keys)[index].me_hash;
    return DK_ENTRIES(keys)[index].me_key;
}

/* Index of a key's entry, -1 when absent, -2 when unsure. */
static Py_ssize_t
find_key(PyDictKeysObject *keys, Key *key)
{
    Py_hash_t hash;
    if (key->hint < keys->dk_nentries && key_at(keys, key->hint, &hash) == key->object) {
        return key->hint;
    }
    size_t mask = ((size_t)1 << DK_LOG_SIZE(keys)) - 1;
    size_t perturb = (size_t)key->hash;
    size_t place = perturb & mask;
    Py_ssize_t unsure = -1;
    for (;;) {
        Py_ssize_t index = index_at(keys, place);
        if (index == DKIX_EMPTY) {
            return unsure;
        }
        if (index >= 0) {
            PyObject *found = key_at(keys, index, &hash);
            int equal = found == key->object ? 1
                : hash == key->hash && found != NULL ? safe_equal(found, key->object) : 0;
            if (equal > 0) {
                key->hint = index;
                return index;
            }
            if (equal < 0) {
                unsure = -2;
            }
        }
        perturb >>= 5;
        place = (place * 5 + perturb + 1) & mask;
    }
}

Look
dict_look(PyObject *dict, Key *key, PyObject **value)
{
    PyDictObject *storage = (PyDictObject *)dict;
    PyDictKeysObject *keys = storage->ma_keys;
    Py_ssize_t index = find_key(keys, key);
    if (index < 0) {
        return index == -1 ? LOOK_ABSENT : LOOK_UNSURE;
    }
    if (storage->ma_values != NULL) {
        *value = storage->ma_values->values[index];
    }
    else if (DK_IS_UNICODE(keys)) {
        *value = DK_UNICODE_ENTRIES(keys)[index].me_value;
    }
    else {
        *value = DK_ENTRIES(keys)[index].me_value;
    }
    return *value == NULL ? LOOK_ABSENT : LOOK_FOUND;
}

Look
attribute_look(PyObject *object, Key *name, PyObject **value)
{
    PyDictKeysObject *keys = NULL;
    if (PyType_Check(object)) {
        return LOOK_UNSURE;  /* the attributes of a type are no instance's */
    }
    PyObject **values = instance_values(object, &keys);
    if (values != NULL) {
        Py_ssize_t index = keys == NULL ? -1 : find_key(keys, name);
        if (index < 0) {
            return index == -1 ? LOOK_ABSENT : LOOK_UNSURE;
        }
        *value = values[index];
        return *value == NULL ? LOOK_ABSENT : LOOK_FOUND;
    }
    PyObject *dict = instance_dict(object);
    if (dict == NULL || !PyDict_Check(dict)) {
        return dict == NULL ? LOOK_ABSENT : LOOK_UNSURE;
    }
    return dict_look(dict, name, value);
}

int
dict_keys_are(PyObject *dict, PyObject *keys)
{
    Py_ssize_t count = PyTuple_GET_SIZE(keys);
    if (PyDict_GET_SIZE(dict) != count) {
        return 0;
    }
    Py_ssize_t position = 0;
    PyObject *key;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyDict_Next(dict, &position, &key, NULL)
            || !same_key(key, PyTuple_GET_ITEM(keys, i))) {
            return 0;
        }
    }
    return 1;
}

PyObject *
dict_key_at(PyObject *dict, Py_ssize_t index)
{
    Py_ssize_t position = 0;
    PyObject *key = NULL;
    index = index < 0 ? index + PyDict_GET_SIZE(dict) : index;
    if (index < 0 || index >= PyDict_GET_SIZE(dict)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i <= index; i++) {
        if (!PyDict_Next(dict, &position, &key, NULL)) {
            return NULL;
        }
    }
    return key;
}

static int
value_names_are(PyObject *object, PyDictKeysObject *keys, PyObject *names)
{
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    if (instance_value_count(object) != count) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = DK_UNICODE_ENTRIES(keys)[instance_value_place(object, i)].me_key;
        if (safe_equal(name, PyTuple_GET_ITEM(names, i)) != 1) {
            return 0;
        }
    }
    return 1;
}

int
instance_keys_are(PyObject *object, PyObject *keys)
{
    PyDictKeysObject *names;
    PyTypeObject *type = Py_TYPE(object);
    if (PyType_Check(object)
        || (type->tp_dictoffset == 0 && !(type->tp_flags & Py_TPFLAGS_MANAGED_DICT))) {
        return 0;
    }
    PyObject *dict = instance_dict(object);
    if (dict != NULL) {
        return PyODict_Check(dict) ? odict_keys_are(dict, keys)
                                   : PyDict_Check(dict) && dict_keys_are(dict, keys);
    }
    if (instance_values(object, &names) != NULL && names != NULL) {
        return value_names_are(object, names, keys);
    }
    return PyTuple_GET_SIZE(keys) == 0;
}

int
dict_key_set_is(PyObject *dict, PyObject *keys, const Py_hash_t *hashes)
{
    Py_ssize_t count = PyTuple_GET_SIZE(keys);
    if (PyDict_GET_SIZE(dict) != count) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Key key = {PyTuple_GET_ITEM(keys, i), hashes[i], i};
        PyObject *value;
        if (dict_look(dict, &key, &value) != LOOK_FOUND) {
            return 0;
        }
    }
    return 1;
}

/* An OrderedDict's own order is kept in a structure that only its iterator
 * shows, and the iterator hashes keys: look first that all are plain. */
int
odict_keys_are(PyObject *odict, PyObject *keys)
{
    Py_ssize_t count = PyTuple_GET_SIZE(keys);
    if (PyDict_GET_SIZE(odict) != count) {
        return 0;
    }
    Py_ssize_t position = 0;
    PyObject *key;
    while (PyDict_Next(odict, &position, &key, NULL)) {
        if (!is_plain_key(key)) {
            return 0;
        }
    }
    int collects = PyGC_Disable();  /* 3.11 collects, and runs finalisers, where an object is made */
    PyObject *iterator = PyODict_Type.tp_iter(odict);
    if (collects) {
        PyGC_Enable();
    }
    int same = iterator != NULL;
    for (Py_ssize_t i = 0; same && i < count; i++) {
        key = Py_TYPE(iterator)->tp_iternext(iterator);
        same = key != NULL && same_key(key, PyTuple_GET_ITEM(keys, i));
        Py_XDECREF(key);
    }
    Py_XDECREF(iterator);
    if (!same) {
        PyErr_Clear();
    }
    return same;
}

/* ---- sets ---- */

/* Entries that a set's look-up tries in a row before it jumps. */
#define NEIGHBOURS 9

Look
set_look(PyObject *set, PyObject *object, Py_hash_t hash)
{
    PySetObject *storage = (PySetObject *)set;
    size_t mask = (size_t)storage->mask;
    size_t perturb = (size_t)hash;
    size_t place = perturb & mask;
    Look answer = LOOK_ABSENT;
    for (;;) {
        size_t neighbours = place + NEIGHBOURS <= mask ? NEIGHBOURS : 0;
        for (size_t i = 0; i <= neighbours; i++) {
            setentry *entry = &storage->table[place + i];
            if (entry->key == NULL && entry->hash == 0) {
                return answer;
            }
            if (entry->hash != hash) {
                continue;
            }
            int equal = safe_equal(entry->key, object);
            if (equal > 0) {
                return LOOK_FOUND;
            }
            if (equal < 0) {
                answer = LOOK_UNSURE;
            }
        }
        perturb >>= 5;
        place = (place * 5 + perturb + 1) & mask;
    }
}

int
set_is(PyObject *set, PyObject *elements, const Py_hash_t *hashes)
{
    Py_ssize_t count = PyTuple_GET_SIZE(elements);
    if (PySet_GET_SIZE(set) != count) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (set_look(set, PyTuple_GET_ITEM(elements, i), hashes[i]) != LOOK_FOUND) {
            return 0;
        }
    }
    return 1;
}

int
set_order_is(PyObject *set, PyObject *elements)
{
    Py_ssize_t count = PyTuple_GET_SIZE(elements);
    if (PySet_GET_SIZE(set) != count) {
        return 0;
    }
    Py_ssize_t position = 0;
    PyObject *element;
    Py_hash_t hash;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!_PySet_NextEntry(set, &position, &element, &hash)
            || !same_key(element, PyTuple_GET_ITEM(elements, i))) {
            return 0;
        }
    }
    return 1;
}

/* ---- lengths ---- */

Py_ssize_t
storage_length(PyObject *object)
{
    if (PyDict_Check(object)) {
        return PyDict_GET_SIZE(object);
    }
    if (PyList_Check(object) || PyTuple_Check(object) || PyBytes_Check(object)
        || PyByteArray_Check(object) || PyObject_TypeCheck(object, deque_type)) {
        return Py_SIZE(object);
    }
    if (PyAnySet_Check(object)) {
        return PySet_GET_SIZE(object);
    }
    if (PyUnicode_Check(object)) {
        return PyUnicode_GET_LENGTH(object);
    }
    return -1;
}

/* ---- what `__dict__` is ---- */

static PyObject *dict_name;
static getter class_statement_dict;  /* what a class statement gives a class for `__dict__` */

static int
is_dict_descriptor(PyObject *descriptor, PyObject *object)
{
    if (descriptor == NULL || Py_TYPE(descriptor) != &PyGetSetDescr_Type
        || !PyObject_TypeCheck(object, PyDescr_TYPE(descriptor))) {
        return 0;
    }
    getter get = ((PyGetSetDescrObject *)descriptor)->d_getset->get;
    return get == class_statement_dict || get == PyObject_GenericGetDict;
}

int
attributes_are_plain(PyObject *object)
{
    if (PyType_Check(object) || !is_dict_descriptor(_PyType_Lookup(Py_TYPE(object), dict_name), object)) {
        return 0;
    }
    PyObject *dict = instance_dict(object);
    return dict == NULL || PyDict_CheckExact(dict);
}

static int
dict_descriptor_setup(void)
{
    dict_name = PyUnicode_InternFromString("__dict__");
    PyObject *made = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "probe");
    PyObject *descriptor = made == NULL || dict_name == NULL ? NULL : _PyType_Lookup((PyTypeObject *)made, dict_name);
    if (descriptor != NULL && Py_TYPE(descriptor) == &PyGetSetDescr_Type) {
        class_statement_dict = ((PyGetSetDescrObject *)descriptor)->d_getset->get;
    }
    Py_XDECREF(made);
    return PyErr_Occurred() ? -1 : 0;
}

int
storage_setup(void)
{
    if (dict_descriptor_setup() < 0) {
        return -1;
    }
    PyObject *collections = PyImport_ImportModule("collections");
    if (collections == NULL) {
        return -1;
    }
    PyObject *type = PyObject_GetAttrString(collections, "deque");
    Py_DECREF(collections);
    if (type == NULL) {
        return -1;
    }
    deque_type = (PyTypeObject *)type;
    return 0;
}

/* ---- for Python ---- */

static PyObject *
unsure(PyObject *key)
{
    return PyErr_Format(PyExc_LookupError, "only Python code can tell %s from other keys", Py_TYPE(key)->tp_name);
}

static PyObject *
dict_storage_get(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyDict_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "dict_storage_get() takes a dict, a key and a default");
        return NULL;
    }
    Key key = {args[1], PyObject_Hash(args[1]), 0};
    if (key.hash == -1) {
        return NULL;
    }
    PyObject *value;
    Look look = dict_look(args[0], &key, &value);
    return look == LOOK_UNSURE ? unsure(args[1]) : Py_NewRef(look == LOOK_FOUND ? value : args[2]);
}

static PyObject *
set_storage_has(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyAnySet_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "set_storage_has() takes a set and an object");
        return NULL;
    }
    Py_hash_t hash = PyObject_Hash(args[1]);
    if (hash == -1) {
        return NULL;
    }
    Look look = set_look(args[0], args[1], hash);
    return look == LOOK_UNSURE ? unsure(args[1]) : PyBool_FromLong(look == LOOK_FOUND);
}

static PyObject *
stored_dict_hash(PyObject *dict, PyObject *wanted)
{
    PyDictKeysObject *keys = ((PyDictObject *)dict)->ma_keys;
    for (Py_ssize_t index = 0; index < keys->dk_nentries; index++) {
        Py_hash_t hash;
        if (key_at(keys, index, &hash) == wanted) {
            return PyLong_FromSsize_t(hash);
        }
    }
    Py_RETURN_NONE;
}

static PyObject *
stored_set_hash(PyObject *set, PyObject *wanted)
{
    Py_ssize_t position = 0;
    PyObject *element;
    Py_hash_t hash;
    while (_PySet_NextEntry(set, &position, &element, &hash)) {
        if (element == wanted) {
            return PyLong_FromSsize_t(hash);
        }
    }
    Py_RETURN_NONE;
}

static PyObject *
stored_hash(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count == 2 && PyDict_Check(args[0])) {
        return stored_dict_hash(args[0], args[1]);
    }
    if (count == 2 && PyAnySet_Check(args[0])) {
        return stored_set_hash(args[0], args[1]);
    }
    PyErr_SetString(PyExc_TypeError, "stored_hash() takes a dict or set and one of its keys");
    return NULL;
}

PyMethodDef storage_methods[] = {
    {"dict_storage_get", (PyCFunction)(void (*)(void))dict_storage_get, METH_FASTCALL,
     "dict_storage_get(dict, key, default, /)\n--\n\n"
     "The value under a key that C code can hash and compare; LookupError where only Python code\n"
     "could tell the key from one that is there."},
    {"set_storage_has", (PyCFunction)(void (*)(void))set_storage_has, METH_FASTCALL,
     "set_storage_has(set, object, /)\n--\n\n"
     "Whether the set has the object, which C code can hash and compare; LookupError as above."},
    {"stored_hash", (PyCFunction)(void (*)(void))stored_hash, METH_FASTCALL,
     "stored_hash(container, key, /)\n--\n\n"
     "The hash under which a dict or set keeps this very key, without asking the key; None where\n"
     "it is not there."},
    {NULL},
};
