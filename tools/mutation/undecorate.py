"""mutmut leaves decorated functions alone, and the proofs of ownership are properties: so these are written without ``@``.

``@property def ours`` becomes ``def _ours_of_CloudFacts`` and ``ours = property(_ours_of_CloudFacts)``, which is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import libcst.matchers as m

if TYPE_CHECKING:
    from pathlib import Path

PROPERTY = m.FunctionDef(decorators=[m.Decorator(decorator=m.Name("property"))])


def undecorate(path: Path) -> None:
    """Rewrite the properties of one module in place."""
    path.write_text(cst.parse_module(path.read_text()).visit(_Properties()).code)


class _Properties(cst.CSTTransformer):
    def __init__(self) -> None:
        super().__init__()
        self._classes: list[str] = []

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802 - libcst's names
        self._classes.append(node.name.value)

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:  # noqa: ARG002, N802
        self._classes.pop()
        return updated_node

    def leave_FunctionDef(  # noqa: N802
        self,
        original_node: cst.FunctionDef,  # noqa: ARG002 - libcst's form
        updated_node: cst.FunctionDef,
    ) -> cst.FunctionDef | cst.FlattenSentinel[cst.BaseStatement]:
        if not m.matches(updated_node, PROPERTY):
            return updated_node
        name = updated_node.name.value
        plain = f"_{name}_of_{self._classes[-1]}"
        function = updated_node.with_changes(decorators=[], name=cst.Name(plain))
        return cst.FlattenSentinel([function, cst.parse_statement(f"{name} = property({plain})")])
