/* Facts of tensors, read through the C shim that torch exports, or past it.
 *
 * torch exports plain C functions for the models it compiles ahead of time.
 * They take the address of a word that points to the tensor's implementation;
 * a Python tensor has such a word at an offset that is found by looking for the
 * address it is known to hold. The dispatch key set has no function: its offset
 * in the implementation is found likewise. Nothing is believed that was not
 * compared with the attributes of probes first (see tensors.py), and only
 * tensors whose key set equals a probe's are ever given to the shim, which
 * answers nonsense for those it cannot describe.
 *
 * Five calls a tensor cost more than all else that an entry asks of a model. So
 * the offsets at which the implementation itself keeps what the shim says are
 * looked for, too: where all probes have it at one place and at no other, it is
 * read there (`direct`), else through the shim. */
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
    uint64_t *accepted;      /* key sets that probes had, or NULL */
    Py_ssize_t accepted_count;
    Py_ssize_t word;
    Py_ssize_t keys;
    PyObject *requires_grad; /* getset descriptor */
    read_int64 dim;
    read_pointer sizes, strides;
    read_int32 dtype, device_type, device_index;
} shim;

/* Where an implementation keeps its facts. Sizes and strides of few dimensions
 * lie in it; of more, behind one another in a block that the first word names. */
static struct {
    int ready;
    Py_ssize_t dim, sizes, strides;
    Py_ssize_t dtype;        /* two bytes */
    Py_ssize_t device;       /* two bytes: these */
    Py_ssize_t device_type, device_index;
    int64_t most_within;     /* the most dimensions that were seen to lie in it */
    int64_t least_outside;   /* the fewest that were not */
    int tells_grad;          /* what follows is known as well */
    Py_ssize_t autograd;     /* pointer to what autograd knows, or NULL */
    const void *table;       /* its first word where it is that of a tensor of its own, no view */
    Py_ssize_t leaf, function;  /* in there: a byte, and a pointer; the tensor requires grad where one is set */
} direct;

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
    for (Py_ssize_t i = 0; i < shim.accepted_count; i++) {
        if (shim.accepted[i] == keys) {
            return 1;
        }
    }
    return 0;
}

static void
accept_none(void)
{
    PyMem_Free(shim.accepted);
    shim.accepted = NULL;
    shim.accepted_count = 0;
}

static int
attribute_requires_grad_is(PyObject *tensor, int expected)
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
requires_grad_is(PyObject *tensor, const char *implementation, int expected)
{
    const char *known = direct.tells_grad ? *(char *const *)(implementation + direct.autograd) : NULL;
    if (!direct.tells_grad || (known != NULL && *(const void *const *)known != direct.table)) {
        return attribute_requires_grad_is(tensor, expected);
    }
    int found = known != NULL && (known[direct.leaf] != 0 || *(void *const *)(known + direct.function) != NULL);
    return found == expected;
}

static inline int
exact_layout_holds(const TensorFacts *facts, const int64_t *sizes, const int64_t *strides)
{
    int64_t count = facts->dimensions, difference = 0;
    for (int64_t i = 0; i < count; i++) {
        difference |= (sizes[i] ^ facts->layout[i]) | (strides[i] ^ facts->layout[count + i]);
    }
    return difference == 0;
}

static Py_NO_INLINE int
open_layout_holds(const TensorFacts *facts, const int64_t *sizes, const int64_t *strides)
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

static inline int
direct_tells(int64_t dimensions)
{
    return direct.ready && (dimensions <= direct.most_within || dimensions >= direct.least_outside);
}

static inline int
layout_holds(const TensorFacts *facts, const int64_t *sizes, const int64_t *strides)
{
    return facts->exact ? exact_layout_holds(facts, sizes, strides) : open_layout_holds(facts, sizes, strides);
}

/* The sizes in an implementation of that many dimensions, with the strides. */
static inline const int64_t *
direct_sizes(const char *implementation, int64_t dimensions, const int64_t **strides)
{
    if (dimensions <= direct.most_within) {
        *strides = (const int64_t *)(implementation + direct.strides);
        return (const int64_t *)(implementation + direct.sizes);
    }
    const int64_t *sizes = *(const int64_t *const *)(implementation + direct.sizes);
    *strides = sizes + dimensions;
    return sizes;
}

