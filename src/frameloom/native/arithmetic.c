/* Arithmetic of guards, twice: in machine numbers, and in Python's.
 *
 * A program is a list of rows, each of which makes one number of numbers that
 * rows before it made, of constants, or of what a register holds. The first
 * evaluator keeps int64 and double, and where these do not give what Python
 * gives, or might not, it is in doubt. Then the second does the same rows with
 * Python's int and float, which is right by definition, and slow. */
#include "arithmetic.h"
#include "opcodes.h"
#include "tensor.h"
#include <math.h>

typedef enum { UNKNOWN, WHOLE, REAL } NumberKind;

typedef struct {
    union {
        int64_t whole;
        double real;
    };
    NumberKind kind;
} Number;

typedef struct {
    uint16_t op;
    uint16_t a, b, c;        /* slots, registers, dimensions, or a number of rows, as the op says */
} Row;

struct Arithmetic {
    int register_count, value_count, row_count;
    int doubted;
    uint16_t *registers;
    PyObject **values;       /* borrowed from the constant */
    Row *rows;
    Number *slots;           /* one for each value, then one for each row */
};

typedef struct {
    const char *name;
    const char *operands;    /* a letter each: s a slot, r a register, n a number, j how many rows to pass over */
} ArithmeticRow;

static const ArithmeticRow arithmetic_rows[ARITHMETIC_COUNT] = {
#define X(name, operands) {#name, operands},
    ARITHMETIC(X)
#undef X
};

/* ---- in machine numbers ---- */

/* Whole numbers up to here are doubles, all of them. */
#define MOST_EXACT (INT64_C(1) << 53)

static inline int
is_exact(int64_t whole)
{
    return -MOST_EXACT <= whole && whole <= MOST_EXACT;
}

static inline int
as_real(const Number *number, double *real)
{
    *real = number->kind == REAL ? number->real : (double)number->whole;
    return number->kind == REAL || is_exact(number->whole);
}

static inline int
give_whole(Number *made, int64_t whole)
{
    made->kind = WHOLE;
    made->whole = whole;
    return 1;
}

static inline int
give_real(Number *made, double real)
{
    made->kind = REAL;
    made->real = real;
    return 1;
}

/* What floor() and its kin made of a double, as a whole number. */
static int
give_rounded(Number *made, double rounded)
{
    if (!(rounded >= -0x1p63 && rounded < 0x1p63)) {
        return 0;
    }
    return give_whole(made, (int64_t)rounded);
}

static inline int
is_true(const Number *number)
{
    return number->kind == WHOLE ? number->whole != 0 : number->real != 0;
}

/* The kinds of what a row gives are few: both operands whole, or one real. */
#define BINARY(of_whole, of_real)                       \
    if (a->kind == WHOLE && b->kind == WHOLE) {         \
        return of_whole;                                \
    }                                                   \
    double x, y;                                        \
    return as_real(a, &x) && as_real(b, &y) && (of_real)

static int
add(const Number *a, const Number *b, Number *made)
{
    int64_t sum;
    BINARY(!__builtin_add_overflow(a->whole, b->whole, &sum) && give_whole(made, sum), give_real(made, x + y));
}

static int
subtract(const Number *a, const Number *b, Number *made)
{
    int64_t difference;
    BINARY(!__builtin_sub_overflow(a->whole, b->whole, &difference) && give_whole(made, difference),
           give_real(made, x - y));
}

static int
multiply(const Number *a, const Number *b, Number *made)
{
    int64_t product;
    BINARY(!__builtin_mul_overflow(a->whole, b->whole, &product) && give_whole(made, product),
           give_real(made, x * y));
}

/* Of whole numbers that are doubles the quotient is rounded once, as Python's is. */
static int
divide(const Number *a, const Number *b, Number *made)
{
    double x, y;
    return as_real(a, &x) && as_real(b, &y) && y != 0 && give_real(made, x / y);
}

static inline int
can_floor(const Number *a, const Number *b)
{
    return a->kind == WHOLE && b->kind == WHOLE && b->whole != 0
        && !(b->whole == -1 && a->whole == INT64_MIN);
}

