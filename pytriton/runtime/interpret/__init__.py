"""CPU tensors: launches on Triton's interpreter, with patches for its faults."""
