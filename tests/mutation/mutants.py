"""The mutants: one wrong edit each, of a pass, a conversion rule, the emitter or the launch.

``old`` stands exactly once in ``path`` (``test_mutants.py`` keeps that true), ``breaks`` says what the edit takes
away. A mutant that cannot change any result is no mutant: each of these makes some program compute something else,
race, be refused, or lose the speed that the pass is for.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MUTANTS", "Mutant"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """An edit of one file: ``old`` becomes ``new``."""

    name: str
    path: str
    breaks: str
    old: str
    new: str


def _pass(file: str) -> str:
    return f"pytriton/passes/{file}.py"


def _lang(file: str) -> str:
    return f"pytriton/lang/{file}.py"


def _emit(file: str) -> str:
    return f"pytriton/emit/{file}.py"


_CONVERSIONS = (
    Mutant(
        "wrap-unsigned",
        _lang("convert"),
        "negative constants of signed types stay positive",
        'if type_.kind == "int" and value >> (type_.bits - 1):',
        'if type_.kind == "int" and value >> type_.bits:',
    ),
    Mutant(
        "constant-floors",
        _lang("convert"),
        "constants divide towards minus infinity",
        "quotient = quotient if (left < 0) == (right < 0) else -quotient",
        "quotient = int(left) // int(right)",
    ),
    Mutant(
        "bool-truncates",
        _lang("convert"),
        "a constant becomes bool by its lowest bit",
        "return int(value != 0)\n    if type_.is_float:",
        "return int(value) & 1\n    if type_.is_float:",
    ),
    Mutant(
        "bfloat16-truncates",
        _lang("convert"),
        "constants of bfloat16 are cut off, not rounded",
        "bits += 0x7FFF + (bits >> 16 & 1)",
        "bits += 0",
    ),
    Mutant(
        "weak-is-float",
        _lang("convert"),
        "`h * 2.5` of half becomes float",
        "if is_weak(right) and first.is_float and not is_weak(left):\n        return first",
        "if is_weak(right) and first.is_float and not is_weak(left):\n        return common_scalar(first, FLOAT)",
    ),
    Mutant(
        "truth-of-bits",
        _lang("convert"),
        "`&` of numbers, taken for a truth value, is computed on truth values",
        "if isinstance(expr, Literal) and expr.value in (0, 1) and expr.type == INT:",
        "if isinstance(expr, Literal) and expr.type == INT:",
    ),
    Mutant(
        "reshape-any",
        _lang("convert"),
        "a block is reshaped where its elements are fewer",
        "if math.prod(have) == math.prod(shape) and (len(have) != len(shape) or not shape):",
        "if math.prod(have) >= math.prod(shape) and (len(have) != len(shape) or not shape):",
    ),
    Mutant(
        "char-stays-char",
        _lang("types"),
        "integers narrower than int are not promoted",
        "return INT if type_.is_integer and type_.bits < 32 else type_",
        "return type_",
    ),
    Mutant(
        "signed-wins",
        _lang("types"),
        "int with unsigned int is int",
        'return left if left.kind == "uint" else right',
        'return left if left.kind == "int" else right',
    ),
    Mutant(
        "half-with-bfloat16",
        _lang("types"),
        "half with bfloat16 is half",
        "return left if left == right else FLOAT",
        "return left",
    ),
    Mutant(
        "shift-takes-common-type",
        _lang("operators"),
        "the right operand of a shift decides its type",
        "common = common if common.is_float else promote(first)",
        "common = promote(common)",
    ),
    Mutant(
        "octal-is-decimal",
        _lang("literals"),
        "010 is ten",
        'if base == 10 and len(digits) > 1 and digits[0] == "0":\n        base = 8',
        'if base == 10 and len(digits) > 1 and digits[0] == "0":\n        base = 10',
    ),
    Mutant(
        "hexadecimal-is-signed",
        _lang("literals"),
        "0x80000000 is long, not unsigned",
        "if not type_.signed and decimal and not unsigned:",
        "if not type_.signed and not unsigned:",
    ),
    Mutant(
        "no-suffix-is-double",
        _lang("literals"),
        "a float literal is double",
        'if strict or suffix == "l":',
        'if strict or suffix != "f":',
    ),
)

_MASKS = (
    Mutant(
        "mask-replaced",
        _lang("masks"),
        "a load under `?:` loses its own mask",
        'whole = Binary(mask.span, with_element(BOOL, joint), "&&", mask, own)',
        "whole = mask",
    ),
    Mutant(
        "mask-of-product-rows",
        _lang("masks"),
        "the operands of a product get each other's masks",
        "rows, columns = _any(inner, 1), _any(inner, 0)",
        "columns, rows = _any(inner, 1), _any(inner, 0)",
    ),
    Mutant(
        "mask-not-permuted-back",
        _lang("masks"),
        "the mask of a permuted block is not permuted",
        "back = tuple(order.index(axis) for axis in range(len(order)))",
        "back = tuple(range(len(order)))",
    ),
    Mutant(
        "fold-any-load",
        _lang("operators"),
        "`c ? *?(m)p : v` becomes a load under m with v",
        "if mask is not None and load.mask is not mask:\n            continue",
        "if mask is not None and load.mask is not mask:\n            pass",
    ),
)

_PASSES = (
    Mutant(
        "no-products",
        _pass("products"),
        "products that tl.dot refuses go to tl.dot",
        "if not isinstance(expr, Dot) or has_product(expr):",
        "if True:",
    ),
    Mutant(
        "product-sums-columns",
        _pass("products"),
        "a product is summed over the wrong axis",
        'return Reduce(expr.span, expr.type, "+", whole, 1)',
        'return Reduce(expr.span, expr.type, "+", whole, 0)',
    ),
    Mutant(
        "divisors-unguarded",
        _pass("divisors"),
        "a division by what may be zero drops the tests of it",
        "if not _divides(expr) or not _doubtful(expr.right, doubtful):",
        "if True:",
    ),
    Mutant(
        "padding-stored",
        _pass("pad"),
        "stores write the padding of odd blocks",
        "masked = self._mask(mask, pointer)\n                return replace(statement, pointer=self.expr(pointer)",
        "masked = None if mask is None else self.expr(mask)\n"
        "                return replace(statement, pointer=self.expr(pointer)",
    ),
    Mutant(
        "padding-summed",
        _pass("pad"),
        "reductions see what stands in the padding",
        "return Select(operand.span, padded.type, inside, padded, neutral)",
        "return padded",
    ),
    Mutant(
        "padding-of-min",
        _pass("pad"),
        "the padding of an integer minimum is the least integer",
        'value = lowest if operator == "max" else (1 << span) - 1',
        'value = lowest if operator == "max" else lowest',
    ),
    Mutant(
        "padding-moves",
        _pass("pad"),
        "a change of shape moves elements with their padding",
        "if not any(size & (size - 1) for size in (*have[1:], *want[1:])):",
        "if True:",
    ),
    Mutant(
        "break-goes-on",
        _pass("jumps"),
        "what follows a break in its turn still runs",
        "result.append(_set(running, False, statement.span, statement.comments))\n"
        "                result += [_set(flag, False, statement.span) for flag in clears]\n                break",
        "result.append(_set(running, False, statement.span, statement.comments))\n"
        "                result += [_set(flag, False, statement.span) for flag in clears]",
    ),
    Mutant(
        "continue-goes-on",
        _pass("jumps"),
        "continue does not clear the flag that the rest of the turn asks",
        "result += [_set(flag, False, statement.span) for flag in clears]\n"
        "                break\n            case If()",
        "break\n            case If()",
    ),
    Mutant(
        "return-only-leaves-loop",
        _pass("jumps"),
        "a return in a loop leaves only that loop",
        "if not final:\n        result.append(If(loop.span, _name(flag, loop.span), (leave,), ()))",
        "if False:\n        result.append(If(loop.span, _name(flag, loop.span), (leave,), ()))",
    ),
    Mutant(
        "do-while-asks-first",
        _pass("jumps"),
        "do ... while asks before its first turn",
        "start, condition = (condition if first else start), None",
        "start, condition = condition, None",
    ),
    Mutant(
        "range-one-short",
        _pass("loops"),
        "`i <= n` stops at n",
        'if operator in ("<=", ">="):\n        if constant',
        "if operator in ():\n        if constant",
    ),
    Mutant(
        "range-reads-changing-bound",
        _pass("loops"),
        "a loop whose body changes its bound becomes a range",
        "if names(expr) & changed or has_memory(expr):",
        "if has_memory(expr):",
    ),
    Mutant(
        "range-counter-lost",
        _pass("loops"),
        "a loop whose counter is read behind it becomes a range",
        "if symbol.type not in (INT, LONG) or (isinstance(init, Assign) and symbol in later):",
        "if symbol.type not in (INT, LONG):",
    ),
    Mutant(
        "range-body-counts",
        _pass("loops"),
        "a loop whose body sets its counter becomes a range",
        "if symbol in assigned(loop.body) or _escapes(loop.body):",
        "if _escapes(loop.body):",
    ),
    Mutant(
        "no-range",
        _pass("loops"),
        "no loop becomes a range, so Triton pipelines none",
        "if len(loop.init) != 1 or len(loop.step) != 1:",
        "if True:",
    ),
    Mutant(
        "prefetch-past-stores",
        _pass("prefetch"),
        "a load moves over a store to the same memory",
        "if self.provenance.writes_to((statement,), pointer):",
        "if False:",
    ),
    Mutant(
        "prefetch-of-read-later",
        _pass("prefetch"),
        "a load moves although its value is read behind the loop",
        "if place.live(symbol):",
        "if False:",
    ),
    Mutant(
        "prefetch-stays",
        _pass("prefetch"),
        "no prefetch is undone",
        "if start is None:\n                break",
        "if True:\n                break",
    ),
    Mutant(
        "prefetch-mask-of-turn-before",
        _pass("match"),
        "the mask of the tail load is written as it was a turn earlier",
        "if equal(entry, wanted) or (is_true(entry) and is_true(wanted)):",
        "if True:",
    ),
    Mutant(
        "prefetch-anything-first",
        _pass("match"),
        "what stands before the loop may compute something else",
        "if not alike(expr, first):\n            raise Differs",
        "if not alike(expr, first):\n            return expr",
    ),
    Mutant(
        "upward-read",
        _pass("upward"),
        "a counter that the body reads is turned round",
        "if not isinstance(stop, Literal) or stop.value != 0 or statement.symbol in reads(statement.body):",
        "if not isinstance(stop, Literal) or stop.value != 0:",
    ),
    Mutant(
        "no-release",
        _pass("barriers"),
        "no barrier before a lock is released",
        'if "xchg" in operations and not all(map(_by_first_thread, state.reads + state.writes)):',
        "if False:",
    ),
    Mutant(
        "no-acquire",
        _pass("barriers"),
        "no barrier after a lock is taken",
        'state.acquired |= "cas" in doing.operations\n            if isinstance(statement, Declare',
        "state.acquired |= False\n            if isinstance(statement, Declare",
    ),
    Mutant(
        "no-barrier-between-turns",
        _pass("barriers"),
        "a loop is looked at once, from the state before it",
        "if look == 0 or _covers(entry, started, carried, self._seen(carried, moving)):",
        "if True:",
    ),
    Mutant(
        "identical-though-changed",
        _pass("barriers"),
        "pointers are compared although a variable in them was assigned since",
        "return changed <= time",
        "return True",
    ),
    Mutant(
        "apart-by-one-less",
        _pass("disjoint"),
        "blocks that share one element count as apart",
        "if one.high >= other.low and other.high >= one.low:",
        "if one.high > other.low and other.high > one.low:",
    ),
    Mutant(
        "chain-converted",
        _pass("chain"),
        "an accumulator that rounds at each step is chained",
        "if other.type == expr.type == product.type and not isinstance(other, Cast):",
        "if other.type == expr.type == product.type:",
    ),
    Mutant(
        "no-chain",
        _pass("chain"),
        "sums of products are not accumulated by tl.dot",
        "if not isinstance(product, Dot) or product.accumulator is not None:",
        "if True:",
    ),
    Mutant(
        "operand-said-twice",
        _pass("temporaries"),
        "operands of max are computed twice",
        "if element is None or not element.is_float or all(map(_short, expr.arguments)):",
        "if True:",
    ),
    Mutant(
        "remap-swaps",
        _pass("remap"),
        "remapped program ids of a ragged grid meet twice or never",
        'high = let("high", Call(span, INT, "min", (left, size)))',
        'high = let("high", Call(span, INT, "max", (left, size)))',
    ),
)

_EMITTER = (
    Mutant(
        "negative-zero",
        _emit("expr"),
        "-x of 0.0 is 0.0",
        'return Value(BinOp("*", Atom("-1.0"), value.node), element, value.strong, value.weak)',
        'return Value(UnaryOp("-", value.node), element, value.strong, value.weak)',
    ),
    Mutant(
        "nan-compares",
        _emit("expr"),
        "!(a < b) of floats becomes a >= b",
        "return scalar is None or not scalar.is_float",
        "return True",
    ),
    Mutant(
        "python-floors",
        _emit("expr"),
        "a division of numbers that Python knows rounds down",
        "floors = not (self._natural(expr.left) and self._natural(expr.right))",
        "floors = False",
    ),
    Mutant(
        "half-product-in-half",
        _emit("expr"),
        "half operands are summed in half",
        "wide = self.to(value, FLOAT) if element.is_float and element.bits == 16 else value",
        "wide = value",
    ),
    Mutant(
        "minimum-keeps-nan",
        _emit("functions"),
        "min of floats takes the other operand",
        'compare = BinOp("<" if expr.function == "min" else ">", first, second)',
        'compare = BinOp("<=" if expr.function == "min" else ">=", first, second)',
    ),
    Mutant(
        "integers-floor",
        _emit("functions"),
        "floor of an integer goes through tl.floor",
        'if function in ("floor", "ceil") and not element.is_float:\n            return values[0]',
        "if False:\n            return values[0]",
    ),
    Mutant(
        "tf32",
        _emit("products"),
        "float @ float is computed in TF32",
        "if common == FLOAT:",
        "if common is None:",
    ),
    Mutant(
        "shallow-product",
        _emit("products"),
        "a product of less depth than tl.dot takes is not widened",
        "while depth < least_depth(common):",
        "while False:",
    ),
    Mutant(
        "batch-order",
        _emit("products"),
        "the batch axes of a product come back in the wrong places",
        "order = (len(shape) - 2, len(shape) - 1, *range(len(shape) - 2))\n        return",
        "order = (len(shape) - 1, len(shape) - 2, *range(len(shape) - 2))\n        return",
    ),
    Mutant(
        "number-as-int32",
        _emit("stmt"),
        "a variable set to a number becomes int32 or float32",
        "if not value.weak or element in (INT, FLOAT, BOOL):\n            return value.node",
        "if True:\n            return value.node",
    ),
    Mutant(
        "uninitialised",
        _emit("stmt"),
        "a variable declared without a value has none where a branch reads it",
        "if _needs_value(statement.symbol, mentions.get(statement.symbol)):",
        "if False:",
    ),
    Mutant(
        "tests-of-unsigned",
        _emit("values"),
        "int with unsigned int is computed as int",
        "return unsigned if unsigned.bits >= signed.bits else signed",
        "return signed",
    ),
)

MUTANTS = (*_CONVERSIONS, *_MASKS, *_PASSES, *_EMITTER)
