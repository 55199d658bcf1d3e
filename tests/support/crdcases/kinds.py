"""The tables of all kinds."""

from __future__ import annotations

import pytest

from support.crdcases.gpucloudaccount import ACCOUNT
from support.crdcases.gpuhost import HOST
from support.crdcases.gpusnapshot import SNAPSHOT
from support.crdcases.gpuvm import VM
from support.crdcases.gpuvpc import VPC

ALL = (VM, VPC, SNAPSHOT, HOST, ACCOUNT)

each_kind = pytest.mark.parametrize("cases", ALL, ids=lambda cases: cases.kind)
