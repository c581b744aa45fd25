/* Entries, the slots their code reaches values through, and what a code object
 * knows of them.
 *
 * Code objects are not tracked by the collector, so nothing that a user's
 * object can be reached from may be owned by one. The code object's extra word
 * holds a list of CodeSlots without owning an entry for itself: an entry is
 * owned by the engine (which the collector sees), and goes when its code object
 * or its engine goes. For the same reason generated code does not have the
 * graph among its constants but a Slot, which the entry fills with the graph
 * for as long as the entry lives. */
#include "native.h"
#include <structmember.h>

static Py_ssize_t extra_index = -1;

/* ---- Slot ---- */

typedef struct {
    PyObject_HEAD
    PyObject *value;         /* borrowed from the entry that owns it */
    int weak;                /* the value is a weak reference to what is meant */
    vectorcallfunc call;
} Slot;

static PyObject *
weak_target(PyObject *reference)
{
    PyObject *target = ((PyWeakReference *)reference)->wr_object;
    return target == Py_None ? NULL : Py_NewRef(target);
}

/* What the slot stands for, a new reference. */
static PyObject *
slot_value(Slot *self)
{
    PyObject *value = self->value;
    if (value != NULL && self->weak) {
        value = weak_target(value);
    }
    else {
        Py_XINCREF(value);
    }
    if (value == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "what filled this slot is gone");
    }
    return value;
}

static PyObject *
slot_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    PyObject *value = slot_value((Slot *)self);
    if (value == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_Vectorcall(value, args, nargsf, names);
    Py_DECREF(value);
    return result;
}

static PyObject *
slot_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"weak", NULL};
    int weak = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:Slot", names, &weak)) {
        return NULL;
    }
    Slot *self = (Slot *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->call = slot_call;
        self->weak = weak;
    }
    return (PyObject *)self;
}

static PyObject *
slot_get(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return slot_value((Slot *)self);
}

static PyMethodDef slot_methods[] = {
    {"get", slot_get, METH_NOARGS,
     "get()\n--\n\nThe value. Raises RuntimeError when the entry is gone."},
    {NULL},
};

PyTypeObject Slot_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "frameloom.native.Slot",
    .tp_doc = "Slot(weak=False)\n--\n\nA constant for generated code. Calling it calls the value that an "
              "entry put in; the slot does not own it. What is put into a weak one is a weak reference.",
    .tp_basicsize = sizeof(Slot),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    .tp_vectorcall_offset = offsetof(Slot, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = slot_new,
    .tp_methods = slot_methods,
};

/* ---- decisions ---- */

typedef struct {
    PyObject_HEAD
    const char *name;
} DecisionObject;

static PyObject *
decision_repr(PyObject *self)
{
    return PyUnicode_FromString(((DecisionObject *)self)->name);
}

PyTypeObject Decision_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "frameloom.native.Decision",
    .tp_doc = "What a compile callback may say instead of an entry, for good.",
    .tp_basicsize = sizeof(DecisionObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .tp_repr = decision_repr,
};

PyObject *decision_skip;
PyObject *decision_skip_below;

static PyObject *
decision_make(const char *name)
{
    DecisionObject *made = PyObject_New(DecisionObject, &Decision_Type);
    if (made != NULL) {
        made->name = name;
    }
    return (PyObject *)made;
}

/* ---- lists of entries ---- */

