package retrieval_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// publicPlan is the plan that the authors of a public data set gave for a goal.
type publicPlan struct {
	Goal  string          `json:"goal"`
	Plan  json.RawMessage `json:"plan"`
	Tools plan.Catalog    `json:"tools"` // those offered for the goal
}

// planned writes calls as a plan file.
func planned(t testing.TB, goal string, steps []map[string]any, tools plan.Catalog) publicPlan {
	return publicPlan{goal, jsonText(t, map[string]any{"title": goal, "steps": steps}), tools}
}

// nestful reads the plans of NESTFUL from its folder "data", later "data_v1".
func nestful(t testing.TB, clone string) (plans []publicPlan) {
	t.Helper()
	folder := filepath.Join(clone, "data_v1")
	if _, err := os.Stat(folder); err != nil {
		folder = filepath.Join(clone, "data")
	}
	for _, part := range []string{"executable/executable", "non-executable/non-executable-glaive", "non-executable/non-executable-sgd"} {
		tools := nestfulTools(t, filepath.Join(folder, part+"-spec.json"))
		goals := readAll[[]struct {
			Input  string
			Output []struct {
				Name, Label string
				Arguments   map[string]any
			}
		}](t, filepath.Join(folder, part+"-data.json"))[0]
		for _, g := range goals {
			var steps []map[string]any
			variables := map[string]string{} // by label: some label two calls, and mean the last one before
			for i, call := range g.Output {
				if call.Name == "var_result" { // the answer, no call
					continue
				}
				args := nestfulReferences(call.Arguments, variables)
				variables[call.Label] = "r" + strconv.Itoa(i)
				steps = append(steps, map[string]any{"title": call.Name, "tool": call.Name, "args": args, "result_variable": variables[call.Label]})
			}
			plans = append(plans, planned(t, g.Input, steps, tools))
		}
	}
	return plans
}

func nestfulTools(t testing.TB, file string) (tools plan.Catalog) {
	for _, spec := range readAll[[]map[string]any](t, file)[0] {
		name, _ := spec["name"].(string)
		description, _ := spec["description"].(string)
		if slices.ContainsFunc(tools, func(t plan.Tool) bool { return t.Name == name }) {
			continue // some are listed twice
		}
		arguments := map[string]any{}
		for _, field := range []string{"query_parameters", "path_parameters", "parameters", "arguments"} {
			given, _ := spec[field].(map[string]any)
			maps.Copy(arguments, given)
		}
		host, _ := spec["host"].(string)
		server, _, _ := strings.Cut(host, ".")
		if service, _, ok := strings.Cut(name, "."); server == "" && ok {
			server = service
		}
		if server == "" {
			server = "glaive"
		}
		tools = append(tools, plan.Tool{Name: name, Server: server, Description: description, InputSchema: jsonText(t, objectSchema(arguments))})
	}
	return tools
}

// nestfulReference is $var1.id$.
var nestfulReference = lazyregexp.New(`\$(var\d+)([^$]*)\$`)

// nestfulReferences returns a value with references as plans write them.
func nestfulReferences(v any, variables map[string]string) any {
	switch v := v.(type) {
	case string:
		return nestfulReference.ReplaceAllStringFunc(v, func(text string) string {
			parts := nestfulReference.FindStringSubmatch(text)
			return "${" + variables[parts[1]] + parts[2] + "}"
		})
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, nestfulReferences(item, variables))
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for key, value := range v {
			object[key] = nestfulReferences(value, variables)
		}
		return object
	}
	return v
}

// sealTools reads the plans of more than one call of Seal-Tools. Their references name
// a field of a result by its number.
func sealTools(t testing.TB, clone string) (plans []publicPlan) {
	t.Helper()
	tools, fields := map[string]plan.Tool{}, map[string][]string{}
	for _, spec := range readAll[struct {
		Name        string `json:"api_name"`
		Description string `json:"api_description"`
		Parameters  map[string]any
		Required    []string
		Responses   json.RawMessage
	}](t, filepath.Join(clone, "Seal-Tools_Dataset", "tool.jsonl")) {
		schema := objectSchema(spec.Parameters)
		schema["required"] = append([]string{}, spec.Required...)
		tools[spec.Name] = plan.Tool{Name: spec.Name, Server: "seal", Description: spec.Description, InputSchema: jsonText(t, schema)}
		fields[spec.Name] = keys(t, spec.Responses)
	}
	for _, goal := range readAll[struct {
		Query   string
		Calling []struct {
			API        string
			Parameters map[string]any
			Responses  []string
		}
	}](t, filepath.Join(clone, "Seal-Tools_Dataset", "test_in_domain.jsonl")) {
		var steps []map[string]any
		offered := plan.Catalog{}
		references := map[string]string{}
		for i, call := range goal.Calling {
			args := map[string]any{}
			for name, value := range call.Parameters {
				args[name] = value
				if text, ok := value.(string); ok && references[text] != "" {
					args[name] = references[text]
				}
			}
			variable := "r" + strconv.Itoa(i)
			for n, response := range call.Responses[:min(len(call.Responses), len(fields[call.API]))] {
				references[response] = "${" + variable + "." + fields[call.API][n] + "}"
			}
			steps = append(steps, map[string]any{"title": call.API, "tool": call.API, "args": args, "result_variable": variable})
			if tool, ok := tools[call.API]; ok && !slices.ContainsFunc(offered, func(o plan.Tool) bool { return o.Name == tool.Name }) {
				offered = append(offered, tool)
			}
		}
		if len(steps) > 1 {
			plans = append(plans, planned(t, goal.Query, steps, offered))
		}
	}
	return plans
}

