"""The knobs: one for each point that the specification of the cloud leaves open, with its default and the reason for it.

A frozen model: turning a knob means putting a new model in place. It must not know how the rules use it.
``docs/reference/simulator.md`` lists every knob.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from gpucloud.settings import SimSettings
from gpucloud.settings import SimulatedSeconds as Seconds

_SET = SimSettings()  # what can be set when the simulator starts has its default there
Word = Annotated[str, Field(min_length=1, max_length=64)]
ErrorForm = Literal["abp", "empty", "html", "problem", "null_error", "text_error", "list", "truncated"]
Stage = Literal["", "PENDING", "PENDING_RESOURCES", "PENDING_READINESS"]


class Knobs(BaseModel):
    """Every choice the simulated cloud makes where the specification is silent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # How long things take.
    provision_seconds: Seconds = Field(
        _SET.sim_provision_seconds, description="From CreateServer to ONLINE. Minutes on a real cloud."
    )
    start_seconds: Seconds = Field(_SET.sim_start_seconds, description="From StartServer to ONLINE.")
    stop_seconds: Seconds = Field(_SET.sim_stop_seconds, description="From StopServer to OFFLINE.")
    destroy_seconds: Seconds = Field(_SET.sim_destroy_seconds, description="From DestroyServer until the record vanishes.")
    snapshot_seconds: Seconds = Field(_SET.sim_snapshot_seconds, description="From CreateSnapshot until readyToUse.")
    snapshot_delete_seconds: Seconds = Field(1.0, description="From DeleteSnapshot until the record vanishes.")
    host_reboot_seconds: Seconds = Field(3.0, description="How long a rebooting host is powered off.")
    host_provision_seconds: Seconds = Field(6.0, description="From ReprovisionHost until provisioned again.")

    # Form of the answers.
    answers: Literal["plain", "wrapped"] = Field(
        _SET.sim_answers, description="The specification shows the inner object; the web framework usually wraps it."
    )
    error_form: ErrorForm = Field("abp", description="Body of an error. Not shown; abp is the framework's own.")
    unauthorized_form: ErrorForm = Field(
        "abp", description="Body of a 401. `empty` comes with WWW-Authenticate, as the token middleware does it."
    )
    unauthorized_flag: bool = Field(
        True, description="Whether 401 and 403 bodies carry unAuthorizedRequest true; the specification says 'may'."
    )
    refusals: Literal["as_listed", "all_500", "success_false_at_200"] = Field(
        "as_listed", description="Business refusals often arrive as 500, or as success:false."
    )
    time_form: Literal["utc", "no_zone"] = Field("utc", description="Date-times with Z, or without any zone.")
    configuration_echo: Literal["name", "number"] = Field(
        "name", description="How `configuration` comes back: as the name, or as the numeric id in a string."
    )
    image_echo: Literal["underscores", "verbatim"] = Field(
        "underscores", description="Image names come back with underscores for spaces."
    )
    uncounted: Literal["absent", "null", "zero"] = Field(
        "absent", description="count and maxCount when reportNodes is false: 'not calculated' has no stated form."
    )

    cluster_spelling: Literal["exact", "any_case", "upper"] = Field(
        "exact",
        description="Whether a cluster's name must be spelled as in GetAll, may be in any case, and is listed in upper case.",
    )
    total_count: Literal["absent", "present"] = Field(
        "absent", description="Whether a listing says totalCount, as the web framework's paged lists do."
    )
    page_size: Annotated[int, Field(ge=0)] = Field(
        0, description="How many items a listing shows at most, whatever there is; 0 for all. No page can be asked for."
    )
    cluster_filter: Literal["works", "ignored"] = Field(
        "works", description="Whether listings by cluster show records of that cluster only."
    )

    # Words of the VM's life.
    created_word: Word = Field("na", description="Status in CreateServer's own answer.")
    stopping_word: Word = Field("PENDING", description="Status between StopServer and OFFLINE; not shown.")
    destroying_word: Word = Field("PENDING", description="Status between DestroyServer and absence; not shown.")
    provision_outcome: Word = Field("ONLINE", description="Where provisioning ends, e.g. CREATE_FAILED.")
    provision_stuck_at: Stage = Field("", description="A stage that new VMs never leave; empty for none.")

    # What is refused, and how.
    duplicate_vm: Literal["refuse_409", "refuse_400", "refuse_500", "existing", "twin"] = Field(
        "refuse_409", description="A second create of a living name in (cluster, VPC): unknown."
    )
    duplicate_snapshot: Literal["refuse_400", "refuse_409", "refuse_500", "existing"] = Field(
        "refuse_400", description="A second snapshot of one name; 400 is a listed code."
    )
    duplicate_vpc: Literal[400, 409, 500] = Field(400, description="A second VPC of one name, or a second default.")
    missing_vm_status: Literal[404, 400, 500] = Field(404, description='A VM that is not there; text `"<id>" not found`.')
    missing_other_status: Literal[400, 404, 500] = Field(
        400, description="A snapshot, VPC or host that is not there; no 404 is listed for them."
    )
    unknown_reference_status: Literal[400, 500] = Field(
        400, description="An unknown cluster, configuration, VPC, image, pool or node in a request."
    )
    wrong_power_state: Literal["accept_202", "refuse_400", "refuse_422", "refuse_500"] = Field(
        "accept_202", description="StartServer on what is not OFFLINE, StopServer on what is not ONLINE."
    )
    own_ids: bool = Field(
        False, description="Whether the cloud gives a VM an id of its own, whatever name was asked for, and says it in the 202."
    )
    create_without_capacity: Literal["wait", "refuse_503"] = Field(
        "wait", description="No free capacity at CreateServer: accepted and PENDING_RESOURCES, or 503."
    )
    start_without_capacity: Literal["refuse_503", "wait"] = Field("refuse_503", description="No free capacity at StartServer.")
    image_sources_combined: Literal["refuse_400", "snapshot_first"] = Field(
        "refuse_400", description="snapshotName, tenantCustomImageFileName, operatingSystemImage given together."
    )
    unfiltered_listing: Literal["all", "default_cluster", "refuse_400"] = Field(
        "all", description="GetServers and GetSnapshots without Cluster."
    )
    boot_log_limit_required: bool = Field(True, description="Limit is marked required, and described as defaulting to 2000.")
    boot_log_lines: int = Field(
        0,
        ge=0,
        le=100_000,
        description="Least number of lines that a boot writes. 0: seven; 3000 is more than Limit's default.",
    )
    snapshot_unavailable: bool = Field(False, description="CreateSnapshot answers its listed 503.")
    snapshot_source_required: bool = Field(False, description="sourceVMName is optional on paper; true: 400 without it.")
    snapshot_source_states: tuple[str, ...] = Field(
        ("ONLINE", "OFFLINE"), description="States of a VM that may be snapshotted; others are refused with 400."
    )
    vpc_ids: Literal["numbered", "name"] = Field("numbered", description="What a VPC's id looks like.")
    vpc_destroy_blocked_by_snapshots: bool = Field(
        True, description="DestroyVpc is refused while snapshots live in the VPC, as with VMs."
    )
    metal_success_status: Literal[200, 202] = Field(200, description="RebootHost has answered 202 in the past.")
    reprovision_image_required: bool = Field(
        False, description="imageUrl and imageChecksum of ReprovisionHost; which fields are required is not shown."
    )

    # Authentication.
    login_failure_status: Literal[401, 400, 500] = Field(401, description="Authenticate with a wrong password.")
    refresh_failure_status: Literal[401, 400, 500] = Field(401, description="RefreshToken with a dead token.")
    refresh_method: Literal["POST", "GET", "both"] = Field("POST", description="Clients have been seen sending GET.")
    login_token_seconds: Seconds = Field(86_400.0, description="Life of an access token: 24 hours.")
    refresh_token_seconds: Seconds = Field(2_592_000.0, description="Life of a refresh token; not shown.")


SPEEDS = frozenset(name for name in Knobs.model_fields if name.endswith("_seconds"))
