"""C's loops as ``range``, and loads back at the top of the loop that uses them.

``prefetch.py`` is the large pass: ``slices.py`` says what lies between two iterations, ``slices.py`` which
statements can move to the start of one, ``slices.py`` what a variable holds, ``rotate.py`` whether the
statements before the loop do the same, and ``rotate.py`` puts the loop together.
"""
