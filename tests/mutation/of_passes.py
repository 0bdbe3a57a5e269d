"""Mutants of the passes over the typed tree, and of the questions that they ask."""

from __future__ import annotations

from tests.mutation.mutant import Mutant

__all__ = ["MEMORY", "MOVES", "PASSES", "SCALARS"]


def _pass(file: str) -> str:
    return f"pytriton/passes/{file}.py"


PASSES = (
    Mutant(
        "no-products",
        _pass("lower/products"),
        "products that tl.dot refuses go to tl.dot",
        "if not has_product(expr):",
        "if False:",
    ),
    Mutant(
        "product-sums-columns",
        _pass("lower/products"),
        "a product is summed over the wrong axis",
        'return typed.Reduce(expr.span, expr.type, "+", elements, 1)',
        'return typed.Reduce(expr.span, expr.type, "+", elements, 0)',
    ),
    Mutant(
        "divisors-unguarded",
        _pass("lower/temporaries"),
        "a division by what may be zero drops the tests of it",
        "if not _divides(expr) or not _doubtful(expr.right, tested, values):",
        "if True:",
    ),
    Mutant(
        "padding-stored",
        _pass("lower/pad"),
        "stores write the padding of odd blocks",
        "masked = self._mask(mask, pointer)\n                return replace(statement, pointer=self.expr(pointer)",
        "masked = None if mask is None else self.expr(mask)\n"
        "                return replace(statement, pointer=self.expr(pointer)",
    ),
    Mutant(
        "padding-summed",
        _pass("lower/pad"),
        "reductions see what stands in the padding",
        "return typed.Select(operand.span, padded.type, inside, padded, neutral)",
        "return padded",
    ),
    Mutant(
        "padding-of-min",
        _pass("lower/pad"),
        "the padding of an integer minimum is the least integer",
        'value = lowest if operator == "max" else (1 << span) - 1',
        'value = lowest if operator == "max" else lowest',
    ),
    Mutant(
        "padding-moves",
        _pass("lower/pad"),
        "a change of shape moves elements with their padding",
        "if not any(size & (size - 1) for size in (*have[1:], *want[1:])):",
        "if True:",
    ),
    Mutant(
        "break-goes-on",
        _pass("lower/jumps"),
        "what follows a break in its iteration still runs",
        "result.append(_set(running, False, statement.span, statement.comments))\n"
        "                result += [_set(flag, False, statement.span) for flag in clears]\n                break",
        "result.append(_set(running, False, statement.span, statement.comments))\n"
        "                result += [_set(flag, False, statement.span) for flag in clears]",
    ),
    Mutant(
        "continue-goes-on",
        _pass("lower/jumps"),
        "continue does not clear the flag that the rest of the iteration tests",
        "result += [_set(flag, False, statement.span) for flag in clears]\n"
        "                break\n            case typed.If()",
        "break\n            case typed.If()",
    ),
    Mutant(
        "return-only-leaves-loop",
        _pass("lower/jumps"),
        "a return in a loop leaves only that loop",
        "if not final:\n        result.append(typed.If(loop.span, _name(flag, loop.span), (leave,), ()))",
        "if False:\n        result.append(typed.If(loop.span, _name(flag, loop.span), (leave,), ()))",
    ),
    Mutant(
        "do-while-asks-first",
        _pass("lower/jumps"),
        "do ... while tests before its first iteration",
        "start, condition = (condition if first else start), None",
        "start, condition = condition, None",
    ),
    Mutant(
        "range-one-short",
        _pass("loops/counted"),
        "`i <= n` stops at n",
        'if operator in ("<=", ">="):\n        if constant',
        "if operator in ():\n        if constant",
    ),
    Mutant(
        "range-reads-changing-bound",
        _pass("loops/counted"),
        "a loop whose body changes its bound becomes a range",
        "if names(expr) & changed or has_memory(expr):",
        "if has_memory(expr):",
    ),
    Mutant(
        "range-counter-lost",
        _pass("loops/counted"),
        "a loop whose counter is read behind it becomes a range",
        "if symbol.type not in (INT, LONG) or (isinstance(init, typed.Assign) and symbol in later):",
        "if symbol.type not in (INT, LONG):",
    ),
    Mutant(
        "range-body-counts",
        _pass("loops/counted"),
        "a loop whose body sets its counter becomes a range",
        "if symbol in assigned(loop.body) or _escapes(loop.body):",
        "if _escapes(loop.body):",
    ),
    Mutant(
        "no-range",
        _pass("loops/counted"),
        "no loop becomes a range, so Triton pipelines none",
        "if len(loop.init) != 1 or len(loop.step) != 1:",
        "if True:",
    ),
    Mutant(
        "prefetch-past-stores",
        _pass("loops/prefetch"),
        "a load moves over a store to the same memory",
        "if self.provenance.writes_to((statement,), pointer):",
        "if False:",
    ),
    Mutant(
        "prefetch-of-read-later",
        _pass("loops/prefetch"),
        "a load moves although its value is read behind the loop",
        "if place.live(symbol):",
        "if False:",
    ),
    Mutant(
        "prefetch-stays",
        _pass("loops/prefetch"),
        "no prefetch is undone",
        "if start is None:\n                break",
        "if True:\n                break",
    ),
    Mutant(
        "prefetch-mask-of-turn-before",
        _pass("loops/rotate"),
        "the mask of the tail load is written as it was a turn earlier",
        "if equal(entry, wanted) or (is_true(entry) and is_true(wanted)):",
        "if True:",
    ),
    Mutant(
        "prefetch-anything-first",
        _pass("loops/rotate"),
        "what stands before the loop may compute something else",
        "if not alike(expr, first):\n            raise Differs",
        "if not alike(expr, first):\n            return expr",
    ),
    Mutant(
        "upward-read",
        _pass("loops/counted"),
        "a counter that the body reads is turned round",
        "if not isinstance(stop, typed.Literal) or stop.value != 0 or statement.symbol in reads(statement.body):",
        "if not isinstance(stop, typed.Literal) or stop.value != 0:",
    ),
    Mutant(
        "no-release",
        _pass("memory/barriers"),
        "no barrier before a lock is released",
        'if "xchg" in operations and not all(map(_by_first_thread, state.reads + state.writes)):',
        "if False:",
    ),
    Mutant(
        "no-acquire",
        _pass("memory/barriers"),
        "no barrier after a lock is taken",
        'state.acquired |= "cas" in effects.operations\n            if isinstance(statement, typed.Declare',
        "state.acquired |= False\n            if isinstance(statement, typed.Declare",
    ),
    Mutant(
        "no-barrier-between-turns",
        _pass("memory/barriers"),
        "a loop is looked at once, from the state before it",
        "if visits_left == 0 or _covers(entry, started, carried, self._seen(carried, moving)):",
        "if True:",
    ),
    Mutant(
        "identical-though-changed",
        _pass("memory/barriers"),
        "pointers are compared although a variable in them was assigned since",
        "if self._changed(first) <= earlier.time and self._changed(second) <= earlier.time:",
        "if True:",
    ),
    Mutant(
        "apart-by-one-less",
        _pass("memory/overlap"),
        "blocks that share one element count as apart",
        "return distance > 0 and (",
        "return distance >= 0 and (",
    ),
    Mutant(
        "chain-converted",
        _pass("lower/products"),
        "an accumulator that rounds at each step is chained",
        "if other.type == expr.type == product.type and not isinstance(other, typed.Cast):",
        "if other.type == expr.type == product.type:",
    ),
    Mutant(
        "no-chain",
        _pass("lower/products"),
        "sums of products are not accumulated by tl.dot",
        "if not isinstance(product, typed.Dot) or product.accumulator is not None:",
        "if True:",
    ),
    Mutant(
        "operand-said-twice",
        _pass("lower/temporaries"),
        "operands of max are computed twice",
        "if element is None or not element.is_float or all(map(_short, expr.arguments)):",
        "if True:",
    ),
    Mutant(
        "remap-swaps",
        _pass("speed/swizzle"),
        "remapped program ids of a ragged grid meet twice or never",
        'high = let("high", typed.Call(span, INT, "min", (left, size)))',
        'high = let("high", typed.Call(span, INT, "max", (left, size)))',
    ),
)