// keys lists the keys of a JSON object as they are written.
func keys(t testing.TB, object json.RawMessage) (all []string) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err = errors.Join(err, d.Decode(&value)); err != nil {
			t.Fatal(err)
		}
		name, _ := key.(string)
		all = append(all, name)
	}
	return all
}

// bfcl reads the goals with several calls of the Berkeley Function Calling Leaderboard,
// version 4. Of the values that it takes for an argument, the first stands in the plan; an
// argument that may be left out is.
func bfcl(t testing.TB, clone string) (plans []publicPlan) {
	t.Helper()
	folder := filepath.Join(clone, "berkeley-function-call-leaderboard", "bfcl_eval", "data")
	for _, part := range []string{"parallel", "parallel_multiple", "live_parallel_multiple"} {
		answers := readAll[struct {
			Truth []map[string]map[string][]any `json:"ground_truth"`
		}](t, filepath.Join(folder, "possible_answer", "BFCL_v4_"+part+".json"))
		for i, goal := range readAll[struct {
			Question [][]struct{ Content string }
			Function []struct {
				Name, Description string
				Parameters        map[string]any
			}
		}](t, filepath.Join(folder, "BFCL_v4_"+part+".json")) {
			var tools plan.Catalog
			for _, f := range goal.Function {
				tools = append(tools, plan.Tool{Name: f.Name, Server: "bfcl", Description: f.Description, InputSchema: jsonText(t, valueSchema(f.Parameters))})
			}
			var steps []map[string]any
			for _, call := range answers[i].Truth {
				for name, values := range call {
					steps = append(steps, map[string]any{"title": name, "tool": name, "args": firstValues(values)})
				}
			}
			messages := goal.Question[0]
			plans = append(plans, planned(t, messages[len(messages)-1].Content, steps, tools))
		}
	}
	return plans
}

func firstValues(all map[string][]any) map[string]any {
	args := map[string]any{}
	for name, values := range all {
		if len(values) > 0 && !slices.Contains(values, any("")) {
			args[name] = firstValue(values[0])
		}
	}
	return args
}

func firstValue(v any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, firstValue(item))
		}
		return list
	case map[string]any:
		fields := map[string][]any{}
		for name, values := range v {
			list, ok := values.([]any)
			if !ok {
				return v
			}
			fields[name] = list
		}
		return firstValues(fields)
	}
	return v
}

// objectSchema is the JSON Schema of described arguments.
func objectSchema(arguments map[string]any) map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		argument, _ := arguments[name].(map[string]any)
		properties[name] = valueSchema(argument)
		if argument["required"] == true {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// valueTypes are the types of data sets in JSON Schema. Others say nothing of a type.
var valueTypes = map[string]string{
	"string": "string", "str": "string", "enum": "string", "date": "string", "number": "number", "float": "number", "integer": "integer", "int": "integer",
	"boolean": "boolean", "bool": "boolean", "array": "array", "tuple": "array", "object": "object", "dict": "object",
}

// valueSchema is the JSON Schema of a described value.
func valueSchema(described map[string]any) map[string]any {
	schema := map[string]any{}
	word, _ := described["type"].(string)
	word, _, _ = strings.Cut(strings.ToLower(word), " ")
	if valueTypes[word] != "" {
		schema["type"] = valueTypes[word]
	}
	if text, ok := described["description"].(string); ok {
		schema["description"] = text
	}
	for _, name := range []string{"enum", "allowed_values"} {
		if words, ok := described[name].([]any); ok && len(words) > 0 {
			schema["enum"] = words
		}
	}
	if inner, ok := described["properties"].(map[string]any); ok {
		object := objectSchema(inner)
		schema["properties"], schema["required"] = object["properties"], object["required"]
		if names, ok := described["required"].([]any); ok {
			schema["required"] = names
		}
	}
	if items, ok := described["items"].(map[string]any); ok {
		schema["items"] = valueSchema(items)
	}
	return schema
}

// readAll reads the JSON values of a file.
func readAll[T any](t testing.TB, name string) (all []T) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		var v T
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, v)
	}
}

func jsonText(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
