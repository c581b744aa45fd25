"""What calling a known function means: rules, polyfills and refusals (layer 4).  Importing this package registers them all."""

from __future__ import annotations

from frameloom.rules import (  # noqa: F401  each module registers its rules
    atoms,
    builtins_,
    class_,
    descriptor_,
    dict_,
    exception_,
    function_,
    generator_,
    generic,
    identity,
    iterator_,
    lazy_,
    list_,
    mappingproxy,
    module_,
    number_,
    object_,
    range_,
    reductions,
    representation,
    set_,
    slice_,
    sorting,
    str_,
    tuple_,
    views,
)
