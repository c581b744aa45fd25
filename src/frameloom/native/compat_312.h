/* CPython 3.12: frames, code extras, recursion credit, instance attributes.
 *
 * From 3.12 the evaluation loop clears and pops the frame it was given, so a
 * frame that never reaches it has to be cleared here. The function that does
 * it is not exported in 3.12. */
#ifndef FRAMELOOM_COMPAT_312_H
#define FRAMELOOM_COMPAT_312_H

#include <internal/pycore_frame.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_object.h>

typedef _PyInterpreterFrame Frame;

static inline PyCodeObject *
frame_code(Frame *frame)
{
    return frame->f_code;
}

static inline PyFunctionObject *
frame_function(Frame *frame)
{
    PyObject *function = frame->f_funcobj;
    if (function == NULL || !PyFunction_Check(function)) {
        return NULL;
    }
    return (PyFunctionObject *)function;
}

static inline PyObject *
frame_locals_mapping(Frame *frame)
{
    return frame->f_locals;
}

static inline int
frame_is_fresh(Frame *frame)
{
    return frame->prev_instr == _PyCode_CODE(frame->f_code) - 1;
}

static inline int
frame_is_on_data_stack(Frame *frame)
{
    return frame->owner == FRAME_OWNED_BY_THREAD;
}

static inline Py_ssize_t
code_frame_words(PyCodeObject *code)
{
    return code->co_framesize;
}

static inline void
frame_set_code(Frame *frame, PyCodeObject *code)
{
    PyCodeObject *old = frame->f_code;
    frame->f_code = (PyCodeObject *)Py_NewRef(code);
    frame->prev_instr = _PyCode_CODE(code) - 1;
    frame->stacktop = code->co_nlocalsplus;
    Py_DECREF(old);
}

/* Gives the frame's words back to the data stack, and a chunk that this
 * empties to the allocator it came from. */
static inline void
frame_pop(PyThreadState *tstate, Frame *frame)
{
    _PyStackChunk *chunk = tstate->datastack_chunk;
    if ((PyObject **)frame != &chunk->data[0]) {
        tstate->datastack_top = (PyObject **)frame;
        return;
    }
    _PyStackChunk *previous = chunk->previous;
    tstate->datastack_chunk = previous;
    tstate->datastack_top = &previous->data[previous->top];
    tstate->datastack_limit = (PyObject **)((char *)previous + previous->size);
    PyObjectArenaAllocator allocator;
    PyObject_GetArenaAllocator(&allocator);
    allocator.free(allocator.ctx, chunk, chunk->size);
}

static inline void
frame_discard(PyThreadState *tstate, Frame *frame)
{
    /* A frame that never ran has no frame object and no stack. */
    PyCodeObject *code = frame->f_code;
    frame->stacktop = 0;
    for (int i = 0; i < code->co_nlocalsplus; i++) {
        Py_CLEAR(frame->localsplus[i]);
    }
    Py_CLEAR(frame->f_locals);
    Py_CLEAR(frame->f_funcobj);
    Py_DECREF(code);
    frame_pop(tstate, frame);
}

static inline void
frame_drop_locals(Frame *frame)
{
    (void)frame;
}

static inline Frame *
innermost_frame(PyThreadState *tstate)
{
    return tstate->cframe->current_frame;
}

static inline Frame *
current_frame(PyThreadState *tstate)
{
    return _PyThreadState_GetFrame(tstate);
}

/* Calls that the recursion limit still allows. */
static inline int
recursion_room(PyThreadState *tstate)
{
    return tstate->py_recursion_remaining;
}

/* What calling a C function took from the recursion limit, as 3.11 counts it. */
static inline void
function_credit_add(PyThreadState *tstate, int amount)
{
    (void)tstate;
    (void)amount;
}

static inline int
recursion_limit(PyThreadState *tstate)
{
    return tstate->py_recursion_limit;
}

/* What is left for nested C calls. One evaluation takes one, though a Python
 * call inlined by the interpreter takes none. */
static inline int
recursion_credit(PyThreadState *tstate)
{
    return tstate->c_recursion_remaining;
}

