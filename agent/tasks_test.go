package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

const tasks = "../examples/tasks/"

// taskTools returns the tools of examples/tasks, which are listed as an MCP server does.
func taskTools(t *testing.T) plan.Catalog {
	t.Helper()
	data, err := os.ReadFile(tasks + "catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	var listed []struct {
		Server, Name, Description string
		InputSchema, OutputSchema json.RawMessage
		Annotations               struct{ ReadOnlyHint bool }
	}
	if err := json.Unmarshal(data, &listed); err != nil {
		t.Fatal(err)
	}
	var tools plan.Catalog
	for _, l := range listed {
		tools = append(tools, plan.Tool{
			Server: l.Server, Name: l.Name, Description: l.Description, InputSchema: l.InputSchema, OutputSchema: l.OutputSchema,
			ReadOnly: l.Annotations.ReadOnlyHint, Annotated: true,
		})
	}
	return tools
}

// usesOf counts what a plan uses, in the form of the table of the tasks' README.
func usesOf(p plan.Plan) (agents int, columns string) {
	var each, when, until, checks int
	for _, s := range p.Steps {
		checks += len(s.Checks)
		for count, used := range map[*int]bool{&agents: s.Executor == plan.ExecutorAgent, &each: s.ForEach != nil, &when: s.When != "", &until: s.Until != nil} {
			if used {
				*count++
			}
		}
	}
	return agents, fmt.Sprintf("| %d | %d | %d | %d | %d | %d | %d |", len(p.Steps), each, when, until, checks, len(p.Acceptance), agents)
}

func TestTasksOfPublicSuitesArePlansMostlyWithoutAgents(t *testing.T) {
	tools := taskTools(t)
	readme, err := os.ReadFile(tasks + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(tasks + "[0-9]*.json")
	if err != nil || len(files) != 40 {
		t.Fatalf("there are %d tasks (%v), want 40", len(files), err)
	}
	without := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, faults, warnings := plan.CheckPlan(data, plan.Rules{Catalog: tools, CheckTools: true, PartialArgs: true, EmptyArgs: true, Strict: true, Profiles: []string{"worker"}})
			warnings = slices.DeleteFunc(warnings, func(f plan.Fault) bool { return f.Code == plan.CodeArgsFromModel })
			for _, f := range append(faults, warnings...) {
				t.Errorf("%s at %s: %s", f.Code, f.Path, f.Message)
			}
			agents, columns := usesOf(p)
			if agents == 0 {
				without++
			}
			_, row, _ := strings.Cut(string(readme), "("+filepath.Base(file)+")")
			if row, _, _ = strings.Cut(row, "\n"); !strings.HasSuffix(row, columns) {
				t.Errorf("the row of the README does not end with %s", columns)
			}
			w := newWorld(t)
			nothingCalled(t, w)
			start := dry(t, string(data))
			start.Catalog = tools
			if got := w.play(start); got.Reason != event.ReasonGoalMet {
				t.Errorf("the dry run ended with %s: %s", got.Reason, got.Error)
			}
		})
	}
	if want := fmt.Sprintf("**%d of %d", without, len(files)); without < 36 || !strings.Contains(string(readme), want) {
		t.Errorf("%d tasks need no agent, want 36 or more, as the README says", without)
	}
}

// If the tools return what their output schemas promise, every condition and check of the
// tasks has an answer. Every call then gets args that fit. Which answer does not matter here.
func TestTasksOfPublicSuitesRunOnWhatTheirToolsReturn(t *testing.T) {
	tools := taskTools(t)
	files, err := filepath.Glob(tasks + "[0-9]*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			start := given(t, string(data))
			answered := func(expression *string) {
				if *expression != "" {
					*expression = "(" + *expression + ") or true"
				}
			}
			for i := range start.Plan.Steps {
				s := &start.Plan.Steps[i]
				answered(&s.When)
				for n := range s.Checks {
					answered(&s.Checks[n].Expect)
				}
				if s.Until != nil {
					answered(&s.Until.Expect)
				}
			}
			for n := range start.Plan.Acceptance {
				answered(&start.Plan.Acceptance[n].Expect)
			}
			start.Catalog, start.Prompting.Profiles, start.Prompting.ModelTools = tools, []prompt.Profile{{Name: "worker"}}, true
			w := newWorld(t)
			w.tool = func(c agent.CallTool) event.Data {
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: made(t, c.Tool.OutputSchema), MS: 1}
			}
			w.choose = w.inTime
			w.finds = func(c agent.CallCheck) event.CheckCompleted { return c.Returned(made(t, c.Tool.OutputSchema), 1) }
			w.reply = func(r prompt.Request) (string, error) {
				if len(r.Format) == 0 {
					return "words of a model", nil
				}
				return plan.CanonicalJSON(made(t, r.Format)), nil
			}
			got := w.play(start)
			if got.Reason != event.ReasonGoalMet {
				t.Errorf("the run ended with %s: %s", got.Reason, got.Error)
			}
			for _, c := range all[event.CheckCompleted](w) {
				if c.State != plan.StateVerified {
					t.Errorf("the check %s of step %s is %s: %s", c.Expect, c.Index, c.State, c.Reason)
				}
			}
		})
	}
}

// made returns a value of a schema, with two items in each list.
func made(t *testing.T, schema json.RawMessage) any {
	t.Helper()
	var s struct {
		Type       string
		Enum       []any
		Items      json.RawMessage
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "object":
		object := map[string]any{}
		for name, property := range s.Properties {
			object[name] = made(t, property)
		}
		return object
	case s.Type == "array":
		return []any{made(t, s.Items), made(t, s.Items)}
	case s.Type == "integer", s.Type == "number":
		return json.Number("12")
	case s.Type == "boolean":
		return true
	default:
		return "text"
	}
}
