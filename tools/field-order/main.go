// Command field-order prints the fields of a pod template and of all structs that it contains, in the order of their Go declarations.
//
// Go's JSON encoder writes the fields of a struct in that order, and no OpenAPI document has it. The output is one JSON object: for each
// struct its fields by name, and for each field its Go type, with these marks: `?` for omitempty, `*` for a pointer, `[]` for a list, and
// `{}` for a map from strings.
//
// With the argument `encode`, the command reads a pod template in JSON from each line of its input, and prints it as Go writes it. A
// template that Go cannot read gives an empty line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// leaves are structs that encode themselves.
var leaves = []reflect.Type{
	reflect.TypeFor[resource.Quantity](),
	reflect.TypeFor[intstr.IntOrString](),
	reflect.TypeFor[meta.Time](),
	reflect.TypeFor[meta.FieldsV1](),
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "encode" {
		encode()
		return
	}
	lines := map[string]string{}
	describe(reflect.TypeFor[core.PodTemplateSpec](), lines)
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
	if _, known := lines[kind.Name()]; known {
		return
	}
	lines[kind.Name()] = "" // ends a recursion
	lines[kind.Name()] = strings.Join(fields(kind, lines), ",")
}

// fields returns the fields of a struct as JSON, with the fields of embedded structs in their place.
func fields(kind reflect.Type, lines map[string]string) []string {
	var found []string
	for index := range kind.NumField() {
		field := kind.Field(index)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
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
	return marks + kind.Name()
}
