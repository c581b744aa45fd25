/* Reads of CPython's storages that cannot run Python code. */
#ifndef FRAMELOOM_STORAGE_H
#define FRAMELOOM_STORAGE_H

#include "native.h"

/* A key to look for, with its hash and where it was found last. */
typedef struct {
    PyObject *object;
    Py_hash_t hash;
    Py_ssize_t hint;
} Key;

/* 1 equal, 0 different, -1 only Python code could tell. */
int safe_equal(PyObject *one, PyObject *other);

/* True for exact str, bytes, numbers, None and tuples of these. */
int is_plain_key(PyObject *key);

typedef enum { LOOK_ABSENT, LOOK_FOUND, LOOK_UNSURE } Look;

/* Finds the value of a key, borrowed, in the storage of a dict (of a subclass
 * too), in an instance's own attributes, or whether a set has an element. */
Look dict_look(PyObject *dict, Key *key, PyObject **value);
Look attribute_look(PyObject *object, Key *name, PyObject **value);
Look set_look(PyObject *set, PyObject *object, Py_hash_t hash);

/* Length of a container's storage, -1 when it has none that is known. */
Py_ssize_t storage_length(PyObject *object);

/* Key number index of a dict's storage, borrowed, or NULL. */
PyObject *dict_key_at(PyObject *dict, Py_ssize_t index);

/* Whether `__dict__` of an instance is its dict of attributes, exactly a dict, or
 * one that would be made now. */
int attributes_are_plain(PyObject *object);
int instance_keys_are(PyObject *object, PyObject *keys);
int dict_keys_are(PyObject *dict, PyObject *keys);
int dict_key_set_is(PyObject *dict, PyObject *keys, const Py_hash_t *hashes);
int odict_keys_are(PyObject *odict, PyObject *keys);
int set_is(PyObject *set, PyObject *elements, const Py_hash_t *hashes);
int set_order_is(PyObject *set, PyObject *elements);

int storage_setup(void);

#endif
