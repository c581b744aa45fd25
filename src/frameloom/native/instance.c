/* An instance's own attributes. Reading them for the tracer: no Python code runs
 * and no dictionary comes into being. And what generated code makes instances
 * with: `object.__new__` and `object.__setattr__` as calls that make no tuple of
 * their arguments, a third of the time of the slot wrappers. */
#include "native.h"

static int
has_own_attributes(PyObject *object)
{
    return !PyType_Check(object);
}

static int
same_name(PyObject *key, PyObject *name)
{
    return key == name
        || (key != NULL && PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0);
}

/* The value under a name among the values that an instance keeps in itself,
 * borrowed, or NULL. */
static PyObject *
value_of_instance(PyObject **values, PyDictKeysObject *keys, PyObject *name)
{
    PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
    for (Py_ssize_t i = 0; i < keys->dk_nentries; i++) {
        if (same_name(entries[i].me_key, name)) {
            return values[i];
        }
    }
    return NULL;
}

/* The value under a name in a dictionary, borrowed, or NULL, with an exception
 * where keys are no str: eager's look-up could call their methods. */
static PyObject *
value_of_dict(PyObject *dict, PyObject *name)
{
    if (DK_IS_UNICODE(((PyDictObject *)dict)->ma_keys)) {
        PyObject *found = PyDict_GetItemWithError(dict, name);
        return found;
    }
    Py_ssize_t at = 0;
    PyObject *key, *value, *found = NULL;
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (!PyUnicode_CheckExact(key)) {
            PyErr_SetString(PyExc_LookupError, "an object has names that are no str");
            return NULL;
        }
        if (same_name(key, name)) {
            found = value;
        }
    }
    return found;
}

static PyObject *
names_of_instance(PyObject *object, PyDictKeysObject *keys)
{
    Py_ssize_t count = instance_value_count(object);
    PyObject *names = PyTuple_New(count);
    for (Py_ssize_t i = 0; names != NULL && i < count; i++) {
        PyObject *key = DK_UNICODE_ENTRIES(keys)[instance_value_place(object, i)].me_key;
        PyTuple_SET_ITEM(names, i, Py_NewRef(key));
    }
    return names;
}

static PyObject *
instance_dict_get(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "instance_dict_get() takes an object, a str and a default");
        return NULL;
    }
    PyObject *object = args[0], *found = NULL;
    if (has_own_attributes(object)) {
        PyDictKeysObject *keys;
        PyObject *dict = instance_dict(object);
        PyObject **values = dict == NULL ? instance_values(object, &keys) : NULL;
        if (dict != NULL) {
            found = value_of_dict(dict, args[1]);
        }
        else if (values != NULL) {
            found = value_of_instance(values, keys, args[1]);
        }
    }
    if (found == NULL && PyErr_Occurred()) {
        return NULL;
    }
    return Py_NewRef(found == NULL ? args[2] : found);
}

/* What a look-up of a name along the classes finds, without the type cache,
 * whose miss may call __eq__ of odd keys. A class whose mro() still runs has
 * no classes to look along. */
static PyObject *
class_lookup(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyType_Check(args[0]) || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "class_lookup() takes a class, a str and a default");
        return NULL;
    }
    PyObject *mro = ((PyTypeObject *)args[0])->tp_mro;
    for (Py_ssize_t i = 0; mro != NULL && i < PyTuple_GET_SIZE(mro); i++) {
        PyObject *dict = type_dict((PyTypeObject *)PyTuple_GET_ITEM(mro, i));
        if (dict == NULL) {
            continue;
        }
        if (!DK_IS_UNICODE(((PyDictObject *)dict)->ma_keys)) {
            PyErr_SetString(PyExc_LookupError, "a class has names that are no str");
            return NULL;
        }
        PyObject *found = PyDict_GetItemWithError(dict, args[1]);
        if (found != NULL) {
            return Py_NewRef(found);
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    return Py_NewRef(args[2]);
}

/* Take a class out of what __subclasses__() of a base gives. CPython does not
 * mind when the class dies and is not there. */
static PyObject *
forget_subclass(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyType_Check(args[0]) || !PyType_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "forget_subclass() takes two classes");
        return NULL;
    }
    PyObject *subclasses = type_subclasses((PyTypeObject *)args[0]);
    if (subclasses == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *key = PyLong_FromVoidPtr(args[1]);
    if (key == NULL) {
        return NULL;
    }
    if (PyDict_DelItem(subclasses, key) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_KeyError)) {
            Py_DECREF(key);
            return NULL;
        }
        PyErr_Clear();
    }
    Py_DECREF(key);
    Py_RETURN_NONE;
}

