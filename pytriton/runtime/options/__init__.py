"""Options of users: a source, defines, configs, in the styles of three years.

Pickled configs name ``_config_of`` of this package, wherever it is defined.
"""

from pytriton.runtime.options.defines import _config_of

__all__ = ["_config_of"]
