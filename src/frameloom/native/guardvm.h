/* A guard program in memory. */
#ifndef FRAMELOOM_GUARDVM_H
#define FRAMELOOM_GUARDVM_H

#include "arithmetic.h"
#include "native.h"
#include "opcodes.h"
#include "storage.h"
#include "tensor.h"

/* A value that was found in a dict: the number of its entry, and the register
 * that has it. */
typedef struct {
    int32_t entry;
    int32_t target;
} Found;

typedef struct Snapshot Snapshot;

typedef struct {
    uint16_t opcode;
    uint16_t source;
    uint16_t target;
    uint16_t count;              /* of what extra points to and is in use */
    int32_t guard;
    int32_t index;               /* the operand as it was given */
    int32_t dimension;           /* of SIZE_IN */
    Key key;                     /* .object: the constant; .hash: its hash, if it is a key */
    union {
        int64_t number;          /* a size, a bound, a member's offset */
        double real;
        Py_hash_t *hashes;       /* of the items of .object, owned */
        uint16_t *registers;     /* owned */
        TensorFacts *facts;      /* owned */
        PyObject *other;         /* second item of a constant, borrowed */
        Snapshot *snapshot;      /* owned */
        Arithmetic *arithmetic;  /* owned */
        Found *found;            /* of a row of memory: what the rows behind it found, owned */
    } extra;
    int64_t second;              /* a second number; of a row of memory: the state that held; of EXACTLY: how many rows before it
                                    its ARITHMETIC is */
} Instruction;

struct GuardProgram {
    PyObject_HEAD
    PyObject *constants;         /* tuple, owns what instructions borrow */
    Py_ssize_t count;
    Py_ssize_t quiet;            /* how many come before the first that may run Python code */
    int only_doubts;             /* the rest has nothing to do where no ARITHMETIC of the quiet part was in doubt */
    int registers;
    int gathered;                /* registers of the quiet part that a check hands out */
    int packed;                  /* the first of them, which it hands out as one tuple */
    int kept;                    /* registers of the quiet part that the rest reads */
    int owned;                   /* these, and those that the rest writes */
    uint16_t *gather;
    uint16_t *own;
    PyObject **memory;           /* registers of the quiet part, borrowed, good as far as it says */
    Instruction *instructions;
};

typedef struct {
    const char *name;
    OpcodeKind kind;
    OperandKind operand;
    int runs;
} OpcodeRow;

extern const OpcodeRow opcode_rows[OPCODE_COUNT];

/* Prepares the operand of an instruction, whose opcode and index are set; 0
 * with an exception. */
int operand_prepare(Instruction *instruction, PyObject *constants);
void operand_free(Instruction *instruction);

/* Whether the end of an object runs nobody's code, and nothing in it changes. */
int is_atom(PyObject *object);

/* int64 stands for an open end. */
#define OPEN_LOW INT64_MIN
#define OPEN_HIGH INT64_MAX

#endif
