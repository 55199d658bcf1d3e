"""Runtime support without Kubernetes or the cloud: clock, entropy, supervisor, work queue."""
