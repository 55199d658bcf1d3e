"""The scripts: each is one claim about how an apiserver behaves, as requests and the statuses that answer them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.conformance.applying import APPLY, MANAGERS
from simulation.conformance.builtin import BUILTIN, NAMESPACE
from simulation.conformance.reading import PAGES, STREAMS
from simulation.conformance.writing import BOTH, CREATE, DYING, EDIT, GUARDS, RELEASE, TWICE, VALUES

if TYPE_CHECKING:
    from simulation.conformance.playing import Step

SCRIPTS: dict[str, list[Step]] = {
    "create": CREATE,
    "twice": TWICE,
    "both": BOTH,
    "guards": GUARDS,
    "edit": EDIT,
    "values": VALUES,
    "dying": DYING,
    "release": RELEASE,
    "namespace": NAMESPACE,
    "managers": MANAGERS,
    "apply": APPLY,
    "pages": PAGES,
    "streams": STREAMS,
    "builtin": BUILTIN,
}
