"""The demo: a whole life on a real control plane and a simulated cloud, told as the kubectl commands that a user types.

It knows the product only from outside: its commands, its manifests, its objects.
"""
