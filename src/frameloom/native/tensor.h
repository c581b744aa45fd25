/* Facts of tensors, read through the C shim that torch exports. */
#ifndef FRAMELOOM_TENSOR_H
#define FRAMELOOM_TENSOR_H

#include "native.h"

/* What a TENSOR instruction expects. A size of -n-1 means n or more; a stride
 * of STRIDE_ANY is not looked at, one of STRIDE_OF - j is size j (or 1,
 * if that is 0) times stride j, which is how a dense layout of unknown sizes is
 * said. */
typedef struct {
    PyObject *types;         /* borrowed: a tuple of exact types, any of them */
    uint64_t keys;
    int32_t dtype;
    int32_t device_type;
    int32_t device_index;
    int8_t requires_grad;    /* -1: not looked at */
    int8_t looks_at_strides;
    int8_t exact;            /* every size and stride is one number */
    int8_t quick;            /* one type, and all of it in the implementation: see quick_facts_hold */
    uint16_t device;         /* where quick: kind and number of the device as they lie there */
    int64_t dimensions;
    int64_t layout[];        /* sizes, strides */
} TensorFacts;

#define STRIDE_ANY (-1)
#define STRIDE_OF (-2)

/* From the constant of the instruction; NULL with an exception. */
TensorFacts *tensor_facts_parse(PyObject *constant);
int tensor_facts_hold(const TensorFacts *facts, PyObject *object);

/* A tensor that is alive, and what it must be. */
typedef struct {
    PyObject *tensor;
    const char *implementation;  /* what it pointed to once, or NULL: only to have that memory at hand */
    const TensorFacts *facts;
    int32_t row, constant;   /* of the instruction that asks */
} AskedTensor;

/* The first of some tensors that is not what it must be, or NULL. */
const AskedTensor *tensors_changed(const AskedTensor *asked, size_t count);

/* The implementation of a tensor whose facts are read past the shim, or NULL. */
const char *tensor_implementation(PyObject *object);

/* One size of a tensor, -1 when it has no such dimension or is no tensor that
 * can be read. */
int64_t tensor_size(PyObject *object, int64_t dimension);

/* The same, or one stride, read where the tensor itself keeps them if that is known. */
int64_t tensor_extent(PyObject *object, int64_t dimension, int stride);

extern PyMethodDef tensor_methods[];

#endif
