"""What calling a known function of torch means, where it is not simply an operation of the graph."""
