/* CPython 3.13: frames, code extras, recursion credit, instance attributes. */
#ifndef FRAMELOOM_COMPAT_313_H
#define FRAMELOOM_COMPAT_313_H

#include <internal/pycore_frame.h>
#include <internal/pycore_ceval.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_object.h>
#include <internal/pycore_setobject.h>

typedef _PyInterpreterFrame Frame;

static inline PyCodeObject *
frame_code(Frame *frame)
{
    return (PyCodeObject *)frame->f_executable;
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
    return frame->instr_ptr == _PyCode_CODE(frame_code(frame));
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
    PyObject *old = frame->f_executable;
    frame->f_executable = Py_NewRef(code);
    frame->instr_ptr = _PyCode_CODE(code);
    frame->stacktop = code->co_nlocalsplus;
    Py_DECREF(old);
}

static inline void
frame_discard(PyThreadState *tstate, Frame *frame)
{
    _PyEval_FrameClearAndPop(tstate, frame);
}

static inline void
frame_drop_locals(Frame *frame)
{
    (void)frame;
}

static inline Frame *
innermost_frame(PyThreadState *tstate)
{
    return tstate->current_frame;
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

/* 10,000 units for 8 MB. */
#define RECURSION_CREDIT_LOW 1000
#define RECURSION_CREDIT_BYTES 800

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
    if (!(type->tp_flags & Py_TPFLAGS_INLINE_VALUES)) {
        return NULL;
    }
    PyDictValues *values = _PyObject_InlineValues(object);
    if (!values->valid) {
        return NULL;
    }
    *keys = ((PyHeapTypeObject *)type)->ht_cached_keys;
    return values->values;
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
    return get_insertion_order_array(_PyObject_InlineValues(object))[i];
}

static inline Py_ssize_t
instance_value_count(PyObject *object)
{
    return _PyObject_InlineValues(object)->size;
}

static inline PyObject *
instance_dict(PyObject *object)
{
    if (Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        return (PyObject *)_PyObject_GetManagedDict(object);
    }
    PyObject **pointer = _PyObject_GetDictPtr(object);
    return pointer == NULL ? NULL : *pointer;
}

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
    return PyInterpreterState_Get()->types.builtins.initialized[place].tp_subclasses;
}

#endif
