/* What an iterator over a dictionary gives next, read without moving it. */
#include "native.h"

/* Laid out so in 3.11 to 3.13. */
typedef struct {
    PyObject_HEAD
    PyObject *dict; /* NULL once nothing is left */
    Py_ssize_t used;
    Py_ssize_t position;
    PyObject *result; /* a tuple to use again */
    Py_ssize_t left; /* how many entries it expects */
} DictIterator;

static int
is_dict_iterator(PyObject *object)
{
    return Py_IS_TYPE(object, &PyDictIterKey_Type) || Py_IS_TYPE(object, &PyDictIterValue_Type)
        || Py_IS_TYPE(object, &PyDictIterItem_Type);
}

static PyObject *
dict_ahead(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !is_dict_iterator(args[0])) {
        PyErr_SetString(PyExc_TypeError, "dict_ahead() takes an iterator of a dict and a number");
        return NULL;
    }
    Py_ssize_t further = PyLong_AsSsize_t(args[1]);
    if (further < 0) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "dict_ahead() does not look back");
        }
        return NULL;
    }
    DictIterator *iterator = (DictIterator *)args[0];
    if (iterator->dict == NULL) {
        Py_RETURN_NONE;
    }
    if (iterator->used != PyDict_GET_SIZE(iterator->dict)) {
        PyErr_SetString(PyExc_LookupError, "the dictionary has changed its size");
        return NULL;
    }
    PyObject *key, *value;
    Py_ssize_t position = iterator->position;
    for (Py_ssize_t number = 0; number <= further; number++) {
        if (!PyDict_Next(iterator->dict, &position, &key, &value)) {
            Py_RETURN_NONE;
        }
    }
    if (further >= iterator->left) {
        PyErr_SetString(PyExc_LookupError, "the dictionary has other keys");
        return NULL;
    }
    return PyTuple_Pack(2, key, value);
}

static PyObject *
dict_iterated(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (!is_dict_iterator(object)) {
        PyErr_SetString(PyExc_TypeError, "dict_iterated() takes an iterator of a dict");
        return NULL;
    }
    PyObject *dict = ((DictIterator *)object)->dict;
    return Py_NewRef(dict == NULL ? Py_None : dict);
}

PyMethodDef ahead_methods[] = {
    {"dict_ahead", (PyCFunction)(void (*)(void))dict_ahead, METH_FASTCALL,
     "dict_ahead(iterator, number, /)\n--\n\n"
     "The entry (key, value) that an iterator over the keys, values or items of a dict gives after\n"
     "`number` others, or None where there are not so many. The iterator stays where it is. Raises\n"
     "LookupError where its dict has changed its size or keys, which ends it with an error."},
    {"dict_iterated", dict_iterated, METH_O,
     "dict_iterated(iterator, /)\n--\n\n"
     "The dict that such an iterator is about, None once nothing is left."},
    {NULL},
};
