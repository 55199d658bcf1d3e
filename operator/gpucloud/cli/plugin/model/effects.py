"""What the annotations do that lead to a purchase, a destruction or an interruption: said wherever one is offered."""

from gpucloud.kinds.meta import Annotation

EFFECTS = {
    Annotation.ACCEPT_ABSENCE: "With it what the cloud does not list counts as gone, and may be ordered again and billed.",
    Annotation.BRAKE_RELEASED_AT: "With it held deletions destroy VMs and their data.",
    Annotation.BUY_ANYWAY: "With it the operator orders a VM, which is billed, although one may exist.",
    Annotation.REBOOT_REQUESTED_AT: "With it the host is rebooted.",
    Annotation.REPROVISION_REQUESTED_AT: "With it the host is installed again, and its data is destroyed.",
    Annotation.RESTART_REQUESTED_AT: "With it the VM is restarted.",
}