static EntryList *
entry_list_new(Py_ssize_t count)
{
    EntryList *list = PyMem_Malloc(sizeof(EntryList) + (size_t)count * sizeof(Entry *));
    if (list == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    list->references = 1;
    list->count = count;
    return list;
}

EntryList *
entry_list_share(CodeSlot *slot)
{
    EntryList *list = slot->entries;
    if (list != NULL) {
        list->references++;
    }
    return list;
}

void
entry_list_release(EntryList *list)
{
    if (list == NULL || --list->references > 0) {
        return;
    }
    for (Py_ssize_t i = 0; i < list->count; i++) {
        Py_DECREF(list->items[i]);
    }
    PyMem_Free(list);
}

/* A list of one slot's entries with this one first (or without it). */
static EntryList *
entry_list_around(EntryList *old, Entry *entry, int with)
{
    Py_ssize_t others = 0;
    Py_ssize_t count = old == NULL ? 0 : old->count;
    for (Py_ssize_t i = 0; i < count; i++) {
        others += old->items[i] != entry;
    }
    EntryList *list = entry_list_new(others + with);
    if (list == NULL) {
        return NULL;
    }
    Entry **place = list->items;
    if (with) {
        *place++ = (Entry *)Py_NewRef(entry);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (old->items[i] != entry) {
            *place++ = (Entry *)Py_NewRef(old->items[i]);
        }
    }
    return list;
}

static int
entry_list_replace(CodeSlot *slot, Entry *entry, int with)
{
    EntryList *old = slot->entries;
    EntryList *list = entry_list_around(old, entry, with);
    if (list == NULL) {
        return -1;
    }
    slot->entries = list;
    entry_list_release(old);
    return 0;
}

/* Lists an entry, newest first. */
int
entry_publish(CodeSlot *slot, Entry *entry)
{
    if (entry->home != NULL && entry->home != slot) {
        PyErr_SetString(PyExc_ValueError, "the entry is listed for other code");
        return -1;
    }
    if (entry_list_replace(slot, entry, 1) < 0) {
        return -1;
    }
    entry->home = slot;
    return 0;
}

/* Puts an entry that was hit twice in a row, behind others, to the front. */
void
entry_promote(CodeSlot *slot, Entry *entry)
{
    if (slot->candidate != entry) {
        slot->candidate = entry;
        return;
    }
    if (entry->home == slot && entry_list_replace(slot, entry, 1) < 0) {
        PyErr_Clear();  /* out of memory: the old order serves as well */
    }
}

/* Forgets everything about a code object; what runs goes on. */
void
slot_reset(CodeSlot *slot)
{
    EntryList *list = slot->entries;
    slot->entries = NULL;
    slot->candidate = NULL;
    slot->decision = DECISION_NONE;
    slot->patience = PATIENCE;
    if (list != NULL) {
        for (Py_ssize_t i = 0; i < list->count; i++) {
            list->items[i]->home = NULL;
        }
        entry_list_release(list);
    }
}

/* ---- slots of a code object ---- */

/* The extra word of a code object points to a CodeSlot list head. */
typedef struct {
    CodeSlot *first;
} CodeState;

CodeSlot *
code_slot(PyCodeObject *code, Engine *engine, int create)
{
    CodeState *state = code_extra(code, extra_index);
    for (CodeSlot *slot = state == NULL ? NULL : state->first; slot != NULL;
         slot = slot->next_of_code) {
        if (slot->engine == engine) {
            return slot;
        }
    }
    if (!create) {
        return NULL;
    }
    if (state == NULL) {
        state = PyMem_Calloc(1, sizeof(CodeState));
        if (state == NULL || set_code_extra(code, extra_index, state) < 0) {
            PyMem_Free(state);
            PyErr_NoMemory();
            return NULL;
        }
    }
    CodeSlot *slot = PyMem_Calloc(1, sizeof(CodeSlot));
    if (slot == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    slot->engine = engine;
    slot->patience = PATIENCE;
    slot->next_of_code = state->first;
    slot->link_of_code = &state->first;
    slot->next_of_engine = engine->slots;
    slot->link_of_engine = &engine->slots;
    if (slot->next_of_code != NULL) {
        slot->next_of_code->link_of_code = &slot->next_of_code;
    }
    if (slot->next_of_engine != NULL) {
        slot->next_of_engine->link_of_engine = &slot->next_of_engine;
    }
    state->first = slot;
    engine->slots = slot;
    return slot;
}

void
slot_free(CodeSlot *slot)
{
    *slot->link_of_code = slot->next_of_code;
    if (slot->next_of_code != NULL) {
        slot->next_of_code->link_of_code = slot->link_of_code;
    }
    *slot->link_of_engine = slot->next_of_engine;
    if (slot->next_of_engine != NULL) {
        slot->next_of_engine->link_of_engine = slot->link_of_engine;
    }
    slot_reset(slot);
    PyMem_Free(slot);
}

/* Called by CPython when a code object goes. */
static void
code_state_free(void *extra)
{
    CodeState *state = extra;
    while (state != NULL && state->first != NULL) {
        slot_free(state->first);
    }
    PyMem_Free(state);
}

/* ---- Entry ---- */

static int
slots_are_fillable(PyObject *slots)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        PyObject *pair = PyTuple_GET_ITEM(slots, i);
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2
            || Py_TYPE(PyTuple_GET_ITEM(pair, 0)) != &Slot_Type) {
            PyErr_SetString(PyExc_TypeError, "slots: a tuple of (Slot, value) expected");
            return 0;
        }
        Slot *slot = (Slot *)PyTuple_GET_ITEM(pair, 0);
        if (slot->weak && !PyWeakref_CheckRefExact(PyTuple_GET_ITEM(pair, 1))) {
            PyErr_SetString(PyExc_TypeError, "a weak slot is filled with a weakref.ref");
            return 0;
        }
        if (slot->value != NULL) {
            PyErr_SetString(PyExc_ValueError, "a slot belongs to one entry");
            return 0;
        }
    }
    return 1;
}

