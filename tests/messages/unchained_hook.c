/* A frame evaluation hook of an engine that thinks of no other: it evaluates
 * every frame itself and calls no hook that was there before. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interp.h>

struct _PyInterpreterFrame;

static PyObject *
evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag)
{
    return _PyEval_EvalFrameDefault(tstate, frame, throwflag);
}

static PyObject *
put_in(PyObject *module, PyObject *unused)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), evaluate);
    Py_RETURN_NONE;
}

static PyObject *
take_out(PyObject *module, PyObject *unused)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), _PyEval_EvalFrameDefault);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"put_in", put_in, METH_NOARGS, NULL},
    {"take_out", take_out, METH_NOARGS, NULL},
    {NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "unchained_hook", NULL, -1, methods};

PyMODINIT_FUNC
PyInit_unchained_hook(void)
{
    return PyModule_Create(&definition);
}
