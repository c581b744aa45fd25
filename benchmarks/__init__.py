"""frameloom measured against torch.compile in the same run. Only ratios count: `python -m benchmarks`."""
