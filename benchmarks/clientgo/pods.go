package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

const byGraph = "graph"

// readPods lets the reconciler use the pods of an informer. It must not have started.
func (r *reconciler) readPods(informer cache.SharedIndexInformer, strip bool) error {
	if strip {
		if err := informer.SetTransform(stripPod); err != nil {
			return err
		}
	}
	if err := informer.AddIndexers(cache.Indexers{byGraph: graphOfPod}); err != nil {
		return err
	}
	r.pods = informer.GetIndexer()
	_, err := informer.AddEventHandler(handler(r.memberChanged))
	return err
}

func graphOfPod(given any) ([]string, error) {
	pod, ok := given.(*corev1.Pod)
	if !ok {
		return nil, nil
	}
	return []string{pod.Namespace + "/" + pod.Labels[graphLabel]}, nil
}

// podProblem says why a pod of a service is not ready; it is empty if no pod has a reason. Of several pods, the first name counts.
func (r *reconciler) podProblem(graph metav1.Object, service string) string {
	if r.pods == nil {
		return ""
	}
	members, err := r.pods.ByIndex(byGraph, graph.GetNamespace()+"/"+graph.GetName())
	if err != nil {
		return ""
	}
	name, problem := "", ""
	for _, member := range members {
		pod, ok := member.(*corev1.Pod)
		if !ok || pod.Labels[componentLabel] != service || (name != "" && name < pod.Name) {
			continue
		}
		for _, container := range pod.Status.ContainerStatuses {
			if waiting := container.State.Waiting; waiting != nil && !container.Ready {
				name, problem = pod.Name, fmt.Sprintf("pod %s: %s: container %s, %s", pod.Name, waiting.Reason, container.Name, waiting.Message)
			}
		}
	}
	return problem
}

// stripPod removes what the status does not need.
func stripPod(given any) (any, error) {
	if pod, ok := given.(*corev1.Pod); ok {
		pod.ManagedFields, pod.Annotations = nil, nil
		pod.Spec = corev1.PodSpec{}
	}
	return given, nil
}
