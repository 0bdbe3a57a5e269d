"""A kernel as a module of C11, by ``templates/native.c.j2``.

Input: a kernel as checked, effects sequenced. Output: ``NativeModule``: the source, the name of its entry point
``void NAME(const struct arguments *, const struct grid *, int64_t first, int64_t last)``, which runs the programs
first..last (exclusive) by number, axis 0 fastest, and the bytes of stack that a program needs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from pytriton.emit.templates import render
from pytriton.errors import Diagnostic, Report
from pytriton.frozen import record
from pytriton.lang.tree.typed import KernelDef
from pytriton.lang.tree.types import ElementType, PointerType, ScalarType
from pytriton.native import scalars
from pytriton.native.actions import Actions, comment, outlived
from pytriton.native.c_library import defined, needed
from pytriton.native.elements import Elements
from pytriton.native.identifiers import Identifiers
from pytriton.native.inline import inlined
from pytriton.native.meaning import meaning
from pytriton.native.waits import tail_of, waiting_loops
from pytriton.native.writer import Writer
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.check.sites import Site, numbered
from pytriton.pipeline import checked_kernel
from pytriton.settings import Settings
from pytriton.source import Source, Span

TEMPLATE: Final = "native.c.j2"
_FRAME: Final = frozenset(("arguments", "grid", "checks", "wait", "number", "all"))  # names in it


@record
class NativeModule:
    """A kernel in C. ``parameters`` are the types of its arguments: those of the user, then constant buffers, whose
    bytes are in ``buffers``."""

    text: str
    entry: str
    parameters: tuple[ScalarType | PointerType, ...]
    stack_bytes: int
    buffers: tuple[int, ...] = ()
    sites: tuple[Site, ...] = ()
    elements: tuple[ElementType | None, ...] = ()  # what each of the sites accesses
    loops: tuple[Span, ...] = ()  # those in which a program may wait for another one
    reads: tuple[ElementType, ...] = ()  # the types of elements that are read in them
    warnings: tuple[Diagnostic, ...] = ()


def to_c(
    source: str | bytes | os.PathLike[str] | Source,
    defines: Mapping[str, object] | None,
    settings: Settings,
    name: str | None = None,
) -> NativeModule:
    """One kernel of a source in C; raises CompileError, TC460 for what has no C yet."""
    report = Report()
    kernel = meaning(checked_kernel(source, defines, settings, name, report), PassContext(settings, report))
    sites: tuple[Site, ...] = ()
    if settings.checked:
        kernel, sites = numbered(kernel)
    module = printed_c(kernel, report, sites)
    report.check()
    return module


def printed_c(kernel: KernelDef, report: Report, sites: tuple[Site, ...] = ()) -> NativeModule:
    """The module of a kernel; with ``sites``, of one whose accesses are numbered, which are then checked."""
    names = Identifiers(defined() | _FRAME)
    elements = Elements(names, inlined(kernel), report)
    entry = f"{re.sub('[^A-Za-z0-9_]', '_', kernel.name)}_programs"
    fields = [names[symbol] for symbol in kernel.parameters]
    top = outlived(kernel.body, kernel.parameters)
    writer = Writer()
    loops = waiting_loops(kernel.body)
    actions = Actions(elements, writer, top, loops)
    for symbol in top:
        inline = elements.inline.get(symbol)
        if inline is not None and inline.offset is not None:
            writer.line(f"int64_t {names[inline.offset]} = 0;")
    tail = tail_of(kernel.body, loops) if loops else len(kernel.body)
    actions.body(kernel.body[:tail])
    if loops:
        writer.line("if (!takes_turn(wait, number)) return;")
    actions.body(kernel.body[tail:])
    lines = "\n".join(writer.lines)
    types = tuple(_parameter_type(symbol.type) for symbol in kernel.parameters)
    declared = list(map(scalars.declared, types, fields))
    used = [re.search(rf"\b{name}\b", lines) is not None for name in fields]
    text = render(
        TEMPLATE,
        library=needed("\n".join([*declared, lines, "checks" * bool(sites), "passes_turn" * bool(loops)])),
        above=[comment(line) for line in kernel.comments.above],
        entry=entry,
        program=entry.removesuffix("s"),
        arguments=list(zip(declared, fields, used, strict=True)),
        body=writer.lines,
        checked=bool(sites),
        waits=bool(loops),
    )
    buffers = tuple(symbol.buffer for symbol in kernel.parameters if symbol.buffer)
    return NativeModule(
        text=text,
        entry=entry,
        parameters=types,
        stack_bytes=writer.bytes,
        buffers=buffers,
        sites=sites,
        elements=tuple(elements.sites.get(number) for number in range(len(sites))),
        loops=tuple(loop.span for loop in loops),
        reads=tuple(elements.reads),
        warnings=tuple(report.warnings),
    )


def _parameter_type(type_: object) -> ScalarType | PointerType:
    assert isinstance(type_, ScalarType | PointerType)
    return type_
