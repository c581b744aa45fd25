/* The state of a thread, and the frame evaluation hook's comings and goings.
 *
 * PEP 523 gives one evaluation function to the whole interpreter. While one is
 * set CPython does not inline Python calls, so it is set only while at least
 * one thread has a scope in MODE_OPEN. Frames of other threads pass. All of
 * this runs under the GIL; the counters need no lock. */
#define _GNU_SOURCE
#include "native.h"
#include <pthread.h>

static _Thread_local Thread this_thread;

static Py_ssize_t open_scopes;              /* of all threads */
static int believed_in;                     /* we set the hook and did not take it out */
static _PyFrameEvalFunction evaluate_next = _PyEval_EvalFrameDefault;

Thread *
thread_state(void)
{
    return &this_thread;
}

/* Sets the hook, above whatever is set. If another hook was set above ours
 * since, it will call ours; setting ours again would make a ring. */
static void
hook_put_in(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Main();
    _PyFrameEvalFunction current = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    if (current == hook_frame) {
        return;
    }
    if (believed_in && current != evaluate_next) {
        return;
    }
    evaluate_next = current;
    believed_in = 1;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, hook_frame);
}

static void
hook_take_out(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Main();
    _PyFrameEvalFunction current = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    if (current == hook_frame) {
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate_next);
        believed_in = 0;
    }
    else if (current == evaluate_next) {
        believed_in = 0;
    }
}

void
scope_set_mode(Thread *thread, Mode mode)
{
    int was_open = thread->scope.mode == MODE_OPEN;
    int is_open = mode == MODE_OPEN;
    thread->scope.mode = mode;
    if (was_open == is_open) {
        return;
    }
    if (is_open) {
        if (open_scopes++ == 0) {
            hook_put_in();
        }
    }
    else if (--open_scopes == 0) {
        hook_take_out();
    }
}

void
scope_enter(Thread *thread, Scope *saved, Mode mode)
{
    *saved = thread->scope;
    scope_set_mode(thread, mode);
}

void
scope_leave(Thread *thread, const Scope *saved)
{
    scope_set_mode(thread, saved->mode);
    thread->scope = *saved;
}

void
scope_use_patience(Thread *thread, int32_t *patience, int32_t full)
{
    thread->scope.patience = patience;
    thread->scope.patience_full = full;
}

/* Has what an entry calls looked up, unless that never brought anything. */
void
scope_open(Thread *thread, Entry *entry)
{
    if (entry->patience > 0) {
        scope_use_patience(thread, &entry->patience, PATIENCE);
        scope_set_mode(thread, MODE_OPEN);
    }
}

/* Something below this scope was captured: it is worth its hook. */
void
scope_count_capture(Thread *thread)
{
    if (thread->scope.patience != NULL) {
        *thread->scope.patience = thread->scope.patience_full;
    }
}

/* A frame ran eagerly, with nothing captured below. The scope closes when that
 * has become the rule. */
void
scope_count_eager(Thread *thread)
{
    int32_t *patience = thread->scope.patience;
    if (patience == NULL || *patience <= 0 || --*patience > 0) {
        return;
    }
    engine_notice(thread->scope.engine, NOTICE_GIVEN_UP);
    scope_set_mode(thread, MODE_REPLAYING);
}

/* Whether ours is the evaluation function that CPython calls first. */
int
hook_is_set(void)
{
    return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Main()) == hook_frame;
}

/* A capture is Python code with backends below: it gets no less than a third
 * of the recursion limit, or the frame is not captured here. */
int
recursion_for_capture(PyThreadState *tstate)
{
    return recursion_limit(tstate) / 3;
}

static void
find_stack(Thread *thread)
{
    pthread_attr_t attributes;
    void *end = NULL;
    size_t size = 0;
    thread->stack_size = 1;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return;
    }
    if (pthread_attr_getstack(&attributes, &end, &size) == 0 && size > 1) {
        thread->stack_end = end;
        thread->stack_size = size;
    }
    pthread_attr_destroy(&attributes);
}

/* Bytes left on the C stack; on a stack that is not this thread's own (a
 * coroutine library's) nothing is known, and the recursion limits decide. */
size_t
stack_remaining(Thread *thread)
{
    if (thread->stack_size == 0) {
        find_stack(thread);
    }
    size_t remaining = (size_t)((char *)__builtin_frame_address(0) - thread->stack_end);
    return remaining < thread->stack_size ? remaining : SIZE_MAX;
}

/* The last quarter of the C stack, or of 3.12's credit for C calls, belongs to
 * what runs without the hook. */
int
stack_is_low(Thread *thread, PyThreadState *tstate)
{
    size_t remaining = stack_remaining(thread);
    if (remaining < thread->stack_size / 4) {
        return 1;
    }
    return recursion_credit(tstate) < RECURSION_CREDIT_LOW;
}

/* Subinterpreters have evaluation functions of their own. */
int
hook_supported_here(PyThreadState *tstate)
{
    return tstate->interp == PyInterpreterState_Main();
}

/* Evaluates a frame with CPython's own loop. One unit of the credit that this
 * takes from C recursion (3.12 and later) is given back while the stack really
 * has room for what is then left: a Python call inlined by CPython takes none. */
PyObject *
evaluate(Thread *thread, PyThreadState *tstate, Frame *frame, int throwflag)
{
    size_t needed = ((size_t)recursion_credit(tstate) + 1) * RECURSION_CREDIT_BYTES;
    int give = stack_remaining(thread) > needed;
    recursion_credit_add(tstate, give);
    PyObject *result = _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    recursion_credit_add(tstate, -give);
    return result;
}

/* Evaluates a frame that is not ours, through the hook set before ours. A hook
 * that took ours for its own predecessor hands the same frame back: stop. */
PyObject *
hook_pass(Thread *thread, PyThreadState *tstate, Frame *frame, int throwflag)
{
    if (evaluate_next == _PyEval_EvalFrameDefault || thread->chained == frame) {
        return evaluate(thread, tstate, frame, throwflag);
    }
    Frame *outer = thread->chained;
    thread->chained = frame;
    PyObject *result = evaluate_next(tstate, frame, throwflag);
    thread->chained = outer;
    return result;
}
