/* Facts of tensors, read through the C shim that torch exports.
 *
 * torch exports plain C functions for the models it compiles ahead of time.
 * They take the address of a word that points to the tensor's implementation;
 * a Python tensor has such a word at an offset that is found by looking for the
 * address it is known to hold. The dispatch key set has no function: its offset
 * in the implementation is found likewise. Nothing is believed that was not
 * compared with the attributes of probes first (see tensors.py), and only
 * tensors whose key set equals a probe's are ever given to the shim, which
 * answers nonsense for those it cannot describe. */
#define _GNU_SOURCE
#include "tensor.h"
#include <dlfcn.h>
#include <malloc.h>

typedef int32_t (*read_pointer)(void *, int64_t **);
typedef int32_t (*read_int64)(void *, int64_t *);
typedef int32_t (*read_int32)(void *, int32_t *);

static struct {
    int ready;               /* offsets found */
    PyObject *types;         /* tuple of exact types whose objects can be read */
    PyObject *accepted;      /* tuple of key sets that probes had, or NULL */
    Py_ssize_t word;
    Py_ssize_t keys;
    PyObject *requires_grad; /* getset descriptor */
    read_int64 dim;
    read_pointer sizes, strides;
    read_int32 dtype, device_type, device_index;
} shim;

/* ---- reading ---- */

static int
is_readable_type(PyTypeObject *type)
{
    for (Py_ssize_t i = 0; shim.types != NULL && i < PyTuple_GET_SIZE(shim.types); i++) {
        if (PyTuple_GET_ITEM(shim.types, i) == (PyObject *)type) {
            return 1;
        }
    }
    return 0;
}

static inline void *
handle_of(PyObject *tensor)
{
    void *word = (char *)tensor + shim.word;
    return *(void **)word == NULL ? NULL : word;
}

static inline uint64_t
keys_of(void *handle)
{
    return *(uint64_t *)(*(char **)handle + shim.keys);
}

static int
is_accepted(uint64_t keys)
{
    for (Py_ssize_t i = 0; shim.accepted != NULL && i < PyTuple_GET_SIZE(shim.accepted); i++) {
        if (PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(shim.accepted, i)) == keys) {
            return 1;
        }
    }
    return 0;
}

static int
requires_grad_is(PyObject *tensor, int expected)
{
    PyGetSetDef *getset = ((PyGetSetDescrObject *)shim.requires_grad)->d_getset;
    PyObject *value = getset->get(tensor, getset->closure);
    int same = value == (expected ? Py_True : Py_False);
    if (value == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(value);
    return same;
}

static int
layout_holds(const TensorFacts *facts, const int64_t *sizes, const int64_t *strides)
{
    int64_t count = facts->dimensions;
    const int64_t *expected = facts->layout;
    for (int64_t i = 0; i < count; i++) {
        if (expected[i] >= 0 ? sizes[i] != expected[i] : sizes[i] < -1 - expected[i]) {
            return 0;
        }
    }
    expected += count;
    for (int64_t i = 0; facts->looks_at_strides && i < count; i++) {
        int64_t stride = expected[i];
        if (stride <= STRIDE_OF) {
            int64_t inner = STRIDE_OF - stride;
            stride = Py_MAX(sizes[inner], 1) * strides[inner];
        }
        if (stride != STRIDE_ANY && strides[i] != stride) {
            return 0;
        }
    }
    return 1;
}

int
tensor_facts_hold(const TensorFacts *facts, PyObject *object)
{
    int known = 0;
    for (Py_ssize_t i = 0; !known && i < PyTuple_GET_SIZE(facts->types); i++) {
        known = PyTuple_GET_ITEM(facts->types, i) == (PyObject *)Py_TYPE(object);
    }
    void *handle = known ? handle_of(object) : NULL;
    if (handle == NULL || keys_of(handle) != facts->keys) {
        return 0;
    }
    int64_t dimensions, *sizes, *strides;
    int32_t dtype, device_type, device_index;
    if (shim.dim(handle, &dimensions) || dimensions != facts->dimensions
        || shim.dtype(handle, &dtype) || dtype != facts->dtype
        || shim.device_type(handle, &device_type) || device_type != facts->device_type
        || shim.device_index(handle, &device_index) || device_index != facts->device_index
        || shim.sizes(handle, &sizes) || shim.strides(handle, &strides)
        || !layout_holds(facts, sizes, strides)) {
        return 0;
    }
    return facts->requires_grad < 0 || requires_grad_is(object, facts->requires_grad);
}

int64_t
tensor_size(PyObject *object, int64_t dimension)
{
    void *handle = is_readable_type(Py_TYPE(object)) ? handle_of(object) : NULL;
    int64_t dimensions, *sizes;
    if (handle == NULL || !is_accepted(keys_of(handle)) || shim.dim(handle, &dimensions)
        || dimension < 0 || dimension >= dimensions || shim.sizes(handle, &sizes)) {
        return -1;
    }
    return sizes[dimension];
}

/* ---- the constant of an instruction ---- */

static int
parse_size(PyObject *item, int64_t *size)
{
    if (item == Py_None) {
        *size = -1;
        return 1;
    }
    long long at_least = -1;
    const char *relation;
    if (PyTuple_Check(item)) {
        if (!PyArg_ParseTuple(item, "sL", &relation, &at_least)) {
            return 0;
        }
        if (strcmp(relation, ">=") != 0 || at_least < 0) {
            PyErr_SetString(PyExc_ValueError, "a size is an int, None or ('>=', n)");
            return 0;
        }
        *size = -at_least - 1;
        return 1;
    }
    *size = PyLong_AsLongLong(item);
    if (*size < 0 && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, "a size is not negative");
    }
    return *size >= 0;
}

