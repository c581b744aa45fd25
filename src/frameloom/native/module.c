/* The extension module frameloom.native._native. */
#include "native.h"
#include "storage.h"
#include "tensor.h"

static PyMethodDef engine_functions[] = {
    {"reset", engine_reset_all, METH_NOARGS,
     "reset()\n--\n\nForgets the entries, decisions and notices of every engine."},
    {NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "frameloom.native._native",
    .m_doc = "Frame hook, entries, tail records and guard programs.",
    .m_size = -1,
};

static PyTypeObject *const public_types[] = {
    &Engine_Type, &Entry_Type, &Slot_Type, &Tail_Type, &Joint_Type, &Callable_Type,
    &GuardProgram_Type,
};

static int
fill(PyObject *module)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(public_types); i++) {
        if (PyModule_AddType(module, public_types[i]) < 0) {
            return -1;
        }
    }
    if (PyType_Ready(&Decision_Type) < 0 || entry_setup(module) < 0
        || storage_setup() < 0) {
        return -1;
    }
    return PyModule_AddFunctions(module, engine_functions) < 0
        || PyModule_AddFunctions(module, tail_methods) < 0
        || PyModule_AddFunctions(module, section_methods) < 0
        || PyModule_AddFunctions(module, tensor_methods) < 0
        || PyModule_AddFunctions(module, instance_methods) < 0
        || PyModule_AddFunctions(module, storage_methods) < 0
        || PyModule_AddFunctions(module, keyed_methods) < 0
        || PyModule_AddFunctions(module, stance_methods) < 0
        || PyModule_AddFunctions(module, ahead_methods) < 0 ? -1 : 0;
}

PyMODINIT_FUNC
PyInit__native(void)
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "frameloom works in the main interpreter only");
        return NULL;
    }
    PyObject *module = PyModule_Create(&module_def);
    if (module != NULL && fill(module) < 0) {
        Py_CLEAR(module);
    }
    return module;
}
