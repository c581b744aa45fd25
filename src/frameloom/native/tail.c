/* Tail records, the loop that runs them, and what generated code calls.
 *
 * A frame that stops at a graph break does not call the function that goes on
 * in its place: it returns a record of that call, and the loop makes it after
 * the frame is gone. A million breaks take the stack of one. */
#include "native.h"

/* ---- Tail ---- */

static void
tail_dealloc(Tail *self)
{
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        Py_XDECREF(self->items[i]);
    }
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
new_tail(PyObject *const *args, Py_ssize_t count, char caught)
{
    if (count == 0) {
        PyErr_SetString(PyExc_TypeError, "a tail record is made of a function and its arguments");
        return NULL;
    }
    Tail *self = PyObject_NewVar(Tail, &Tail_Type, count);
    if (self == NULL) {
        return NULL;
    }
    self->caught = caught;
    for (Py_ssize_t i = 0; i < count; i++) {
        self->items[i] = Py_NewRef(args[i]);
    }
    return (PyObject *)self;
}

static PyObject *
tail_vectorcall(PyObject *Py_UNUSED(type), PyObject *const *args, size_t nargsf, PyObject *names)
{
    if (names != NULL && PyTuple_GET_SIZE(names) > 0) {
        PyErr_SetString(PyExc_TypeError, "Tail() takes no keyword arguments");
        return NULL;
    }
    return new_tail(args, PyVectorcall_NARGS(nargsf), 0);
}

static PyObject *
tail_repr(Tail *self)
{
    if (self->items[0] == NULL) {
        return PyUnicode_FromString("<Tail taken>");
    }
    return PyUnicode_FromFormat("<Tail call of %R with %zd arguments>", self->items[0],
                                Py_SIZE(self) - 1);
}

/* The function to be called, or None when the record has been taken. */
static PyObject *
tail_function(Tail *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(self->items[0] == NULL ? Py_None : self->items[0]);
}

static PyObject *
tail_caught(Tail *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(self->caught);
}

static PyGetSetDef tail_getset[] = {
    {"caught", (getter)tail_caught, NULL, "whether an exception's traceback keeps the frame that left it"},
    {"function", (getter)tail_function, NULL, "what is to be called; None when it has been taken"},
    {NULL},
};

PyTypeObject Tail_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "frameloom.native.Tail",
    .tp_doc = "Tail(function, /, *arguments)\n--\n\n"
              "What an entry returns to have a call made after its frame is gone.",
    .tp_basicsize = offsetof(Tail, items),
    .tp_itemsize = sizeof(PyObject *),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .tp_vectorcall = tail_vectorcall,
    .tp_dealloc = (destructor)tail_dealloc,
    .tp_repr = (reprfunc)tail_repr,
    .tp_getset = tail_getset,
    .tp_free = PyObject_Free,
};

/* ---- the loop ---- */

/* Calls with the next frame of this very function marked: its tail record is
 * given back here. lent, if any, owns the arguments; the reference is taken,
 * and dropped as soon as the frame has references of its own. */
PyObject *
call_handed(Thread *thread, PyObject *function, PyObject *const *args, size_t nargsf,
            PyObject *names, PyObject *lent)
{
    PyObject *outer_function = thread->handed;
    Frame *outer_from = thread->handed_from;
    PyObject *outer_lent = thread->lent;
    thread->handed = PyFunction_Check(function) ? function : NULL;
    thread->handed_from = innermost_frame(PyThreadState_Get());
    thread->lent = lent;
    PyObject *result = PyObject_Vectorcall(function, args, nargsf, names);
    lent = thread->lent;
    thread->unseen = thread->handed == function;
    thread->handed = outer_function;
    thread->handed_from = outer_from;
    thread->lent = outer_lent;
    Py_XDECREF(lent);
    return result;
}

static int
is_tail(PyObject *result)
{
    return result != NULL && Py_TYPE(result) == &Tail_Type;
}

/* Makes the call of a record. Takes the reference, and lets go of the record
 * as soon as the frame has references of its own. */
