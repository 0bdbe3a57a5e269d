"""A pass of a backward that walks over the forward's programs, each of which reads the same elements of an input.

turned.py   a graph in which a loop runs over the programs; a loop's iterations become programs
growing.py  the programs that run an iteration, where a loop runs longer in later programs
rows.py     numbers of each row that one pass leaves for such a walk
operands.py  the products of such a walk, with operands as tensor cores take them
"""