static int
parse_stride(PyObject *item, int64_t dimensions, int64_t *stride)
{
    if (item == Py_None) {
        *stride = STRIDE_ANY;
        return 1;
    }
    if (PyTuple_Check(item)) {
        long long inner;
        const char *relation;
        if (!PyArg_ParseTuple(item, "sL", &relation, &inner)) {
            return 0;
        }
        if (strcmp(relation, "of") != 0 || inner < 0 || inner >= dimensions) {
            PyErr_SetString(PyExc_ValueError, "a stride is an int, None or ('of', dimension)");
            return 0;
        }
        *stride = STRIDE_OF - inner;
        return 1;
    }
    *stride = PyLong_AsLongLong(item);
    if (*stride < 0 && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, "a stride is not negative");
    }
    return *stride >= 0;
}

static int
parse_layout(TensorFacts *facts, PyObject *sizes, PyObject *strides)
{
    int64_t count = facts->dimensions;
    for (int64_t i = 0; i < count; i++) {
        if (!parse_size(PyTuple_GET_ITEM(sizes, i), &facts->layout[i])) {
            return 0;
        }
    }
    for (int64_t i = 0; facts->looks_at_strides && i < count; i++) {
        if (!parse_stride(PyTuple_GET_ITEM(strides, i), count, &facts->layout[count + i])) {
            return 0;
        }
    }
    return 1;
}

static int
check_parsed(PyObject *types, unsigned long long keys, PyObject *sizes, PyObject *strides)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types); i++) {
        PyObject *type = PyTuple_GET_ITEM(types, i);
        if (!PyType_Check(type) || !is_readable_type((PyTypeObject *)type)) {
            PyErr_SetString(PyExc_ValueError, "objects of this type cannot be read natively");
            return 0;
        }
    }
    if (!is_accepted(keys)) {
        PyErr_Format(PyExc_ValueError, "tensors of key set %llu cannot be read natively", keys);
        return 0;
    }
    if (strides != Py_None
        && (!PyTuple_Check(strides) || PyTuple_GET_SIZE(strides) != PyTuple_GET_SIZE(sizes))) {
        PyErr_SetString(PyExc_ValueError, "as many strides as sizes, or None");
        return 0;
    }
    return 1;
}

TensorFacts *
tensor_facts_parse(PyObject *constant)
{
    PyObject *types, *sizes, *strides, *requires_grad;
    unsigned long long keys;
    int dtype, device_type, device_index;
    if (!PyTuple_Check(constant)) {
        PyErr_SetString(PyExc_TypeError, "the facts of a tensor are a tuple");
        return NULL;
    }
    if (!PyArg_ParseTuple(constant, "O!KiiiO!OO", &PyTuple_Type, &types, &keys, &dtype,
                          &device_type, &device_index, &PyTuple_Type, &sizes, &strides,
                          &requires_grad)
        || !check_parsed(types, keys, sizes, strides)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(sizes);
    TensorFacts *facts = PyMem_Calloc(1, sizeof(TensorFacts) + 2 * (size_t)count * sizeof(int64_t));
    if (facts == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    facts->types = types;
    facts->keys = keys;
    facts->dtype = dtype;
    facts->device_type = device_type;
    facts->device_index = device_index;
    facts->requires_grad = requires_grad == Py_None ? -1 : requires_grad == Py_True;
    facts->looks_at_strides = strides != Py_None;
    facts->dimensions = count;
    if (!parse_layout(facts, sizes, strides)) {
        PyMem_Free(facts);
        return NULL;
    }
    return facts;
}

/* ---- calibration ---- */

static int
find_functions(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (handle == NULL) {
        PyErr_Format(PyExc_RuntimeError, "%s is not loaded", library);
        return 0;
    }
    shim.dim = (read_int64)dlsym(handle, "aoti_torch_get_dim");
    shim.sizes = (read_pointer)dlsym(handle, "aoti_torch_get_sizes");
    shim.strides = (read_pointer)dlsym(handle, "aoti_torch_get_strides");
    shim.dtype = (read_int32)dlsym(handle, "aoti_torch_get_dtype");
    shim.device_type = (read_int32)dlsym(handle, "aoti_torch_get_device_type");
    shim.device_index = (read_int32)dlsym(handle, "aoti_torch_get_device_index");
    dlclose(handle);
    if (!shim.dim || !shim.sizes || !shim.strides || !shim.dtype || !shim.device_type
        || !shim.device_index) {
        PyErr_SetString(PyExc_RuntimeError, "the library lacks a function of the C shim");
        return 0;
    }
    return 1;
}

/* The only offset at which every probe's block has the word the probe names. */
static Py_ssize_t
find_offset(PyObject *probes, int in_implementation)
{
    Py_ssize_t found = -1;
    for (Py_ssize_t offset = in_implementation ? 8 : (Py_ssize_t)sizeof(PyObject);; offset += 8) {
        int all = 1;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(probes); i++) {
            PyObject *tensor;
            unsigned long long address, keys;
            if (!PyArg_ParseTuple(PyTuple_GET_ITEM(probes, i), "OKK", &tensor, &address, &keys)) {
                return -2;
            }
            char *block = in_implementation ? (char *)(uintptr_t)address : (char *)tensor;
            size_t size = in_implementation ? malloc_usable_size(block)
                                            : (size_t)Py_TYPE(tensor)->tp_basicsize;
            if ((size_t)offset + 8 > size) {
                return found;
            }
            all = all && *(uint64_t *)(block + offset) == (in_implementation ? keys : address);
        }
        if (all) {
            if (found >= 0) {
                return -1;
            }
            found = offset;
        }
    }
}

static PyObject *
tensor_scan(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *library;
    PyObject *types, *requires_grad, *probes;
    shim.ready = 0;
    Py_CLEAR(shim.accepted);
    if (!PyArg_ParseTuple(args, "sO!O!O!:tensor_scan", &library, &PyTuple_Type, &types,
                          &PyGetSetDescr_Type, &requires_grad, &PyTuple_Type, &probes)
        || !find_functions(library)) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(probes) == 0) {
        PyErr_SetString(PyExc_ValueError, "no probes");
        return NULL;
    }
    shim.word = find_offset(probes, 0);
    shim.keys = shim.word < 0 ? -1 : find_offset(probes, 1);
    if (shim.word < 0 || shim.keys < 0) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_RuntimeError, "the layout of tensors was not recognised");
        }
        return NULL;
    }
    Py_XSETREF(shim.types, Py_NewRef(types));
    Py_XSETREF(shim.requires_grad, Py_NewRef(requires_grad));
    shim.ready = 1;
    return Py_BuildValue("(nn)", shim.word, shim.keys);
}

