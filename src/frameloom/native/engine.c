/* An engine: who compiles frames, owns their entries and counts. */
#include "native.h"
#include <structmember.h>

static Engine *all_engines;

static const char *const notice_names[] = {
    [NOTICE_TRACING] = "tracing",
    [NOTICE_STACK] = "stack",
    [NOTICE_INTERPRETER] = "interpreter",
    [NOTICE_GIVEN_UP] = "given_up",
    [NOTICE_BUSY] = "busy",
    [NOTICE_UNSEEN] = "unseen",
};

/* Tells the engine, once for each kind until it is reset, why frames run
 * eagerly. What the callback raises cannot reach anybody: it is reported as
 * unraisable. Exceptions on the way are kept. */
void
engine_notice(Engine *engine, Notice kind)
{
    if (kind == NOTICE_GIVEN_UP) {
        engine->given_up++;
    }
    if (engine->notice == Py_None || (engine->noticed & (1u << kind))
        || recursion_room(PyThreadState_Get()) < RECURSION_FOR_NOTICE) {
        return;
    }
    engine->noticed |= 1u << kind;
    Thread *thread = thread_state();
    Scope saved;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    scope_enter(thread, &saved, MODE_CAPTURING);
    PyThreadState *tstate = PyThreadState_Get();
    PyThreadState_EnterTracing(tstate);
    PyObject *result = PyObject_CallFunction(engine->notice, "s", notice_names[kind]);
    PyThreadState_LeaveTracing(tstate);
    scope_leave(thread, &saved);
    if (result == NULL) {
        PyErr_WriteUnraisable(engine->notice);
    }
    Py_XDECREF(result);
    PyErr_Restore(type, value, traceback);
}

static PyObject *
engine_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"compile", "notice", NULL};
    PyObject *compile, *notice = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:Engine", names, &compile, &notice)) {
        return NULL;
    }
    if (!PyCallable_Check(compile) || (notice != Py_None && !PyCallable_Check(notice))) {
        PyErr_SetString(PyExc_TypeError, "Engine() takes callables");
        return NULL;
    }
    Engine *self = (Engine *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->compile = Py_NewRef(compile);
    self->notice = Py_NewRef(notice);
    self->next = all_engines;
    self->link = &all_engines;
    if (all_engines != NULL) {
        all_engines->link = &self->next;
    }
    all_engines = self;
    return (PyObject *)self;
}

static int
engine_traverse(Engine *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->compile);
    Py_VISIT(self->notice);
    for (CodeSlot *slot = self->slots; slot != NULL; slot = slot->next_of_engine) {
        /* A list that a look-up holds at this moment stays alive through it. */
        Py_ssize_t count = slot->entries == NULL ? 0 : slot->entries->count;
        for (Py_ssize_t i = 0; i < count && slot->entries->references == 1; i++) {
            Py_VISIT(slot->entries->items[i]);
        }
    }
    return 0;
}

/* Forgets entries, decisions and notices. Dropping an entry may run Python
 * code that changes the list of slots: take one list at a time, from the front. */
static void
engine_forget(Engine *self)
{
    self->noticed = 0;
#define X(name) self->name = 0;
    COUNTERS(X)
#undef X
    CodeSlot *slot = self->slots;
    while (slot != NULL) {
        int had_entries = slot->entries != NULL;
        slot_reset(slot);
        slot = had_entries ? self->slots : slot->next_of_engine;
    }
}

static int
engine_clear(Engine *self)
{
    engine_forget(self);
    Py_CLEAR(self->compile);
    Py_CLEAR(self->notice);
    return 0;
}

static void
engine_dealloc(Engine *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self->weak_list != NULL) {
        PyObject_ClearWeakRefs((PyObject *)self);
    }
    *self->link = self->next;
    if (self->next != NULL) {
        self->next->link = self->link;
    }
    while (self->slots != NULL) {
        slot_free(self->slots);
    }
    Py_CLEAR(self->compile);
    Py_CLEAR(self->notice);
    type->tp_free((PyObject *)self);
}

static PyObject *
engine_reset(Engine *self, PyObject *Py_UNUSED(unused))
{
    engine_forget(self);
    Py_RETURN_NONE;
}

PyObject *
engine_reset_all(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    PyObject *engines = PyList_New(0);
    for (Engine *engine = all_engines; engines != NULL && engine != NULL; engine = engine->next) {
        if (PyList_Append(engines, (PyObject *)engine) < 0) {
            Py_CLEAR(engines);
        }
    }
    if (engines == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(engines); i++) {
        engine_forget((Engine *)PyList_GET_ITEM(engines, i));
    }
    Py_DECREF(engines);
    Py_RETURN_NONE;
}