/* C rounds towards zero, Python downwards. */
static int
floor_divide(const Number *a, const Number *b, Number *made)
{
    if (!can_floor(a, b)) {
        return 0;
    }
    int64_t quotient = a->whole / b->whole, rest = a->whole % b->whole;
    return give_whole(made, quotient - (rest != 0 && (rest < 0) != (b->whole < 0)));
}

static int
modulo(const Number *a, const Number *b, Number *made)
{
    if (!can_floor(a, b)) {
        return 0;
    }
    int64_t rest = a->whole % b->whole;
    return give_whole(made, rest != 0 && (rest < 0) != (b->whole < 0) ? rest + b->whole : rest);
}

static int
power(const Number *a, const Number *b, Number *made)
{
    if (a->kind != WHOLE || b->kind != WHOLE || b->whole < 0) {
        return 0;
    }
    int64_t result = 1, base = a->whole;
    for (int64_t exponent = b->whole; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) {
            return 0;
        }
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) {
            return 0;
        }
    }
    return give_whole(made, result);
}

static int
shift(const Number *a, const Number *b, Number *made, int left)
{
    if (a->kind != WHOLE || b->kind != WHOLE || b->whole < 0) {
        return 0;
    }
    if (!left) {
        return give_whole(made, a->whole >> Py_MIN(b->whole, 63));
    }
    int64_t product;
    return b->whole < 63 && !__builtin_mul_overflow(a->whole, INT64_C(1) << b->whole, &product)
        && give_whole(made, product);
}

static int
bitwise(const Number *a, const Number *b, Number *made, int op)
{
    if (a->kind != WHOLE || b->kind != WHOLE) {
        return 0;
    }
    return give_whole(made, op == ARITHMETIC_AND   ? a->whole & b->whole
                          : op == ARITHMETIC_OR ? a->whole | b->whole
                                                : a->whole ^ b->whole);
}

#define RELATION(op, x, y)                      \
    ((op) == ARITHMETIC_LT   ? (x) < (y)        \
     : (op) == ARITHMETIC_LE ? (x) <= (y)       \
     : (op) == ARITHMETIC_EQ ? (x) == (y)       \
     : (op) == ARITHMETIC_NE ? (x) != (y)       \
     : (op) == ARITHMETIC_GT ? (x) > (y)        \
                             : (x) >= (y))

static inline int
compare(const Number *a, const Number *b, Number *made, int op)
{
    BINARY(give_whole(made, RELATION(op, a->whole, b->whole)), give_whole(made, RELATION(op, x, y)));
}

/* The first of equal ones, as in Python. */
static int
choose_extreme(const Number *a, const Number *b, Number *made, int op)
{
    Number second;
    if (!compare(b, a, &second, op)) {
        return 0;
    }
    *made = second.whole ? *b : *a;
    return 1;
}

static int
negate(const Number *a, Number *made)
{
    if (a->kind == REAL) {
        return give_real(made, -a->real);
    }
    return a->whole != INT64_MIN && give_whole(made, -a->whole);
}

static int
round_by(const Number *a, Number *made, double (*rounding)(double))
{
    return a->kind == WHOLE ? give_whole(made, a->whole) : give_rounded(made, rounding(a->real));
}

static int
square_root(const Number *a, Number *made)
{
    double x;
    return as_real(a, &x) && x >= 0 && give_real(made, sqrt(x));
}

static int
to_real(const Number *a, Number *made)
{
    double x;
    return as_real(a, &x) && give_real(made, x);
}

static int
read_whole(PyObject *object, Number *made)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0 && give_whole(made, value);
}

