-- What may be done now. The API's default for powerState is Running.
local stopped = obj.spec.powerState == "Stopped"
local going = obj.metadata.deletionTimestamp ~= nil
return {
  ["start"] = { disabled = going or not stopped, displayName = "Start", iconClass = "fa fa-fw fa-play" },
  ["stop"] = { disabled = going or stopped, displayName = "Stop", iconClass = "fa fa-fw fa-stop" },
  ["restart"] = { disabled = going or stopped, displayName = "Restart", iconClass = "fa fa-fw fa-redo" },
  ["snapshot"] = {
    disabled = going,
    displayName = "Take a snapshot",
    iconClass = "fa fa-fw fa-camera",
    params = { { name = "name" } },
  },
}
