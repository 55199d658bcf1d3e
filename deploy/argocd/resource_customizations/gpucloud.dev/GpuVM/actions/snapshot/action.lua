-- A GpuSnapshot beside the VM. It is nobody's manifest: neither pruned nor counted as out of sync.
local os = require("os")
local name = (actionParams or {})["name"]
if name == nil or name == "" then
  name = obj.metadata.name .. "-" .. os.date("!%Y%m%d-%H%M%S")
end
local snapshot = {
  apiVersion = "gpucloud.dev/v1alpha1",
  kind = "GpuSnapshot",
  metadata = {
    name = name,
    namespace = obj.metadata.namespace,
    annotations = {
      ["argocd.argoproj.io/compare-options"] = "IgnoreExtraneous",
      ["argocd.argoproj.io/sync-options"] = "Prune=false",
    },
  },
  spec = { vmRef = { name = obj.metadata.name } },
}
if obj.spec.accountRef ~= nil then
  snapshot.spec.accountRef = obj.spec.accountRef
end
return { { operation = "create", resource = snapshot } }