static PyObject *
tensor_accept(PyObject *Py_UNUSED(module), PyObject *keys)
{
    if (keys == Py_None) {
        Py_CLEAR(shim.accepted);
        Py_RETURN_NONE;
    }
    if (!shim.ready) {
        PyErr_SetString(PyExc_RuntimeError, "tensor_scan() has not succeeded");
        return NULL;
    }
    PyObject *tuple = PySequence_Tuple(keys);
    for (Py_ssize_t i = 0; tuple != NULL && i < PyTuple_GET_SIZE(tuple); i++) {
        unsigned long long number = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(tuple, i));
        if (number == (unsigned long long)-1 && PyErr_Occurred()) {
            Py_CLEAR(tuple);
        }
    }
    if (tuple == NULL) {
        return NULL;
    }
    Py_XSETREF(shim.accepted, tuple);
    Py_RETURN_NONE;
}

static PyObject *
tuple_of_int64(const int64_t *numbers, int64_t count)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (int64_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i]);
        if (number == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, number);
    }
    return tuple;
}

static PyObject *
tensor_read(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    void *handle = shim.ready && is_readable_type(Py_TYPE(tensor)) ? handle_of(tensor) : NULL;
    if (handle == NULL) {
        PyErr_SetString(PyExc_TypeError, "not a tensor that can be read natively");
        return NULL;
    }
    uint64_t keys = keys_of(handle);
    if (shim.accepted != NULL && !is_accepted(keys)) {
        PyErr_SetString(PyExc_TypeError, "not a tensor that can be read natively");
        return NULL;
    }
    int64_t dimensions, *sizes, *strides;
    int32_t dtype, device_type, device_index;
    if (shim.dim(handle, &dimensions) || shim.sizes(handle, &sizes)
        || shim.strides(handle, &strides) || shim.dtype(handle, &dtype)
        || shim.device_type(handle, &device_type) || shim.device_index(handle, &device_index)) {
        PyErr_SetString(PyExc_RuntimeError, "the C shim failed");
        return NULL;
    }
    return Py_BuildValue("(KiiiNN)", (unsigned long long)keys, dtype, device_type, device_index,
                         tuple_of_int64(sizes, dimensions), tuple_of_int64(strides, dimensions));
}

PyMethodDef tensor_methods[] = {
    {"tensor_scan", tensor_scan, METH_VARARGS,
     "tensor_scan(library, types, requires_grad, probes, /)\n--\n\n"
     "Finds where tensors keep what is read natively: (offset of the word, of the key set). probes is\n"
     "a tuple of (tensor, address of its implementation, key set). Raises RuntimeError."},
    {"tensor_accept", tensor_accept, METH_O,
     "tensor_accept(keys, /)\n--\n\nAllows tensors of these key sets; None: of none."},
    {"tensor_read", tensor_read, METH_O,
     "tensor_read(tensor, /)\n--\n\n(keys, dtype, device_type, device_index, sizes, strides), as read natively."},
    {NULL},
};