static PyObject *
call_record(Thread *thread, Tail *record)
{
    if (record->items[0] == NULL) {
        Py_DECREF(record);
        PyErr_SetString(PyExc_RuntimeError, "the call of a tail record is made once");
        return NULL;
    }
    PyObject *function = Py_NewRef(record->items[0]);
    PyObject *result = call_handed(thread, function, record->items + 1,
                                   (size_t)(Py_SIZE(record) - 1), NULL, (PyObject *)record);
    Py_DECREF(function);
    return result;
}

/* A record with the items of another, which is empty afterwards: whoever has
 * that one keeps nothing alive. */
static Tail *
taken_from(Tail *record)
{
    Py_ssize_t count = Py_SIZE(record);
    Tail *taken = PyObject_NewVar(Tail, &Tail_Type, count);
    if (taken != NULL) {
        taken->caught = record->caught;
    }
    for (Py_ssize_t i = 0; taken != NULL && i < count; i++) {
        taken->items[i] = record->items[i];
        record->items[i] = NULL;
    }
    return taken;
}

/* Runs tail records until a result comes. Takes the reference to result. */
PyObject *
tail_run(Thread *thread, PyObject *result)
{
    if (!is_tail(result)) {
        return result;
    }
    Scope saved;
    int looks_up = thread->scope.mode == MODE_OPEN || thread->scope.mode == MODE_REPLAYING;
    scope_enter(thread, &saved, thread->scope.mode);
    scope_use_patience(thread, NULL, 0);
    while (is_tail(result)) {
        if (looks_up) {
            thread->scope.engine->tails++;
            scope_set_mode(thread, MODE_OPEN);
        }
        result = call_record(thread, (Tail *)result);
    }
    scope_leave(thread, &saved);
    return result;
}

/* Makes the call of a record as the frame that stopped would make it, in the
 * mode that is on. The hook has to see the first frame, which lets go of the
 * arguments; a scope that is given up is opened for nothing but that. */
static PyObject *
call_inner(Thread *thread, PyObject *argument)
{
    if (Py_TYPE(argument) != &Tail_Type) {
        PyErr_Format(PyExc_TypeError, "a tail record expected, not %.100s",
                     Py_TYPE(argument)->tp_name);
        return NULL;
    }
    Tail *record = taken_from((Tail *)argument);
    if (record == NULL) {
        return NULL;
    }
    Scope saved;
    scope_enter(thread, &saved, thread->scope.mode);
    if (thread->scope.mode == MODE_REPLAYING) {
        thread->passing = 1;
        scope_set_mode(thread, MODE_OPEN);
    }
    PyObject *result = call_record(thread, record);
    thread->passing = 0;
    scope_leave(thread, &saved);
    return result;
}

static PyObject *
enter(PyObject *Py_UNUSED(module), PyObject *record)
{
    Thread *thread = thread_state();
    PyThreadState *tstate = PyThreadState_Get();
    function_credit_add(tstate, 1);
    PyObject *result = call_inner(thread, record);
    function_credit_add(tstate, -1);
    return result;
}

static PyObject *
call_and_run(Thread *thread, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Scope saved;
    scope_enter(thread, &saved, thread->scope.mode);
    PyObject *result = PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), names);
    scope_leave(thread, &saved);
    return result;
}

static PyObject *
trampoline(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError,
                        "trampoline() takes a tail record, or a function and its arguments");
        return NULL;
    }
    Thread *thread = thread_state();
    PyObject *result = count == 1 && names == NULL && Py_TYPE(args[0]) == &Tail_Type
        ? call_inner(thread, args[0])
        : call_and_run(thread, args, count, names);
    return tail_run(thread, result);
}

static PyObject *
caught(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    return new_tail(args, count, 1);
}

/* A record of the call whose function and arguments a tuple has. The caller's
 * stack is what else owns the tuple: if nobody does, it keeps none of them. */
static Tail *
record_of(PyObject *items)
{
    Py_ssize_t count = PyTuple_GET_SIZE(items);
    Tail *record = (Tail *)new_tail(&PyTuple_GET_ITEM(items, 0), count, 0);
    for (Py_ssize_t i = 0; record != NULL && Py_REFCNT(items) == 1 && i < count; i++) {
        PyObject *kept = PyTuple_GET_ITEM(items, i);
        PyTuple_SET_ITEM(items, i, Py_NewRef(Py_None));
        Py_DECREF(kept);  /* the record has it */
    }
    return record;
}