static void
slots_fill(PyObject *slots, int fill)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        PyObject *pair = PyTuple_GET_ITEM(slots, i);
        Slot *slot = (Slot *)PyTuple_GET_ITEM(pair, 0);
        slot->value = fill ? PyTuple_GET_ITEM(pair, 1) : NULL;
    }
}

/* Whether a number names a local of the code that is no parameter and no cell. */
static int
is_input_local(PyCodeObject *code, long number)
{
    return number >= code_argument_slots(code) && number < code->co_nlocalsplus
        && PyBytes_AS_STRING(code->co_localspluskinds)[number] == CO_FAST_LOCAL;
}

static int
take_inputs(Entry *self, PyObject *inputs)
{
    Py_ssize_t count = inputs == NULL ? 0 : PyTuple_GET_SIZE(inputs);
    if (count != (self->guards == NULL ? 0 : guards_gathered(self->guards))) {
        PyErr_SetString(PyExc_ValueError, "inputs: one local for each object that the guards gather");
        return 0;
    }
    self->inputs = PyMem_Calloc((size_t)count + 1, sizeof(int));
    if (self->inputs == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(inputs, i));
        if (!is_input_local(self->code, number)) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "inputs: a local of the code, no parameter or cell");
            }
            return 0;
        }
        self->inputs[i] = (int)number;
    }
    self->input_count = (int)count;
    return 1;
}

/* Lets go of what was gathered for an entry that does not run. */
void
inputs_drop(Entry *entry, PyObject **inputs)
{
    for (int i = 0; inputs != NULL && i < entry->input_count; i++) {
        Py_DECREF(inputs[i]);
    }
    PyMem_Free(inputs);
}

static PyObject *
entry_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"code", "guards", "slots", "info", "opens", "inputs", "depth", NULL};
    PyObject *code, *guards = Py_None, *slots = NULL, *info = Py_None, *inputs = NULL;
    int opens = 0, depth = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|OO!OpO!i:Entry", names, &PyCode_Type, &code,
                                     &guards, &PyTuple_Type, &slots, &info, &opens, &PyTuple_Type,
                                     &inputs, &depth)) {
        return NULL;
    }
    if (guards != Py_None && Py_TYPE(guards) != &GuardProgram_Type) {
        PyErr_SetString(PyExc_TypeError, "guards: GuardProgram or None expected");
        return NULL;
    }
    if (slots != NULL && !slots_are_fillable(slots)) {
        return NULL;
    }
    Entry *self = (Entry *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->code = (PyCodeObject *)Py_NewRef(code);
    self->guards = guards == Py_None ? NULL : (GuardProgram *)Py_NewRef(guards);
    self->info = Py_NewRef(info);
    self->patience = PATIENCE;
    self->opens = (char)opens;
    self->depth = depth;
    if (!take_inputs(self, inputs)) {
        Py_DECREF(self);
        return NULL;
    }
    if (slots != NULL) {
        self->slots = Py_NewRef(slots);
        slots_fill(slots, 1);
    }
    return (PyObject *)self;
}

static int
entry_traverse(Entry *self, visitproc visit, void *arg)
{
    Py_VISIT(self->guards);
    Py_VISIT(self->slots);
    Py_VISIT(self->info);
    return 0;
}

static int
entry_clear(Entry *self)
{
    if (self->slots != NULL) {
        slots_fill(self->slots, 0);
    }
    Py_CLEAR(self->slots);
    Py_CLEAR(self->guards);
    Py_CLEAR(self->info);
    return 0;
}

static void
entry_dealloc(Entry *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weak_list != NULL) {
        PyObject_ClearWeakRefs((PyObject *)self);
    }
    entry_clear(self);
    PyMem_Free(self->inputs);
    Py_CLEAR(self->code);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Free variables come last among a frame's named slots; names settle the order. */
