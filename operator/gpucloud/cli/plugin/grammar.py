"""What a verb takes, read off the function that typer reads: for the reference page."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Parameter:
    """An option or an argument of a verb."""

    names: tuple[str, ...]  # empty for an argument
    metavar: str
    help: str
    default: str
    choices: tuple[str, ...] = ()
    takes_value: bool = True
    required: bool = False


def parameters(verb: Callable[..., Any]) -> tuple[Parameter, ...]:
    """All that a verb takes, in the order of its help."""
    hints = get_type_hints(verb, include_extras=True)
    return tuple(_parameter(hints[name], item) for name, item in inspect.signature(verb).parameters.items())


def _parameter(hint: Any, item: inspect.Parameter) -> Parameter:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"{item.name} must be annotated with what typer is to show of it")
    kind, info = get_args(hint)[:2]
    plain = _plain(kind)
    # Inside Annotated the place of a default is the first of the names.
    said = (info.default, *(info.param_decls or ()))
    names = tuple(name for name in said if isinstance(name, str)) if isinstance(info, OptionInfo) else ()
    choices = tuple(str(choice.value) for choice in plain) if isinstance(plain, type) and issubclass(plain, Enum) else ()
    metavar = info.metavar if isinstance(info, (OptionInfo, ArgumentInfo)) and info.metavar else item.name.upper()
    absent = item.default is inspect.Parameter.empty
    default = "" if absent or item.default in (None, "", False) else str(getattr(item.default, "value", item.default))
    return Parameter(
        names=names,
        metavar=str(metavar),
        help=str(info.help or ""),
        default=default,
        choices=choices,
        takes_value=plain is not bool,
        required=absent,
    )


def _plain(kind: Any) -> Any:
    """``str`` of ``str | None`` and of ``list[str]``."""
    if isinstance(kind, UnionType):
        return _plain(next(inner for inner in get_args(kind) if inner is not type(None)))
    return get_args(kind)[0] if get_origin(kind) is list else kind
