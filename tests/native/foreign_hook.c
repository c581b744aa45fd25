/* Another engine's frame evaluation hook, as torch's is: remembers what was
 * set when it came, counts frames, and passes them on. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interp.h>

struct _PyInterpreterFrame;
static _PyFrameEvalFunction before;
static Py_ssize_t frames;

static PyObject *
evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag)
{
    frames++;
    return before(tstate, frame, throwflag);
}

static PyObject *
put_in(PyObject *module, PyObject *unused)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    _PyFrameEvalFunction now = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    if (now != evaluate) {
        before = now;
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
    }
    Py_RETURN_NONE;
}

static PyObject *
take_out(PyObject *module, PyObject *unused)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), before);
    Py_RETURN_NONE;
}

/* What was set before any test: plain Python. */
static PyObject *
nobody(PyObject *module, PyObject *unused)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), _PyEval_EvalFrameDefault);
    Py_RETURN_NONE;
}

static PyObject *
is_in(PyObject *module, PyObject *unused)
{
    return PyBool_FromLong(_PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get()) == evaluate);
}

static PyObject *
count(PyObject *module, PyObject *unused)
{
    Py_ssize_t seen = frames;
    frames = 0;
    return PyLong_FromSsize_t(seen);
}

static PyMethodDef methods[] = {
    {"put_in", put_in, METH_NOARGS, NULL},
    {"take_out", take_out, METH_NOARGS, NULL},
    {"nobody", nobody, METH_NOARGS, NULL},
    {"is_in", is_in, METH_NOARGS, NULL},
    {"count", count, METH_NOARGS, NULL},
    {NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "foreign_hook", NULL, -1, methods};

PyMODINIT_FUNC
PyInit_foreign_hook(void)
{
    return PyModule_Create(&definition);
}
