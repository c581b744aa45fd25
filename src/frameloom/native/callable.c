/* A compiled callable: calls what it wraps with the first frame looked up. */
#include "native.h"
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    PyObject *function;
    PyObject *engine;        /* Engine, or None: disabled below */
    PyObject *in_sections;   /* of a generator: its code, and a copy that opens sections; or NULL */
    PyObject *dict;
    PyObject *weak_list;
    vectorcallfunc call;
    int32_t patience;        /* of frames below a wrapped object that is no function */
} Callable;

/* The reason to run this call without the hook, told to the engine. */
static int
must_stay_eager(Thread *thread, Callable *self, Engine *engine)
{
    PyThreadState *tstate = PyThreadState_Get();
    if (thread->scope.mode == MODE_CAPTURING) {
        engine->busy++;
        engine_notice(engine, NOTICE_BUSY);
        return 1;
    }
    if (self->patience <= 0 || stance_is_eager()) {
        return 1;
    }
    if (tstate->c_tracefunc != NULL) {
        engine->tracing++;
        engine_notice(engine, NOTICE_TRACING);
        return 1;
    }
    if (!hook_supported_here(tstate)) {
        engine->interpreter++;
        engine_notice(engine, NOTICE_INTERPRETER);
        return 1;
    }
    return 0;
}

/* Whether a call begins with a frame that the hook would take. */
static int
is_function_of_its_own(PyObject *function)
{
    return PyFunction_Check(function)
        && (((PyCodeObject *)PyFunction_GET_CODE(function))->co_flags & GENERATOR_FLAGS) == 0;
}

/* The function to call, as a new reference: that of a generator has the code
 * that opens sections, while its own is that from which this was made. */
static PyObject *
function_to_call(Callable *self)
{
    PyObject *function = self->function, *pair = self->in_sections;
    if (pair == NULL || !PyFunction_Check(function) || !PyTuple_CheckExact(pair)
        || PyFunction_GET_CODE(function) != PyTuple_GET_ITEM(pair, 0)) {
        return Py_NewRef(function);
    }
    return function_with_code((PyFunctionObject *)function, PyTuple_GET_ITEM(pair, 1));
}

static PyObject *
call_compiled(Thread *thread, Callable *self, PyObject *const *args, size_t nargsf,
              PyObject *names)
{
    Engine *engine = (Engine *)Py_NewRef(self->engine);
    int is_eager = must_stay_eager(thread, self, engine);
    PyObject *function = is_eager ? Py_NewRef(self->function) : function_to_call(self);
    PyObject *result = NULL;
    thread->depth++;
    if (is_eager) {
        result = PyObject_Vectorcall(function, args, nargsf, names);
    }
    else if (function != NULL) {
        Scope saved;
        scope_enter(thread, &saved, MODE_OPEN);
        thread->scope.engine = engine;
        thread->scope.running = NULL;
        /* A function's own frame is always looked up; see run_eagerly for the rest. */
        scope_use_patience(thread, PyFunction_Check(function) ? NULL : &self->patience, PATIENCE);
        result = call_handed(thread, function, args, nargsf, names, NULL);
        if (thread->unseen && is_function_of_its_own(function) && !hook_is_set()) {
            engine->unseen++;
            engine_notice(engine, NOTICE_UNSEEN);
        }
        result = tail_run(thread, result);
        scope_leave(thread, &saved);
    }
    thread->depth--;
    Py_DECREF(engine);
    Py_XDECREF(function);
    return result;
}

static PyObject *
callable_call(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Callable *self = (Callable *)object;
    Thread *thread = thread_state();
    if (self->engine != Py_None) {
        return call_compiled(thread, self, args, nargsf, names);
    }
    Scope saved;
    scope_enter(thread, &saved, MODE_DISABLED);
    PyObject *result = PyObject_Vectorcall(self->function, args, nargsf, names);
    scope_leave(thread, &saved);
    return result;
}

static PyObject *
callable_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *function, *engine;
    if (!PyArg_ParseTuple(args, "OO:Callable", &function, &engine)) {
        return NULL;
    }
    if (!PyCallable_Check(function)) {
        PyErr_SetString(PyExc_TypeError, "Callable() wraps a callable");
        return NULL;
    }
    if (engine != Py_None && Py_TYPE(engine) != &Engine_Type) {
        PyErr_SetString(PyExc_TypeError, "Callable() takes an Engine or None");
        return NULL;
    }
    Callable *self = (Callable *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->function = Py_NewRef(function);
    self->engine = Py_NewRef(engine);
    self->call = callable_call;
    self->patience = PATIENCE;
    return (PyObject *)self;
}

static int
callable_traverse(Callable *self, visitproc visit, void *arg)
{
    Py_VISIT(self->function);
    Py_VISIT(self->engine);
    Py_VISIT(self->in_sections);
    Py_VISIT(self->dict);
    return 0;
}

static int
callable_clear(Callable *self)
{
    Py_CLEAR(self->function);
    Py_CLEAR(self->engine);
    Py_CLEAR(self->in_sections);
    Py_CLEAR(self->dict);
    return 0;
}

static void
callable_dealloc(Callable *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weak_list != NULL) {
        PyObject_ClearWeakRefs((PyObject *)self);
    }
    callable_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
callable_get(PyObject *self, PyObject *object, PyObject *Py_UNUSED(type))
{
    if (object == NULL || object == Py_None) {
        return Py_NewRef(self);
    }
    return PyMethod_New(self, object);
}

static PyObject *
callable_repr(Callable *self)
{
    return PyUnicode_FromFormat(self->engine == Py_None ? "<disabled %R>" : "<compiled %R>",
                                self->function);
}

static PyMemberDef callable_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(Callable, function), READONLY, "what is called"},
    {"engine", T_OBJECT, offsetof(Callable, engine), READONLY, "the Engine, or None: disabled"},
    {"in_sections", T_OBJECT, offsetof(Callable, in_sections), 0,
     "of a generator function: a tuple of its code and of the code that is called in its place"},
    {NULL},
};

static PyGetSetDef callable_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL},
};

PyTypeObject Callable_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "frameloom.native.Callable",
    .tp_doc = "Callable(function, engine, /)\n--\n\n"
              "Calls function; the frame of it, and of what it calls while it runs eagerly, is looked\n"
              "up with the engine. With None nothing below is. Binds like a method, takes attributes\n"
              "and weak references.",
    .tp_basicsize = sizeof(Callable),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE
        | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE,
    .tp_vectorcall_offset = offsetof(Callable, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = callable_new,
    .tp_dealloc = (destructor)callable_dealloc,
    .tp_traverse = (traverseproc)callable_traverse,
    .tp_clear = (inquiry)callable_clear,
    .tp_weaklistoffset = offsetof(Callable, weak_list),
    .tp_dictoffset = offsetof(Callable, dict),
    .tp_descr_get = callable_get,
    .tp_repr = (reprfunc)callable_repr,
    .tp_members = callable_members,
    .tp_getset = callable_getset,
};
