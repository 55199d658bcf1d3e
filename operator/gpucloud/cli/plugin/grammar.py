"""What a verb takes, as data: read by the parser, the help, the completion and the reference page. Nothing is loaded for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """An option or an argument of a verb, and under which name its function takes the value."""

    key: str
    help: str
    names: tuple[str, ...] = ()  # empty for an argument
    metavar: str = ""
    default: Any = None
    convert: Callable[[str], Any] = str  # raises PluginError, or ValueError with what is wrong
    choices: tuple[str, ...] = ()
    takes_value: bool = True
    many: bool = False
    required: bool = False
    candidates: str = ""  # function of ``candidates`` that completes it

    @property
    def shown(self) -> str:
        """What stands for its value in a usage line."""
        return "|".join(self.choices) or self.metavar or self.key.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb: the function ``function`` of the module ``module`` in ``verbs``, which is loaded when it is called."""

    module: str
    function: str
    summary: str
    about: str = ""  # further paragraphs
    takes: tuple[Parameter, ...] = ()
    examples: tuple[str, ...] = field(default=())

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """Those without a name, in their order."""
        return tuple(item for item in self.takes if not item.names)

    @property
    def options(self) -> tuple[Parameter, ...]:
        """Those with a name."""
        return tuple(item for item in self.takes if item.names)

    def option(self, name: str) -> Parameter | None:
        """The option of this name."""
        return next((item for item in self.options if name in item.names), None)
