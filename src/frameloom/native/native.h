/* What the files of the extension share. One section per file. */
#ifndef FRAMELOOM_NATIVE_H
#define FRAMELOOM_NATIVE_H

#include "compat.h"

typedef struct Engine Engine;
typedef struct Entry Entry;
typedef struct EntryList EntryList;
typedef struct CodeSlot CodeSlot;
typedef struct Tail Tail;
typedef struct GuardProgram GuardProgram;

/* ---- thread.c: what this thread is doing, and whether the hook is in ---- */

typedef enum {
    MODE_IDLE,       /* nothing compiled runs: frames pass */
    MODE_OPEN,       /* frames are looked up: the only mode that wants the hook */
    MODE_REPLAYING,  /* an entry runs */
    MODE_CAPTURING,  /* the engine's own Python code runs */
    MODE_DISABLED,   /* the user asked for eager below this point */
} Mode;

/* The part of a thread's state that a call saves and gives back. */
typedef struct {
    Mode mode;
    Engine *engine;      /* borrowed from the compiled callable on the stack */
    int32_t *patience;   /* frames that may still run eagerly here in a row, or NULL */
    int32_t patience_full;
    Entry *running;      /* the entry whose code runs, or NULL */
} Scope;

typedef struct {
    Scope scope;
    int depth;              /* compiled callables below which this thread runs */
    uint64_t captures;      /* entries run so far */
    PyObject *handed;       /* function whose next frame gives its tail record back */
    Frame *handed_from;     /* the frame below which it will be pushed */
    PyObject *lent;         /* owner of its arguments, let go when that frame is there */
    int passing;            /* that frame runs as it is, without the hook */
    Frame *chained;         /* frame that is with another engine's hook */
    int unseen;             /* the last call marked as handed came past the hook */
    PyObject **inputs;      /* of the running entry, on their way to its frame */
    char *stack_end;        /* lowest address of the C stack */
    size_t stack_size;      /* zero until asked for */
} Thread;

/* The hook costs every call below it, so it goes where it brings nothing: an
 * unknown call after PATIENCE frames in a row that were not captured; what a
 * code object calls after as many runs of it without a capture below; and one
 * run of it after LONG_PATIENCE such frames. */
#define PATIENCE 1000
#define LONG_PATIENCE 100000

/* Calls that telling the engine a notice may take. */
#define RECURSION_FOR_NOTICE 100

#define GENERATOR_FLAGS \
    (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE)

Thread *thread_state(void);
void scope_enter(Thread *thread, Scope *saved, Mode mode);
void scope_leave(Thread *thread, const Scope *saved);
void scope_set_mode(Thread *thread, Mode mode);
void scope_use_patience(Thread *thread, int32_t *patience, int32_t full);
void scope_open(Thread *thread, Entry *entry);
void scope_count_capture(Thread *thread);
void scope_count_eager(Thread *thread);
size_t stack_remaining(Thread *thread);
int stack_is_low(Thread *thread, PyThreadState *tstate);
int recursion_for_capture(PyThreadState *tstate);
int hook_is_set(void);
int hook_supported_here(PyThreadState *tstate);
PyObject *hook_pass(Thread *thread, PyThreadState *tstate, Frame *frame, int throwflag);
PyObject *evaluate(Thread *thread, PyThreadState *tstate, Frame *frame, int throwflag);

/* ---- hook.c: the frame evaluation function ---- */

PyObject *hook_frame(PyThreadState *tstate, Frame *frame, int throwflag);
int code_argument_slots(PyCodeObject *code);

/* ---- entry.c: compiled entries of a code object ---- */

struct Entry {
    PyObject_HEAD
    PyCodeObject *code;      /* runs in the place of the user's code */
    GuardProgram *guards;    /* NULL: always holds */
    PyObject *slots;         /* tuple of (Slot, value): values the code reaches */
    PyObject *info;          /* the engine's own record, for explanations */
    PyObject *weak_list;
    int *inputs;             /* the local that each object gathered by the guards goes to */
    int input_count;
    CodeSlot *home;          /* where it is listed, NULL when nowhere */
    uint64_t hits;
    int32_t patience;        /* of the unknown calls its code makes */
    char opens;              /* what it calls is looked up from the start */
    int depth;               /* calls below one another that its code stands for */
};

/* Entries are never changed in place: a change publishes another list, and
 * the old one lives as long as somebody walks it. */
struct EntryList {
    Py_ssize_t references;
    Py_ssize_t count;
    Entry *items[];
};

typedef enum { DECISION_NONE, DECISION_SKIP, DECISION_SKIP_BELOW } Decision;

