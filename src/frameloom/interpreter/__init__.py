"""Symbolic execution of canonical bytecode (layer 3)."""
