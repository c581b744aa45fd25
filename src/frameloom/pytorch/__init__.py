"""The torch frontend: tensors as nodes, torch functions as graph operations, `torch.fx` graphs handed to backends.

The only room that imports torch.  Backends are imported at first use.
"""
