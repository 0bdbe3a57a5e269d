"""pytriton in a notebook: magic.py has ``%load_ext pytriton`` and ``%%tritonc``."""
