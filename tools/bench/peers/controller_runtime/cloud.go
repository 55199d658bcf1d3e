package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

const servers = "/api/v1/servers/virtual/"

// Cloud calls the API of the GPU cloud.
type Cloud struct {
	url, key string
	client   *http.Client
}

// Record is a VM as the cloud shows it.
type Record struct {
	ID        string `json:"id"`
	Status    string `json:"status"`
	IP        string `json:"ip"`
	PrivateIP string `json:"privateIp"`
}

func (c *Cloud) create(ctx context.Context, vm *GpuVM) (Record, int, error) {
	return c.send(ctx, http.MethodPost, "CreateServer", map[string]any{
		"name": vm.Name, "cluster": vm.Spec.Cluster, "vpc": vm.Spec.Vpc,
		"configuration": vm.Spec.Configuration, "ssh_keys": vm.Spec.SSHKeys,
	})
}

func (c *Cloud) get(ctx context.Context, vm *GpuVM) (Record, int, error) {
	return c.send(ctx, http.MethodGet, "GetServer?"+named(vm), nil)
}

func (c *Cloud) destroy(ctx context.Context, vm *GpuVM) (int, error) {
	_, code, err := c.send(ctx, http.MethodDelete, "DestroyServer?"+named(vm), nil)
	return code, err
}

func named(vm *GpuVM) string {
	return url.Values{"Id": {vm.Name}, "Namespace": {vm.Spec.Vpc}, "Cluster": {vm.Spec.Cluster}}.Encode()
}

// send answers the record, the HTTP status, and an error for every status from 300 on.
func (c *Cloud) send(ctx context.Context, method, path string, parameters any) (record Record, code int, err error) {
	var body io.Reader
	if parameters != nil {
		encoded, err := json.Marshal(parameters)
		if err != nil {
			return record, 0, err
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+servers+path, body)
	if err != nil {
		return record, 0, err
	}
	request.Header.Set("Authorization", "ApiKey "+c.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return record, 0, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return record, response.StatusCode, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return record, response.StatusCode, fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, answer)
	}
	return record, response.StatusCode, json.Unmarshal(answer, &record)
}