static PyObject *
go_on(PyObject *Py_UNUSED(module), PyObject *items)
{
    if (!PyTuple_CheckExact(items) || PyTuple_GET_SIZE(items) == 0) {
        PyErr_SetString(PyExc_TypeError, "a tuple of a function and its arguments expected");
        return NULL;
    }
    Tail *record = record_of(items);
    if (record == NULL) {
        return NULL;
    }
    Thread *thread = thread_state();
    PyThreadState *tstate = PyThreadState_Get();
    function_credit_add(tstate, 1);
    PyObject *result = call_inner(thread, (PyObject *)record);
    Py_DECREF(record);
    result = tail_run(thread, result);
    function_credit_add(tstate, -1);
    return result;
}

/* The function and the arguments of a record, which is empty afterwards. */
static PyObject *
take(PyObject *Py_UNUSED(module), PyObject *argument)
{
    if (Py_TYPE(argument) != &Tail_Type || ((Tail *)argument)->items[0] == NULL) {
        PyErr_SetString(PyExc_TypeError, "a tail record expected that has not been taken");
        return NULL;
    }
    Tail *record = (Tail *)argument;
    PyObject *items = PyTuple_New(Py_SIZE(record));
    for (Py_ssize_t i = 0; items != NULL && i < Py_SIZE(record); i++) {
        PyTuple_SET_ITEM(items, i, record->items[i]);
        record->items[i] = NULL;
    }
    return items;
}

/* ---- joints ---- */

/* A state in which a frame waits for an inner one. Called with the record that
 * the inner frame left, it gives the code that goes on with both, or None
 * where the frame has to wait itself. make(code of the record's function) makes
 * that code, once; it is the engine's own Python code. */
typedef struct {
    PyObject_HEAD
    PyObject *make;
    PyObject *known;         /* address of an inner code object -> code, which keeps it alive */
    vectorcallfunc call;
} Joint;

static PyObject *
joint_make(Joint *self, PyObject *inner)
{
    Thread *thread = thread_state();
    PyThreadState *tstate = PyThreadState_Get();
    if (recursion_room(tstate) < recursion_for_capture(tstate)) {
        Py_RETURN_NONE;
    }
    Scope saved;
    scope_enter(thread, &saved, MODE_CAPTURING);
    PyObject *made = PyObject_CallOneArg(self->make, inner);
    scope_leave(thread, &saved);
    if (made == NULL && PyErr_ExceptionMatches(PyExc_RecursionError)) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    return made;
}

static PyObject *
joint_call(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *Py_UNUSED(names))
{
    Joint *self = (Joint *)object;
    if (PyVectorcall_NARGS(nargsf) != 1 || Py_TYPE(args[0]) != &Tail_Type) {
        PyErr_SetString(PyExc_TypeError, "a tail record expected");
        return NULL;
    }
    PyObject *function = ((Tail *)args[0])->items[0];
    if (function == NULL || !PyFunction_Check(function)) {
        Py_RETURN_NONE;
    }
    PyObject *inner = PyFunction_GET_CODE(function);
    PyObject *key = PyLong_FromVoidPtr(inner);
    PyObject *code = key == NULL ? NULL : PyDict_GetItemWithError(self->known, key);
    if (code != NULL) {
        Py_INCREF(code);
    }
    else if (key != NULL && !PyErr_Occurred()) {
        code = joint_make(self, inner);
        if (code != NULL && code != Py_None && PyDict_SetItem(self->known, key, code) < 0) {
            Py_CLEAR(code);
        }
    }
    Py_XDECREF(key);
    return code;
}

