/* Storing keys without asking them.
 *
 * A dict or set that stores a key asks the key's class for a hash, and may
 * compare it with others. Where a trace has asked a user's __hash__ and __eq__
 * already, they must not run again when what the trace did is done for real.
 * C's own storing functions offer no way past them, so the slots of the keys'
 * classes answer for them while such a call runs: a hash that is known, and
 * identity for equality, since the trace found which keys are different.
 *
 * Python code may run meanwhile (a value that is displaced has a finaliser) and
 * must not notice: the answers are for the frame that made the call, and for
 * frames of the called function's module. All others get what their class
 * defines. */
#include "storage.h"

typedef struct Answers Answers;
struct Answers {
    PyObject *known;        /* (object, hash or None, ...) */
    Frame *frame;           /* who called */
    PyObject *globals;      /* of the function called, or NULL where it is C's */
    PyThreadState *tstate;
    Answers *outer;
};

static Answers *innermost;

static int
are_for(Answers *answers, PyThreadState *tstate)
{
    if (answers->tstate != tstate) {
        return 0;
    }
    Frame *frame = current_frame(tstate);
    return frame == answers->frame
        || (frame != NULL && answers->globals != NULL && frame->f_globals == answers->globals);
}

/* Index of an object among what is known to the running call, or -1. */
static Py_ssize_t
place_of(PyObject *object, Answers **found)
{
    PyThreadState *tstate = PyThreadState_Get();
    for (Answers *answers = innermost; answers != NULL; answers = answers->outer) {
        if (!are_for(answers, tstate)) {
            continue;
        }
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(answers->known); i += 2) {
            if (PyTuple_GET_ITEM(answers->known, i) == object) {
                *found = answers;
                return i;
            }
        }
        return -1;
    }
    return -1;
}

/* What the class of an object defines under a name, bound. */
static PyObject *
special(PyObject *object, const char *name)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject *text = PyUnicode_InternFromString(name);
    PyObject *found = text == NULL ? NULL : _PyType_Lookup(type, text);
    Py_XDECREF(text);
    if (found == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_AttributeError, name);
        }
        return NULL;
    }
    descrgetfunc get = Py_TYPE(found)->tp_descr_get;
    return get == NULL ? Py_NewRef(found) : get(found, object, (PyObject *)type);
}

static Py_hash_t
hash_by_class(PyObject *object)
{
    PyObject *method = special(object, "__hash__");
    if (method == NULL) {
        return -1;
    }
    if (method == Py_None) {
        Py_DECREF(method);
        return PyObject_HashNotImplemented(object);
    }
    PyObject *made = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (made == NULL) {
        return -1;
    }
    if (!PyLong_Check(made)) {
        Py_DECREF(made);
        PyErr_SetString(PyExc_TypeError, "__hash__ method should return an integer");
        return -1;
    }
    Py_hash_t hash = PyLong_AsSsize_t(made);
    if (hash == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        hash = PyLong_Type.tp_hash(made);
    }
    Py_DECREF(made);
    return hash == -1 ? -2 : hash;
}

static Py_hash_t
answer_hash(PyObject *object)
{
    Answers *answers;
    Py_ssize_t place = place_of(object, &answers);
    PyObject *hash = place < 0 ? Py_None : PyTuple_GET_ITEM(answers->known, place + 1);
    return hash == Py_None ? hash_by_class(object) : PyLong_AsSsize_t(hash);
}

static PyObject *
answer_compare(PyObject *one, PyObject *other, int op)
{
    static const char *const names[] = {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"};
    Answers *answers;
    if (op == Py_EQ && (place_of(one, &answers) >= 0 || place_of(other, &answers) >= 0)) {
        return PyBool_FromLong(one == other);
    }
    PyObject *method = special(one, names[op]);
    if (method == NULL) {
        return NULL;
    }
    PyObject *made = PyObject_CallOneArg(method, other);
    Py_DECREF(method);
    return made;
}

typedef struct {
    PyTypeObject *type;
    hashfunc hash;
    richcmpfunc compare;
} Slots;

static void
give_back(Slots *taken, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTypeObject *type = taken[i].type;
        if (type->tp_hash == answer_hash) {
            type->tp_hash = taken[i].hash;
        }
        if (type->tp_richcompare == answer_compare) {
            type->tp_richcompare = taken[i].compare;
        }
        Py_DECREF(type);
    }
}

static Py_ssize_t
take_over(PyObject *known, Slots *taken)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(known); i += 2) {
        PyTypeObject *type = Py_TYPE(PyTuple_GET_ITEM(known, i));
        if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || type->tp_hash == answer_hash) {
            continue;
        }
        taken[count++] = (Slots){(PyTypeObject *)Py_NewRef(type), type->tp_hash, type->tp_richcompare};
        type->tp_hash = answer_hash;
        type->tp_richcompare = answer_compare;
    }
    return count;
}

static PyObject *
call_keyed(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count < 2 || !PyTuple_Check(args[0]) || PyTuple_GET_SIZE(args[0]) % 2) {
        PyErr_SetString(PyExc_TypeError, "call_keyed() takes a tuple of objects and hashes, a callable and its arguments");
        return NULL;
    }
    PyObject *known = args[0], *function = args[1];
    Slots *taken = PyMem_New(Slots, PyTuple_GET_SIZE(known) / 2 + 1);
    if (taken == NULL) {
        return PyErr_NoMemory();
    }
    PyThreadState *tstate = PyThreadState_Get();
    PyObject *globals = PyFunction_Check(function) ? PyFunction_GET_GLOBALS(function) : NULL;
    Answers answers = {known, current_frame(tstate), globals, tstate, innermost};
    innermost = &answers;
    Py_ssize_t changed = take_over(known, taken);
    PyObject *result = PyObject_Vectorcall(function, args + 2, count - 2, NULL);
    give_back(taken, changed);
    Answers **link = &innermost;  /* another thread's call may have begun since */
    while (*link != &answers) {
        link = &(*link)->outer;
    }
    *link = answers.outer;
    PyMem_Free(taken);
    return result;
}

PyMethodDef keyed_methods[] = {
    {"call_keyed", (PyCFunction)(void (*)(void))call_keyed, METH_FASTCALL,
     "call_keyed(known, function, /, *args)\n--\n\n"
     "`function(*args)`, which stores or removes keys. `known` has objects and their hashes, flat;\n"
     "these are not asked for hashes or compared but by identity. A hash of None is asked for."},
    {NULL},
};
