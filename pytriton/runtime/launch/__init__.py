"""A call with known defines -> a launch: arguments checked, and handed to a compiled kernel.

``arguments.py`` and ``device.py`` are the slow path, which explains; ``fast_path.py`` generates the fast one.
"""