static PyObject *
joint_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *make;
    if (!PyArg_ParseTuple(args, "O:Joint", &make)) {
        return NULL;
    }
    Joint *self = (Joint *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->make = Py_NewRef(make);
    self->call = joint_call;
    self->known = PyDict_New();
    if (self->known == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int
joint_traverse(Joint *self, visitproc visit, void *arg)
{
    Py_VISIT(self->make);
    Py_VISIT(self->known);
    return 0;
}

static int
joint_clear(Joint *self)
{
    Py_CLEAR(self->make);
    Py_CLEAR(self->known);
    return 0;
}

static void
joint_dealloc(Joint *self)
{
    PyObject_GC_UnTrack(self);
    joint_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

PyTypeObject Joint_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "frameloom.native.Joint",
    .tp_doc = "Joint(make, /)\n--\n\n"
              "Called with a tail record: make(code of its function), remembered; None where there is\n"
              "no room on the stack to make it.",
    .tp_basicsize = sizeof(Joint),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
        | Py_TPFLAGS_IMMUTABLETYPE,
    .tp_vectorcall_offset = offsetof(Joint, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = joint_new,
    .tp_traverse = (traverseproc)joint_traverse,
    .tp_clear = (inquiry)joint_clear,
    .tp_dealloc = (destructor)joint_dealloc,
};

/* ---- functions ---- */

static PyObject *
function_of(PyObject *code, PyObject *globals, PyObject *builtins, PyObject *closure)
{
    if (!PyCode_Check(code) || !PyDict_Check(globals)) {
        PyErr_SetString(PyExc_TypeError, "a code object and a dict of globals expected");
        return NULL;
    }
    Py_ssize_t cells = closure == NULL ? 0 : PyTuple_GET_SIZE(closure);
    if (((PyCodeObject *)code)->co_nfreevars != cells) {
        PyErr_Format(PyExc_ValueError, "%U has %d free variables, not %zd",
                     ((PyCodeObject *)code)->co_qualname, ((PyCodeObject *)code)->co_nfreevars,
                     cells);
        return NULL;
    }
    PyObject *made = PyFunction_New(code, globals);
    if (made == NULL) {
        return NULL;
    }
    PyFunctionObject *function = (PyFunctionObject *)made;
    if (builtins != NULL) {
        Py_INCREF(builtins);
        Py_XSETREF(function->func_builtins, builtins);
    }
    function->func_closure = Py_XNewRef(closure);
    return made;
}

static PyObject *
make_function(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count < 2 || count > 3) {
        PyErr_SetString(PyExc_TypeError, "make_function() takes code, globals and a closure");
        return NULL;
    }
    PyObject *closure = count == 3 && args[2] != Py_None ? args[2] : NULL;
    if (closure != NULL) {
        if (!PyTuple_Check(closure)) {
            PyErr_SetString(PyExc_TypeError, "a closure is a tuple of cells");
            return NULL;
        }
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(closure); i++) {
            if (!PyCell_Check(PyTuple_GET_ITEM(closure, i))) {
                PyErr_SetString(PyExc_TypeError, "a closure is a tuple of cells");
                return NULL;
            }
        }
    }
    return function_of(args[0], args[1], NULL, closure);
}

static Frame *
calling_frame(void)
{
    Frame *frame = current_frame(PyThreadState_Get());
    if (frame == NULL || frame_function(frame) == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "not called from a Python function");
        return NULL;
    }
    return frame;
}

static PyObject *
resume_function(PyObject *Py_UNUSED(module), PyObject *code)
{
    Frame *frame = calling_frame();
    if (frame == NULL) {
        return NULL;
    }
    return function_of(code, frame->f_globals, frame->f_builtins,
                       frame_function(frame)->func_closure);
}

static PyObject *
frame_globals(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    Frame *frame = calling_frame();
    return frame == NULL ? NULL : Py_NewRef(frame->f_globals);
}

/* ---- scopes ---- */

static PyObject *
open_scope(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    Thread *thread = thread_state();
    if (thread->scope.mode == MODE_REPLAYING && thread->scope.running != NULL) {
        scope_open(thread, thread->scope.running);
    }
    Py_RETURN_NONE;
}

static PyObject *
close_scope(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    Thread *thread = thread_state();
    if (thread->scope.mode == MODE_OPEN && thread->scope.running != NULL) {
        scope_use_patience(thread, NULL, 0);
        scope_set_mode(thread, MODE_REPLAYING);
    }
    Py_RETURN_NONE;
}