/* A row that makes a number of numbers; 0 where it is in doubt. */
static int
compute(const Row *row, const Number *a, const Number *b, Number *made)
{
    switch ((ArithmeticNumber)row->op) {
    case ARITHMETIC_ADD:
        return add(a, b, made);
    case ARITHMETIC_SUB:
        return subtract(a, b, made);
    case ARITHMETIC_MUL:
        return multiply(a, b, made);
    case ARITHMETIC_TRUE_DIV:
        return divide(a, b, made);
    case ARITHMETIC_FLOOR_DIV:
        return floor_divide(a, b, made);
    case ARITHMETIC_MOD:
        return modulo(a, b, made);
    case ARITHMETIC_POW:
        return power(a, b, made);
    case ARITHMETIC_LSHIFT:
        return shift(a, b, made, 1);
    case ARITHMETIC_RSHIFT:
        return shift(a, b, made, 0);
    case ARITHMETIC_AND:
    case ARITHMETIC_OR:
    case ARITHMETIC_XOR:
        return bitwise(a, b, made, row->op);
    case ARITHMETIC_LT:
    case ARITHMETIC_LE:
    case ARITHMETIC_EQ:
    case ARITHMETIC_NE:
    case ARITHMETIC_GT:
    case ARITHMETIC_GE:
        return compare(a, b, made, row->op);
    case ARITHMETIC_MIN:
        return choose_extreme(a, b, made, ARITHMETIC_LT);
    case ARITHMETIC_MAX:
        return choose_extreme(a, b, made, ARITHMETIC_GT);
    case ARITHMETIC_NEG:
        return negate(a, made);
    case ARITHMETIC_POS:
        *made = *a;
        return 1;
    case ARITHMETIC_ABS:
        if (a->kind == REAL) {
            return give_real(made, fabs(a->real));
        }
        *made = *a;
        return a->whole >= 0 || negate(a, made);
    case ARITHMETIC_INVERT:
        return a->kind == WHOLE && give_whole(made, ~a->whole);
    case ARITHMETIC_NOT:
        return give_whole(made, !is_true(a));
    case ARITHMETIC_TRUNC:
        return round_by(a, made, trunc);
    case ARITHMETIC_FLOOR:
        return round_by(a, made, floor);
    case ARITHMETIC_CEIL:
        return round_by(a, made, ceil);
    case ARITHMETIC_ROUND:
        return round_by(a, made, rint);
    case ARITHMETIC_FLOAT:
        return to_real(a, made);
    case ARITHMETIC_SQRT:
        return square_root(a, made);
    default:
        return 0;
    }
}

static int
in_doubt(Arithmetic *self)
{
    self->doubted = 1;
    return 1;
}

int
arithmetic_holds(Arithmetic *self, PyObject *const *registers)
{
    Number *slots = self->slots, *made = slots + self->value_count;
    self->doubted = 0;
    for (const Row *row = self->rows, *end = row + self->row_count; row < end; row++, made++) {
        int64_t size;
        switch ((ArithmeticNumber)row->op) {
        case ARITHMETIC_WHOLE:
            if (!PyLong_CheckExact(registers[row->a])) {
                return 0;
            }
            if (!read_whole(registers[row->a], made)) {
                return in_doubt(self);
            }
            break;
        case ARITHMETIC_REAL:
            if (!PyFloat_CheckExact(registers[row->a])) {
                return 0;
            }
            give_real(made, PyFloat_AS_DOUBLE(registers[row->a]));
            break;
        case ARITHMETIC_SIZE:
        case ARITHMETIC_STRIDE:
            size = tensor_extent(registers[row->a], row->b, row->op == ARITHMETIC_STRIDE);
            if (size < 0) {
                return 0;
            }
            give_whole(made, size);
            break;
        default:
            if (slots[row->a].kind == UNKNOWN) {
                return in_doubt(self);
            }
            if (row->op >= ARITHMETIC_SKIP_IF) {
                int is = is_true(&slots[row->a]);
                if (row->op == ARITHMETIC_HOLDS) {
                    if (!is) {
                        return 0;
                    }
                }
                else if (row->op == ARITHMETIC_CHOOSE) {
                    *made = slots[is ? row->b : row->c];
                }
                else if (is == (row->op == ARITHMETIC_SKIP_IF)) {
                    made += row->b;
                    row += row->b;
                }
            }
            else if (slots[row->b].kind == UNKNOWN || !compute(row, &slots[row->a], &slots[row->b], made)) {
                return in_doubt(self);
            }
        }
    }
    return 1;
}

int
arithmetic_doubted(const Arithmetic *self)
{
    return self->doubted;
}

/* ---- in Python's numbers ---- */

static PyObject *
truth(int is)
{
    return is < 0 ? NULL : PyLong_FromLong(is);
}

static PyObject *
relation(PyObject *a, PyObject *b, int op)
{
    return truth(PyObject_RichCompareBool(a, b, op));
}

