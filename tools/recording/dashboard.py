"""The panels of the chart's dashboard, as a real Prometheus answers their queries during the demo.

Grafana itself is not used: nothing that renders its panels may be fetched by a build. Its JSON says what is asked, where each
panel stands, and how its lines are named.
"""

from __future__ import annotations

import json
import re
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from controlplane.supervised import Supervised
from demo.errors import DemoError
from recording.charts import Panel, Place, Series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Ask = Callable[[str], list[dict[str, Any]]]

DASHBOARD = Path(__file__).parents[2] / "deploy" / "helm" / "gpucloud-operator" / "files" / "dashboard.json"
STEP_SECONDS = 2
NAME = "prometheus"
_READY_SECONDS = 30.0
_LISTENING = re.compile(r'"Listening on" address=127\.0\.0\.1:(\d+)')
CONFIG = """\
global: {{scrape_interval: {step}s}}
scrape_configs:
  - job_name: gpucloud-operator
    static_configs:
      - targets: ["127.0.0.1:{port}"]
        labels: {{namespace: gpucloud-system, pod: gpucloud-operator-0}}
"""


class Prometheus:
    """A Prometheus that scrapes one operator, on loopback; leaving the context ends it, and nothing is left."""

    def __init__(self, program: Path, metrics_port: int) -> None:
        self._children = Supervised()
        config = self._children.folder / "prometheus.yaml"
        config.write_text(CONFIG.format(step=STEP_SECONDS, port=metrics_port))
        tsdb, listen = self._children.folder / "tsdb", "--web.listen-address=127.0.0.1:0"
        self._children.start(NAME, [str(program), f"--config.file={config}", f"--storage.tsdb.path={tsdb}", listen])
        try:
            self._url = f"http://127.0.0.1:{self._port()}/api/v1/query_range"
        except BaseException:
            self._children.close()
            raise
        self.began = time.time()

    @property
    def seconds(self) -> float:
        """For how long it has looked."""
        return time.time() - self.began

    def ask(self, expression: str) -> list[dict[str, Any]]:
        """Return what an expression was, from the first scrape until now.

        Raises:
            DemoError: it does not answer.
        """
        times = {"start": self.began, "end": time.time(), "step": STEP_SECONDS}
        query = urllib.parse.urlencode({"query": filled(expression, self.seconds), **times})
        try:
            with urllib.request.urlopen(f"{self._url}?{query}", timeout=30) as answer:  # noqa: S310 - loopback
                found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
                return found
        except OSError as error:
            raise DemoError(f"Prometheus does not answer {expression}: {error}") from error

    def _port(self) -> int:
        """Return the port that the kernel gave it, as its log says."""
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            if said := _LISTENING.search((self._children.folder / f"{NAME}.log").read_text(errors="replace")):
                return int(said[1])
            time.sleep(0.1)
        raise DemoError(f"Prometheus does not listen within {_READY_SECONDS:.0f} s: {self._children.log_tail(NAME)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._children.close()


def filled(expression: str, seconds: float) -> str:
    """Put the values of the dashboard's variables into an expression, as Grafana does where all namespaces are shown."""
    values = {"__range": f"{seconds:.0f}s", "__interval_ms": str(1000 * STEP_SECONDS), "__interval": f"{STEP_SECONDS}s"}
    return re.sub(r"\$(\w+)", lambda found: values.get(found[1], ".*"), expression)


def panels(dashboard: Mapping[str, Any], ask: Ask, began: float) -> list[Panel]:
    """Return the panels of all rows, with what their queries say."""
    return [_panel(one, ask, began) for one in dashboard["panels"]]


def _panel(one: Mapping[str, Any], ask: Ask, began: float) -> Panel:
    """Return one panel with its series."""
    place = Place(**{name: one["gridPos"][name] for name in "xywh"})
    if one["type"] == "row":
        return Panel(one["title"], "row", place)
    series = (_series(target, found, began) for target in one["targets"] for found in ask(target["expr"]))
    return Panel(one["title"], one["type"], place, one["fieldConfig"]["defaults"]["unit"], tuple(series))


def _series(target: Mapping[str, Any], found: Mapping[str, Any], began: float) -> Series:
    """Return a series under its legend; a value that is no number, as of a median of nothing, is left out."""
    name = re.sub(r"\{\{(\w+)\}\}", lambda label: str(found["metric"].get(label[1], "")), target["legendFormat"])
    return Series(name.strip(), tuple(_points(found["values"], began)))


def _points(values: Iterable[tuple[float, str]], began: float) -> Iterable[tuple[float, float]]:
    return ((at - began, float(value)) for at, value in values if value not in {"NaN", "+Inf", "-Inf"})
