"""What is printed around the Helm chart: its schema, its README's table, its list of settings, the kustomize manifests.

It must not install anything. What can be set stands in the chart's values.yaml and in ``gpucloud.settings``; all else here
follows from these two.
"""
