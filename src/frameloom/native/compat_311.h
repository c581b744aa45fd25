/* CPython 3.11: frames, code extras, recursion credit, instance attributes.
 *
 * In 3.11 whoever pushed a frame clears it after evaluation, so a frame that
 * is given up needs no work here, and one that has returned a tail record has
 * to let go of its locals early (frame_drop_locals). */
#ifndef FRAMELOOM_COMPAT_311_H
#define FRAMELOOM_COMPAT_311_H

#include <internal/pycore_frame.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_object.h>
#include <opcode.h>

typedef _PyInterpreterFrame Frame;

static inline PyCodeObject *
frame_code(Frame *frame)
{
    return frame->f_code;
}

/* The function a frame runs, borrowed; NULL when it is not a function. */
static inline PyFunctionObject *
frame_function(Frame *frame)
{
    return frame->f_func;
}

static inline PyObject *
frame_locals_mapping(Frame *frame)
{
    return frame->f_locals;
}

/* True before the first instruction of the prefix. */
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

/* Words that a frame of this code takes on the data stack. */
static inline Py_ssize_t
code_frame_words(PyCodeObject *code)
{
    return code->co_nlocalsplus + code->co_stacksize + (Py_ssize_t)FRAME_SPECIALS_SIZE;
}

/* Makes a fresh frame start at the beginning of another code object. */
static inline void
frame_set_code(Frame *frame, PyCodeObject *code)
{
    PyCodeObject *old = frame->f_code;
    Py_INCREF(code);
    frame->f_code = code;
    frame->prev_instr = _PyCode_CODE(code) - 1;
    frame->stacktop = code->co_nlocalsplus;
    Py_DECREF(old);
}

/* Clears and pops a frame that never ran. */
static inline void
frame_discard(PyThreadState *tstate, Frame *frame)
{
    (void)tstate;
    (void)frame;
}

/* Drops the locals of a frame that has returned but is still pushed. A frame
 * object that somebody holds keeps them until the caller clears the frame. */
static inline void
frame_drop_locals(Frame *frame)
{
    if (frame->frame_obj != NULL && Py_REFCNT(frame->frame_obj) > 1) {
        return;
    }
    for (int i = 0; i < frame->stacktop; i++) {
        Py_CLEAR(frame->localsplus[i]);
    }
}

/* The innermost frame, complete or not: what a new frame is pushed on. */
static inline Frame *
innermost_frame(PyThreadState *tstate)
{
    return tstate->cframe->current_frame;
}

/* The Python frame that called into C, borrowed. */
static inline Frame *
current_frame(PyThreadState *tstate)
{
    Frame *frame = tstate->cframe->current_frame;
    while (frame != NULL && _PyFrame_IsIncomplete(frame)) {
        frame = frame->previous;
    }
    return frame;
}

/* Calls that the recursion limit still allows. */
static inline int
recursion_room(PyThreadState *tstate)
{
    return tstate->recursion_remaining;
}

/* What calling a C function took from the recursion limit, as 3.11 counts it. */
static inline void
function_credit_add(PyThreadState *tstate, int amount)
{
    tstate->recursion_remaining += amount;
}

static inline int
recursion_limit(PyThreadState *tstate)
{
    return tstate->recursion_limit;
}

/* C calls and Python calls share one counter in 3.11: evaluating a frame
 * through the hook costs what it costs inline, and nothing is given back. */
static inline int
recursion_credit(PyThreadState *tstate)
{
    (void)tstate;
    return INT_MAX;
}

static inline void
recursion_credit_add(PyThreadState *tstate, int amount)
{
    (void)tstate;
    (void)amount;
}

#define RECURSION_CREDIT_LOW 0
#define RECURSION_CREDIT_BYTES 1

static inline Py_ssize_t
request_code_extra(freefunc free)
{
    return _PyEval_RequestCodeExtraIndex(free);
}

static inline void *
code_extra(PyCodeObject *code, Py_ssize_t index)
{
    void *extra = NULL;
    _PyCode_GetExtra((PyObject *)code, index, &extra);
    return extra;
}

static inline int
set_code_extra(PyCodeObject *code, Py_ssize_t index, void *extra)
{
    return _PyCode_SetExtra((PyObject *)code, index, extra);
}

