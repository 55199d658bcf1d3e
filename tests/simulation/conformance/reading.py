"""Scripts about lists in pages and about watches."""

from __future__ import annotations

from simulation.conformance.playing import Ask, Step, Watch
from simulation.conformance.steps import (
    HELD,
    METADATA,
    METADATA_LIST,
    STATUS,
    A,
    made,
    vpc,
)

PAGES: list[Step] = [
    Ask(200, "GET", "gpuvpcs"),
    Ask(200, "GET", "gpuvpcs", accept=METADATA_LIST),
    Ask(200, "GET", "secrets"),
    *(Ask(201, "POST", "gpuvpcs", vpc(name)) for name in ("b", "a", "a-b", "a.b", "c")),
    Ask(200, "GET", "gpuvpcs?limit=2", save="one"),
    Ask(201, "POST", "gpuvpcs", vpc("d")),
    Ask(200, "PATCH", "gpuvpcs/b", {"spec": {"adoption": "Required"}}, "merge"),
    Ask(200, "DELETE", "gpuvpcs/c"),
    Ask(200, "GET", "gpuvpcs?limit=2&continue=$one.metadata.continue", save="two"),
    Ask(200, "GET", "gpuvpcs?limit=2&continue=$two.metadata.continue"),
    Ask(200, "GET", "gpuvpcs?limit=2&continue=$one.metadata.continue", accept=METADATA_LIST),
    Ask(200, "GET", "gpuvpcs?limit=500"),
    Ask(200, "GET", "gpuvpcs/b"),
    Ask(200, "GET", "gpuvpcs?fieldSelector=metadata.name%3Da"),
    Ask(200, "GET", "gpuvpcs?fieldSelector=metadata.name%3Dnone"),
    Ask(200, "GET", "gpuvpcs?fieldSelector=spec.cluster%3Dc&limit=1"),
    Ask(400, "GET", "gpuvpcs?fieldSelector=spec.nothing%3Dc"),
    Ask(400, "GET", "gpuvpcs?continue=x"),
    Ask(400, "GET", "gpuvpcs?limit=x"),
    Ask(504, "GET", "gpuvpcs?resourceVersion=99999999"),
    Ask(200, "GET", "gpuvpcs/a", accept=METADATA),
    Ask(406, "GET", "gpuvpcs/a", accept="text/html"),
]
STREAMS: list[Step] = [
    made(),
    Ask(201, "POST", "gpuvpcs", vpc("b", finalizers=HELD)),
    Ask(200, "PATCH", STATUS, {"status": {"name": "n"}}, "merge"),
    Ask(200, "DELETE", "gpuvpcs/b"),
    Ask(200, "DELETE", A),
    made(),
    Ask(201, "POST", "secrets", {"metadata": {"name": "s"}, "stringData": {"k": "v"}}),
    Ask(200, "DELETE", "secrets/s"),
    Ask(200, "PATCH", "gpuvpcs/b", {"metadata": {"finalizers": None}}, "merge"),
    Watch("gpuvpcs", "1"),
    Watch("gpuvpcs", "99999999"),
    Watch("gpuvpcs", "0"),
]