/* RichCompareBool takes one object for equal to itself, which NaN is not. */
static PyObject *
equality(PyObject *a, PyObject *b, int op)
{
    if (PyFloat_CheckExact(a) && PyFloat_AS_DOUBLE(a) != PyFloat_AS_DOUBLE(a)) {
        return truth(op == Py_NE);
    }
    return relation(a, b, op);
}

static PyObject *
extreme(PyObject *a, PyObject *b, int op)
{
    int second = PyObject_RichCompareBool(b, a, op);
    return second < 0 ? NULL : Py_NewRef(second ? b : a);
}

static PyObject *
rounded(PyObject *a, double (*rounding)(double))
{
    return PyFloat_CheckExact(a) ? PyLong_FromDouble(rounding(PyFloat_AS_DOUBLE(a))) : Py_NewRef(a);
}

static PyObject *
exact_root(PyObject *a)
{
    double x = PyFloat_AsDouble(a);
    if (x == -1.0 && PyErr_Occurred()) {
        return NULL;
    }
    if (x < 0) {
        PyErr_SetString(PyExc_ValueError, "square root of a negative number");
        return NULL;
    }
    return PyFloat_FromDouble(sqrt(x));
}

static PyObject *
compute_exactly(const Row *row, PyObject *a, PyObject *b)
{
    switch ((ArithmeticNumber)row->op) {
    case ARITHMETIC_ADD:
        return PyNumber_Add(a, b);
    case ARITHMETIC_SUB:
        return PyNumber_Subtract(a, b);
    case ARITHMETIC_MUL:
        return PyNumber_Multiply(a, b);
    case ARITHMETIC_TRUE_DIV:
        return PyNumber_TrueDivide(a, b);
    case ARITHMETIC_FLOOR_DIV:
        return PyNumber_FloorDivide(a, b);
    case ARITHMETIC_MOD:
        return PyNumber_Remainder(a, b);
    case ARITHMETIC_POW:
        return PyNumber_Power(a, b, Py_None);
    case ARITHMETIC_LSHIFT:
        return PyNumber_Lshift(a, b);
    case ARITHMETIC_RSHIFT:
        return PyNumber_Rshift(a, b);
    case ARITHMETIC_AND:
        return PyNumber_And(a, b);
    case ARITHMETIC_OR:
        return PyNumber_Or(a, b);
    case ARITHMETIC_XOR:
        return PyNumber_Xor(a, b);
    case ARITHMETIC_LT:
        return relation(a, b, Py_LT);
    case ARITHMETIC_LE:
        return relation(a, b, Py_LE);
    case ARITHMETIC_EQ:
        return equality(a, b, Py_EQ);
    case ARITHMETIC_NE:
        return equality(a, b, Py_NE);
    case ARITHMETIC_GT:
        return relation(a, b, Py_GT);
    case ARITHMETIC_GE:
        return relation(a, b, Py_GE);
    case ARITHMETIC_MIN:
        return extreme(a, b, Py_LT);
    case ARITHMETIC_MAX:
        return extreme(a, b, Py_GT);
    case ARITHMETIC_NEG:
        return PyNumber_Negative(a);
    case ARITHMETIC_POS:
        return PyNumber_Positive(a);
    case ARITHMETIC_ABS:
        return PyNumber_Absolute(a);
    case ARITHMETIC_INVERT:
        return PyNumber_Invert(a);
    case ARITHMETIC_NOT:
        return truth(PyObject_Not(a));
    case ARITHMETIC_TRUNC:
        return PyNumber_Long(a);
    case ARITHMETIC_FLOOR:
        return rounded(a, floor);
    case ARITHMETIC_CEIL:
        return rounded(a, ceil);
    case ARITHMETIC_ROUND:
        return rounded(a, rint);
    case ARITHMETIC_FLOAT:
        return PyNumber_Float(a);
    case ARITHMETIC_SQRT:
        return exact_root(a);
    default:
        Py_UNREACHABLE();
    }
}

/* What a register holds, as a number; NULL without an exception where it is none. */
static PyObject *
read_exactly(const Row *row, PyObject *object)
{
    if (row->op == ARITHMETIC_WHOLE) {
        return PyLong_CheckExact(object) ? Py_NewRef(object) : NULL;
    }
    if (row->op == ARITHMETIC_REAL) {
        return PyFloat_CheckExact(object) ? Py_NewRef(object) : NULL;
    }
    int64_t size = tensor_extent(object, row->b, row->op == ARITHMETIC_STRIDE);
    return size < 0 ? NULL : PyLong_FromLongLong(size);
}

