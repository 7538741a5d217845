package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ExportMCP writes a plan in the format of mcp-cli, whose plan files DecodePlan reads as
// they are. Fields unknown to mcp-cli, such as gates, checks, time limits and on_failure,
// are written too. But mcp-cli ignores them, and reading the file again gives the plan
// back. Dependencies implied by references are written out, since mcp-cli sees none.
//
// It fails with an *InvalidPlanError if the plan is not valid. It fails with one error
// naming each place that mcp-cli would run differently. These are steps without a tool or
// with for_each, and references it reads in another way.
func ExportMCP(p Plan) ([]byte, error) {
	if faults, _ := Validate(p, Rules{}); len(faults) > 0 {
		return nil, fmt.Errorf("export plan %q: %w", p.Title, FaultError(faults))
	}
	if p.ID == "" {
		p.ID = Slug(string(p.Title))
	}
	e := exporter{given: maps.Clone(p.Variables)}
	for _, s := range p.Steps {
		delete(e.given, s.ResultVariable)
	}
	graph := NewGraph(p)
	p.Steps = slices.Clone(p.Steps)
	for i, s := range p.Steps {
		p.Steps[i] = e.step(s, graph.Dependencies(s.Index))
	}
	if len(e.differs) > 0 {
		return nil, fmt.Errorf("export plan %q: mcp-cli would not run it as it is meant: %s; change the plan, or keep it in its own format",
			p.Title, strings.Join(e.differs, "; "))
	}
	data, err := EncodeJSON(p)
	if err != nil {
		return nil, fmt.Errorf("export plan %q: %w", p.Title, err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, data, "", "  "); err != nil {
		return nil, fmt.Errorf("export plan %q: %w", p.Title, err)
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

// exporter rewrites the steps of a plan and collects the places it cannot express.
type exporter struct {
	given   map[string]any // the variables whose values no step replaces
	differs []string       // a clause each
}

func (e *exporter) step(s Step, needs []string) Step {
	if executor := ExecutorOf(s); executor != ExecutorTool {
		e.differs = append(e.differs, fmt.Sprintf("step %s is for the executor %s, and it can only call tools", s.Index, executor))
		return s
	}
	if s.ForEach != nil {
		e.differs = append(e.differs, fmt.Sprintf("step %s runs for each item of a list, and it runs each step once", s.Index))
		return s
	}
	s.DependsOn = slices.Clone(s.DependsOn)
	for _, index := range needs {
		if !slices.Contains(s.DependsOn, index) {
			s.DependsOn = append(s.DependsOn, index)
		}
	}
	args := s.Args
	if args == nil {
		args = map[string]any{} // it requires the field
	}
	s.Args, _ = e.value(s.Index, args).(map[string]any)
	return s
}

// value writes the references in a JSON value in the one form both programs read.
func (e *exporter) value(step string, v any) any {
	switch v := v.(type) {
	case string:
		return e.text(step, v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = e.value(step, item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			object[key] = e.value(step, v[key])
		}
		return object
	default:
		return v
	}
}

func (e *exporter) text(step, text string) string {
	parts := splitText(text)
	var b strings.Builder
	for _, part := range parts {
		if part.reference == nil {
			if part.raw != part.plain {
				e.differs = append(e.differs, fmt.Sprintf("step %s has the escape $${ in %s, and it knows none", step, describe(text)))
			}
			b.WriteString(part.raw)
			continue
		}
		r := *part.reference
		if why := e.misread(r, len(parts) == 1); why != "" {
			e.differs = append(e.differs, fmt.Sprintf("step %s refers to %s, %s", step, r, why))
		}
		b.WriteString("${" + strings.Join(append([]string{r.Name}, r.Path...), ".") + "}")
	}
	return b.String()
}

// misread says why mcp-cli would fill a reference in differently, "" if it would
// not. Results are unknown, and not judged.
func (e *exporter) misread(r Reference, alone bool) string {
	for _, field := range r.Path {
		switch {
		case isWhole(field):
			return "and it takes no positions of lists"
		case strings.ContainsAny(field, ".[}"):
			return "and it cannot name such a field"
		}
	}
	if _, given := e.given[r.Name]; !given {
		return ""
	}
	value, err := lookUp(r, e.given)
	if err != nil {
		return "and there is no such field" // it would leave the reference in the call
	}
	switch value.(type) {
	case nil:
		return "which is null, and it leaves such a reference as it stands"
	case string, json.Number:
		return ""
	}
	if alone {
		return ""
	}
	return "which is " + typeName(value) + " inside text, and it does not write that as JSON"
}
