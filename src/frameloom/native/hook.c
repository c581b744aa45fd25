/* The frame evaluation function: looks a frame up, runs an entry in its place.
 *
 * An entry runs in the very frame that CPython pushed for the user's function:
 * its code object takes the place of the user's before the first instruction.
 * The arguments are where the entry expects them, the references are the
 * frame's own, and f_back, globals, builtins and closure are right by
 * construction. Only when the data stack has no room to make the frame longer
 * the entry is called as a function. */
#include "native.h"

/* Parameters of all kinds: they fill the frame's first slots, in order. */
int
code_argument_slots(PyCodeObject *code)
{
    return code->co_argcount + code->co_kwonlyargcount
        + ((code->co_flags & CO_VARARGS) != 0)
        + ((code->co_flags & CO_VARKEYWORDS) != 0);
}

static int
is_capturable(Frame *frame)
{
    PyCodeObject *code = frame_code(frame);
    int function_flags = CO_OPTIMIZED | CO_NEWLOCALS;
    return frame_is_on_data_stack(frame)
        && (code->co_flags & (function_flags | GENERATOR_FLAGS)) == function_flags
        && frame_locals_mapping(frame) == NULL
        && frame_is_fresh(frame)
        && frame_function(frame) != NULL;
}

/* Gives the frame the size that other code needs, if the stack has room. */
static int
resize_frame(PyThreadState *tstate, Frame *frame, PyCodeObject *code)
{
    PyObject **base = (PyObject **)frame;
    if (base + code_frame_words(frame_code(frame)) != tstate->datastack_top) {
        return 0;
    }
    Py_ssize_t words = code_frame_words(code);
    if (words >= tstate->datastack_limit - base) {
        return 0;
    }
    tstate->datastack_top = base + words;
    return 1;
}

/* Moves what the guards gathered into the locals of the frame. */
static void
place_inputs(Frame *frame, Entry *entry, PyObject **inputs)
{
    for (int i = 0; inputs != NULL && i < entry->input_count; i++) {
        frame->localsplus[entry->inputs[i]] = inputs[i];
    }
    PyMem_Free(inputs);
}

static PyObject *
run_in_frame(Thread *thread, PyThreadState *tstate, Frame *frame, Entry *entry, PyObject **inputs)
{
    PyCodeObject *code = entry->code;
    for (int i = code_argument_slots(frame_code(frame)); i < code->co_nlocalsplus; i++) {
        frame->localsplus[i] = NULL;
    }
    frame_set_code(frame, code);
    place_inputs(frame, entry, inputs);
    return evaluate(thread, tstate, frame, 0);
}

/* A function around the entry's code that shares what the frame's has. */
static PyObject *
function_like(PyFunctionObject *function, PyCodeObject *code)
{
    PyObject *made = PyFunction_New((PyObject *)code, function->func_globals);
    if (made == NULL) {
        return NULL;
    }
    PyFunctionObject *copy = (PyFunctionObject *)made;
    Py_INCREF(function->func_builtins);
    Py_XSETREF(copy->func_builtins, function->func_builtins);
    Py_XINCREF(function->func_closure);
    Py_XSETREF(copy->func_closure, function->func_closure);
    return made;
}

/* Calls the entry as a function. The arguments move into a tail record, which
 * lends them to the call until its frame is there; the inputs wait for that
 * frame too. */
static PyObject *
run_as_function(Thread *thread, PyThreadState *tstate, Frame *frame, Entry *entry, PyObject **inputs)
{
    thread->scope.engine->as_function++;
    scope_set_mode(thread, MODE_OPEN);
    if (inputs != NULL && !hook_is_set()) {
        /* another hook is above ours: it may not let the inputs' frame come here */
        inputs_drop(entry, inputs);
        scope_set_mode(thread, MODE_REPLAYING);
        return evaluate(thread, tstate, frame, 0);
    }
    int count = code_argument_slots(frame_code(frame));
    Tail *record = PyObject_NewVar(Tail, &Tail_Type, count + 1);
    if (record == NULL) {
        inputs_drop(entry, inputs);
        frame_discard(tstate, frame);
        return NULL;
    }
    record->items[0] = function_like(frame_function(frame), entry->code);
    for (int i = 0; i < count; i++) {
        record->items[i + 1] = frame->localsplus[i];
        frame->localsplus[i] = NULL;
    }
    frame_discard(tstate, frame);
    if (record->items[0] == NULL) {
        inputs_drop(entry, inputs);
        Py_DECREF(record);
        return NULL;
    }
    PyObject *function = Py_NewRef(record->items[0]);
    thread->inputs = inputs;
    PyObject *result = call_handed(thread, function, record->items + 1, (size_t)count, NULL,
                                   (PyObject *)record);
    Py_DECREF(function);
    if (thread->inputs != NULL) {  /* the frame was never made */
        inputs_drop(entry, thread->inputs);
        thread->inputs = NULL;
    }
    return result;
}

