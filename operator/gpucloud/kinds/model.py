"""The base model of spec and status, and the condition: frozen pydantic models, camelCase on the wire."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

from gpucloud.kinds.meta import rfc3339

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_MESSAGE = 32768  # metav1.Condition

# Kubernetes' character classes (metav1.Condition).
_CONDITION_TYPE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
_CONDITION_REASON = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"

# A moment with a zone. In JSON it has whole seconds, as Kubernetes' own times have.
Time = Annotated[AwareDatetime, PlainSerializer(rfc3339, return_type=str, when_used="json")]


@lru_cache(maxsize=1024)
def _shared(names: frozenset[str]) -> set[str]:
    return set(names)


class Model(BaseModel):
    """Base of spec and status: frozen, camelCase on the wire, unknown fields ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore")

    def model_post_init(self, _context: Any) -> None:
        """Share the set of the fields that were given with all models that were given the same: it takes up to 2 KB."""
        object.__setattr__(self, "__pydantic_fields_set__", _shared(frozenset(self.__pydantic_fields_set__)))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with these fields changed.

        Raises:
            TypeError: no field has this name; pydantic's own method would drop the value without a word.
        """
        unknown = set(update or ()) - type(self).model_fields.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        copied = super().model_copy(update=update, deep=deep)
        copied.model_post_init(None)
        return copied


class Condition(Model):
    """One answer to one question, in the form that kubectl wait, kstatus, Flux and Helm read."""

    type: Annotated[
        str,
        Field(
            max_length=316,
            pattern=_CONDITION_TYPE,
            description="Ready, Reconciling, Stalled, Paused, Succeeded, Restricted or PublicationFailed.",
        ),
    ]
    status: Annotated[Literal["True", "False", "Unknown"], Field(description="True, False or Unknown.")]
    observed_generation: Annotated[
        int | None, Field(ge=0, description="The generation of the spec that this condition was computed from.")
    ] = None
    last_transition_time: Annotated[Time, Field(description="When the status of this condition last flipped.")]
    reason: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1024,
            pattern=_CONDITION_REASON,
            description="A stable CamelCase word for machines.",
        ),
    ]
    message: Annotated[
        str, Field(max_length=MAX_MESSAGE, description="A sentence for people: what happened and what to do next.")
    ]
