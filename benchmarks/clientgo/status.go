package main

import (
	"fmt"
	"sort"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// entry is one workload in the annotation of a graph.
type entry struct {
	Service string `json:"service"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
}

// status is the whole status of a graph. Numbers are int64, as in the objects of the dynamic client.
func (r *reconciler) status(graph *unstructured.Unstructured, entries []entry, live map[string]any, now time.Time) map[string]any {
	services := map[string]any{}
	var waiting []string
	failed := false
	for _, workload := range entries {
		deployment, err := r.deployments.Deployments(graph.GetNamespace()).Get(workload.Name)
		if err != nil {
			waiting = append(waiting, workload.Name+": Deployment not found")
			continue
		}
		services[workload.Service] = counts(deployment)
		if !ready(deployment) {
			failed = failed || stalled(deployment)
			reason := why(deployment)
			if problem := r.podProblem(graph, workload.Service); problem != "" {
				reason = problem
			}
			waiting = append(waiting, fmt.Sprintf("%s: %s", workload.Name, reason))
		}
	}
	sort.Strings(waiting)
	state, value, reason, message := "successful", "True", "all_resources_are_ready", "All resources are ready"
	if len(waiting) > 0 {
		state, value, reason = "pending", "False", "some_resources_are_not_ready"
		message = "Resources not ready: " + strings.Join(waiting, "; ")
	}
	generation := graph.GetGeneration()
	conditions := []any{condition(live, "Ready", value, reason, message, generation, now)}
	switch {
	case failed:
		state = "failed"
		conditions = append(conditions, condition(live, "Stalled", "True", "ProgressDeadlineExceeded", message, generation, now))
	case len(waiting) > 0:
		conditions = append(conditions, condition(live, "Reconciling", "True", reason, message, generation, now))
	}
	return map[string]any{"state": state, "conditions": conditions, "services": services, "observedGeneration": generation}
}

// ready follows the reference's IsDeploymentReady.
func ready(deployment *appsv1.Deployment) bool {
	status, wanted := deployment.Status, desired(deployment)
	switch {
	case deployment.Spec.Paused:
		return false
	case wanted == 0:
		return true
	case status.ObservedGeneration < deployment.Generation || status.UpdatedReplicas < wanted:
		return false
	case status.AvailableReplicas < wanted || status.Replicas != wanted:
		return false
	}
	available := find(deployment, appsv1.DeploymentAvailable)
	return available != nil && available.Status == corev1.ConditionTrue
}

func stalled(deployment *appsv1.Deployment) bool {
	progressing := find(deployment, appsv1.DeploymentProgressing)
	return progressing != nil && progressing.Status == corev1.ConditionFalse && progressing.Reason == "ProgressDeadlineExceeded"
}

func why(deployment *appsv1.Deployment) string {
	available := find(deployment, appsv1.DeploymentAvailable)
	if available == nil {
		return "Available condition not true"
	}
	return fmt.Sprintf("%d of %d available; %s", deployment.Status.AvailableReplicas, desired(deployment), available.Message)
}

func find(deployment *appsv1.Deployment, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for index := range deployment.Status.Conditions {
		if deployment.Status.Conditions[index].Type == kind {
			return &deployment.Status.Conditions[index]
		}
	}
	return nil
}

func desired(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}

func counts(deployment *appsv1.Deployment) map[string]any {
	return map[string]any{
		"componentKind":     "Deployment",
		"componentName":     deployment.Name,
		"replicas":          int64(deployment.Status.Replicas),
		"updatedReplicas":   int64(deployment.Status.UpdatedReplicas),
		"readyReplicas":     int64(deployment.Status.ReadyReplicas),
		"availableReplicas": int64(deployment.Status.AvailableReplicas),
	}
}

// condition keeps lastTransitionTime unless the status flips.
func condition(live map[string]any, kind, value, reason, message string, generation int64, now time.Time) map[string]any {
	since := now.UTC().Format(time.RFC3339)
	before, _ := live["conditions"].([]any)
	for _, item := range before {
		old, _ := item.(map[string]any)
		if old["type"] == kind && old["status"] == value {
			if kept, ok := old["lastTransitionTime"].(string); ok {
				since = kept
			}
		}
	}
	return map[string]any{
		"type": kind, "status": value, "reason": reason, "message": message,
		"observedGeneration": generation, "lastTransitionTime": since,
	}
}