static inline int
direct_facts_hold(const TensorFacts *facts, const char *implementation)
{
    if (*(const int64_t *)(implementation + direct.dim) != facts->dimensions
        || *(const uint16_t *)(implementation + direct.dtype) != facts->dtype
        || *(const int8_t *)(implementation + direct.device_type) != facts->device_type
        || *(const int8_t *)(implementation + direct.device_index) != facts->device_index) {
        return 0;
    }
    const int64_t *strides, *sizes = direct_sizes(implementation, facts->dimensions, &strides);
    return layout_holds(facts, sizes, strides);
}

static Py_NO_INLINE int
shim_facts_hold(const TensorFacts *facts, void *handle)
{
    int64_t dimensions, *sizes, *strides;
    int32_t dtype, device_type, device_index;
    if (shim.dim(handle, &dimensions) || dimensions != facts->dimensions
        || shim.dtype(handle, &dtype) || dtype != facts->dtype
        || shim.device_type(handle, &device_type) || device_type != facts->device_type
        || shim.device_index(handle, &device_index) || device_index != facts->device_index
        || shim.sizes(handle, &sizes) || shim.strides(handle, &strides)) {
        return 0;
    }
    return layout_holds(facts, sizes, strides);
}

static inline __attribute__((always_inline)) int
facts_hold(const TensorFacts *facts, PyObject *object)
{
    int known = 0;
    for (Py_ssize_t i = 0; !known && i < PyTuple_GET_SIZE(facts->types); i++) {
        known = PyTuple_GET_ITEM(facts->types, i) == (PyObject *)Py_TYPE(object);
    }
    void *handle = known ? handle_of(object) : NULL;
    if (handle == NULL || keys_of(handle) != facts->keys) {
        return 0;
    }
    const char *implementation = *(char **)handle;
    int holds = direct_tells(facts->dimensions) ? direct_facts_hold(facts, implementation) : shim_facts_hold(facts, handle);
    return holds && (facts->requires_grad < 0 || requires_grad_is(object, implementation, facts->requires_grad));
}

int
tensor_facts_hold(const TensorFacts *facts, PyObject *object)
{
    return facts_hold(facts, object);
}

/* The same for a tensor that points to the implementation it pointed to when it
 * was asked first: one word says that, and what lies there needs no chain of
 * reads. Where this says no, facts_hold says what is. */
static inline __attribute__((always_inline)) int
quick_facts_hold(const AskedTensor *asked)
{
    const TensorFacts *facts = asked->facts;
    const char *implementation = asked->implementation;
    if (!facts->quick || (PyObject *)Py_TYPE(asked->tensor) != PyTuple_GET_ITEM(facts->types, 0)
        || *(const char *const *)((const char *)asked->tensor + shim.word) != implementation
        || *(const uint64_t *)(implementation + shim.keys) != facts->keys
        || *(const int64_t *)(implementation + direct.dim) != facts->dimensions
        || *(const uint16_t *)(implementation + direct.dtype) != facts->dtype
        || *(const uint16_t *)(implementation + direct.device) != facts->device) {
        return 0;
    }
    const int64_t *sizes = (const int64_t *)(implementation + direct.sizes);
    const int64_t *strides = (const int64_t *)(implementation + direct.strides);
    const int64_t *layout = facts->layout;
    int64_t difference;
    switch (facts->dimensions) {
    case 1:
        difference = (sizes[0] ^ layout[0]) | (strides[0] ^ layout[1]);
        break;
    case 2:
        difference = (sizes[0] ^ layout[0]) | (sizes[1] ^ layout[1]) | (strides[0] ^ layout[2])
            | (strides[1] ^ layout[3]);
        break;
    default:
        difference = !exact_layout_holds(facts, sizes, strides);
    }
    return difference == 0
        && (facts->requires_grad < 0 || requires_grad_is(asked->tensor, implementation, facts->requires_grad));
}

/* Tensors that are looked at this much later are fetched already: of a model's
 * hundreds few are in the nearest cache. */
#define AHEAD 6
#define CACHE_LINE 64

static inline void
fetch(const AskedTensor *asked, Py_ssize_t first)
{
    __builtin_prefetch(asked->tensor);
    __builtin_prefetch(asked->implementation + first);
    __builtin_prefetch(asked->implementation + first + CACHE_LINE);
    __builtin_prefetch(asked->implementation + first + 2 * CACHE_LINE);
}

