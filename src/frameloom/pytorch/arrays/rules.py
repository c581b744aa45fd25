"""Importing this module registers everything that is known of NumPy."""

from __future__ import annotations

import numpy

from frameloom.pytorch.arrays import draws, scalars, tensors  # noqa: F401  the rules register themselves
from frameloom.pytorch.additions import AT_THE_END, CONSTANT_CLASSES

CONSTANT_CLASSES.update(scalars.CONSTANTS)

if numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0":  # from there on NumPy tells whether a shape has a view
    from frameloom.pytorch.arrays import assumptions, creation, functions, operators, views  # noqa: F401

    AT_THE_END.append(assumptions.ended)
