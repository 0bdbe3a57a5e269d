"""Whole kernels: parameters, sizes, noise of the preprocessor, a launch of them.

``generate(choices)`` gives a ``Case``: a text, its defines, buffers and arguments, and a grid. Every variable that
is alive at the end is stored, so that what went wrong shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pytriton.lang.tree.types import LONG
from tests.fuzz import exact, found, offsets
from tests.fuzz.choices import Choices
from tests.fuzz.exact import checked_type
from tests.fuzz.memory import LENGTH, Block, Frame, Parameter, Variable, contents
from tests.fuzz.rules import SCALARS, by_name
from tests.fuzz.statements import Statements
from tests.fuzz.streams import Streams
from tests.oracle.arithmetic import size_of
from tests.oracle.evaluator import Address
from tests.oracle.judges import Buffer, Case

__all__ = ["CLASSES", "OPEN", "Options", "generate"]

INT = by_name("int")
POWERS = (4, 8, 2, 16, 1, 32)
OTHERS = (3, 5, 6, 7, 12)


@dataclass(frozen=True, slots=True)
class Options:
    """Which forms to leave out, by their names in found.py; the one class to make (all if empty)."""

    avoid: frozenset[str] = frozenset()
    only: str = ""


OPEN = Options(found.OPEN)


def generate(c: Choices, options: Options | None = None) -> Case:
    """One kernel and one launch of it: a quarter are of the classes of exact.py and offsets.py."""
    options = options or Options()
    about, make = c.weighted([row for row in CLASSES if options.only in ("", row[1][0])])
    case = make(c) if make else _mixed(c, options)
    return replace(case, about=about)


CLASSES: tuple[tuple[int, tuple[str, Callable[[Choices], Case] | None]], ...] = (
    (27, ("mixed", None)),
    (3, ("constants", exact.constants)),
    (2, ("arguments", exact.arguments)),
    (1, ("zeros", exact.zeros)),
    (2, ("offsets", offsets.offsets)),
    (1, ("products", offsets.products)),
)


def _mixed(c: Choices, options: Options) -> Case:
    """Statements of every kind."""
    frame = _frame(c, options)
    statements = Streams(c, frame)
    prologue, defines, noise = _prologue(c, frame)
    for _ in range(c.below(3)):
        _scalar_parameter(c, frame)
    frame.scopes.append([])
    body = statements.body(1 + c.below(5), 2)
    frame.scopes[0] += frame.scopes.pop()
    if c.chance(12):
        body += statements.split_sum()
    body += _epilogue(statements, frame)
    _alias(c, frame)
    text = "\n".join(
        [
            *noise,
            f"{c.pick(('__global__ void', 'void'))} f({', '.join(_declared(c, p) for p in frame.parameters)}) {{",
            *("  " + line for line in prologue),
            *(f"  int r{size}[{size}] = 0 ... {size};" for size in sorted(frame.ranges)),
            *("  " + line for line in _noisy(c, body)),
            "}",
            *(("__global__ void other(int *pid, float r) { *pid = r; }",) if c.chance(8) else ()),
            "",
        ]
    )
    return _launch(c, frame, text, defines)


def _frame(c: Choices, options: Options) -> Frame:
    pool = POWERS + (OTHERS if c.chance(3) else ())
    sizes = tuple(dict.fromkeys(c.pick(pool) for _ in range(1 + c.below(3))))
    types = tuple(dict.fromkeys([INT, *(c.pick(SCALARS) for _ in range(1 + c.below(4)))]))
    grid = c.pick(((1,), (2,), (3,), (2, 2), (1, 2), (1, 1, 2), (2, 1, 2)))
    frame = Frame(c, sizes, types, grid, functions=c.chance(2))
    frame.avoid = options.avoid
    frame.strict = c.chance(10)
    frame.tables = c.chance(10)
    return frame


_PROGRAM = {
    1: "get_program_id(0)",
    2: "get_program_id(0) + get_program_id(1) * get_num_programs(0)",
    3: "(get_program_id(2) * get_num_programs(1) + get_program_id(1)) * get_num_programs(0) + get_program_id(0)",
}


def _prologue(c: Choices, frame: Frame) -> tuple[list[str], dict[str, object], list[str]]:
    """The first lines of the body, the defines, and the lines before the kernel."""
    defines: dict[str, object] = {}
    noise: list[str] = []
    for number, size in enumerate(frame.sizes):
        kind = c.below(4)
        if kind == 0:
            continue
        name = f"T{'MNK'[number]}"
        frame.spelled[size] = name
        if kind == 1:
            defines[name] = size
        elif kind == 2:
            noise.append(f"#define {name} {size}")
        else:
            noise.append(f"#define {name} ({size + 3} - 3)")
    if c.chance(3):
        frame.constants = True
        defines |= {"KI": c.pick((7, -7, 0, 1, 2147483647, 100)), "KF": c.pick((0.5, 0.1, -2.5, 3.0))}
        defines["KB"] = bool(c.below(2))
    if c.chance(4):
        noise += ["#define TWICE(x) ((x) * 2)", "#define JOIN(a, b) a##b"]
        frame.macros = True
    if c.chance(5):
        noise += ["enum { FIVE = 5, SIX_OF_ENUM, MINUS = -3 };", "static const int SIX = SIX_OF_ENUM;"]
        frame.named = True
    if c.chance(5):
        type_ = c.pick(frame.types)
        noise.append(f"typedef {type_.word} alias_t;")
        frame.aliases[type_.word] = "alias_t"
    if c.chance(10):
        for type_ in dict.fromkeys([by_name("char"), c.pick(frame.types)]):
            name = frame.fresh("tab")
            noise.append(
                f"{type_.word} __constant__* {name} = calloc({LENGTH * size_of(checked_type(type_))});"
            )
            frame.constant_buffers[name] = type_
    lines = [f"int pid = {_PROGRAM[len(frame.grid)]};"]
    frame.declare(Variable("pid", INT, (), fixed=True))
    frame.ranges |= set(frame.sizes)
    for size in frame.sizes:
        frame.declare(Variable(f"r{size}", INT, (size,), fixed=True))
    return lines, defines, noise


def _scalar_parameter(c: Choices, frame: Frame) -> None:
    type_ = c.pick(frame.types)
    value: int | float = c.pick((1, 2, 3, 0, 7, 100, -1, -5))
    if type_.floating:
        value = value / 4
    elif type_.kind == "b":
        value = bool(value & 1)
    elif type_.kind == "u":
        value = abs(value)
    frame.parameters.append(Parameter(frame.fresh("s"), type_, value=value))
    frame.declare(Variable(frame.parameters[-1].name, type_, (), fixed=c.chance(3)))


def _epilogue(statements: Statements, frame: Frame) -> list[str]:
    """Stores of what is alive."""
    lines = []
    for variable in frame.visible():
        if variable.fixed and variable.name != "pid":
            continue
        lines.append(statements.stored(variable.type, variable.shape, statements.name(variable)))
    return lines[-6:]


def _alias(c: Choices, frame: Frame) -> None:
    """Two inputs of one type become one buffer; attributes that are true are given."""
    inputs = [p for p in frame.parameters if p.pointer and frame.role(p) == "in"]
    for first, second in itertools.pairwise(inputs):
        if first.type == second.type and c.chance(2) and frame.blocks[second.buffer].length <= LENGTH:
            second.buffer = first.buffer if frame.blocks[first.buffer].length >= LENGTH else second.buffer
    outputs = [p for p in frame.parameters if p.pointer and frame.role(p) == "out"]
    for first, second in itertools.pairwise(outputs):
        if first.type == second.type and c.chance(2):
            second.buffer = first.buffer
    used = [p.buffer for p in frame.parameters if p.pointer]
    for parameter in frame.parameters:
        if parameter.pointer and used.count(parameter.buffer) == 1 and c.chance(4):
            parameter.attributes = " __noalias"
            if frame.role(parameter) == "in":
                parameter.attributes += c.pick(("", " __readonly"))
        elif not parameter.pointer and parameter.type == INT and c.chance(6):
            for factor in (8, 4, 2):
                if int(parameter.value) % factor == 0:
                    parameter.attributes = f" __multipleof({factor})"
                    break


def _declared(c: Choices, parameter: Parameter) -> str:
    star = "**" if parameter.table else "*" if parameter.pointer else ""
    return f"{parameter.type.word} {star}{parameter.name}{parameter.attributes}"


def _noisy(c: Choices, lines: list[str]) -> list[str]:
    """The lines among directives and comments that change nothing."""
    if not c.chance(3):
        return lines
    result: list[str] = []
    for line in lines:
        kind = c.below(12)
        whole = line.endswith(";") and line.count("{") == line.count("}")
        previous = result[-1].strip() if result else ""
        if not whole or (previous.startswith("if ") and not previous.endswith("{")) or previous == "else":
            result.append(line)
        elif kind == 11:
            result += ["#if 1 && !defined(NO)", line, "#else", "int no = undeclared;", "#endif"]
        elif kind == 10:
            result += ["#ifdef NO", "not C at all", "#endif", line]
        elif kind == 9:
            result.append(line + "  // what was said")
        elif kind == 8 and "*" not in line:
            result.append(line.replace(" = ", " /* is */ = ", 1))
        else:
            result.append(line)
    return result


def _launch(c: Choices, frame: Frame, text: str, defines: dict[str, object]) -> Case:
    random = np.random.default_rng(c.below(1 << 16))
    special = c.chance(3)
    tables = {p.buffer: p.table for p in frame.parameters if p.table}
    buffers = tuple(
        _table(number, block, tables[number])
        if number in tables
        else Buffer(checked_type(block.type), contents(block, random, special))
        for number, block in enumerate(frame.blocks)
    )
    constants = {}
    for name, type_ in frame.constant_buffers.items():  # some are set in part, or not at all
        known = contents(Block(type_, LENGTH, "in"), random, special)
        constants[name] = known[: len(known) // c.pick((1, 1, 2, 1000))]
    arguments: list[Address | int | float | None] = []
    for parameter in frame.parameters:
        if parameter.pointer:
            absent = frame.role(parameter) == "absent"
            arguments.append(None if absent else Address(parameter.buffer, parameter.offset))
        else:
            arguments.append(parameter.value)
    exact = frozenset(frame.exact)
    return Case(text, buffers, tuple(arguments), frame.grid, defines, exact, frame.strict, constants)


def _table(number: int, block: Block, table: tuple[int, ...]) -> Buffer:
    """Pointers to elements of the next buffer."""
    width = size_of(checked_type(block.type))
    return Buffer(
        LONG, np.zeros(8 * len(table), np.uint8), tuple(Address(number + 1, at * width) for at in table)
    )
