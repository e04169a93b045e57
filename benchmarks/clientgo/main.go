// Command clientgo is the baseline of `make bench-sync`: it writes the status of graphs as `krm-fn sync` does, in the usual way of a Go
// controller. It lists and watches Deployments and graphs with informers, and with --pods also pods. It compares in memory, and patches a
// status that differs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const (
	selector       = "nvidia.com/dynamo-namespace"
	graphLabel     = "nvidia.com/dynamo-graph-deployment-name"
	componentLabel = "nvidia.com/dynamo-component"
)

var graphs = schema.GroupVersionResource{Group: "nvidia.com", Version: "v1alpha1", Resource: "dynamographdeployments"}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the cluster's kubeconfig file")
	strip := flag.Bool("strip", false, "keep only the fields that the status needs in the caches")
	pods := flag.Bool("pods", false, "read pods, so that messages include their reasons")
	workers := flag.Int("workers", 8, "how many graphs are reconciled at the same time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *strip, *pods, *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run returns nil when ctx ends.
func run(ctx context.Context, kubeconfig string, strip, pods bool, workers int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // no limit in the client, as in controller-runtime
	// As in every ordinary Go controller: native kinds travel as Protocol Buffers.
	typed, err := kubernetes.NewForConfig(protobuf(config))
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	deployments := informers.NewSharedInformerFactoryWithOptions(typed, 0, selecting(selector))
	resources := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	workloads, owners := deployments.Apps().V1().Deployments(), resources.ForResource(graphs)
	controller := &reconciler{
		deployments: workloads.Lister(),
		graphs:      owners.Lister(),
		client:      client.Resource(graphs),
		queue:       workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]()),
	}
	if strip {
		if err := errors.Join(workloads.Informer().SetTransform(stripDeployment), owners.Informer().SetTransform(stripGraph)); err != nil {
			return err
		}
	}
	if _, err := workloads.Informer().AddEventHandler(handler(controller.memberChanged)); err != nil {
		return err
	}
	if _, err := owners.Informer().AddEventHandler(handler(controller.graphChanged)); err != nil {
		return err
	}
	synced := []cache.InformerSynced{workloads.Informer().HasSynced, owners.Informer().HasSynced}
	if pods {
		members := informers.NewSharedInformerFactoryWithOptions(typed, 0, selecting(graphLabel))
		informer := members.Core().V1().Pods().Informer()
		if err := controller.readPods(informer, strip); err != nil {
			return err
		}
		members.Start(ctx.Done())
		synced = append(synced, informer.HasSynced)
	}
	deployments.Start(ctx.Done())
	resources.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return nil
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { controller.work(ctx) })
	}
	<-ctx.Done()
	controller.queue.ShutDown()
	all.Wait()
	return nil
}

// selecting lets informers list and watch only objects with a label.
func selecting(label string) informers.SharedInformerOption {
	return informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = label })
}

func protobuf(config *rest.Config) *rest.Config {
	copied := rest.CopyConfig(config)
	copied.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	copied.ContentType = "application/vnd.kubernetes.protobuf"
	return copied
}

// handler calls changed with the object of every event.
func handler(changed func(metav1.Object)) cache.ResourceEventHandler {
	take := func(given any) {
		if tombstone, ok := given.(cache.DeletedFinalStateUnknown); ok {
			given = tombstone.Obj
		}
		if object, ok := given.(metav1.Object); ok {
			changed(object)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: take, UpdateFunc: func(_, now any) { take(now) }, DeleteFunc: take}
}

// stripDeployment removes what the status does not need.
func stripDeployment(given any) (any, error) {
	if deployment, ok := given.(*appsv1.Deployment); ok {
		deployment.ManagedFields, deployment.Annotations = nil, nil
		deployment.Spec.Template = corev1.PodTemplateSpec{}
	}
	return given, nil
}

// stripGraph removes what the status does not need. The annotations stay, because one names the workloads.
func stripGraph(given any) (any, error) {
	if graph, ok := given.(*unstructured.Unstructured); ok {
		graph.SetManagedFields(nil)
		unstructured.RemoveNestedField(graph.Object, "spec")
	}
	return given, nil
}