/* Takes the inputs, which the entry owns if it runs. */
static PyObject *
run_entry(Thread *thread, PyThreadState *tstate, Frame *frame, Entry *entry, PyObject **inputs,
          int handed)
{
    Scope saved;
    Py_INCREF(entry);
    entry->hits++;
    thread->captures++;
    scope_count_capture(thread);
    scope_enter(thread, &saved, MODE_REPLAYING);
    thread->scope.running = entry;
    scope_use_patience(thread, NULL, 0);
    if (entry->opens) {
        scope_open(thread, entry);
    }
    PyObject *result;
    if (resize_frame(tstate, frame, entry->code)) {
        result = run_in_frame(thread, tstate, frame, entry, inputs);
        if (!handed && result != NULL && Py_TYPE(result) == &Tail_Type) {
            frame_drop_locals(frame);
        }
    }
    else {
        result = run_as_function(thread, tstate, frame, entry, inputs);
    }
    scope_leave(thread, &saved);
    Py_DECREF(entry);
    return handed ? result : tail_run(thread, result);
}

static void
count_quiet_run(CodeSlot *slot)
{
    if (slot->patience > 0 && --slot->patience == 0) {
        engine_notice(slot->engine, NOTICE_GIVEN_UP);
    }
}

/* Runs a frame as it is. What it calls is looked up still, until this code has
 * shown that this brings nothing. The code object keeps the slot alive. */
static PyObject *
run_eagerly(Thread *thread, PyThreadState *tstate, Frame *frame, CodeSlot *slot)
{
    Scope saved;
    uint64_t captures = thread->captures;
    int32_t patience = LONG_PATIENCE;
    PyObject *code = Py_NewRef(frame_code(frame));
    slot->engine->eager++;
    scope_enter(thread, &saved, slot->patience > 0 ? MODE_OPEN : MODE_REPLAYING);
    scope_use_patience(thread, &patience, LONG_PATIENCE);
    PyObject *result = hook_pass(thread, tstate, frame, 0);
    scope_leave(thread, &saved);
    if (thread->captures != captures) {
        slot->patience = PATIENCE;
        scope_count_capture(thread);
    }
    else {
        if (patience != LONG_PATIENCE) {
            count_quiet_run(slot);
        }
        scope_count_eager(thread);
    }
    Py_DECREF(code);
    return result;
}

static PyObject *
run_without_hook(Thread *thread, PyThreadState *tstate, Frame *frame, int throwflag, Mode mode)
{
    Scope saved;
    scope_enter(thread, &saved, mode);
    PyObject *result = hook_pass(thread, tstate, frame, throwflag);
    scope_leave(thread, &saved);
    return result;
}

/* More entries of one code object than any engine's limit allows. */
#define MOST_ENTRIES 1024

static PyObject *
misses_tuple(EntryList *list, const int *failed)
{
    Py_ssize_t count = list == NULL ? 0 : Py_MIN(list->count, MOST_ENTRIES);
    PyObject *misses = PyTuple_New(count);
    for (Py_ssize_t i = 0; misses != NULL && i < count; i++) {
        PyObject *miss = Py_BuildValue("(Oi)", list->items[i], failed[i]);
        if (miss == NULL) {
            Py_CLEAR(misses);
            break;
        }
        PyTuple_SET_ITEM(misses, i, miss);
    }
    return misses;
}

/* Whether an entry's guards hold for a frame, as guards_check says it, with
 * what they gather in an array of its own. */
static int
try_entry(Entry *entry, Frame *frame, PyObject ***inputs)
{
    *inputs = NULL;
    if (entry->guards == NULL) {
        return -1;
    }
    GuardScope scope = {
        .locals = frame->localsplus,
        .local_count = code_argument_slots(frame_code(frame)),
        .closure = frame_function(frame)->func_closure,
        .globals = frame->f_globals,
        .builtins = frame->f_builtins,
    };
    PyObject **gathered = NULL;
    if (entry->input_count > 0) {
        gathered = PyMem_Malloc((size_t)entry->input_count * sizeof(PyObject *));
        if (gathered == NULL) {
            PyErr_NoMemory();
            return GUARDS_RAISED;
        }
    }
    int failed = guards_check(entry->guards, &scope, gathered);
    if (failed == -1) {
        *inputs = gathered;
    }
    else {
        PyMem_Free(gathered);
    }
    return failed;
}

/* The entry whose guards hold, as a new reference, with its inputs; or NULL, with
 * the guard that failed for every entry in *misses, a tuple of (entry, index);
 * or NULL and no misses, with an exception. Not inlined:
 * its array must not lie on the C stack while the frame runs. */
