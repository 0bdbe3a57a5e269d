"""A kernel as plain data, for ``pickle``: the arguments of its constructor, and the bytes of its constant buffers.

Nothing that was translated, compiled or measured travels: the receiver may have another version, another
GPU or none. The data are numbers, texts, dtypes and dictionaries of those (and the user's heuristics),
never objects of ours, so that other versions of pytriton can read them. ``format`` grows when an old reader
would misunderstand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch

from pytriton import __version__
from pytriton.runtime.errors import refusal
from pytriton.runtime.launch.buffers import Constants
from pytriton.runtime.options.defines import _config_of, changed, state_of_config
from pytriton.runtime.options.definition import Definition, Heuristics, KernelText, PlanSettings
from pytriton.settings import Settings
from pytriton.source import Source

FORMAT: Final = 1


def state_of(definition: Definition, constants: Constants) -> dict[str, Any]:
    """The data; ``from_state`` reads it."""
    source, asked = definition.text.source, definition.text.settings
    settings = definition.settings
    return {
        "format": FORMAT,
        "version": __version__,
        "source": [source.text, source.name, source.origin],
        "text": [asked.kernel, list(asked.include_dirs), asked.strict_literals],
        "defines": dict(definition.defines),
        "num_warps": definition.num_warps,
        "num_stages": definition.num_stages,
        "points": [state_of_config(point) for point in definition.points],
        "settings": {
            **changed(settings),  # without defaults: a younger version may have more fields
            "device": None if settings.device is None else str(settings.device),
        },
        "outputs": list(definition.outputs),
        "heuristics": dict(definition.heuristics.functions) or None,
        "constants": constants.state(),
    }


def from_state(state: Mapping[str, Any]) -> tuple[Definition, Constants]:
    """What a kernel is made of; raises LaunchError for data of a version that this one cannot read."""
    try:
        if state["format"] != FORMAT:
            raise ValueError(f"its format is {state['format']}")
        kernel, include_dirs, strict = state["text"]
        device = state["settings"].get("device")
        settings = {**state["settings"], "device": None if device is None else torch.device(device)}
        definition = Definition(
            KernelText(Source(*state["source"]), Settings(kernel, tuple(include_dirs), strict)),
            state["defines"],
            state["num_warps"],
            state["num_stages"],
            tuple(_config_of(point) for point in state["points"]),
            PlanSettings(**settings),
            tuple(state["outputs"]),
            Heuristics(state["heuristics"] or {}),
        )
        return definition, Constants(state["constants"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        version = state.get("version") if isinstance(state, Mapping) else None
        raise refusal(
            f"a kernel that pytriton {version or 'of an unknown version'} pickled cannot be read: {error}",
            "TC522",
            f"this is pytriton {__version__}: pickle it with the same version, or create it again from its source",
        ) from error
