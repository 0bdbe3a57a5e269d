"""CPU tensors: launches on Triton's interpreter, with what it gets wrong mended."""