static Py_NO_INLINE Entry *
find_entry(CodeSlot *slot, Frame *frame, PyObject ***inputs, PyObject **misses)
{
    EntryList *list = entry_list_share(slot);
    Py_ssize_t count = list == NULL ? 0 : list->count;
    int failed[MOST_ENTRIES];
    Entry *found = NULL;
    for (Py_ssize_t i = 0; i < count && i < MOST_ENTRIES; i++) {
        Entry *entry = list->items[i];
        failed[i] = try_entry(entry, frame, inputs);
        if (failed[i] == GUARDS_RAISED) {
            entry_list_release(list);
            return NULL;
        }
        if (failed[i] < 0) {
            found = entry;
            Py_INCREF(entry);
            break;
        }
    }
    if (found == NULL) {
        *misses = misses_tuple(list, failed);
    }
    else if (found != list->items[0]) {
        entry_promote(slot, found);
    }
    entry_list_release(list);
    return found;
}

static PyObject *
arguments_tuple(Frame *frame)
{
    int count = code_argument_slots(frame_code(frame));
    PyObject *arguments = PyTuple_New(count);
    for (int i = 0; arguments != NULL && i < count; i++) {
        PyTuple_SET_ITEM(arguments, i, Py_NewRef(frame->localsplus[i]));
    }
    return arguments;
}

/* Asks the engine. What it runs meanwhile is never looked up. */
static PyObject *
ask_engine(Thread *thread, Frame *frame, PyObject *misses)
{
    PyObject *arguments = arguments_tuple(frame);
    if (arguments == NULL) {
        return NULL;
    }
    PyObject *args[] = {
        (PyObject *)frame_function(frame), (PyObject *)frame_code(frame), arguments, misses,
    };
    Scope saved;
    scope_enter(thread, &saved, MODE_CAPTURING);
    thread->scope.running = NULL;
    PyThreadState *tstate = PyThreadState_Get();
    PyThreadState_EnterTracing(tstate);  /* the compiler's own frames are no part of the program */
    PyObject *answer = PyObject_Vectorcall(thread->scope.engine->compile, args, 4, NULL);
    PyThreadState_LeaveTracing(tstate);
    scope_leave(thread, &saved);
    Py_DECREF(arguments);
    return answer;
}

/* Takes the engine's answer: 1 when it is an entry to run, 0 when the frame
 * runs eagerly, -1 with an exception. */
static int
take_answer(CodeSlot *slot, Frame *frame, PyObject *answer)
{
    if (answer == NULL) {
        return -1;
    }
    if (answer == Py_None) {
        return 0;
    }
    if (answer == decision_skip || answer == decision_skip_below) {
        slot->decision = answer == decision_skip ? DECISION_SKIP : DECISION_SKIP_BELOW;
        return 0;
    }
    if (Py_TYPE(answer) != &Entry_Type) {
        PyErr_Format(PyExc_TypeError,
                     "the compile callback returned %.100s, not Entry, None, SKIP or SKIP_BELOW",
                     Py_TYPE(answer)->tp_name);
        return -1;
    }
    Entry *entry = (Entry *)answer;
    if (!entry_fits(entry, frame_code(frame)) || entry_publish(slot, entry) < 0) {
        return -1;
    }
    slot->engine->captures++;
    return 1;
}

/* Whether the recursion limit allows the calls that an entry stands for. Where
 * it does not, plain Python raises RecursionError at the right one. */
static int
has_room(PyThreadState *tstate, Entry *entry)
{
    return recursion_room(tstate) > entry->depth;
}

static PyObject *
run_without_room(Thread *thread, PyThreadState *tstate, Frame *frame, CodeSlot *slot)
{
    slot->engine->stack++;
    engine_notice(slot->engine, NOTICE_STACK);
    return run_without_hook(thread, tstate, frame, 0, MODE_REPLAYING);
}

/* Runs the entry that the engine made for this very call. Should its guards not
 * hold any more (a backend that changed what the call looks at) the call is
 * eager. */
static PyObject *
run_new_entry(Thread *thread, PyThreadState *tstate, Frame *frame, CodeSlot *slot, Entry *entry,
              int handed)
{
    PyObject **inputs;
    if (!has_room(tstate, entry)) {
        return run_without_room(thread, tstate, frame, slot);
    }
    int failed = try_entry(entry, frame, &inputs);
    if (failed == -1) {
        return run_entry(thread, tstate, frame, entry, inputs, handed);
    }
    if (failed == GUARDS_RAISED) {
        frame_discard(tstate, frame);
        return NULL;
    }
    return run_eagerly(thread, tstate, frame, slot);
}

