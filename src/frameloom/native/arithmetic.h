/* Arithmetic of guards: what numbers and sizes of tensors come out as. */
#ifndef FRAMELOOM_ARITHMETIC_H
#define FRAMELOOM_ARITHMETIC_H

#include "native.h"

typedef struct Arithmetic Arithmetic;

/* From the constant of an instruction, whose values the program borrows; NULL
 * with an exception. */
Arithmetic *arithmetic_parse(PyObject *constant);
void arithmetic_free(Arithmetic *arithmetic);

/* The registers that it reads. */
const uint16_t *arithmetic_registers(const Arithmetic *arithmetic, int *count);

/* Whether all that is held is true, in machine numbers: 1, 0, or 1 with `doubted`
 * set where these cannot tell (an overflow, a division by zero, what C rounds
 * otherwise). Runs nobody's code. */
int arithmetic_holds(Arithmetic *arithmetic, PyObject *const *registers);
int arithmetic_doubted(const Arithmetic *arithmetic);

/* The same with Python's own numbers, whatever their size; -1 with an exception.
 * Python code may run meanwhile: long ones look for signals. */
int arithmetic_holds_exactly(const Arithmetic *arithmetic, PyObject *const *registers);

#endif