static PyObject *
in_compiled(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return PyBool_FromLong(thread_state()->depth > 0);
}

static PyObject *
state(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    static const char *const names[] = {
        [MODE_IDLE] = "idle", [MODE_OPEN] = "open", [MODE_REPLAYING] = "replaying",
        [MODE_CAPTURING] = "capturing", [MODE_DISABLED] = "disabled",
    };
    return PyUnicode_FromString(names[thread_state()->scope.mode]);
}

static PyObject *
hook_is_in(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    _PyFrameEvalFunction now = _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get());
    return PyBool_FromLong(now == hook_frame);
}

static PyObject *
call_in_mode(PyObject *const *args, Py_ssize_t count, PyObject *names, Mode mode)
{
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "a function to call expected");
        return NULL;
    }
    Thread *thread = thread_state();
    Scope saved;
    scope_enter(thread, &saved, mode);
    PyObject *result = PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), names);
    scope_leave(thread, &saved);
    return result;
}

static PyObject *
call_disabled(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count,
              PyObject *names)
{
    return call_in_mode(args, count, names, MODE_DISABLED);
}

static PyObject *
call_capturing(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count,
               PyObject *names)
{
    return call_in_mode(args, count, names, MODE_CAPTURING);
}

PyMethodDef tail_methods[] = {
    {"trampoline", (PyCFunction)(void (*)(void))trampoline, METH_FASTCALL | METH_KEYWORDS,
     "trampoline(function, /, *arguments, **names)\n--\n\n"
     "Calls the function, then whatever tail records it leads to, and returns the result.\n"
     "A tail record may stand for function and arguments; it is taken."},
    {"enter", enter, METH_O,
     "enter(record, /)\n--\n\n"
     "Makes the call of a tail record, which is taken, and returns what comes: perhaps a record."},
    {"caught", (PyCFunction)(void (*)(void))caught, METH_FASTCALL,
     "caught(function, /, *arguments)\n--\n\n"
     "A tail record of a frame that an exception's traceback keeps."},
    {"go_on", go_on, METH_O,
     "go_on(items, /)\n--\n\n"
     "As trampoline(*items), for a tuple that the caller has no further use for: it may be emptied."},
    {"take", take, METH_O,
     "take(record, /)\n--\n\n"
     "The function and the arguments of a tail record, as a tuple; the record is taken."},
    {"make_function", (PyCFunction)(void (*)(void))make_function, METH_FASTCALL,
     "make_function(code, globals, closure=None, /)\n--\n\nA function; closure is a tuple of cells."},
    {"resume_function", resume_function, METH_O,
     "resume_function(code, /)\n--\n\n"
     "A function with the globals, builtins and closure of the function that calls this."},
    {"frame_globals", frame_globals, METH_NOARGS,
     "frame_globals()\n--\n\nThe globals of the function that calls this."},
    {"open_scope", open_scope, METH_NOARGS,
     "open_scope()\n--\n\n"
     "Has the frames that the running entry goes on to call looked up, until it returns."},
    {"close_scope", close_scope, METH_NOARGS,
     "close_scope()\n--\n\nTakes open_scope() back."},
    {"in_compiled", in_compiled, METH_NOARGS,
     "in_compiled()\n--\n\nWhether this thread is anywhere below a compiled callable."},
    {"state", state, METH_NOARGS,
     "state()\n--\n\n'idle', 'open', 'replaying', 'capturing' or 'disabled': what this thread does."},
    {"hook_is_in", hook_is_in, METH_NOARGS,
     "hook_is_in()\n--\n\nWhether the frame evaluation function is set, for any thread."},
    {"call_disabled", (PyCFunction)(void (*)(void))call_disabled, METH_FASTCALL | METH_KEYWORDS,
     "call_disabled(function, /, *arguments, **names)\n--\n\nCalls with no frame looked up below."},
    {"call_capturing", (PyCFunction)(void (*)(void))call_capturing, METH_FASTCALL | METH_KEYWORDS,
     "call_capturing(function, /, *arguments, **names)\n--\n\n"
     "Calls as the engine's own code: compiled callables below run eagerly too."},
    {NULL},
};