static PyObject *
engine_counters(Engine *self, PyObject *Py_UNUSED(unused))
{
    PyObject *counters = PyDict_New();
#define X(name)                                                                     \
    if (counters != NULL) {                                                         \
        PyObject *number = PyLong_FromUnsignedLongLong(self->name);                 \
        if (number == NULL || PyDict_SetItemString(counters, #name, number) < 0) {  \
            Py_CLEAR(counters);                                                     \
        }                                                                           \
        Py_XDECREF(number);                                                         \
    }
    COUNTERS(X)
#undef X
    return counters;
}

static int
check_code(PyObject *code)
{
    if (!PyCode_Check(code)) {
        PyErr_Format(PyExc_TypeError, "code object expected, not %.100s", Py_TYPE(code)->tp_name);
        return 0;
    }
    return 1;
}

static PyObject *
engine_entries(Engine *self, PyObject *code)
{
    if (!check_code(code)) {
        return NULL;
    }
    CodeSlot *slot = code_slot((PyCodeObject *)code, self, 0);
    EntryList *list = slot == NULL ? NULL : entry_list_share(slot);
    Py_ssize_t count = list == NULL ? 0 : list->count;
    PyObject *entries = PyTuple_New(count);
    for (Py_ssize_t i = 0; entries != NULL && i < count; i++) {
        PyTuple_SET_ITEM(entries, i, Py_NewRef(list->items[i]));
    }
    entry_list_release(list);
    return entries;
}

static PyObject *
engine_install(Engine *self, PyObject *args)
{
    PyObject *code, *entry;
    if (!PyArg_ParseTuple(args, "O!O!:install", &PyCode_Type, &code, &Entry_Type, &entry)
        || !entry_fits((Entry *)entry, (PyCodeObject *)code)) {
        return NULL;
    }
    CodeSlot *slot = code_slot((PyCodeObject *)code, self, 1);
    if (slot == NULL || entry_publish(slot, (Entry *)entry) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
engine_decide(Engine *self, PyObject *args)
{
    PyObject *code, *answer;
    if (!PyArg_ParseTuple(args, "O!O:decide", &PyCode_Type, &code, &answer)) {
        return NULL;
    }
    if (answer != Py_None && Py_TYPE(answer) != &Decision_Type) {
        PyErr_SetString(PyExc_TypeError, "a decision is SKIP, SKIP_BELOW or None");
        return NULL;
    }
    CodeSlot *slot = code_slot((PyCodeObject *)code, self, 1);
    if (slot == NULL) {
        return NULL;
    }
    slot->decision = answer == decision_skip ? DECISION_SKIP
        : answer == decision_skip_below ? DECISION_SKIP_BELOW : DECISION_NONE;
    Py_RETURN_NONE;
}

static PyObject *
engine_decision(Engine *self, PyObject *code)
{
    if (!check_code(code)) {
        return NULL;
    }
    CodeSlot *slot = code_slot((PyCodeObject *)code, self, 0);
    Decision decision = slot == NULL ? DECISION_NONE : slot->decision;
    return Py_NewRef(decision == DECISION_SKIP ? decision_skip
                     : decision == DECISION_SKIP_BELOW ? decision_skip_below : Py_None);
}

static PyMethodDef engine_methods[] = {
    {"reset", (PyCFunction)engine_reset, METH_NOARGS,
     "reset()\n--\n\nForgets all entries, decisions, notices and counts. Running calls go on."},
    {"counters", (PyCFunction)engine_counters, METH_NOARGS,
     "counters()\n--\n\nWhat happened to frames, as a dict of ints."},
    {"entries", (PyCFunction)engine_entries, METH_O,
     "entries(code, /)\n--\n\nThe entries of a code object, in the order they are tried."},
    {"install", (PyCFunction)engine_install, METH_VARARGS,
     "install(code, entry, /)\n--\n\nLists an entry for a code object, before its others."},
    {"decide", (PyCFunction)engine_decide, METH_VARARGS,
     "decide(code, decision, /)\n--\n\nSets SKIP, SKIP_BELOW or None for a code object."},
    {"decision", (PyCFunction)engine_decision, METH_O,
     "decision(code, /)\n--\n\nThe decision taken for a code object, or None."},
    {NULL},
};

static PyMemberDef engine_members[] = {
    {"compile", T_OBJECT, offsetof(Engine, compile), READONLY, "the compile callback"},
    {"notice", T_OBJECT, offsetof(Engine, notice), READONLY, "the notice callback, or None"},
    {NULL},
};

PyTypeObject Engine_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "frameloom.native.Engine",
    .tp_doc = "Engine(compile, notice=None)\n--\n\n"
              "compile(function, code, arguments, misses) is asked for a frame that no entry fits: it\n"
              "returns an Entry, None (run this frame eagerly), SKIP (this code always) or SKIP_BELOW\n"
              "(and all that it calls). What it raises is raised by the frame. misses is a tuple of\n"
              "(entry, index of the guard that failed). notice(kind) hears once why frames run eagerly:\n"
              "'tracing', 'stack', 'interpreter' or 'given_up'.",
    .tp_basicsize = sizeof(Engine),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .tp_new = engine_new,
    .tp_dealloc = (destructor)engine_dealloc,
    .tp_traverse = (traverseproc)engine_traverse,
    .tp_clear = (inquiry)engine_clear,
    .tp_weaklistoffset = offsetof(Engine, weak_list),
    .tp_methods = engine_methods,
    .tp_members = engine_members,
};
