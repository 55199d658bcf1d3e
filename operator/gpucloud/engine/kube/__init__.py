"""The Kubernetes side: client, events, leader election, and what is read from the apiserver by name."""