static inline void
recursion_credit_add(PyThreadState *tstate, int amount)
{
    tstate->c_recursion_remaining += amount;
}

/* Below LOW the hook steps aside; BYTES is what one unit of credit may need
 * of the C stack, with 8 MB and the 1,500 units of 3.12 in mind. */
#define RECURSION_CREDIT_LOW 300
#define RECURSION_CREDIT_BYTES 2048

static inline Py_ssize_t
request_code_extra(freefunc free)
{
    return PyUnstable_Eval_RequestCodeExtraIndex(free);
}

static inline void *
code_extra(PyCodeObject *code, Py_ssize_t index)
{
    void *extra = NULL;
    PyUnstable_Code_GetExtra((PyObject *)code, index, &extra);
    return extra;
}

static inline int
set_code_extra(PyCodeObject *code, Py_ssize_t index, void *extra)
{
    return PyUnstable_Code_SetExtra((PyObject *)code, index, extra);
}

static inline PyObject **
instance_values(PyObject *object, PyDictKeysObject **keys)
{
    PyTypeObject *type = Py_TYPE(object);
    if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        return NULL;
    }
    PyDictOrValues place = *_PyObject_DictOrValuesPointer(object);
    if (!_PyDictOrValues_IsValues(place)) {
        return NULL;
    }
    *keys = ((PyHeapTypeObject *)type)->ht_cached_keys;
    return _PyDictOrValues_GetValues(place)->values;
}

/* The number of a dict's state, 0 where there is none: from 3.12 on CPython does
 * not promise that every change of a dict changes its tag. */
static inline uint64_t
dict_state(PyObject *dict)
{
    (void)dict;
    return 0;
}

static inline uint64_t
type_state(PyTypeObject *type)
{
    (void)type;
    return 0;
}

/* No word of memory tells that a dict is as it was: there are no snapshots. */
#define WORDS_TELL 0

/* Whether a dict may be between two states: of no use where words tell nothing. */
static inline int
may_be_storing(void)
{
    return 1;
}

static inline const void *
dict_state_place(PyObject *dict)
{
    (void)dict;
    return NULL;
}

static inline const void *
type_state_place(PyTypeObject *type)
{
    (void)type;
    return NULL;
}

static inline PyObject *const *
instance_dict_place(PyObject *object)
{
    (void)object;
    return NULL;
}

static inline const void *
instance_values_place(PyObject *object)
{
    (void)object;
    return NULL;
}

static inline const void *
instance_order_words(PyObject *object, size_t *count)
{
    (void)object;
    *count = 0;
    return NULL;
}

/* The place in the order of assignment, and how many values: for objects that
 * `instance_values` has values for. */
static inline int
instance_value_place(PyObject *object, Py_ssize_t i)
{
    PyDictKeysObject *keys;
    return ((uint8_t *)instance_values(object, &keys))[-3 - i];
}

static inline Py_ssize_t
instance_value_count(PyObject *object)
{
    PyDictKeysObject *keys;
    return ((uint8_t *)instance_values(object, &keys))[-2];
}

static inline PyObject *
instance_dict(PyObject *object)
{
    if (Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        PyDictOrValues place = *_PyObject_DictOrValuesPointer(object);
        return _PyDictOrValues_IsValues(place) ? NULL : _PyDictOrValues_GetDict(place);
    }
    PyObject **pointer = _PyObject_GetDictPtr(object);
    return pointer == NULL ? NULL : *pointer;
}

/* The dict of a type, borrowed. */
static inline PyObject *
type_dict(PyTypeObject *type)
{
    PyObject *dict = PyType_GetDict(type);
    Py_XDECREF(dict);
    return dict;
}

/* The dict of weak references to the direct subclasses of a type, borrowed; NULL without any.
 * A static type of CPython's has a number there, which names its place in the interpreter. */
static inline PyObject *
type_subclasses(PyTypeObject *type)
{
    if ((type->tp_flags & _Py_TPFLAGS_STATIC_BUILTIN) == 0) {
        return (PyObject *)type->tp_subclasses;
    }
    size_t place = (size_t)type->tp_subclasses - 1;
    return PyInterpreterState_Get()->types.builtins[place].tp_subclasses;
}

#endif
