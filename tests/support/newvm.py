"""What `create` is tried with: offers, VPCs, and a cloud that answers with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cli.plugin.errors import PluginError
from gpucloud.cloud.models import AvailabilityRecord, ConfigurationRecord
from gpucloud.engine.cloud.queries import Offers
from support.pluginworld import a_body

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = "ssh-ed25519 AAAAmadeupkey ann@example.com"
A100, H100 = "A100_40GB_PCIe_1x", "H100_80GB_SXM_8x"
OFFERED = Offers(
    configurations=(
        ConfigurationRecord(name=A100, price=2.05, gpus=1, brand="NVIDIA A100"),
        ConfigurationRecord(name=H100, price=26.4, gpus=8, brand="NVIDIA H100"),
    ),
    availability=(
        AvailabilityRecord(configuration=A100, cluster="Msc1", rpool="on-demand", available=True, count=3),
        AvailabilityRecord(configuration=A100, cluster="Hou1", rpool="on-demand", available=True, count=9),
        AvailabilityRecord(configuration=H100, cluster="Hou1", rpool="on-demand", available=False, count=0),
    ),
)
LAB = a_body("GpuVpc", "lab", spec={"cluster": "msc1", "name": "acme-lab"})
OF_CLOUD = {"Msc1": frozenset({"acme", "acme-train"}), "Hou1": frozenset({"acme-eval"})}


class Source:
    """Answers with fixed offers, or that there is no way to the cloud; with the VPCs of each cluster, or that it refuses."""

    def __init__(self, found: Offers | None, vpcs: Mapping[str, frozenset[str]] | None) -> None:
        self.found, self._vpcs = found, vpcs

    def offers(self, _cluster: str) -> Offers:
        if self.found is None:
            raise PluginError("no way to the cloud.", do="Ask for one.")
        return self.found

    def vpcs(self, cluster: str) -> frozenset[str] | None:
        if self._vpcs is None:
            raise PluginError("403", do="Ask for the role.")
        return self._vpcs.get(cluster)
