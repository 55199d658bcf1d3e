"""A session of one credential over a fake cloud, and a listener that notes what it is told."""

from dataclasses import replace

import httpx

from gpucloud.cloud import calls
from gpucloud.cloud.errors import CloudError
from gpucloud.engine.cloud.account_session import AccountSession, NoListener
from support.builders import a_change

URL, KEY = "https://cloud.example", "made-up-key"
EVIDENCE = ["GetVpcs", "GetServers", "GetSnapshots"]


def vm(name="x", tenant="acme"):
    return {"id": name, "namespace": "acme", "cluster": "Msc1", "tenancy_name": tenant, "status": "ONLINE"}


def vpc(name="acme", tenant="acme"):
    return {"id": "7", "name": name, "cluster": "Msc1", "tenancyName": tenant}


def snapshot(name="s", tenant="acme"):
    return {"id": name, "namespace": "acme", "tenancyName": tenant}


class Listener(NoListener):
    """Notes what it is told."""

    def __init__(self):
        self.changes, self.tenants, self.proving = 0, [], []

    def learned(self, _session):
        self.changes += 1

    def tenant_learned(self, session):
        self.tenants.append(session.learned.tenants)
        self.proving.append(session.proving)


class Rig:
    def __init__(self, cloud, around, credential):
        self.cloud, self.listener = cloud, Listener()
        self.session = AccountSession(URL, credential, "team/default", replace(around, listener=self.listener))

    @property
    def learned(self):
        return self.session.learned

    @property
    def changes(self):
        return self.listener.changes

    @property
    def tenants(self):
        return self.listener.tenants

    async def start(self, holds=lambda: True):
        """Start a VM."""
        try:
            await self.session.writes.send(a_change(calls.start_server(id="x", namespace="acme", cluster="Msc1"), holds=holds))
        except CloudError as error:
            return error
        return None

    async def call(self, operation="get_servers", **where):
        try:
            await getattr(self.session.client, operation)(**where)
        except CloudError as error:
            return error
        return None


DOWN, SLOW = httpx.ConnectError("no route"), httpx.ReadTimeout("slow")
TOKEN = {"accessToken": KEY, "expireInSeconds": 86400}
