#!/usr/bin/env bash
# The image and the chart on kind, with the simulated cloud: install, `helm test`, a VM's life, uninstall.
# Needs docker, kind and kubectl; Helm is obtained. The cluster is made here and goes at the end.
set -euo pipefail
cd "$(dirname "$0")/../.."

cluster=gpucloud-trial image=localhost/gpucloud-operator:trial
make setup
helm=$(.venv/bin/python -m helmcli)
docker build --tag "$image" .
docker run --rm --read-only --cap-drop ALL --security-opt no-new-privileges "$image" --version

KUBECONFIG=$(mktemp)
export KUBECONFIG
trap 'kind delete cluster --name "$cluster"; rm -f "$KUBECONFIG"' EXIT
kind create cluster --name "$cluster" --wait 2m
kind load docker-image --name "$cluster" "$image"

"$helm" install gpucloud-operator deploy/helm/gpucloud-operator --namespace gpucloud-system --create-namespace --wait --timeout 3m \
  --set simulator.enabled=true --set "image.repository=${image%:*}" --set image.tag=trial
"$helm" test gpucloud-operator --namespace gpucloud-system --logs

kubectl apply -f deploy/examples/gpuvm.yaml
kubectl wait -f deploy/examples/gpuvm.yaml --for=condition=Ready --timeout=2m
kubectl delete -f deploy/examples/gpuvm.yaml --timeout=2m
"$helm" uninstall gpucloud-operator --namespace gpucloud-system --wait --timeout 3m
echo "The image was installed, made a VM, destroyed it, and was removed."
