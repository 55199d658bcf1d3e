"""values.schema.json: types from the defaults, descriptions from the comments, and the limits that are written here.

Everything is closed, except what Kubernetes itself defines: there a schema of ours would only refuse what a newer
Kubernetes knows.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from chartfiles import settings

if TYPE_CHECKING:
    from chartfiles.values import Value

OPEN = (
    *("resources", "simulator.resources", "podSecurityContext", "securityContext", "affinity"),
    *("livenessProbe", "readinessProbe"),
)
STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}
OBJECTS = {"type": "array", "items": {"type": "object"}}
NAME = "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$"
NAMESPACE = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
KEY = "^[-._a-zA-Z0-9]+$"
CIDRS = {"type": "array", "items": {"type": "string", "pattern": r"^[0-9a-fA-F.:]+/[0-9]{1,3}$"}}
PORTS = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65535}}
DURATION = {"type": "string", "pattern": r"^([0-9]+(ms|s|m|h))*$"}
URL = r"^[hH][tT][tT][pP][sS]?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$"
LIMITS: dict[str, dict[str, Any]] = {
    "endpoints": {
        "type": "object",
        "propertyNames": {"pattern": "^[^=,\\s]+$"},
        "additionalProperties": {"type": "string", "pattern": URL},
    },
    "credentials.existingSecret": {"type": "string", "pattern": NAME},
    "credentials.kind": {"type": "string", "enum": ["ApiKey", "Login"]},
    "credentials.apiKeyKey": {"type": "string", "pattern": KEY},
    "credentials.usernameKey": {"type": "string", "pattern": KEY},
    "credentials.passwordKey": {"type": "string", "pattern": KEY},
    "cloudCA.configMap": {"type": "string", "pattern": NAME},
    "cloudCA.secret": {"type": "string", "pattern": NAME},
    "cloudCA.key": {"type": "string", "pattern": KEY},
    "simulator.provisionSeconds": {"type": "number", "minimum": 0},
    "watchNamespaces": {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": NAMESPACE}},
    "replicas": {"type": "integer", "minimum": 0},
    "leaderElection.leaseName": {"type": "string", "pattern": NAME},
    "image.repository": {"type": "string", "minLength": 1},
    "image.digest": {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
    "image.pullPolicy": {"type": "string", "enum": ["Always", "IfNotPresent", "Never"]},
    "imagePullSecrets": OBJECTS,
    "extraEnv": {"type": "array", "items": {"type": "object", "required": ["name"]}},
    "extraVolumes": OBJECTS,
    "extraVolumeMounts": OBJECTS,
    "podLabels": STRINGS,
    "podAnnotations": STRINGS,
    "nodeSelector": STRINGS,
    "tolerations": OBJECTS,
    "topologySpreadConstraints": OBJECTS,
    "terminationGracePeriodSeconds": {"type": "integer", "minimum": 36},
    "podDisruptionBudget.maxUnavailable": {"type": "integer", "minimum": 1},
    "serviceAccount.annotations": STRINGS,
    "crds.annotations": STRINGS,
    "crds.labels": STRINGS,
    "metrics.service.annotations": STRINGS,
    "metrics.prometheusRule.labels": STRINGS,
    "metrics.dashboard.labels": STRINGS,
    "metrics.dashboard.annotations": STRINGS,
    "networkPolicy.apiServerCIDRs": CIDRS,
    "networkPolicy.apiServerPorts": PORTS,
    "networkPolicy.cloudCIDRs": CIDRS,
    "networkPolicy.cloudPorts": PORTS,
    "networkPolicy.dnsCIDRs": CIDRS,
    "networkPolicy.metricsFrom": OBJECTS,
    "uninstall.policy": {"type": "string", "enum": ["Refuse", "Drain", "Retain"]},
    "uninstall.timeoutSeconds": {"type": "integer", "minimum": 1},
    "commonLabels": STRINGS,
    "extraObjects": {"type": "array", "items": {"type": ["object", "string"]}},
}
for _monitor in ("serviceMonitor", "podMonitor"):
    LIMITS |= {
        f"metrics.{_monitor}.labels": STRINGS,
        f"metrics.{_monitor}.interval": DURATION,
        f"metrics.{_monitor}.scrapeTimeout": DURATION,
        f"metrics.{_monitor}.relabelings": OBJECTS,
        f"metrics.{_monitor}.metricRelabelings": OBJECTS,
    }
_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string"}
# Helm itself gives `global` to every chart with a subchart.
_GLOBAL = {"type": "object", "description": "Helm's own; nothing here reads it."}


def values_schema(values: dict[str, Value]) -> dict[str, Any]:
    """Return the schema of the chart's values.

    Raises:
        KeyError: a value is neither plain nor described in ``LIMITS`` or ``OPEN``.
    """
    properties = {path: _schema_of(value, values) for path, value in values.items() if "." not in path}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart gpucloud-operator",
        **_closed({**properties, "global": _GLOBAL}),
    }


def as_text(schema: dict[str, Any]) -> str:
    """Write a schema as its file has it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _schema_of(value: Value, values: dict[str, Value]) -> dict[str, Any]:
    described = {"description": value.description}
    if value.path == "settings":
        return {**settings.schema(), **described}
    if value.path in OPEN:
        return {"type": "object", **described}
    if value.path in LIMITS:
        return {**LIMITS[value.path], **described}
    if isinstance(value.default, dict) and value.default:
        properties = {key: _schema_of(values[f"{value.path}.{key}"], values) for key in value.default}
        more = {"global": _GLOBAL} if value.path == "crds" else {}
        return {**_closed({**properties, **more}), **described}
    return {"type": _PLAIN[type(value.default)], **described}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}
