"""Mutants of the front end and of what is printed: preprocessor, conversion rules, masks, emitter."""

from __future__ import annotations

from tests.mutation.mutant import Mutant

__all__ = ["CONVERSIONS", "EFFECTS", "EMITTER", "MASKS", "READING"]


def _lang(file: str) -> str:
    return f"pytriton/lang/{file}.py"


def _emit(file: str) -> str:
    return f"pytriton/emit/{file}.py"


READING = (
    Mutant(
        "chains-from-the-right",
        _lang("grammar"),
        "a - b - c is a - (b - c)",
        "while operators and PRECEDENCE[operators[-1].text] >= level:",
        "while operators and PRECEDENCE[operators[-1].text] > level:",
    ),
    Mutant(
        "macro-in-itself",
        _lang("preprocess/expand"),
        "a macro is expanded in its own replacement",
        "hidden = use.hidden | {macro.name}",
        "hidden = use.hidden",
    ),
    Mutant(
        "if-of-unsigned",
        _lang("preprocess/conditions"),
        "-1 < 1u holds in #if",
        "unsigned = left.unsigned or right.unsigned\n    return _wrap(left",
        "unsigned = left.unsigned and right.unsigned\n    return _wrap(left",
    ),
    Mutant(
        "two-reductions",
        _lang("check/subscripts"),
        "of two reductions in one subscript the second takes a wrong axis",
        "for position, operator in reversed(reductions):",
        "for position, operator in reductions:",
    ),
    Mutant(
        "assigned-unconverted",
        _lang("check/assignments"),
        "+= computes in the type of the right side",
        "return operators.arithmetic(operator, left, right, shape, node.span, context)",
        "left = operators.conversion(left, right.type, node.span, 'convert', context)\n"
        "    return operators.arithmetic(operator, left, right, shape, node.span, context)",
    ),
    Mutant(
        "exp-of-half-in-half",
        _lang("check/calls"),
        "elementary functions of half are half",
        "element = types.DOUBLE if common == types.DOUBLE else types.FLOAT",
        "element = common if common.is_float else types.FLOAT",
    ),
    Mutant(
        "trans-backwards",
        _lang("check/calls"),
        "trans(x) moves the last axis to the front",
        "[*range(1, rank), 0]",
        "[rank - 1, *range(rank - 1)]",
    ),
)

EFFECTS = (
    Mutant(
        "effect-of-a-condition-twice",
        _lang("tree/effects"),
        "the condition of ?: and the left of && happen once for each load that they mask",
        'return kept(expr, "value", before) if has_effect(expr) else expr',
        "return expr",
    ),
    Mutant(
        "place-of-an-assignment-twice",
        _lang("check/assignments"),
        "the address of a compound assignment happens twice",
        "if has_effect(pointer) or (mask is not None and has_effect(mask)):",
        "if False:",
    ),
    Mutant(
        "loads-after-effects",
        _lang("tree/effects"),
        "a load left of an atomic reads what the atomic wrote",
        "pure = [_taken(earlier, operand, before) for earlier in pure]",
        "pass",
    ),
    Mutant(
        "pointer-before-its-mask",
        _lang("tree/effects"),
        "effects in the pointer of a masked access happen before those in its mask",
        'for name in ("mask", "pointer", "other", "value")',
        'for name in ("pointer", "mask", "other", "value")',
    ),
    Mutant(
        "discarded-with-its-effect",
        _lang("tree/effects"),
        "an atomic whose value is not used is dropped",
        "statement = typed.Evaluate(statement.span, atomic)",
        "continue",
    ),
    Mutant(
        "condition-tested-once",
        _lang("tree/effects"),
        "the effects in the condition of a while happen at the end of the body",
        "((), (*test, *loop.body))",
        "((), (*loop.body, *test))",
    ),
    Mutant(
        "increment-too-late",
        _lang("tree/effects"),
        "x++ goes after a statement that reads the new x",
        "and symbol not in reads(rest) | assigned(rest)",
        "and symbol not in assigned(rest)",
    ),
    Mutant(
        "index-after-its-pointer",
        _lang("check/operators"),
        "in i + p the pointer is evaluated first",
        'left = kept(left, "index", before)  # it comes first',
        "pass",
    ),
)