static int
is_made(const Row *row, PyObject *const *slots)
{
    for (const char *kind = arithmetic_rows[row->op].operands; *kind == 's'; kind++) {
        uint16_t number = kind == arithmetic_rows[row->op].operands ? row->a : row->b;
        if (slots[number] == NULL && row->op != ARITHMETIC_CHOOSE) {
            return 0;
        }
    }
    return 1;
}

/* Runs one row, whose result goes to its own place, and returns how many rows to
 * pass over; -1 where it does not hold or raises. */
static int
run_exactly(const Row *row, PyObject **slots, PyObject **made, PyObject *const *registers)
{
    if (!is_made(row, slots)) {
        PyErr_SetString(PyExc_ValueError, "a row reads what was passed over");
        return -1;
    }
    switch ((ArithmeticNumber)row->op) {
    case ARITHMETIC_WHOLE:
    case ARITHMETIC_REAL:
    case ARITHMETIC_SIZE:
    case ARITHMETIC_STRIDE:
        *made = read_exactly(row, registers[row->a]);
        return *made == NULL ? -1 : 0;
    case ARITHMETIC_SKIP_IF:
    case ARITHMETIC_SKIP_UNLESS: {
        int is = PyObject_IsTrue(slots[row->a]);
        return is == (row->op == ARITHMETIC_SKIP_IF) ? row->b : 0;
    }
    case ARITHMETIC_CHOOSE: {
        PyObject *chosen = slots[row->a] == NULL ? NULL : slots[PyObject_IsTrue(slots[row->a]) ? row->b : row->c];
        *made = Py_XNewRef(chosen);
        return chosen == NULL ? -1 : 0;
    }
    case ARITHMETIC_HOLDS:
        return PyObject_IsTrue(slots[row->a]) ? 0 : -1;
    default:
        *made = compute_exactly(row, slots[row->a], slots[row->b]);
        return *made == NULL ? -1 : 0;
    }
}

int
arithmetic_holds_exactly(const Arithmetic *self, PyObject *const *registers)
{
    int count = self->value_count + self->row_count;
    PyObject **slots = PyMem_Calloc((size_t)count + 1, sizeof(PyObject *));
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < self->value_count; i++) {
        slots[i] = Py_NewRef(self->values[i]);
    }
    int holds = 1;
    for (int i = 0; holds && i < self->row_count; i++) {
        int passed = run_exactly(&self->rows[i], slots, &slots[self->value_count + i], registers);
        holds = passed >= 0;
        i += passed;
    }
    for (int i = 0; i < count; i++) {
        Py_XDECREF(slots[i]);
    }
    PyMem_Free(slots);
    return PyErr_Occurred() ? -1 : holds;
}

/* ---- making ---- */

static int
wrong(const char *message)
{
    if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, message);
    }
    return 0;
}

/* A row before has made every slot that is read here, or may have passed it over
 * together with this one: what is chosen or skipped is the writer's to keep apart. */
static int
parse_operand(const Arithmetic *self, int number, char kind, long given, uint16_t *operand)
{
    switch (kind) {
    case 's':
        if (given >= number || given < -self->value_count) {
            return wrong("a row reads what is not made yet");
        }
        given = given < 0 ? -1 - given : self->value_count + given;
        break;
    case 'r':
        if (given < 0 || given >= self->register_count) {
            return wrong("a row reads no register of its program");
        }
        given = self->registers[given];
        break;
    case 'j':
        if (given < 0 || given >= self->row_count - number) {
            return wrong("a row passes over more rows than there are");
        }
        break;
    default:
        if (given < 0 || given >= UINT16_MAX) {
            return wrong("an operand is out of range");
        }
    }
    *operand = (uint16_t)given;
    return 1;
}

