// A peer of the benchmark: an operator for GpuVMs on controller-runtime, as its authors recommend to write one.
//
// It is a yardstick, not an example to follow: it creates, watches and destroys a VM for each object, asks the cloud for each
// object by itself, and has none of the product's safeguards.
package main

import (
	"net/http"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

func main() {
	ctrl.SetLogger(zap.New())
	if err := run(); err != nil {
		ctrl.Log.Error(err, "ended")
		os.Exit(1)
	}
}

func run() error {
	scheme := runtime.NewScheme()
	register(scheme)
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		Metrics:                server.Options{BindAddress: variable("METRICS_ADDRESS", "0")}, // 0: none
		HealthProbeBindAddress: "0",
	})
	if err != nil {
		return err
	}
	reconciler := &Reconciler{
		Client: manager.GetClient(),
		cloud: &Cloud{
			url: os.Getenv("CLOUD_URL"), key: os.Getenv("CLOUD_KEY"),
			client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		},
		pending: seconds("PENDING_SECONDS", 10),
		steady:  seconds("STEADY_SECONDS", 60),
	}
	workers, err := strconv.Atoi(os.Getenv("WORKERS"))
	if err != nil {
		workers = 1 // controller-runtime's own default
	}
	// The usual guard against reconciles that one's own status writes cause.
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	err = ctrl.NewControllerManagedBy(manager).For(&GpuVM{}, changed).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).Complete(reconciler)
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func variable(name, otherwise string) string {
	if value, set := os.LookupEnv(name); set {
		return value
	}
	return otherwise
}

func seconds(name string, otherwise float64) time.Duration {
	if value, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		otherwise = value
	}
	return time.Duration(otherwise * float64(time.Second))
}
