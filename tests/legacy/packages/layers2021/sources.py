import os

_cache = dict()


def source(*names):
    """the text of these files of trsrc, one after another"""
    if names not in _cache:
        text = ''
        for name in names:
            path = os.path.join(os.path.dirname(__file__), 'trsrc', name)
            with open(path) as f:
                text += f.read() + '\n'
        _cache[names] = text
    return _cache[names]