/* What one engine knows of one code object. Freed with either. */
struct CodeSlot {
    Engine *engine;          /* borrowed */
    EntryList *entries;      /* NULL: none */
    Entry *candidate;        /* compared only: hit last, behind others */
    Decision decision;
    int32_t patience;        /* runs left without a capture below */
    CodeSlot *next_of_code;
    CodeSlot *next_of_engine;
    CodeSlot **link_of_engine;
    CodeSlot **link_of_code;
};

extern PyTypeObject Entry_Type;
extern PyTypeObject Slot_Type;
extern PyTypeObject Decision_Type;
extern PyObject *decision_skip;
extern PyObject *decision_skip_below;

int entry_setup(PyObject *module);
CodeSlot *code_slot(PyCodeObject *code, Engine *engine, int create);
EntryList *entry_list_share(CodeSlot *slot);
void entry_list_release(EntryList *list);
int entry_publish(CodeSlot *slot, Entry *entry);
void entry_promote(CodeSlot *slot, Entry *entry);
void slot_reset(CodeSlot *slot);
int entry_fits(Entry *entry, PyCodeObject *code);
void inputs_drop(Entry *entry, PyObject **inputs);
void slot_free(CodeSlot *slot);

/* ---- engine.c: who compiles, and its counters ---- */

#define COUNTERS(X) \
    X(hits) X(misses) X(captures) X(eager) X(tails) X(tracing) X(stack) X(interpreter) X(given_up) \
    X(as_function) X(busy) X(unseen)

struct Engine {
    PyObject_HEAD
    PyObject *compile;       /* (function, code, arguments, misses) -> Entry, None or a decision */
    PyObject *notice;        /* (kind) -> None, once for each kind; or None */
    CodeSlot *slots;
    Engine *next;
    Engine **link;
    unsigned noticed;
    PyObject *weak_list;
#define X(name) uint64_t name;
    COUNTERS(X)
#undef X
};

typedef enum {
    NOTICE_TRACING, NOTICE_STACK, NOTICE_INTERPRETER, NOTICE_GIVEN_UP, NOTICE_BUSY, NOTICE_UNSEEN
} Notice;

extern PyTypeObject Engine_Type;

void engine_notice(Engine *engine, Notice kind);
PyObject *engine_reset_all(PyObject *module, PyObject *unused);

/* ---- tail.c: tail records and the loop that runs them ---- */

struct Tail {
    PyObject_VAR_HEAD
    char caught;             /* an exception's traceback keeps the frame that left it */
    PyObject *items[];       /* function, arguments */
};

extern PyTypeObject Tail_Type;
extern PyTypeObject Joint_Type;

PyObject *tail_run(Thread *thread, PyObject *result);
PyObject *call_handed(Thread *thread, PyObject *function, PyObject *const *args,
                      size_t nargsf, PyObject *names, PyObject *lent);
extern PyMethodDef tail_methods[];

/* What a weak reference refers to, borrowed, or NULL when it is gone. */
static inline PyObject *
weak_referent(PyObject *weak)
{
    PyObject *object = ((PyWeakReference *)weak)->wr_object;
    return object == Py_None || Py_REFCNT(object) <= 0 ? NULL : object;
}

/* ---- section.c: compiled generators, between one suspension and the next ---- */

extern PyMethodDef section_methods[];
PyObject *function_with_code(PyFunctionObject *function, PyObject *code);

/* ---- instance.c: an instance's own attributes, for the tracer ---- */

extern PyMethodDef instance_methods[];

/* ---- storage.c, keyed.c: storages of dicts and sets past the keys' own methods ---- */

extern PyMethodDef storage_methods[];
extern PyMethodDef keyed_methods[];
extern PyMethodDef ahead_methods[];

/* ---- stance.c: whether all runs as it is for a while ---- */

int stance_is_eager(void);
extern PyMethodDef stance_methods[];

/* ---- callable.c ---- */

extern PyTypeObject Callable_Type;

/* ---- guards: guardprogram.c, guardvm.c, storage.c, tensor.c ---- */

extern PyTypeObject GuardProgram_Type;

/* What a guard program may look at. */
typedef struct {
    PyObject *const *locals;
    Py_ssize_t local_count;
    PyObject *closure;       /* tuple or NULL */
    PyObject *globals;
    PyObject *builtins;
} GuardScope;

/* -1: all guards hold; -2: an exception that is not an Exception was raised;
 * else the index of a guard that fails. Where all hold, gathered receives new
 * references to what the program hands out, so many as guards_gathered says. */
#define GUARDS_RAISED (-2)
int guards_check(GuardProgram *program, const GuardScope *scope, PyObject **gathered);
int guards_gathered(GuardProgram *program);

#endif