static int
parse_row(Arithmetic *self, int number, PyObject *tuple)
{
    PyObject *name;
    long given[3];
    Row *row = &self->rows[number];
    if (!PyTuple_Check(tuple) || !PyArg_ParseTuple(tuple, "Ulll", &name, &given[0], &given[1], &given[2])) {
        return wrong("a row is a tuple of a name and three numbers");
    }
    int op = 0;
    while (op < ARITHMETIC_COUNT && PyUnicode_CompareWithASCIIString(name, arithmetic_rows[op].name) != 0) {
        op++;
    }
    if (op == ARITHMETIC_COUNT) {
        return wrong("no such row of arithmetic");
    }
    row->op = (uint16_t)op;
    uint16_t *operands[] = {&row->a, &row->b, &row->c};
    const char *kinds = arithmetic_rows[op].operands;
    for (int i = 0; kinds[i] != 0; i++) {
        if (!parse_operand(self, number, kinds[i], given[i], operands[i])) {
            return 0;
        }
    }
    if (kinds[0] == 's' && kinds[1] == 0) {
        row->b = row->a;  /* so that both can be looked at */
    }
    return 1;
}

static int
parse_value(Arithmetic *self, int number, PyObject *value)
{
    self->values[number] = value;
    if (PyFloat_CheckExact(value)) {
        return give_real(&self->slots[number], PyFloat_AS_DOUBLE(value));
    }
    if (!PyLong_CheckExact(value)) {
        return wrong("a value is an int or a float");
    }
    read_whole(value, &self->slots[number]);
    return 1;
}

static int
parse_register(Arithmetic *self, int number, PyObject *value)
{
    long given = PyLong_AsLong(value);
    if (given < 0 || given >= UINT16_MAX) {
        return wrong("a register is out of range");
    }
    self->registers[number] = (uint16_t)given;
    return 1;
}

static int
parse_all(Arithmetic *self, PyObject *registers, PyObject *values, PyObject *rows)
{
    for (int i = 0; i < self->register_count; i++) {
        if (!parse_register(self, i, PyTuple_GET_ITEM(registers, i))) {
            return 0;
        }
    }
    for (int i = 0; i < self->value_count; i++) {
        if (!parse_value(self, i, PyTuple_GET_ITEM(values, i))) {
            return 0;
        }
    }
    for (int i = 0; i < self->row_count; i++) {
        if (!parse_row(self, i, PyTuple_GET_ITEM(rows, i))) {
            return 0;
        }
    }
    return 1;
}

Arithmetic *
arithmetic_parse(PyObject *constant)
{
    PyObject *registers, *values, *rows;
    if (!PyTuple_Check(constant)
        || !PyArg_ParseTuple(constant, "O!O!O!", &PyTuple_Type, &registers, &PyTuple_Type, &values, &PyTuple_Type, &rows)) {
        wrong("arithmetic is a tuple of registers, values and rows");
        return NULL;
    }
    size_t count = (size_t)PyTuple_GET_SIZE(values) + (size_t)PyTuple_GET_SIZE(rows);
    if (count >= UINT16_MAX || PyTuple_GET_SIZE(registers) >= UINT16_MAX) {
        wrong("too much arithmetic");
        return NULL;
    }
    Arithmetic *self = PyMem_Calloc(1, sizeof(Arithmetic));
    if (self == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    self->register_count = (int)PyTuple_GET_SIZE(registers);
    self->value_count = (int)PyTuple_GET_SIZE(values);
    self->row_count = (int)PyTuple_GET_SIZE(rows);
    self->registers = PyMem_Calloc((size_t)self->register_count + 1, sizeof(uint16_t));
    self->values = PyMem_Calloc((size_t)self->value_count + 1, sizeof(PyObject *));
    self->rows = PyMem_Calloc((size_t)self->row_count + 1, sizeof(Row));
    self->slots = PyMem_Calloc(count + 1, sizeof(Number));
    if (!self->registers || !self->values || !self->rows || !self->slots) {
        PyErr_NoMemory();
    }
    else if (parse_all(self, registers, values, rows)) {
        return self;
    }
    arithmetic_free(self);
    return NULL;
}

const uint16_t *
arithmetic_registers(const Arithmetic *self, int *count)
{
    *count = self->register_count;
    return self->registers;
}

void
arithmetic_free(Arithmetic *self)
{
    if (self != NULL) {
        PyMem_Free(self->registers);
        PyMem_Free(self->values);
        PyMem_Free(self->rows);
        PyMem_Free(self->slots);
        PyMem_Free(self);
    }
}