SCALARS = (
    Mutant(
        "one-branch-known",
        _pass("lower/unreached"),
        "behind an if, what its first branch sets counts as known",
        "self._meet(known, other, statement.then + statement.otherwise, self._numbering.new())\n"
        "        if then is",
        "if then is",
    ),
    Mutant(
        "known-in-every-turn",
        _pass("lower/unreached"),
        "what holds before a loop counts as known in all its iterations",
        "self._assume(loop, loop.body + step, known)\n",
        "\n",
    ),
    Mutant(
        "power-of-another-base",
        _pass("speed/fast_math"),
        "exp in a loop with a product is 2.7189 to the power",
        "LOG2_E = 1.4426950408889634",
        "LOG2_E = 1.443",
    ),
    Mutant(
        "split-always-whole",
        _pass("speed/peel"),
        "the last iteration of a product's loop loses its masks although it is not whole",
        "if _multiple(iteration.count, known) % step == 0 and step & (step - 1) == 0:",
        "if True:",
    ),
    Mutant(
        "split-without-rest",
        _pass("speed/peel"),
        "the last iteration of a product's loop is left out",
        'left = typed.Binary(span, BOOL, "<", cut, loop.stop)',
        'left = typed.Binary(span, BOOL, ">", cut, loop.stop)',
    ),
    Mutant(
        "diagonal-twice-as-long",
        _pass("speed/peel"),
        "a causal mask is taken to fail in the last iteration where it fails in the last two",
        "0 < behind.low == behind.high <= min(diagonal.size, step)",
        "0 < behind.low == behind.high <= 2 * step",
    ),
    Mutant(
        "any-scale-moves",
        _pass("speed/fast_math"),
        "a scale that may be negative moves out of a maximum, and no launch is asked",
        "self.relied_upon.add(scale.symbol)",
        "pass",
    ),
    Mutant(
        "multiple-of-the-larger",
        _pass("speed/peel"),
        "8 + n counts as a multiple of 8",
        "return min(_multiple(expr.left, known), _multiple(expr.right, known))",
        "return max(_multiple(expr.left, known), _multiple(expr.right, known))",
    ),
    Mutant(
        "streams-what-it-stores",
        _pass("speed/observe"),
        "a loop loads ahead of its stores to the same memory",
        "return not any(provenance.writes_to(statement.body, load.pointer) for load in loads)",
        "return True",
    ),
    Mutant(
        "false-const",
        _pass("memory/provenance"),
        "no warning where a kernel stores through const",
        "return parameter.readonly or parameter.const_target",
        "return parameter.readonly",
    ),
    Mutant(
        "unread-atomics-go",
        _pass("analysis/liveness"),
        "an atomic goes with the variable that nobody reads",
        "(effects if acts else removable).add(statement.symbol)",
        "removable.add(statement.symbol)",
    ),
    Mutant(
        "tiles-in-elements",
        _pass("speed/observe"),
        "tiles count one byte an element, so points that cannot fit are tried",
        "loaded=sum(prod(shape_of(load.type)) * _width(load.type) for load in loads),",
        "loaded=sum(prod(shape_of(load.type)) for load in loads),",
    ),
)

