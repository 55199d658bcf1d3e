"""The benchmark: what the operator costs beside two peers, on a real kube-apiserver and the simulated cloud.

It knows the product from outside only: its command, its definitions, its metrics. docs/reference/performance.md explains it.
"""
