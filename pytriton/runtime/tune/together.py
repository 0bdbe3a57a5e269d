"""A race that the ranks of ``torch.distributed`` run together.

Input: points, and how this rank races some of them. Output: how the race ended, the same on all ranks that take
part. The points are cut into lots, one for each GPU. Each rank compiles and races the next lot that nobody has, on
its own GPU, until none is left; then one of them races the best of all lots. That alone decides, as times of two
GPUs are not compared. All goes through the store of the process group (``ranks.share``): a rank that never comes
takes nothing, and what one that died has taken is done by another.

Only ranks with the same GPU model, alignment and points share a race.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pytriton.runtime.options.defines import Config
from pytriton.runtime.tune.race import SCREENING
from pytriton.runtime.tune.ranks import ranks_here, share
from pytriton.runtime.tune.record import Question

__all__ = ["Heat", "race_together"]

_FROM_EACH_LOT = 3  # so many go on
_SMALLEST_LOT = 4


@dataclass(slots=True)
class Heat:
    """How a race ended. ``results``: milliseconds of each point, or why it has none; ``field``: the finalists, the
    choice first."""

    results: dict[Config, float | str] = field(default_factory=dict)
    field: list[Config] = field(default_factory=list)


def race_together(
    question: Question | None,
    configs: Sequence[Config],
    rounds: int,
    run: Callable[[Sequence[Config], int], Heat],
) -> Heat:
    """``run(configs, rounds)``, by all ranks that come; by this one alone where there is nothing to share."""
    count = min(ranks_here(), len(configs) // _SMALLEST_LOT)
    if question is None or count < 2:
        return run(configs, rounds)
    parts = [configs[at::count] for at in range(count)]
    named = {repr(config): config for config in configs}
    asked = [question.stored_by(), [*named], rounds]
    name = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    def heat(part: Sequence[Config], rounds: int) -> str:
        ended = run(part, rounds)
        results = {repr(config): result for config, result in ended.results.items()}
        return json.dumps([results, [*map(repr, ended.field)]])

    def heats(step: str, parts: Sequence[Sequence[Config]], rounds: int) -> list[Heat]:
        shared = share(f"{name}/{step}", len(parts), lambda at: heat(parts[at], rounds))
        return [_read(text, named) for text in shared]

    lots = heats("lots", parts, SCREENING)
    best = [config for lot in lots for config in lot.field[:_FROM_EACH_LOT]]
    last = heats("best", [best], rounds)[0] if best else Heat()
    results: dict[Config, float | str] = {}
    for lot in lots:
        results |= _scaled(lot, last.results) if last.field else lot.results
    return Heat({**results, **last.results}, last.field)


def _read(text: str, named: Mapping[str, Config]) -> Heat:
    results, field = json.loads(text)
    known = {named[name]: result for name, result in results.items() if name in named}
    return Heat(known, [named[name] for name in field if name in named])


def _scaled(lot: Heat, last: Mapping[Config, float | str]) -> dict[Config, float | str]:
    """What a lot found, on the scale of the last race, by the first point that took part in both."""
    for config in lot.field:
        before, now = lot.results.get(config), last.get(config)
        if isinstance(before, float) and isinstance(now, float):
            factor = now / before
            return {
                point: time * factor if isinstance(time, float) else time
                for point, time in lot.results.items()
            }
    return {point: time for point, time in lot.results.items() if isinstance(time, str)}
