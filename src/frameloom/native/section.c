/* Sections of a compiled generator: from where it goes on to where it is
 * suspended, returns or raises.
 *
 * A generator runs for whoever consumes it, when no compiled callable is on the
 * stack. Its code is a copy of the user's that opens a scope at the beginning
 * of each section and closes it at the end (`codegen/sections.py`), so that
 * what it calls is looked up. Sections of one thread nest: each has its frame. */
#include "native.h"

typedef struct Section {
    struct Section *outer;
    Frame *frame;
    Engine *engine;
    Scope saved;
    int32_t patience;
} Section;

static _Thread_local Section *innermost;

/* Whether frames that the generator calls are to be looked up. Where something
 * compiled runs already, that decides. */
static int
may_open(Thread *thread, PyThreadState *tstate)
{
    return thread->scope.mode == MODE_IDLE && tstate->c_tracefunc == NULL
        && hook_supported_here(tstate) && !stance_is_eager();
}

static PyObject *
open_section(PyObject *Py_UNUSED(module), PyObject *reference)
{
    Thread *thread = thread_state();
    PyThreadState *tstate = PyThreadState_Get();
    if (!PyWeakref_CheckRefExact(reference) || !may_open(thread, tstate)) {
        Py_RETURN_NONE;
    }
    PyObject *engine = weak_referent(reference);
    if (engine == NULL || Py_TYPE(engine) != &Engine_Type) {
        Py_RETURN_NONE;
    }
    Section *section = PyMem_Malloc(sizeof(Section));
    if (section == NULL) {
        return PyErr_NoMemory();
    }
    section->outer = innermost;
    section->frame = current_frame(tstate);
    section->engine = (Engine *)Py_NewRef(engine);
    section->patience = PATIENCE;
    scope_enter(thread, &section->saved, MODE_OPEN);
    thread->scope.engine = section->engine;
    thread->scope.running = NULL;
    scope_use_patience(thread, &section->patience, PATIENCE);
    thread->depth++;
    innermost = section;
    Py_RETURN_NONE;
}

static PyObject *
close_section(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    Thread *thread = thread_state();
    Section *section = innermost;
    if (section == NULL || section->frame != current_frame(PyThreadState_Get())) {
        Py_RETURN_NONE;
    }
    innermost = section->outer;
    thread->depth--;
    scope_leave(thread, &section->saved);
    Engine *engine = section->engine;
    PyMem_Free(section);
    Py_DECREF(engine);
    Py_RETURN_NONE;
}

/* The user's function with other code: what it makes has the name of the
 * user's, and takes the same arguments. */
PyObject *
function_with_code(PyFunctionObject *function, PyObject *code)
{
    PyFunctionObject *made = (PyFunctionObject *)PyFunction_New(code, function->func_globals);
    if (made == NULL) {
        return NULL;
    }
    Py_XSETREF(made->func_builtins, Py_XNewRef(function->func_builtins));
    Py_XSETREF(made->func_closure, Py_XNewRef(function->func_closure));
    Py_XSETREF(made->func_defaults, Py_XNewRef(function->func_defaults));
    Py_XSETREF(made->func_kwdefaults, Py_XNewRef(function->func_kwdefaults));
    Py_XSETREF(made->func_name, Py_XNewRef(function->func_name));
    Py_XSETREF(made->func_qualname, Py_XNewRef(function->func_qualname));
    return (PyObject *)made;
}

PyMethodDef section_methods[] = {
    {"open_section", open_section, METH_O,
     "open_section(engine, /)\n--\n\n"
     "Has what the calling frame goes on to call looked up with the engine, a weak reference, until\n"
     "it calls close_section(). Nothing happens where something compiled runs already."},
    {"close_section", close_section, METH_NOARGS,
     "close_section()\n--\n\nTakes open_section() back, if the calling frame has made it."},
    {NULL},
};
