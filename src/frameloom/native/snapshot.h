/* What a stretch of a guard program looked at, as words of memory. */
#ifndef FRAMELOOM_SNAPSHOT_H
#define FRAMELOOM_SNAPSHOT_H

#include "guardvm.h"

/* Whether all words are as they were when the rows held last. If so, the
 * registers that the rows write are too. If not the snapshot is void. */
int snapshot_holds(Snapshot *snapshot);

/* Where it holds: the first row behind SNAPSHOT that asks a tensor for what it
 * has no more, or -1. */
int32_t snapshot_tensors(const Snapshot *snapshot);

/* The rows from first to end (its SNAPSHOT and TAKEN) have held with these
 * registers: takes their words, unless that did not pay lately. */
void snapshot_take(Snapshot *snapshot, Instruction *first, Instruction *end,
                   PyObject **registers, int count);

/* (rows, words, uses, refused row or -1). */
PyObject *snapshot_describe(Snapshot *snapshot, int rows);

Snapshot *snapshot_new(void);
void snapshot_free(Snapshot *snapshot);

#endif