static PyObject *
compile_and_run(Thread *thread, PyThreadState *tstate, Frame *frame, CodeSlot *slot,
                PyObject *misses, int handed)
{
    if (misses != NULL && recursion_room(tstate) < recursion_for_capture(tstate)) {
        Py_DECREF(misses);
        return run_without_room(thread, tstate, frame, slot);
    }
    slot->engine->misses++;
    PyObject *answer = misses == NULL ? NULL : ask_engine(thread, frame, misses);
    Py_XDECREF(misses);
    PyObject *result = NULL;
    switch (take_answer(slot, frame, answer)) {
    case 1:
        result = run_new_entry(thread, tstate, frame, slot, (Entry *)answer, handed);
        break;
    case 0:
        if (slot->decision == DECISION_SKIP_BELOW) {
            result = run_without_hook(thread, tstate, frame, 0, MODE_DISABLED);
        }
        else {
            result = run_eagerly(thread, tstate, frame, slot);
        }
        break;
    default:
        frame_discard(tstate, frame);
    }
    Py_XDECREF(answer);
    return result;
}

static PyObject *
run_frame(Thread *thread, PyThreadState *tstate, Frame *frame, CodeSlot *slot, int handed)
{
    PyObject *misses = NULL, **inputs = NULL;
    Entry *entry = find_entry(slot, frame, &inputs, &misses);
    if (entry == NULL) {
        return compile_and_run(thread, tstate, frame, slot, misses, handed);
    }
    if (!has_room(tstate, entry)) {
        inputs_drop(entry, inputs);
        Py_DECREF(entry);
        return run_without_room(thread, tstate, frame, slot);
    }
    slot->engine->hits++;
    PyObject *result = run_entry(thread, tstate, frame, entry, inputs, handed);
    Py_DECREF(entry);
    return result;
}

/* True when this is the frame the trampoline asked for: what it lent is let
 * go, for the frame has references of its own now. */
static int
take_handed(Thread *thread, PyThreadState *tstate, Frame *frame)
{
    if (thread->handed == NULL || thread->handed != (PyObject *)frame_function(frame)
        || thread->handed_from != innermost_frame(tstate)) {
        return 0;
    }
    thread->handed = NULL;
    Py_CLEAR(thread->lent);
    return 1;
}

/* True when nothing from this frame on can be captured, told to the engine. A
 * tracer must see CPython's own frames, and to run without the hook gives them
 * back the calls that CPython inlines. */
static int
must_step_aside(Thread *thread, PyThreadState *tstate)
{
    Engine *engine = thread->scope.engine;
    if (tstate->c_tracefunc != NULL) {
        engine->tracing++;
        engine_notice(engine, NOTICE_TRACING);
        return 1;
    }
    if (stack_is_low(thread, tstate)) {
        engine->stack++;
        engine_notice(engine, NOTICE_STACK);
        return 1;
    }
    return stance_is_eager();
}

/* Looks a frame up by its code object. */
static PyObject *
look_up(Thread *thread, PyThreadState *tstate, Frame *frame, int handed)
{
    CodeSlot *slot = code_slot(frame_code(frame), thread->scope.engine, 1);
    if (slot == NULL) {
        frame_discard(tstate, frame);
        return NULL;
    }
    if (slot->decision == DECISION_SKIP) {
        return run_eagerly(thread, tstate, frame, slot);
    }
    if (slot->decision == DECISION_SKIP_BELOW) {
        return run_without_hook(thread, tstate, frame, 0, MODE_DISABLED);
    }
    return run_frame(thread, tstate, frame, slot, handed);
}

PyObject *
hook_frame(PyThreadState *tstate, Frame *frame, int throwflag)
{
    Thread *thread = thread_state();
    if (thread->scope.mode != MODE_OPEN || thread->chained == frame) {
        return hook_pass(thread, tstate, frame, throwflag);
    }
    int handed = take_handed(thread, tstate, frame);
    if (handed && thread->passing) {
        thread->passing = 0;
        return run_without_hook(thread, tstate, frame, throwflag, MODE_REPLAYING);
    }
    Entry *running = thread->scope.running;
    if (handed && running != NULL && frame_code(frame) == running->code) {
        /* run_as_function came for its frame */
        scope_set_mode(thread, running->opens ? MODE_OPEN : MODE_REPLAYING);
        place_inputs(frame, running, thread->inputs);
        thread->inputs = NULL;
        return evaluate(thread, tstate, frame, 0);
    }
    if (must_step_aside(thread, tstate)) {
        return run_without_hook(thread, tstate, frame, throwflag, MODE_REPLAYING);
    }
    if (throwflag || !is_capturable(frame)) {
        return hook_pass(thread, tstate, frame, throwflag);
    }
    return look_up(thread, tstate, frame, handed);
}
