"""Every private name of torch and Triton that the package touches, and nothing else.

A name stands here with the versions in which it was read: torch 2.8 to 2.13, Triton 3.6 to 3.9, unless its comment
says otherwise. Another release is checked by reading its source for the names in this folder.

A workaround, wherever it is, carries a comment of the form ``# Triton 3.6: what goes wrong``, with the last version
that needs it. The code below goes with that version: once pyproject.toml requires a later one,
tests/test_architecture.py names the places.

torch_names.py        private names of torch
triton_names.py       private names of Triton
interpreter_names.py  those of its interpreter
"""
