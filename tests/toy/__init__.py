"""A small domain that is as awkward as tensors are: what the core is tested with where no torch is installed."""