/* The values of an instance that has no dict yet, with their keys. Returns
 * NULL when the attributes live in a dict, or nowhere. */
static inline PyObject **
instance_values(PyObject *object, PyDictKeysObject **keys)
{
    PyTypeObject *type = Py_TYPE(object);
    if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        return NULL;
    }
    PyDictValues *values = *_PyObject_ValuesPointer(object);
    if (values == NULL) {
        return NULL;
    }
    *keys = ((PyHeapTypeObject *)type)->ht_cached_keys;
    return values->values;
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

/* The number of a dict's state: no other state of any dict has it. */
static inline uint64_t
dict_state(PyObject *dict)
{
    return ((PyDictObject *)dict)->ma_version_tag;
}

/* The number of a class's state as look-ups along its MRO see it, 0 while it has
 * none. 3.11 gives a number once and never again. */
static inline uint64_t
type_state(PyTypeObject *type)
{
    return type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG ? type->tp_version_tag : 0;
}

/* Words of memory tell of every change of dicts, classes and attributes. */
#define WORDS_TELL 1

/* Evaluations below one another, of all threads, that are looked at. */
#define MOST_EVALUATIONS 64

static inline int
is_store_of_attribute(int opcode)
{
    return opcode == STORE_ATTR || opcode == STORE_ATTR_ADAPTIVE || opcode == STORE_ATTR_INSTANCE_VALUE
        || opcode == STORE_ATTR_SLOT || opcode == STORE_ATTR_WITH_HINT;
}

/* Whether a store of an attribute may be under way in any thread.
 * STORE_ATTR_WITH_HINT lets go of the old value before it gives the dict its new
 * number, so a finaliser of that value runs while the number is the old one. Then
 * the frame that stores stands at that instruction, below an evaluation that the
 * finaliser began. Which of its variants the instruction is may change meanwhile. */
static inline int
may_be_storing(void)
{
    int left = MOST_EVALUATIONS;
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    for (PyThreadState *thread = PyInterpreterState_ThreadHead(interpreter); thread != NULL; thread = PyThreadState_Next(thread)) {
        for (_PyCFrame *evaluation = thread->cframe; evaluation != NULL; evaluation = evaluation->previous) {
            Frame *frame = evaluation->current_frame;
            if (--left < 0 || (frame != NULL && is_store_of_attribute(_Py_OPCODE(*frame->prev_instr)))) {
                return 1;
            }
        }
    }
    return 0;
}

/* Where the number of a dict's state stands: no other state of any dict has it. */
static inline const void *
dict_state_place(PyObject *dict)
{
    return &((PyDictObject *)dict)->ma_version_tag;
}

/* Where the number of a class's state stands, NULL while it has none. */
static inline const void *
type_state_place(PyTypeObject *type)
{
    return type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG && type->tp_version_tag != 0 ? &type->tp_version_tag : NULL;
}

/* Where an instance keeps the pointer to its dict, and to its values. */
static inline PyObject *const *
instance_dict_place(PyObject *object)
{
    if (Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        return _PyObject_ManagedDictPointer(object);
    }
    return _PyObject_GetDictPtr(object);
}

static inline const void *
instance_values_place(PyObject *object)
{
    return Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT ? _PyObject_ValuesPointer(object) : NULL;
}

/* The words that say how many values there are and in which order, for objects
 * that `instance_values` has values for: bytes before the values, two of them
 * counts, then one for each. */
static inline const void *
instance_order_words(PyObject *object, size_t *count)
{
    PyDictKeysObject *keys;
    PyObject **values = instance_values(object, &keys);
    *count = ((size_t)((uint8_t *)values)[-2] + 2 + sizeof(void *) - 1) / sizeof(void *);
    return values - *count;
}

/* The dict of an instance, borrowed, never made: NULL when there is none. */
static inline PyObject *
instance_dict(PyObject *object)
{
    if (Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        return *_PyObject_ManagedDictPointer(object);
    }
    PyObject **pointer = _PyObject_GetDictPtr(object);
    return pointer == NULL ? NULL : *pointer;
}

static inline PyObject *
type_dict(PyTypeObject *type)
{
    return type->tp_dict;
}

/* The dict of weak references to the direct subclasses of a type, borrowed; NULL without any. */
static inline PyObject *
type_subclasses(PyTypeObject *type)
{
    return type->tp_subclasses;
}

#endif
