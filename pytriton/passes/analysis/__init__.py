"""Questions about a kernel that several rooms of passes ask. Nothing here changes a tree
for a purpose of its own.
"""
