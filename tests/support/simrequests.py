"""The least parameters of the simulator's operations."""

from simulator.test_sim_client import VM_TYPE

SERVER = {"vpc": "acme", "configuration": VM_TYPE, "cluster": "Msc1", "ssh_keys": ["ssh-ed25519 A"]}
SNAPSHOT = {"namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}
HOST = {"id": "bm-128", "cluster": "Msc1"}
LOGIN = {"userNameOrEmailAddress": "ann", "password": "made-up-p4ssphrase"}
