"""Backends: what turns a graph into something callable.  Each is imported when it is first used."""
