"""Text and defines -> the tokens that the parser reads (C11 6.10).

``directives.py`` goes through the lines; ``expand.py`` replaces macros; ``arithmetic.py`` calculates for ``#if``.
"""