const AskedTensor *
tensors_changed(const AskedTensor *asked, size_t count)
{
    int quick = direct.ready;
    Py_ssize_t first = direct.dim;
    for (const AskedTensor *end = asked + count; asked < end; asked++) {
        if (asked + AHEAD < end) {
            fetch(asked + AHEAD, first);
        }
        if (!(quick && quick_facts_hold(asked)) && !facts_hold(asked->facts, asked->tensor)) {
            return asked;
        }
    }
    return NULL;
}

const char *
tensor_implementation(PyObject *object)
{
    void *handle = direct.ready && is_readable_type(Py_TYPE(object)) ? handle_of(object) : NULL;
    return handle == NULL ? NULL : *(char **)handle;
}

int64_t
tensor_extent(PyObject *object, int64_t dimension, int stride)
{
    void *handle = is_readable_type(Py_TYPE(object)) ? handle_of(object) : NULL;
    if (handle == NULL || !is_accepted(keys_of(handle))) {
        return -1;
    }
    const char *implementation = *(char **)handle;
    int64_t dimensions;
    if (direct.ready) {
        dimensions = *(const int64_t *)(implementation + direct.dim);
    }
    else if (shim.dim(handle, &dimensions)) {
        return -1;
    }
    if (dimension < 0 || dimension >= dimensions) {
        return -1;
    }
    if (direct_tells(dimensions)) {
        const int64_t *strides, *sizes = direct_sizes(implementation, dimensions, &strides);
        return (stride ? strides : sizes)[dimension];
    }
    int64_t *numbers;
    return (stride ? shim.strides : shim.sizes)(handle, &numbers) ? -1 : numbers[dimension];
}

