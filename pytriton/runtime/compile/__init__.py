"""A generated module -> machine code: kept as a file, passed by the gate, compiled by Triton."""
