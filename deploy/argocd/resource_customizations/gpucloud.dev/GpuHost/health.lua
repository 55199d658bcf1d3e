-- By the kstatus rules: Stalled is Degraded, Reconciling is Progressing, else Ready decides, of this generation only.
-- A VM that is off because its spec says so is Ready, so it is Healthy: Suspended would hold up sync waves for ever.
-- Without string library: where Argo CD runs this there is none.
local generation, status = obj.metadata.generation, obj.status or {}
if status.observedGeneration ~= nil and status.observedGeneration ~= generation then
  return { status = "Progressing", message = "Waiting for the operator to see generation " .. generation }
end

local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end
local function standing(name)
  local condition = conditions[name]
  if condition ~= nil and condition.status == "True" then
    return condition
  end
end
local function told(condition)
  return condition.reason .. ": " .. (condition.message or "")
end

local stalled, reconciling, ready = standing("Stalled"), standing("Reconciling"), conditions["Ready"]
if stalled ~= nil then
  return { status = "Degraded", message = told(stalled) }
end
if reconciling ~= nil then
  return { status = "Progressing", message = told(reconciling) }
end
if ready == nil or (ready.observedGeneration ~= nil and ready.observedGeneration ~= generation) then
  return { status = "Progressing", message = "Waiting for the operator" }
end
if ready.status == "True" then
  return { status = "Healthy", message = told(ready) }
end
return { status = "Progressing", message = told(ready) }