int64_t
tensor_size(PyObject *object, int64_t dimension)
{
    return tensor_extent(object, dimension, 0);
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

static void
make_quick(TensorFacts *facts)
{
    facts->quick = direct.ready && facts->exact && facts->dimensions <= direct.most_within
        && PyTuple_GET_SIZE(facts->types) == 1;
    uint8_t device[2];
    device[direct.device_type - direct.device] = (uint8_t)facts->device_type;
    device[direct.device_index - direct.device] = (uint8_t)facts->device_index;
    memcpy(&facts->device, device, sizeof(device));
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
    facts->exact = facts->looks_at_strides;
    for (Py_ssize_t i = 0; i < 2 * count && facts->exact; i++) {
        facts->exact = facts->layout[i] >= 0;
    }
    make_quick(facts);
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

/* ---- past the shim ---- */

typedef struct {
    const char *implementation;
    size_t size;             /* bytes of it that may be read */
    int64_t dimensions;
    const int64_t *sizes, *strides;
    int32_t dtype, device_type, device_index;
} Sight;                     /* of a probe: what the shim says, and where to look for it */

static int
see_probe(PyObject *tensor, Sight *sight)
{
    void *handle = handle_of(tensor);
    int64_t *sizes, *strides;
    if (handle == NULL || shim.dim(handle, &sight->dimensions) || shim.sizes(handle, &sizes)
        || shim.strides(handle, &strides) || shim.dtype(handle, &sight->dtype)
        || shim.device_type(handle, &sight->device_type) || shim.device_index(handle, &sight->device_index)) {
        return 0;
    }
    sight->implementation = *(char **)handle;
    sight->size = malloc_usable_size((void *)sight->implementation);
    sight->sizes = sizes;
    sight->strides = strides;
    return 1;
}

static int
has_dimensions(const Sight *sight, Py_ssize_t offset)
{
    return *(const int64_t *)(sight->implementation + offset) == sight->dimensions;
}

static int
has_dtype(const Sight *sight, Py_ssize_t offset)
{
    return *(const uint16_t *)(sight->implementation + offset) == sight->dtype;
}

static int
has_type_and_index(const Sight *sight, Py_ssize_t offset)
{
    const int8_t *place = (const int8_t *)(sight->implementation + offset);
    return place[0] == sight->device_type && place[1] == sight->device_index;
}

static int
has_index_and_type(const Sight *sight, Py_ssize_t offset)
{
    const int8_t *place = (const int8_t *)(sight->implementation + offset);
    return place[0] == sight->device_index && place[1] == sight->device_type;
}

/* The only offset, in steps, at which all have something; -1 where there is none
 * or more than one. */
static Py_ssize_t
only_offset(const Sight *sights, Py_ssize_t count, int (*has)(const Sight *, Py_ssize_t), Py_ssize_t step, size_t width)
{
    Py_ssize_t found = -1;
    for (Py_ssize_t offset = 0;; offset += step) {
        int all = 1;
        for (Py_ssize_t i = 0; i < count; i++) {
            if ((size_t)offset + width > sights[i].size) {
                return found;
            }
            all = all && has(&sights[i], offset);
        }
        if (all && found >= 0) {
            return -1;
        }
        found = all ? offset : found;
    }
}

static int
lies_within(const Sight *sight, const int64_t *numbers)
{
    const char *place = (const char *)numbers;
    return place >= sight->implementation && place + sight->dimensions * 8 <= sight->implementation + sight->size;
}

/* Where sizes and strides are, which must be the same for all probes. */
static int
find_sizes(const Sight *sights, Py_ssize_t count)
{
    direct.sizes = direct.strides = -1;
    direct.most_within = -1;
    direct.least_outside = INT64_MAX;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Sight *sight = &sights[i];
        if (!lies_within(sight, sight->sizes)) {
            direct.least_outside = Py_MIN(direct.least_outside, sight->dimensions);
        }
        else {
            Py_ssize_t sizes = (char *)sight->sizes - sight->implementation;
            Py_ssize_t strides = (char *)sight->strides - sight->implementation;
            if (direct.sizes < 0) {
                direct.sizes = sizes;
                direct.strides = strides;
            }
            if (sizes != direct.sizes || strides != direct.strides) {
                return 0;
            }
            direct.most_within = Py_MAX(direct.most_within, sight->dimensions);
        }
    }
    for (Py_ssize_t i = 0; direct.sizes >= 0 && i < count; i++) {
        const int64_t *strides, *sizes = direct_sizes(sights[i].implementation, sights[i].dimensions, &strides);
        if (sizes != sights[i].sizes || strides != sights[i].strides) {
            return 0;
        }
    }
    return direct.sizes >= 0;
}

static int
find_device(const Sight *sights, Py_ssize_t count)
{
    Py_ssize_t type_first = only_offset(sights, count, has_type_and_index, 1, 2);
    Py_ssize_t index_first = only_offset(sights, count, has_index_and_type, 1, 2);
    if ((type_first < 0) == (index_first < 0)) {
        return 0;
    }
    direct.device_type = type_first >= 0 ? type_first : index_first + 1;
    direct.device_index = type_first >= 0 ? type_first + 1 : index_first;
    direct.device = Py_MIN(direct.device_type, direct.device_index);
    return 1;
}

/* Finds the facts in the implementations themselves, if that can be. */
static int
find_direct(const Sight *sights, Py_ssize_t count)
{
    direct.dim = only_offset(sights, count, has_dimensions, 8, 8);
    direct.dtype = only_offset(sights, count, has_dtype, 2, 2);
    return direct.dim >= 0 && direct.dtype >= 0 && find_device(sights, count) && find_sizes(sights, count);
}

/* What autograd knows of a probe: told is what its attribute requires_grad says,
 * has_function whether an operation made it. */
typedef struct {
    Sight sight;
    int has_known, told, has_function;
} GradSight;

static const char *
known_of(const GradSight *sight)
{
    return *(char *const *)(sight->sight.implementation + direct.autograd);
}

static int
find_autograd(const GradSight *sights, Py_ssize_t count)
{
    Py_ssize_t found = -1;
    for (Py_ssize_t offset = 8; (size_t)offset + 8 <= sights[0].sight.size; offset += 8) {
        int all = 1;
        for (Py_ssize_t i = 0; all && i < count; i++) {
            all = (*(void *const *)(sights[i].sight.implementation + offset) != NULL) == sights[i].has_known;
        }
        if (all && found >= 0) {
            return 0;
        }
        found = all ? offset : found;
    }
    direct.autograd = found;
    return found >= 0;
}

/* The place in what autograd knows where the flag is set for leaves that require
 * grad, or the pointer for what operations made. A shared pointer is two words. */
static Py_ssize_t
find_in_known(const GradSight *sights, Py_ssize_t count, size_t size, int of_function)
{
    Py_ssize_t found = -1, step = of_function ? 8 : 1;
    for (Py_ssize_t offset = 8; (size_t)(offset + step) <= size; offset += step) {
        int all = 1;
        for (Py_ssize_t i = 0; all && i < count; i++) {
            const GradSight *sight = &sights[i];
            if (sight->has_known && of_function) {
                all = (*(void *const *)(known_of(sight) + offset) != NULL) == sight->has_function;
            }
            else if (sight->has_known) {
                all = known_of(sight)[offset] == (sight->told && !sight->has_function);
            }
        }
        if (all && found >= 0 && !(of_function && offset == found + 8)) {
            return -1;
        }
        found = all && found < 0 ? offset : found;
    }
    return found;
}

static int
find_grad(const GradSight *sights, Py_ssize_t count)
{
    if (!find_autograd(sights, count)) {
        return 0;
    }
    size_t size = SIZE_MAX;
    direct.table = NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *known = known_of(&sights[i]);
        if (known != NULL) {
            const void *table = *(const void *const *)known;
            if (direct.table != NULL && direct.table != table) {
                return 0;
            }
            direct.table = table;
            size = Py_MIN(size, malloc_usable_size((void *)known));
        }
    }
    if (direct.table == NULL) {
        return 0;
    }
    direct.leaf = find_in_known(sights, count, size, 0);
    direct.function = find_in_known(sights, count, size, 1);
    return direct.leaf >= 0 && direct.function >= 0;
}

