-- Answered by the operator in status.lastHandledRestartAt.
local os = require("os")
if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
obj.metadata.annotations["gpucloud.dev/restart-requested-at"] = os.date("!%Y-%m-%dT%XZ")
return obj