static int
can_have_dict(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    return type->tp_dictoffset != 0 || (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) != 0;
}

static PyObject *
instance_dict_names(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (!has_own_attributes(object) || !can_have_dict(object)) {
        Py_RETURN_NONE;
    }
    PyDictKeysObject *keys;
    PyObject *dict = instance_dict(object);
    if (dict != NULL) {
        PyObject *list = PyDict_Keys(dict);
        PyObject *names = list == NULL ? NULL : PyList_AsTuple(list);
        Py_XDECREF(list);
        return names;
    }
    if (instance_values(object, &keys) != NULL) {
        return names_of_instance(object, keys);
    }
    return PyTuple_New(0);
}

/* The dict of an object's own attributes, None where nobody has asked for it yet. */
static PyObject *
instance_dict_made(PyObject *Py_UNUSED(module), PyObject *object)
{
    PyObject *dict = has_own_attributes(object) ? instance_dict(object) : NULL;
    return Py_NewRef(dict == NULL ? Py_None : dict);
}

static PyObject *
is_interned(PyObject *Py_UNUSED(module), PyObject *text)
{
    return PyBool_FromLong(PyUnicode_Check(text) && PyUnicode_CHECK_INTERNED(text));
}

/* What `tp_new` of a class is whose `__new__` is Python's; NULL with an exception. */
static newfunc
new_of_python(void)
{
    static newfunc found;
    if (found == NULL) {
        PyObject *probe = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){sO}", "probe", "__new__", Py_None);
        found = probe == NULL ? NULL : ((PyTypeObject *)probe)->tp_new;
        Py_XDECREF(probe);
    }
    return found;
}

/* Refuses what `object.__new__` refuses: a class that stands on one of C with a
 * `tp_new` of its own. */
static PyObject *
object_new(PyObject *Py_UNUSED(module), PyObject *cls)
{
    newfunc python = new_of_python();
    PyTypeObject *base = PyType_Check(cls) && python != NULL ? (PyTypeObject *)cls : NULL;
    while (base != NULL && base->tp_new == python) {
        base = base->tp_base;
    }
    if (base == NULL || base->tp_new != PyBaseObject_Type.tp_new) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "object_new() takes a class that stands on no other of C");
    }
    PyObject *nothing = PyTuple_New(0);
    PyObject *made = nothing == NULL ? NULL : PyBaseObject_Type.tp_new((PyTypeObject *)cls, nothing, NULL);
    Py_XDECREF(nothing);
    return made;
}

static PyObject *
object_setattr(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "object_setattr() takes an object, a str and a value");
        return NULL;
    }
    if (PyType_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "object_setattr() takes no class");
        return NULL;
    }
    if (PyObject_GenericSetAttr(args[0], args[1], args[2]) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef instance_methods[] = {
    {"object_new", object_new, METH_O,
     "object_new(cls, /)\n--\n\n`object.__new__(cls)`."},
    {"object_setattr", (PyCFunction)(void (*)(void))object_setattr, METH_FASTCALL,
     "object_setattr(object, name, value, /)\n--\n\n`object.__setattr__(object, name, value)`, of no class."},
    {"is_interned", is_interned, METH_O,
     "is_interned(text, /)\n--\n\n"
     "Whether a str is the one object that CPython keeps for its value."},
    {"class_lookup", (PyCFunction)(void (*)(void))class_lookup, METH_FASTCALL,
     "class_lookup(cls, name, default, /)\n--\n\n"
     "What is found under a name along the classes of `cls`, unbound, or the default. Raises\n"
     "LookupError where one of the classes has keys that are no str: comparing them may run code."},
    {"forget_subclass", (PyCFunction)(void (*)(void))forget_subclass, METH_FASTCALL,
     "forget_subclass(base, cls, /)\n--\n\n"
     "Take a class out of `base.__subclasses__()`, if it is there. What changes in the base is then not\n"
     "told to the class: only for one that the program never sees."},
    {"instance_dict_get", (PyCFunction)(void (*)(void))instance_dict_get, METH_FASTCALL,
     "instance_dict_get(object, name, default, /)\n--\n\n"
     "The value under a name in the object's own dictionary, without making that exist. A class\n"
     "is no instance: it gives the default."},
    {"instance_dict_names", instance_dict_names, METH_O,
     "instance_dict_names(object, /)\n--\n\n"
     "The keys of the object's own dictionary in order; None where it can have none, as for a class."},
    {"instance_dict_made", instance_dict_made, METH_O,
     "instance_dict_made(object, /)\n--\n\n"
     "The object's own dictionary where it exists, else None; it is not made."},
    {NULL},
};
