"""docs/reference/python-operations.md, printed from the client: its operations with their signatures, and its records."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from gpucloud.cloud import calls, models
from gpucloud.cloud.operations import answer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import BaseModel

_ABOUT = (
    "The methods of `CloudClient` and `SyncCloudClient`, one for each operation of the service, and the records that they take "
    "and return. `CloudClient` returns an awaitable of the answer. The functions of `gpucloud.cloud.calls` have the same names "
    "and parameters: they describe a call for `run` and `wait_for`. How to use them: [the Python client](python-client.md)."
)
_RECORDS = (
    "Each field of a record may be None, because the service may leave any of them out. Unknown fields are ignored. Times are "
    "in UTC."
)


def page() -> str:
    """The whole page."""
    operations = [function for function in vars(calls).values() if _is_operation(function)]
    parts = [
        "<!-- printed from gpucloud.cloud by `make crds` -->",
        "# Operations of the Python client",
        _ABOUT,
        *(f"```python\n{_signature(function)}\n```\n\n{_prose(function.__doc__)}" for function in operations),
        "## Records",
        _RECORDS,
        *(_record(model) for model in _records()),
    ]
    return "\n\n".join(parts) + "\n"


def _is_operation(thing: Any) -> bool:
    return inspect.isfunction(thing) and thing.__module__ == calls.__name__ and not thing.__name__.startswith("_")


def _signature(function: Callable[..., calls.Call[Any]]) -> str:
    signature = inspect.signature(function)
    given = [f"{item.name}: {_type(item.annotation)}{_default(item)}" for item in signature.parameters.values()]
    keywords = any(item.kind is inspect.Parameter.KEYWORD_ONLY for item in signature.parameters.values())
    shown = ", ".join((["*"] if keywords else []) + given)
    one_line = f"{function.__name__}({shown}) -> {_type(answer_of(function))}"
    if len(one_line) <= 100:
        return one_line
    lines = "".join(f"    {item},\n" for item in (["*"] if keywords else []) + given)
    return f"{function.__name__}(\n{lines}) -> {_type(answer_of(function))}"


def _default(item: inspect.Parameter) -> str:
    return "" if item.default is item.empty else f" = {item.default!r}"


def _type(annotation: Any) -> str:
    """As a reader writes it: without modules, and without what reads it."""
    inner = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return _type(inner[0])
    if isinstance(annotation, type) and not inner:
        return annotation.__name__
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Za-z])", "", str(annotation))


def _records() -> Iterator[type[BaseModel]]:
    yield models.CreateServer
    yield from models.Record.__subclasses__()


def _record(model: type[BaseModel]) -> str:
    fields = "\n".join(f"{name}: {_type(model.__annotations__[name])}" for name in model.model_fields)
    return f"### {model.__name__}\n\n{_prose(model.__doc__)}\n\n```python\n{fields}\n```"


def _prose(text: str | None) -> str:
    """A docstring in Markdown, without the place in the specification that it is from."""
    return inspect.cleandoc(text or "").partition("Source:")[0].strip().replace("``", "`")