static PyObject *
tensor_look_past(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *probes, *graded;
    direct.ready = direct.tells_grad = 0;
    if (!PyArg_ParseTuple(args, "O!O!:tensor_look_past", &PyTuple_Type, &probes, &PyTuple_Type, &graded)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(probes), grads = PyTuple_GET_SIZE(graded);
    Sight *sights = PyMem_Calloc((size_t)count + 1, sizeof(Sight));
    GradSight *grad_sights = PyMem_Calloc((size_t)grads + 1, sizeof(GradSight));
    int seen = shim.ready && sights != NULL && grad_sights != NULL;
    for (Py_ssize_t i = 0; seen && i < count; i++) {
        PyObject *tensor = PyTuple_GET_ITEM(probes, i);
        seen = is_readable_type(Py_TYPE(tensor)) && see_probe(tensor, &sights[i]);
    }
    for (Py_ssize_t i = 0; seen && i < grads; i++) {
        PyObject *tensor;
        GradSight *sight = &grad_sights[i];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(graded, i), "Oppp", &tensor, &sight->has_known, &sight->told, &sight->has_function)) {
            break;
        }
        seen = is_readable_type(Py_TYPE(tensor)) && see_probe(tensor, &sight->sight);
    }
    if (!PyErr_Occurred() && seen) {
        direct.ready = count > 0 && find_direct(sights, count);
        direct.tells_grad = direct.ready && grads > 0 && find_grad(grad_sights, grads);
    }
    PyMem_Free(sights);
    PyMem_Free(grad_sights);
    return PyErr_Occurred() ? NULL : Py_BuildValue("(NN)", PyBool_FromLong(direct.ready), PyBool_FromLong(direct.tells_grad));
}

static PyObject *
tensor_scan(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *library;
    PyObject *types, *requires_grad, *probes;
    shim.ready = direct.ready = direct.tells_grad = 0;
    accept_none();
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
        accept_none();
        Py_RETURN_NONE;
    }
    if (!shim.ready) {
        PyErr_SetString(PyExc_RuntimeError, "tensor_scan() has not succeeded");
        return NULL;
    }
    PyObject *tuple = PySequence_Tuple(keys);
    if (tuple == NULL) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    uint64_t *accepted = PyMem_Calloc((size_t)count + 1, sizeof(uint64_t));
    if (accepted == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < count; i++) {
        accepted[i] = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(tuple, i));
    }
    Py_DECREF(tuple);
    if (PyErr_Occurred()) {
        PyMem_Free(accepted);
        return NULL;
    }
    accept_none();
    shim.accepted = accepted;
    shim.accepted_count = count;
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
    {"tensor_look_past", tensor_look_past, METH_VARARGS,
     "tensor_look_past(probes, graded, /)\n--\n\n"
     "Looks for what the shim says of the probes in the tensors themselves, and for what autograd knows of\n"
     "graded: tuples of (tensor, whether autograd knows anything, its requires_grad, whether an operation\n"
     "made it). Whether each was found. After tensor_scan."},
    {"tensor_accept", tensor_accept, METH_O,
     "tensor_accept(keys, /)\n--\n\nAllows tensors of these key sets; None: of none."},
    {"tensor_read", tensor_read, METH_O,
     "tensor_read(tensor, /)\n--\n\n(keys, dtype, device_type, device_index, sizes, strides), as read natively."},
    {NULL},
};
