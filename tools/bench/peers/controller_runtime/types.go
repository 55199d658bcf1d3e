package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The part of the product's definition that this operator reads and writes.

type GpuVMSpec struct {
	Cluster       string   `json:"cluster"`
	Vpc           string   `json:"vpc"`
	Configuration string   `json:"configuration"`
	SSHKeys       []string `json:"sshKeys"`
}

type GpuVMStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	State              string             `json:"state,omitempty"`
	VMID               string             `json:"vmId,omitempty"`
	IP                 string             `json:"ip,omitempty"`
	PrivateIP          string             `json:"privateIp,omitempty"`
}

type GpuVM struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GpuVMSpec   `json:"spec,omitempty"`
	Status            GpuVMStatus `json:"status,omitempty"`
}

type GpuVMList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GpuVM `json:"items"`
}

func register(scheme *runtime.Scheme) {
	version := schema.GroupVersion{Group: "gpucloud.dev", Version: "v1alpha1"}
	scheme.AddKnownTypes(version, &GpuVM{}, &GpuVMList{})
	metav1.AddToGroupVersion(scheme, version)
}

func (vm *GpuVM) DeepCopy() *GpuVM {
	copied := *vm
	vm.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Spec.SSHKeys = append([]string(nil), vm.Spec.SSHKeys...)
	copied.Status.Conditions = append([]metav1.Condition(nil), vm.Status.Conditions...)
	return &copied
}

func (vm *GpuVM) DeepCopyObject() runtime.Object { return vm.DeepCopy() }

func (list *GpuVMList) DeepCopyObject() runtime.Object {
	copied := &GpuVMList{TypeMeta: list.TypeMeta, Items: make([]GpuVM, len(list.Items))}
	list.ListMeta.DeepCopyInto(&copied.ListMeta)
	for index := range list.Items {
		copied.Items[index] = *list.Items[index].DeepCopy()
	}
	return copied
}
