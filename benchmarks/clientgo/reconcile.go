package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	annotation   = "dynamo.krm-fn.io/workloads"
	fieldManager = "dynamo-status-syncer"
)

type reconciler struct {
	deployments appslisters.DeploymentLister
	graphs      cache.GenericLister
	pods        cache.Indexer // nil if the program reads no pods
	client      dynamic.NamespaceableResourceInterface
	queue       workqueue.TypedRateLimitingInterface[types.NamespacedName]
}

// memberChanged queues the graph of a Deployment or a pod.
func (r *reconciler) memberChanged(object metav1.Object) {
	if name := object.GetLabels()[graphLabel]; name != "" {
		r.queue.Add(types.NamespacedName{Namespace: object.GetNamespace(), Name: name})
	}
}

func (r *reconciler) graphChanged(object metav1.Object) {
	r.queue.Add(types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()})
}

// work reconciles graphs until the queue is shut down.
func (r *reconciler) work(ctx context.Context) {
	for {
		key, stopped := r.queue.Get()
		if stopped {
			return
		}
		if err := r.reconcile(ctx, key); err != nil {
			if !apierrors.IsConflict(err) {
				fmt.Fprintf(os.Stderr, "%s: %v\n", key, err)
			}
			r.queue.AddRateLimited(key)
		} else {
			r.queue.Forget(key)
		}
		r.queue.Done(key)
	}
}

// reconcile patches the status of one graph if it is not what the Deployments in the cache say.
func (r *reconciler) reconcile(ctx context.Context, key types.NamespacedName) error {
	found, err := r.graphs.ByNamespace(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	graph := found.(*unstructured.Unstructured)
	text, managed := graph.GetAnnotations()[annotation]
	if !managed {
		return nil
	}
	var entries []entry
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return err
	}
	live, _ := graph.Object["status"].(map[string]any)
	wanted := r.status(graph, entries, live, time.Now())
	change := difference(live, wanted)
	if len(change) == 0 {
		return nil
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": graph.GetResourceVersion()},
		"status":   change,
	})
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: fieldManager}
	_, err = r.client.Namespace(key.Namespace).Patch(ctx, key.Name, types.MergePatchType, body, options, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// difference returns the JSON merge patch from live to wanted (RFC 7396); it is empty if both are equal.
func difference(live, wanted map[string]any) map[string]any {
	change := map[string]any{}
	for key := range live {
		if _, kept := wanted[key]; !kept {
			change[key] = nil
		}
	}
	for key, value := range wanted {
		before, exists := live[key]
		inner, isMap := value.(map[string]any)
		beforeMap, wasMap := before.(map[string]any)
		switch {
		case isMap && wasMap:
			if nested := difference(beforeMap, inner); len(nested) > 0 {
				change[key] = nested
			}
		case !exists || !equality.Semantic.DeepEqual(before, value):
			change[key] = value
		}
	}
	return change
}
