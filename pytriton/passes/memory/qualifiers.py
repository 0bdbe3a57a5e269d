"""``__readonly``, ``const`` and ``__writeonly``: what the author believed, held against what the kernel does.

Real text is often wrong there, so nothing relies on these words: ``reads`` and ``writes`` come from the loads and
stores. A word that is false draws a warning (docs/language.md, Kernels and parameters).
"""

from __future__ import annotations

from pytriton.errors import Report
from pytriton.lang.tree.typed import Atomic, Expr, KernelDef, Load, Store, Symbol
from pytriton.lang.tree.walk import expressions, has_memory, statements, walk
from pytriton.passes.analysis.context import Context
from pytriton.passes.memory.provenance import Provenance

__all__ = ["check_qualifiers"]


def check_qualifiers(kernel: KernelDef, context: Context) -> KernelDef:
    """The kernel as it is. Warns (TC327) of each parameter whose word is false, where that shows first."""
    believed = {symbol for symbol in kernel.parameters if _not_written(symbol) or symbol.writeonly}
    if not believed:
        return kernel
    provenance = Provenance(kernel)

    def access(pointer: Expr, at: Expr | Store, *, stores: bool) -> None:
        root = provenance.only_root(pointer)
        if root not in believed or not (_not_written(root) if stores else root.writeonly):
            return
        believed.discard(root)
        _warn(root, at, context.report, stores=stores)

    for expr in filter(has_memory, expressions(kernel.body)):
        for node in walk(expr):
            if isinstance(node, Load):
                access(node.pointer, node, stores=False)
            elif isinstance(node, Atomic):
                access(node.pointer, node, stores=True)
    for statement in statements(kernel.body):
        if isinstance(statement, Store):
            access(statement.pointer, statement, stores=True)
    return kernel


def _not_written(parameter: Symbol) -> bool:
    return parameter.readonly or parameter.const_target


def _warn(parameter: Symbol, at: Expr | Store, report: Report, *, stores: bool) -> None:
    does = "stored through" if stores else "loaded through"
    word = ("__readonly" if parameter.readonly else "const") if stores else "__writeonly"
    report.warning(
        "TC327",
        f"'{parameter.name}' is {word}, but it is {does}: the attribute is ignored",
        at.span,
        ("it was declared here", parameter.span),
    )
