"""Code objects of the running CPython in a form that does not depend on its version, and back."""
