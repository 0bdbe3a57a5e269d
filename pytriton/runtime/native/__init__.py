"""CPU tensors, by C: the system's compiler, and launches of what it made. ``pytriton/native`` prints the C."""
