package reply

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"replan/internal/untrusted"
	"replan/planning/plan"
)

// FinishSteps settles open or nearly right parts of a reply, if they can mean one
// thing alone.
func FinishSteps(c plan.Catalog, profiles []string, steps []plan.Step) []plan.Step {
	kinds := make(map[string]map[string]string) // the simple args of a tool, looked up once
	signatures := make(map[string]*plan.Signature)
	out := make([]plan.Step, len(steps))
	for i, s := range steps {
		s = settleTool(c, s)
		if strings.TrimSpace(string(s.Title)) == "" {
			s.Title = untrusted.Text(s.Tool)
		}
		if s.Executor == plan.ExecutorAgent && s.Profile == "" && len(profiles) == 1 {
			s.Profile = profiles[0]
		}
		if tool, err := c.Find(s.Tool); err == nil && s.Executor == plan.ExecutorTool {
			if s.Args != nil && len(s.Args) == 0 && len(plan.MissingArgs(tool, s.Args)) > 0 {
				s.Args = nil // empty args of a tool with required ones are still to come
			}
			if len(s.Args) > 0 {
				if _, known := kinds[s.Tool]; !known {
					kinds[s.Tool] = simpleArgs(tool)
					signatures[s.Tool], _ = plan.NewSignature(tool) // an unusable schema settles nothing
				}
				s.Args = settleArgs(signatures[s.Tool].Settle(s.Args), kinds[s.Tool])
			}
		}
		if slices.Contains(s.DependsOn, s.Index) { // a slip that says nothing
			s.DependsOn = slices.DeleteFunc(slices.Clone(s.DependsOn), func(d string) bool { return d == s.Index })
		}
		out[i] = s
	}
	return out
}

// settleTool reads a tool's name with small mistakes, and a tool in the place of
// the executor.
func settleTool(c plan.Catalog, s plan.Step) plan.Step {
	switch s.Executor {
	case plan.ExecutorSelf, plan.ExecutorAgent:
		return s
	case plan.ExecutorTool:
	default:
		if s.Tool != "" {
			return s
		}
		tool, err := plan.Offer(c).Find(string(s.Executor))
		if err != nil {
			return s
		}
		s.Executor, s.Tool = plan.ExecutorTool, c.NameOf(tool)
		return s
	}
	if _, err := c.Find(s.Tool); err == nil || s.Tool == "" {
		return s
	}
	if tool, err := findNamed(plan.Offer(c), s.Tool); err == nil {
		s.Tool = c.NameOf(tool)
	}
	return s
}

// simpleArgs returns the type of each argument declared as a number or a flag
// alone, by its name.
func simpleArgs(t plan.Tool) map[string]string {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(t.InputSchema, &schema) != nil {
		return nil
	}
	kinds := make(map[string]string)
	for name, arg := range schema.Properties {
		switch kind, _ := arg.Type.(string); kind {
		case "integer", "number", "boolean":
			kinds[name] = kind
		}
	}
	return kinds
}

// settleArgs spells a number or a flag that was written as text in one way: "True"
// as "true", "1e3" as "1000", "1.50" as "1.5". That way is fitted to its tool when
// the step is ready. Real texts are not touched.
func settleArgs(args map[string]any, kinds map[string]string) map[string]any {
	out := make(map[string]any, len(args))
	for name, v := range args {
		out[name] = v
		text, ok := v.(string)
		if !ok || kinds[name] == "" {
			continue
		}
		read, err := plan.DecodeValue([]byte(strings.ToLower(strings.TrimSpace(text))))
		if err != nil {
			continue
		}
		switch read := read.(type) {
		case bool:
			if kinds[name] == "boolean" {
				out[name] = strconv.FormatBool(read)
			}
		case json.Number:
			plain, ok := plan.PlainNumber(read)
			if ok && (kinds[name] == "number" || kinds[name] == "integer" && !strings.Contains(plain, ".")) {
				out[name] = plain
			}
		}
	}
	return out
}

// callSyntax splits a tool written as a call, fs.read(path="a.go"), into its name
// and its named arguments. Values without a name are left out: they are written
// when the step is ready.
func callSyntax(text string) (name string, args map[string]any) {
	text = strings.Trim(strings.TrimSpace(text), "`\"'")
	name, inside, called := strings.Cut(text, "(")
	if !called {
		return text, nil
	}
	name = strings.TrimSpace(name)
	if inside = strings.TrimSpace(inside); strings.HasPrefix(inside, "{") {
		return name, firstObject(inside)
	}
	parts, _, _ := arguments(inside)
	if args = namedArgs(parts, nil); len(args) == 0 {
		args = nil
	}
	return name, args
}

// wordValue reads a value from words: JSON if it is valid, else text.
func wordValue(text string) any {
	text = strings.TrimSpace(text)
	if v, err := plan.DecodeValue([]byte(text)); err == nil {
		return v
	}
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '`') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

// unfenced returns what stands in a text that is one block of code, else the text.
func unfenced(text string) string {
	inside, fenced := strings.CutPrefix(strings.TrimSpace(text), "```")
	if !fenced {
		return text
	}
	if kind, rest, ok := strings.Cut(inside, "\n"); ok && !strings.ContainsAny(kind, "{[") {
		inside = rest
	}
	return trimFence(strings.TrimPrefix(inside, "json"))
}

// firstObject returns the first JSON object in a text, nil if there is none.
func firstObject(text string) map[string]any {
	for _, f := range findJSON(text) {
		if object, ok := f.value.(map[string]any); ok {
			return object
		}
	}
	return nil
}

// isCall reports whether an object is a call in the form of a chat, a name with
// arguments and no field of a step.
func isCall(item map[string]any) bool {
	if _, ok := item["name"].(string); !ok {
		return false
	}
	for key := range item {
		if !slices.Contains([]string{"name", "arguments", "parameters", "args", "input", "id", "type"}, key) {
			return false
		}
	}
	for _, key := range []string{"arguments", "parameters", "args", "input"} {
		if _, ok := item[key]; ok {
			return true
		}
	}
	return false
}