MEMORY = (
    Mutant(
        "each-thread-its-own",
        _pass("memory/barriers"),
        "small blocks count as large enough for every thread to meet only its own elements",
        "return math.prod(shape_of(pointer.type)) >= _MAX_THREADS",
        "return True",
    ),
    Mutant(
        "loaded-for-more",
        _pass("memory/barriers"),
        "what is loaded for more than a store counts as loaded for it alone",
        "return self._reads[statement.symbol] == _count(leaves, statement.symbol)",
        "return True",
    ),
    Mutant(
        "steps-one-short",
        _pass("memory/overlap"),
        "iterations that share one element count as apart",
        "if step <= reach and (",
        "if step < reach and (",
    ),
    Mutant(
        "steps-never-wrap",
        _pass("memory/overlap"),
        "addresses that wrap around count as apart",
        "return farthest is not None and farthest + reach < _WRAP",
        "return True",
    ),
    Mutant(
        "conversions-skipped",
        _pass("analysis/affine"),
        "an index that a char cuts counts as what it was cut from",
        "case typed.Cast(operand=operand) if keeps_number(part):",
        "case typed.Cast(operand=operand):",
    ),
    Mutant(
        "nothing-aliases",
        _pass("memory/provenance"),
        "parameters count as apart without __noalias",
        "if first is second or not (first.noalias or second.noalias):",
        "if first is second:",
    ),
    Mutant(
        "loaded-pointers-reach-nothing",
        _pass("memory/provenance"),
        "a pointer that was loaded counts as apart from all others",
        "if isinstance(pointer, typed.Load | typed.Atomic):\n        return None",
        "if isinstance(pointer, typed.Load | typed.Atomic):\n        return frozenset()",
    ),
    Mutant(
        "pointers-followed-once",
        _pass("memory/provenance"),
        "a pointer that takes another's place a turn later is not followed",
        "known[symbol] = after\n                changed = True",
        "known[symbol] = after",
    ),
)