static int
same_free_variables(PyCodeObject *one, PyCodeObject *other)
{
    if (one->co_nfreevars != other->co_nfreevars) {
        return 0;
    }
    for (int i = 1; i <= one->co_nfreevars; i++) {
        PyObject *name = PyTuple_GET_ITEM(one->co_localsplusnames, one->co_nlocalsplus - i);
        PyObject *same = PyTuple_GET_ITEM(other->co_localsplusnames, other->co_nlocalsplus - i);
        if (PyUnicode_Compare(name, same) != 0) {
            return 0;
        }
    }
    return 1;
}

/* True when this entry can stand for that code; else with an exception. */
int
entry_fits(Entry *entry, PyCodeObject *code)
{
    PyCodeObject *own = entry->code;
    int flags = CO_OPTIMIZED | CO_NEWLOCALS;
    if (own->co_kwonlyargcount != 0
        || (own->co_flags & (flags | CO_VARARGS | CO_VARKEYWORDS)) != flags) {
        PyErr_SetString(PyExc_ValueError, "an entry's code takes positional parameters only");
        return 0;
    }
    if (own->co_argcount != code_argument_slots(code)) {
        PyErr_Format(PyExc_ValueError, "an entry for %U takes %d parameters, not %d",
                     code->co_qualname, code_argument_slots(code), own->co_argcount);
        return 0;
    }
    if (!same_free_variables(own, code)) {
        PyErr_Format(PyExc_ValueError, "an entry for %U has its free variables, in its order",
                     code->co_qualname);
        return 0;
    }
    return 1;
}

static PyObject *
entry_invalidate(Entry *self, PyObject *Py_UNUSED(unused))
{
    CodeSlot *slot = self->home;
    if (slot != NULL) {
        if (entry_list_replace(slot, self, 0) < 0) {
            return NULL;
        }
        self->home = NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
entry_listed(Entry *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(self->home != NULL);
}

static PyMethodDef entry_methods[] = {
    {"invalidate", (PyCFunction)entry_invalidate, METH_NOARGS,
     "invalidate()\n--\n\nTakes the entry off its code object's list. A running call goes on."},
    {NULL},
};

static PyMemberDef entry_members[] = {
    {"code", T_OBJECT, offsetof(Entry, code), READONLY, "the code object that runs"},
    {"guards", T_OBJECT, offsetof(Entry, guards), READONLY, "the GuardProgram, or None"},
    {"opens", T_BOOL, offsetof(Entry, opens), READONLY, "whether what it calls is looked up"},
    {"depth", T_INT, offsetof(Entry, depth), READONLY, "calls below one another that its code stands for"},
    {"info", T_OBJECT, offsetof(Entry, info), 0, "the engine's own record"},
    {"hits", T_ULONGLONG, offsetof(Entry, hits), READONLY, "calls that ran this entry"},
    {NULL},
};

static PyGetSetDef entry_getset[] = {
    {"listed", (getter)entry_listed, NULL, "whether calls can still find it", NULL},
    {NULL},
};

PyTypeObject Entry_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "frameloom.native.Entry",
    .tp_doc = "Entry(code, guards=None, slots=(), info=None, opens=False, inputs=(), depth=0)\n--\n\n"
              "Code to run in the place of a function's while its guards hold. slots is a tuple of\n"
              "(Slot, value); with opens, what the code calls is looked up without open_scope(). inputs\n"
              "names the local of the code that each object gathered by the guards goes to. An entry is passed\n"
              "over where the recursion limit does not allow depth more calls.",
    .tp_basicsize = sizeof(Entry),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .tp_new = entry_new,
    .tp_dealloc = (destructor)entry_dealloc,
    .tp_traverse = (traverseproc)entry_traverse,
    .tp_clear = (inquiry)entry_clear,
    .tp_weaklistoffset = offsetof(Entry, weak_list),
    .tp_methods = entry_methods,
    .tp_members = entry_members,
    .tp_getset = entry_getset,
};

int
entry_setup(PyObject *module)
{
    extra_index = request_code_extra(code_state_free);
    if (extra_index < 0) {
        PyErr_SetString(PyExc_ImportError, "no extra word left on code objects");
        return -1;
    }
    decision_skip = decision_make("SKIP");
    decision_skip_below = decision_make("SKIP_BELOW");
    if (decision_skip == NULL || decision_skip_below == NULL) {
        return -1;
    }
    return PyModule_AddObjectRef(module, "SKIP", decision_skip) < 0
        || PyModule_AddObjectRef(module, "SKIP_BELOW", decision_skip_below) < 0 ? -1 : 0;
}
