"""Gradients of kernels: the backward is derived from the kernel, and launched.

derive/          a kernel -> the kernels of its backward; needs neither torch nor triton
backward.py      ``pytriton.gradient``: a launch of the forward -> launches of the backward
launches.py      the launches in numbers: grids, reach, scratch; their public description
enumerated.py    stores that no formula shows to be disjoint, program by program
laid_out.py      tensors in memory: what overlaps, what is dense, gradients of the same layout

``pytriton.gradient`` is the function: ``pytriton/__init__.py`` loads this package first, so that no later import
puts it in the function's place.
"""
