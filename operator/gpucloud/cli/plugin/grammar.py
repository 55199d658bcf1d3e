"""What a verb takes, as data: read by the parser, the help, the completion and the reference page. Nothing is loaded for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
    habits: tuple[tuple[str, str], ...] = ()  # what people type here by the habit of kubectl, and the choice for it
    takes_value: bool = True
    many: bool = False
    required: bool = False
    names_objects: bool = False  # KIND/NAME stands here, or a name alone
    candidates: str = ""  # function of ``candidates`` that completes it

    @property
    def shown(self) -> str:
        """What stands for its value in a usage line."""
        return "|".join(self.choices) or self.metavar or self.key.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Parameters that a verb's function takes as one value. A verb that takes the first of them takes the group."""

    key: str
    make: Callable[..., Any]  # takes each of them by its key; those that a verb lacks have a default
    members: tuple[Parameter, ...]

    def composed(self, verb: Verb, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a verb's parameters, with those of the group made one."""
        if self.members[0] not in verb.takes:
            return dict(given)
        own = {item.key: given[item.key] for item in self.members if item in verb.takes}
        return {key: value for key, value in given.items() if key not in own} | {self.key: self.make(**own)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb: the function ``function`` of the module ``module`` in ``verbs``, which is loaded when it is called."""

    module: str
    function: str
    summary: str
    about: str = ""  # further paragraphs
    takes: tuple[Parameter, ...] = ()
    examples: tuple[str, ...] = field(default=())
    waits_for: str = ""  # what takes so long; said on a terminal, if it does

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
