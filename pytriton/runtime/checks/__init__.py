"""Memory checks on CPU and GPU: the memory of a launch, accesses out of bounds, and their diagnostics."""
