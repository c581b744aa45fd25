/* Chooses the layer that knows the running CPython's private layouts.
 *
 * Every version offers the same inline functions (see compat_311.h for their
 * meaning); no other file looks at PY_VERSION_HEX. */
#ifndef FRAMELOOM_COMPAT_H
#define FRAMELOOM_COMPAT_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif
#include <Python.h>

#ifdef Py_GIL_DISABLED
#error "frameloom does not support free-threaded builds"
#endif

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
#include "compat_311.h"
#elif PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000
#include "compat_312.h"
#elif PY_VERSION_HEX >= 0x030d0000 && PY_VERSION_HEX < 0x030e0000
#include "compat_313.h"
#else
#error "frameloom supports CPython 3.11, 3.12 and 3.13"
#endif

#endif
