"""What calling a known function means: rules, polyfills and refusals (layer 4).  Importing this package registers them all."""

from __future__ import annotations

from frameloom.rules import (  # noqa: F401  each module registers its rules
    builtins_,
    class_,
    descriptor_,
    exception_,
    function_,
    generator_,
    generic,
    identity,
    mappingproxy,
    module_,
    object_,
)