MOVES = (
    Mutant(
        "follows-by-one-less",
        _pass("analysis/affine"),
        "a condition counts as known where one element fails it",
        "return any(not gap.terms and gap.low >= 0 for gap in gaps)",
        "return any(not gap.terms and gap.low >= -1 for gap in gaps)",
    ),
    Mutant(
        "a-turn-forward",
        _pass("analysis/affine"),
        "a mask is taken a turn forward, not back",
        "add = not own[place][0]",
        "add = own[place][0]",
    ),
    Mutant(
        "next-turn-forgotten",
        _pass("analysis/liveness"),
        "what only the next iteration reads counts as dead",
        "return symbol in self.again or (self.outer is not None and symbol in self.outer)",
        "return self.outer is not None and symbol in self.outer",
    ),
    Mutant(
        "set-in-one-branch",
        _pass("analysis/liveness"),
        "what one branch sets counts as set by both",
        "return read | first[0] | second[0], first[1] & second[1]",
        "return read | first[0] | second[0], first[1] | second[1]",
    ),
    Mutant(
        "moves-past-readers",
        _pass("loops/slices"),
        "a statement moves to the next iteration past those that read it",
        "needed = line.sets & (near.reads | near.sets)",
        "needed = line.sets & near.sets",
    ),
    Mutant(
        "copy-past-its-target",
        _pass("loops/rotate"),
        "`an = *pa; a = an` becomes `a = *pa` although a is read in between",
        "if any(copy.symbol is setter.symbol or copy.symbol in reads((setter,)) for setter in between):",
        "if False:",
    ),
    Mutant(
        "if-runs-once-more",
        _pass("loops/rotate"),
        "an `if` around loads goes with the prefetch, so they run in the last iteration too",
        "return not divides and typed.Load not in inside(statement).kinds",
        "return True",
    ),
    Mutant(
        "set-before-it-runs",
        _pass("loops/slices"),
        "an assignment counts before it has run",
        "if at < place and at not in without",
        "if at <= place and at not in without",
    ),
    Mutant(
        "facts-of-the-other-way",
        _pass("loops/slices"),
        "of a loop that counts down, what holds while counting up counts as known",
        'follows = "<" if (constant(step) or 0) > 0 else ">"',
        'follows = "<"',
    ),
)
