package main

import (
	"context"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	finalizer = "bench.gpucloud.dev/controller-runtime"
	deleting  = "Deleting"
)

// Reconciler brings one VM and its object together at a time.
type Reconciler struct {
	client.Client
	cloud           *Cloud
	pending, steady time.Duration
}

func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	vm := &GpuVM{}
	if err := r.Get(ctx, request.NamespacedName, vm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !vm.DeletionTimestamp.IsZero() {
		return r.remove(ctx, vm)
	}
	before := client.MergeFrom(vm.DeepCopy())
	if controllerutil.AddFinalizer(vm, finalizer) {
		if err := r.Patch(ctx, vm, before); err != nil {
			return ctrl.Result{}, err
		}
	}
	record, err := r.observe(ctx, vm)
	if err != nil {
		return ctrl.Result{}, err
	}
	ready := record.Status == "ONLINE"
	if err := r.report(ctx, vm, record, ready); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if ready {
		return ctrl.Result{RequeueAfter: r.steady}, nil
	}
	return ctrl.Result{RequeueAfter: r.pending}, nil
}

// observe creates the VM of an object that has none, and looks for it otherwise.
func (r *Reconciler) observe(ctx context.Context, vm *GpuVM) (Record, error) {
	if vm.Status.State == "" {
		record, code, err := r.cloud.create(ctx, vm)
		if code != http.StatusConflict {
			return record, err
		}
	}
	record, code, err := r.cloud.get(ctx, vm)
	if code == http.StatusNotFound {
		return Record{Status: "MISSING"}, nil
	}
	return record, err
}

// report writes the status if it differs.
func (r *Reconciler) report(ctx context.Context, vm *GpuVM, record Record, ready bool) error {
	status, reason := metav1.ConditionFalse, "Creating"
	if ready {
		status, reason = metav1.ConditionTrue, "Running"
	}
	before := client.MergeFrom(vm.DeepCopy())
	changed := setReady(vm, status, reason, "The cloud says "+record.Status)
	if !changed && vm.Status.State == record.Status && vm.Status.IP == record.IP {
		return nil
	}
	vm.Status.State, vm.Status.VMID, vm.Status.IP, vm.Status.PrivateIP = record.Status, record.ID, record.IP, record.PrivateIP
	return r.Status().Patch(ctx, vm, before)
}

// remove asks for the destruction once, then looks until the VM is gone, and frees the object.
func (r *Reconciler) remove(ctx context.Context, vm *GpuVM) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(vm, finalizer) {
		return ctrl.Result{}, nil
	}
	before := client.MergeFrom(vm.DeepCopy())
	asked := meta.FindStatusCondition(vm.Status.Conditions, "Ready")
	var code int
	var err error
	if asked != nil && asked.Reason == deleting {
		_, code, err = r.cloud.get(ctx, vm)
	} else if code, err = r.cloud.destroy(ctx, vm); err == nil {
		setReady(vm, metav1.ConditionFalse, deleting, "Requested destruction of the VM")
		err = client.IgnoreNotFound(r.Status().Patch(ctx, vm, before))
	}
	if code == http.StatusNotFound {
		controllerutil.RemoveFinalizer(vm, finalizer)
		return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, vm, before))
	}
	return ctrl.Result{RequeueAfter: r.pending}, err
}

func setReady(vm *GpuVM, status metav1.ConditionStatus, reason, message string) bool {
	observed := vm.Status.ObservedGeneration != vm.Generation
	vm.Status.ObservedGeneration = vm.Generation
	return meta.SetStatusCondition(&vm.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: status, Reason: reason, Message: message, ObservedGeneration: vm.Generation,
	}) || observed
}