CONVERSIONS = (
    Mutant(
        "wrap-unsigned",
        _lang("tree/convert"),
        "negative constants of signed types stay positive",
        'if type_.kind == "int" and value >> (type_.bits - 1):',
        'if type_.kind == "int" and value >> type_.bits:',
    ),
    Mutant(
        "constant-floors",
        _lang("tree/convert"),
        "constants divide towards minus infinity",
        "quotient = quotient if (left < 0) == (right < 0) else -quotient",
        "quotient = int(left) // int(right)",
    ),
    Mutant(
        "bool-truncates",
        _lang("tree/convert"),
        "a constant becomes bool by its lowest bit",
        "return int(value != 0)\n    if type_.is_float:",
        "return int(value) & 1\n    if type_.is_float:",
    ),
    Mutant(
        "bfloat16-truncates",
        _lang("tree/convert"),
        "constants of bfloat16 are cut off, not rounded",
        "bits += 0x7FFF + (bits >> 16 & 1)",
        "bits += 0",
    ),
    Mutant(
        "weak-is-float",
        _lang("tree/convert"),
        "`h * 2.5` of half becomes float",
        "if is_weak(right) and first.is_float and not is_weak(left):\n        return first",
        "if is_weak(right) and first.is_float and not is_weak(left):\n        return common_scalar(first, FLOAT)",
    ),
    Mutant(
        "truth-of-bits",
        _lang("tree/convert"),
        "`&` of numbers, taken for a truth value, is computed on truth values",
        "if isinstance(expr, typed.Literal) and expr.value in (0, 1) and expr.type == types.INT:",
        "if isinstance(expr, typed.Literal) and expr.type == types.INT:",
    ),
    Mutant(
        "reshape-any",
        _lang("tree/convert"),
        "a block is reshaped where its elements are fewer",
        "if math.prod(have) == math.prod(shape) and (len(have) != len(shape) or not shape):",
        "if math.prod(have) >= math.prod(shape) and (len(have) != len(shape) or not shape):",
    ),
    Mutant(
        "char-stays-char",
        _lang("tree/types"),
        "integers narrower than int are not promoted",
        "return INT if type_.is_integer and type_.bits < 32 else type_",
        "return type_",
    ),
    Mutant(
        "signed-wins",
        _lang("tree/types"),
        "int with unsigned int is int",
        'return left if left.kind == "uint" else right',
        'return left if left.kind == "int" else right',
    ),
    Mutant(
        "half-with-bfloat16",
        _lang("tree/types"),
        "half with bfloat16 is half",
        "return left if left == right else FLOAT",
        "return left",
    ),
    Mutant(
        "shift-takes-common-type",
        _lang("check/operators"),
        "the right operand of a shift decides its type",
        "common = common if common.is_float else promote(first)",
        "common = promote(common)",
    ),
    Mutant(
        "octal-is-decimal",
        _lang("numbers"),
        "010 is ten",
        "_BASES: Final = (16, 2, 8, 10)",
        "_BASES: Final = (16, 2, 10, 10)",
    ),
    Mutant(
        "hexadecimal-is-signed",
        _lang("check/literals"),
        "0x80000000 is long, not unsigned",
        "if not type_.signed and decimal and not unsigned:",
        "if not type_.signed and not unsigned:",
    ),
    Mutant(
        "no-suffix-is-double",
        _lang("check/literals"),
        "a float literal is double",
        'if strict or suffix == "l":',
        'if strict or suffix != "f":',
    ),
)

MASKS = (
    Mutant(
        "mask-replaced",
        _lang("check/masks"),
        "a load under `?:` loses its own mask",
        'joint_mask = typed.Binary(mask.span, with_element(types.BOOL, joint), "&&", mask, own)',
        "joint_mask = mask",
    ),
    Mutant(
        "mask-of-product-rows",
        _lang("check/masks"),
        "the operands of a product get each other's masks",
        "rows, columns = _any(inner, 1), _any(inner, 0)",
        "columns, rows = _any(inner, 1), _any(inner, 0)",
    ),
    Mutant(
        "mask-not-permuted-back",
        _lang("check/masks"),
        "the mask of a permuted block is not permuted",
        "back = tuple(order.index(axis) for axis in range(len(order)))",
        "back = tuple(range(len(order)))",
    ),
    Mutant(
        "fold-any-load",
        _lang("check/operators"),
        "`c ? *?(m)p : v` becomes a load under m with v",
        "if mask is not None and load.mask is not mask:\n            continue",
        "if mask is not None and load.mask is not mask:\n            pass",
    ),
)

EMITTER = (
    Mutant(
        "negative-zero",
        _emit("operators"),
        "-x of 0.0 is 0.0",
        'node = BinOp("*", Atom("-1.0"), value.node)',
        'node = UnaryOp("-", value.node)',
    ),
    Mutant(
        "nan-compares",
        _emit("operators"),
        "!(a < b) of floats becomes a >= b",
        "return scalar is None or not scalar.is_float",
        "return True",
    ),
    Mutant(
        "python-floors",
        _emit("numbers"),
        "a division of numbers that Python knows rounds down",
        "if python is None or unspelled(value, type_):",
        'if expr.operator in ("/", "%"):\n        return False\n    if python is None or unspelled(value, type_):',
    ),
    Mutant(
        "half-product-in-half",
        _emit("expr"),
        "half operands are summed in half",
        "wide = as_type(value, FLOAT) if element.is_float and element.bits == 16 else value",
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
        'if function in ("floor", "ceil") and not element.is_float:\n        return values[0]',
        "if False:\n        return values[0]",
    ),
    Mutant(
        "tf32",
        _emit("operators"),
        "float @ float is computed in TF32",
        "if common == FLOAT:",
        "if common is None:",
    ),
    Mutant(
        "shallow-product",
        _emit("operators"),
        "a product of less depth than tl.dot takes is not widened",
        "while depth < min_depth(common):",
        "while False:",
    ),
    Mutant(
        "batch-order",
        _emit("operators"),
        "the batch axes of a product come back in the wrong places",
        "order = (len(shape) - 2, len(shape) - 1, *range(len(shape) - 2))\n    return",
        "order = (len(shape) - 1, len(shape) - 2, *range(len(shape) - 2))\n    return",
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
