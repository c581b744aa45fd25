#include "native.h"
PyTypeObject GuardProgram_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "frameloom.native.GuardProgram",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
};
int guards_check(GuardProgram *program, const GuardScope *scope) { (void)program; (void)scope; return -1; }
