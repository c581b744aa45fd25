/* Whether the program has asked that all runs as it is for a while. */
#include "native.h"

static PyObject *stance_variable;  /* a ContextVar that is True then; NULL: nobody ever asked */

int
stance_is_eager(void)
{
    PyObject *found = NULL;
    if (stance_variable == NULL) {
        return 0;
    }
    if (PyContextVar_Get(stance_variable, Py_False, &found) < 0) {
        PyErr_Clear();
        return 0;
    }
    int eager = found == Py_True;
    Py_XDECREF(found);
    return eager;
}

static PyObject *
stance_watch(PyObject *Py_UNUSED(module), PyObject *variable)
{
    if (!PyContextVar_CheckExact(variable)) {
        PyErr_SetString(PyExc_TypeError, "watch_stance() takes a ContextVar");
        return NULL;
    }
    Py_XSETREF(stance_variable, Py_NewRef(variable));
    Py_RETURN_NONE;
}

PyMethodDef stance_methods[] = {
    {"watch_stance", stance_watch, METH_O,
     "watch_stance(variable, /)\n--\n\nWhere the ContextVar is True compiled callables run as they are."},
    {NULL},
};
