package prompt_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
)

func TestReplacedPromptKeepsData(t *testing.T) {
	texts := map[string]string{
		"analysis": "ANALYSE {{.Force}} {{.Bound}}", "review": "REVIEW {{.Analysis}}", "execution": "PLAN {{.Analysis}}{{.Review}}{{.Bound}}{{.Depth}}",
		"repair": "REPAIR {{range .Faults}}<{{.}}>{{end}}{{.Reply}}{{.Situation}}{{.Bound}}", "replan": "REPLAN {{.Situation}} {{.Bound}}",
		"step": "STEP {{.Index}} {{.Title}} {{.Expected}} {{.Plan}} {{.Inputs}}", "args": "ARGS {{.Index}} {{.Tool}} {{.About}} {{.Schema}} {{.Given}} {{len .Inputs}}",
		"agent": "AGENT {{.Title}} {{.Goal}} {{.Outline}} {{.Plan}}", "synthesis": "SYNTHESIS {{range .Items}}{{.}}{{end}} {{.Plan}}",
		"plan": "RULES {{.Profiles}} {{.Read}} {{.Write}}", "tools": "SELECT {{.Tools}} {{.Most}}", "system": "SYSTEM", "compaction": "COMPACT",
	}
	b := prompttest.Full()
	b.Prompting.Prompts = texts
	for name, text := range texts {
		if err := prompt.CheckPrompt(name, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := slices.Sorted(maps.Keys(texts)); !slices.Equal(got, slices.Sorted(slices.Values(prompt.Names()))) {
		t.Errorf("got the replaceable prompts %q", prompt.Names())
	}
	requests := everyRequest(b)
	maps.Copy(requests, agentRequests(b))
	for name, want := range map[string]string{
		"analysis": "ANALYSE false Use at most 5 steps", "review": "REVIEW Data: an analysis of the goal\n",
		"plan": "PLAN Data: ", "repair": "REPAIR <step 1 depends on step 9, which does not exist>",
		"replan": "REPLAN Data: step 1, Read", "step": "STEP 5 Sum up three points", "args": "ARGS 3 fs.patch",
		"agent": "AGENT Find out why it fails Rename authenticate", "synthesis": "SYNTHESIS Data: step 1, Read", "compaction": "COMPACT",
	} {
		if got := last(requests[name]); !strings.HasPrefix(got, want) && !strings.Contains(got, "\n\n"+want) {
			t.Errorf("%s is\n%s\nwant a part that begins\n%s", name, got, want)
		}
	}
	if system := requests["chat"].Messages[0].Content; !strings.HasPrefix(system, "SYSTEM\n\nRULES Data: agents\n```\nexplorer — reads its way through code\n``` memory.read memory.write") {
		t.Errorf("the system message is\n%s", system)
	}
}

func TestUnusablePromptsAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ prompt, text, want string }{
		"unknown name":                     {"analyse", "x", "there are analysis, review"},
		"blank":                            {"analysis", " \n", "is empty"},
		"broken template":                  {"analysis", "{{.Force", "text/template"},
		"unknown function":                 {"analysis", "{{shout .Bound}}", "text/template"},
		"unknown field":                    {"analysis", "{{.Goal}}", "its fields are .Force, .Bound, .Results, .First and .Acceptance"},
		"field of another prompt":          {"synthesis", "{{.Faults}}", "Faults"},
		"field in a prompt without fields": {"system", "{{.Plan}}", "it has no fields"},
		"field of another step's prompt":   {"agent", "{{.Tool}}", ".Index, .Title, .Expected, .Plan, .Inputs, .Goal and .Outline"},
		"field of a field without fields":  {"repair", "{{range .Bound.X}}{{end}}", "Bound"},
		"field hidden by a range":          {"repair", "{{range .Faults}}{{.Bound}}{{end}}", "Bound"},
	} {
		t.Run(name, func(t *testing.T) {
			err := prompt.CheckPrompt(tt.prompt, tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestBrokenPromptFallsBackToBuiltIn(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.Prompts = map[string]string{"analysis": `{{index .Nothing 3}}`, "step": "{{index .Inputs 0}}"}
	if got, want := last(prompt.AnalysisRequest(b)), last(prompt.AnalysisRequest(prompttest.Brief())); got != want {
		t.Errorf("got the prompt of the analysis\n%s", got)
	}
	step := plan.Step{Index: "1", Title: "Say it"}
	if got, want := last(prompt.StepRequest(b, plan.Plan{}, step, nil)), last(prompt.StepRequest(prompttest.Brief(), plan.Plan{}, step, nil)); got != want {
		t.Errorf("got the prompt of a step without inputs\n%s", got)
	}
}

func TestPromptsMentionMemoryAndAgentsOnlyIfAvailable(t *testing.T) {
	b := prompttest.Full()
	with := prompt.ChatRequest(b, false).Messages[0].Content
	for _, want := range []string{"`memory.read`", "`memory.write`", "Data: agents\n", "explorer — reads its way through code", "`profile`"} {
		if !strings.Contains(with, want) {
			t.Errorf("the system message lacks %q", want)
		}
	}
	b.Prompting.Profiles, b.Catalog = nil, plantest.Tools()
	without := prompt.ChatRequest(b, false).Messages[0].Content
	for _, word := range []string{"memory", "agent", "profile"} {
		if strings.Contains(strings.ToLower(without), word+".read") || strings.Contains(without, "`"+word+"`") || strings.Contains(without, "Data: agents") {
			t.Errorf("the system message mentions %s:\n%s", word, without)
		}
	}
	b.Catalog = append(plantest.Tools(), plan.Tool{Name: "memory.read", Server: "one"}, plan.Tool{Name: "memory.read", Server: "two"})
	if system := prompt.ChatRequest(b, false).Messages[0].Content; strings.Contains(system, "`memory.read`") {
		t.Error("an ambiguous memory tool is mentioned")
	}
}
