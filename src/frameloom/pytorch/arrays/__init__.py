"""NumPy under capture: scalars of NumPy as constants, arrays as objects whose storage is a node of the graph."""
