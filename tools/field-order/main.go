// Command field-order prints the fields of a pod template and of all structs that it contains, in the order of their Go declarations.
//
// Go's JSON encoder writes the fields of a struct in that order, and no OpenAPI document has it. The output is one JSON object: for each
// struct its fields by name, and for each field its Go type, with these marks: `?` for omitempty, `*` for a pointer, `[]` for a list, and
// `{}` for a map from strings.
//
// With the argument `kinds`, the command prints the structs of all kinds of Kubernetes instead, without status and without the structs of
// pod templates. The name of a struct begins with its group, if that is not the core group.
//
// With the argument `encode`, the command reads a pod template in JSON from each line of its input, and prints it as Go writes it. A
// template that Go cannot read gives an empty line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	flowcontrol "k8s.io/api/flowcontrol/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	devices "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// leaves are structs that encode themselves.
var leaves = []reflect.Type{
	reflect.TypeFor[resource.Quantity](),
	reflect.TypeFor[intstr.IntOrString](),
	reflect.TypeFor[meta.Time](),
	reflect.TypeFor[meta.MicroTime](),
	reflect.TypeFor[meta.FieldsV1](),
	reflect.TypeFor[runtime.RawExtension](),
}

// kinds are one kind of each Go type that a repository holds.
var kinds = []any{
	admission.MutatingWebhookConfiguration{}, admission.ValidatingAdmissionPolicy{}, admission.ValidatingAdmissionPolicyBinding{},
	admission.ValidatingWebhookConfiguration{},
	apps.ControllerRevision{}, apps.DaemonSet{}, apps.Deployment{}, apps.ReplicaSet{}, apps.StatefulSet{},
	autoscaling.HorizontalPodAutoscaler{}, batch.CronJob{}, batch.Job{}, coordination.Lease{},
	core.ConfigMap{}, core.Endpoints{}, core.LimitRange{}, core.Namespace{}, core.Node{}, core.PersistentVolume{},
	core.PersistentVolumeClaim{}, core.Pod{}, core.PodTemplate{}, core.ReplicationController{}, core.ResourceQuota{}, core.Secret{},
	core.Service{}, core.ServiceAccount{},
	discovery.EndpointSlice{}, flowcontrol.FlowSchema{}, flowcontrol.PriorityLevelConfiguration{},
	networking.IPAddress{}, networking.Ingress{}, networking.IngressClass{}, networking.NetworkPolicy{}, networking.ServiceCIDR{},
	node.RuntimeClass{}, policy.PodDisruptionBudget{},
	rbac.ClusterRole{}, rbac.ClusterRoleBinding{}, rbac.Role{}, rbac.RoleBinding{},
	devices.DeviceClass{}, devices.ResourceClaim{}, devices.ResourceClaimTemplate{}, devices.ResourceSlice{}, scheduling.PriorityClass{},
	storage.CSIDriver{}, storage.CSINode{}, storage.CSIStorageCapacity{}, storage.StorageClass{}, storage.VolumeAttachment{},
	storage.VolumeAttributesClass{},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "encode" {
		encode()
		return
	}
	lines := map[string]string{}
	describe(reflect.TypeFor[core.PodTemplateSpec](), lines)
	if len(os.Args) > 1 && os.Args[1] == "kinds" {
		known := slices.Collect(maps.Keys(lines))
		for _, kind := range kinds {
			describe(reflect.TypeOf(kind), lines)
		}
		for _, name := range known {
			delete(lines, name)
		}
	}
	names := make([]string, 0, len(lines))
	for name := range lines {
		names = append(names, name)
	}
	slices.Sort(names)
	rows := make([]string, 0, len(names))
	for _, name := range names {
		rows = append(rows, fmt.Sprintf("%q:{%s}", name, lines[name]))
	}
	fmt.Fprintf(os.Stdout, "{\n%s\n}\n", strings.Join(rows, ",\n"))
}

// encode prints every pod template of the input.
func encode() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<24)
	for input.Scan() {
		var template core.PodTemplateSpec
		text := []byte{}
		if json.Unmarshal(input.Bytes(), &template) == nil {
			text, _ = json.Marshal(template)
		}
		fmt.Printf("%s\n", text)
	}
}

// describe adds a struct, and all structs that its fields hold.
func describe(kind reflect.Type, lines map[string]string) {
	if _, known := lines[named(kind)]; known {
		return
	}
	lines[named(kind)] = "" // ends a recursion
	lines[named(kind)] = strings.Join(fields(kind, lines), ",")
}

// named returns the name of a struct, with its group if that is not the core group: two groups have a struct ResourceClaim.
func named(kind reflect.Type) string {
	parts := strings.Split(kind.PkgPath(), "/")
	group := parts[max(0, len(parts)-2)]
	if group == "core" || group == "meta" || len(parts) < 2 || slices.Contains(leaves, kind) {
		return kind.Name()
	}
	return group + "." + kind.Name()
}

// fields returns the fields of a struct as JSON, with the fields of embedded structs in their place.
func fields(kind reflect.Type, lines map[string]string) []string {
	var found []string
	for index := range kind.NumField() {
		field := kind.Field(index)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || name == "status" || !field.IsExported() {
			continue
		}
		if name == "" && field.Anonymous {
			found = append(found, fields(field.Type, lines)...)
			continue
		}
		found = append(found, fmt.Sprintf("%q:%q", name, described(field.Type, strings.Split(options, ","), lines)))
	}
	return found
}

// described returns the type of a field with its marks. A struct without a pointer is never omitted, whatever omitempty says, except with
// omitzero.
func described(kind reflect.Type, options []string, lines map[string]string) string {
	marks := ""
	if slices.Contains(options, "omitzero") || (slices.Contains(options, "omitempty") && kind.Kind() != reflect.Struct) {
		marks = "?"
	}
	switch kind.Kind() {
	case reflect.Pointer:
		marks, kind = marks+"*", kind.Elem()
	case reflect.Slice:
		marks, kind = marks+"[]", kind.Elem()
	case reflect.Map:
		marks, kind = marks+"{}", kind.Elem()
	}
	if kind.Kind() != reflect.Struct {
		return marks + kind.Kind().String()
	}
	if !slices.Contains(leaves, kind) {
		describe(kind, lines)
	}
	return marks + named(kind)
}
