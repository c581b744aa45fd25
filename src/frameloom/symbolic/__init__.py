"""Symbolic values and everything a trace knows about real objects (layer 2)."""
