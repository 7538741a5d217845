package prompt_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// typedTools returns the tools whose arguments a format describes, and those that
// it lets a step name.
func typedTools(t testing.TB, format json.RawMessage) (typed, nameable []string) {
	t.Helper()
	var schema struct {
		Properties struct {
			Steps struct {
				Items struct {
					AnyOf []struct {
						Properties struct {
							Tool struct{ Enum []string }
							Args struct{ Properties json.RawMessage }
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal(format, &schema); err != nil {
		t.Fatal(err)
	}
	for _, form := range schema.Properties.Steps.Items.AnyOf {
		nameable = append(nameable, form.Properties.Tool.Enum...)
		if form.Properties.Args.Properties != nil {
			typed = append(typed, form.Properties.Tool.Enum...)
		}
	}
	return typed, nameable
}

// promptBytes returns the size of the messages of a request, and of those before
// the goal.
func promptBytes(req prompt.Request) (whole, beforeGoal int) {
	for i, m := range req.Messages {
		whole += len(m.Content)
		if i < len(req.Messages)-2 {
			beforeGoal += len(m.Content)
		}
	}
	return whole, beforeGoal
}

// bytesPerToken is the usual rate of English text and code.
const bytesPerToken = 4

// TestNeededToolsHaveTypedForms holds the share of goals for which the format
// describes the arguments of every tool that the goal needs.
func TestNeededToolsHaveTypedForms(t *testing.T) {
	goals, needed := plantest.Goals(t)
	for _, tt := range []struct {
		foreign int
		share   float64
	}{{20, 0.92}, {200, 0.90}} {
		t.Run(fmt.Sprint(tt.foreign, " foreign tools"), func(t *testing.T) {
			whole := 0
			for _, goal := range goals {
				b := prompt.Brief{Goal: goal, Catalog: plantest.Beside(t, tt.foreign, needed[goal]), MaxSteps: 20, Prompting: prompt.Prompting{ContextWindow: 16384}}
				req := prompt.AnalysisRequest(b)
				typed, nameable := typedTools(t, req.Format)
				if slices.Sort(nameable); !slices.Equal(nameable, b.Catalog.Names()) {
					t.Errorf("%s: a step can name %d of %d tools", goal, len(nameable), len(b.Catalog))
				}
				if bytes, _ := promptBytes(req); bytes > 6000*bytesPerToken || strings.Contains(req.Shortened, "window") {
					t.Errorf("%s: the prompt has %d bytes: %s", goal, bytes, req.Shortened)
				}
				missing := slices.DeleteFunc(slices.Clone(needed[goal]), func(name string) bool { return slices.Contains(typed, name) })
				if len(missing) == 0 {
					whole++
				} else {
					t.Logf("%s: no typed form of %q", goal, missing)
				}
			}
			share := float64(whole) / float64(len(goals))
			t.Logf("all needed tools have typed forms for %d of %d goals, %.1f %%", whole, len(goals), 100*share)
			if share < tt.share {
				t.Errorf("that is less than %.0f %%", 100*tt.share)
			}
		})
	}
}

// TestTypedFormsCoverGoalsHeldBack holds the same for goals that had no part in setting
// the constants of the ranking.
func TestTypedFormsCoverGoalsHeldBack(t *testing.T) {
	goals := plantest.Lines(t, "goals-held-back.txt")
	for _, foreign := range []int{20, 200} {
		whole := 0
		for _, line := range goals {
			goal, needed, _ := strings.Cut(line, " => ")
			alternatives := strings.Split(needed, " or ")
			all := strings.Split(strings.ReplaceAll(needed, " or ", ", "), ", ")
			b := prompt.Brief{Goal: goal, Catalog: plantest.Beside(t, foreign, all), MaxSteps: 20, Prompting: prompt.Prompting{ContextWindow: 16384}}
			typed, _ := typedTools(t, prompt.AnalysisRequest(b).Format)
			if slices.ContainsFunc(alternatives, func(tools string) bool {
				return !slices.ContainsFunc(strings.Split(tools, ", "), func(name string) bool { return !slices.Contains(typed, name) })
			}) {
				whole++
			} else {
				t.Logf("%s: a needed tool has no typed form", goal)
			}
		}
		t.Logf("beside %d foreign tools: %d of %d goals", foreign, whole, len(goals))
		if 10*whole < 9*len(goals) {
			t.Error("that is less than 90 %")
		}
	}
}

func TestPromptBeforeGoalIsSmall(t *testing.T) {
	const most = 1525 * bytesPerToken
	largest := 0
	goals, needed := plantest.Goals(t)
	for _, goal := range goals {
		for _, name := range needed[goal] {
			if !plan.IsOperator(name) {
				goal = ""
			}
		}
		if goal == "" {
			continue // it needs tools that are not there
		}
		for _, window := range []int{0, 16384} {
			b := prompt.Brief{Goal: goal, Catalog: plantest.Operators(t), MaxSteps: 20, Prompting: prompt.Prompting{
				ContextWindow: window, Profiles: []prompt.Profile{{Name: "explorer", Description: "reads and searches this folder; changes nothing"}},
			}}
			_, before := promptBytes(prompt.AnalysisRequest(b))
			if largest = max(largest, before); before > most {
				t.Errorf("%s: %d bytes before the goal, want %d at most", goal, before, most)
			}
		}
	}
	t.Logf("%d bytes before the goal at most", largest)
}

func TestTypedFormsFollowGoal(t *testing.T) {
	needs := func(goal, analysis string, used ...string) []string {
		b := prompt.Brief{Goal: goal, Catalog: plantest.Beside(t, 200, nil), MaxSteps: 20}
		for i, tool := range b.Catalog {
			if slices.Contains(used, tool.Name) {
				b.Catalog[i].Uses = 1
			}
		}
		typed, _ := typedTools(t, prompt.PlanRequest(b, analysisOf(analysis), "").Format)
		return typed
	}
	t.Run("tools that the goal names", func(t *testing.T) {
		if typed := needs("Use notion-get-teams and kubernetes:pods_top, whatever they do", ""); !slices.Contains(typed, "notion-get-teams") || !slices.Contains(typed, "pods_top") {
			t.Errorf("got %q", typed)
		}
	})
	t.Run("tools that the analysis names", func(t *testing.T) {
		if typed := needs("Do what is to be done", "resources: browser_drag"); !slices.Contains(typed, "browser_drag") {
			t.Errorf("got %q", typed)
		}
	})
	t.Run("tools that the analysis speaks of", func(t *testing.T) {
		if typed := needs("Do what is to be done", "refund the payment"); !slices.Contains(typed, "create_refund") {
			t.Errorf("got %q", typed)
		}
	})
	t.Run("all operators if no foreign tool fits", func(t *testing.T) {
		typed := needs("xyzzy", "")
		for _, name := range []string{"fs.read", "fs.patch", "fs.stat", "vcs.push"} {
			if !slices.Contains(typed, name) {
				t.Errorf("%s is missing: %q", name, typed)
			}
		}
	})
	t.Run("tools of the plan, in a replan", func(t *testing.T) {
		s := prompttest.Situation()
		s.Remaining = append(s.Remaining, plan.Step{Index: "9", Title: "x", Tool: "jira_get_worklog"})
		req := prompt.ReplanRequest(prompt.Brief{Goal: "xyzzy", Catalog: plantest.Beside(t, 200, nil)}, s, 5)
		if typed, _ := typedTools(t, req.Format); !slices.Contains(typed, "jira_get_worklog") {
			t.Errorf("got %q", typed)
		}
	})
}

// TestToolsMessage checks the forms in which tools appear.
func TestToolsMessage(t *testing.T) {
	b := prompt.Brief{Goal: "Close issue 88 on GitHub with a comment", Catalog: plantest.Beside(t, 200, nil), Prompting: prompt.Prompting{ContextWindow: 16384}}
	list := toolsMessage(t, b)
	for form, want := range map[string]string{
		"a whole line":     "\nupdate_issue(owner: string, repo: string, issue_number: number",
		"a short line":     "\ncreate_branch — Create a new branch",
		"a name by server": "\nweather: geocode, ",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("%s is missing, %q, in\n%s", form, want, list)
		}
	}
	if own := ownTools(b); strings.Contains(list, "fs.read") || !strings.Contains(own, "\nfs.read(path, ") || strings.Contains(own, "update_issue") {
		t.Errorf("the operators and the tools of other servers are not listed apart:\n%s\n%s", own, list)
	}
	t.Run("the analysis brings further tools", func(t *testing.T) {
		plain, further := prompt.PlanRequest(b, analysisOf("close the issue"), ""), prompt.PlanRequest(b, analysisOf("then refund the payment with stripe"), "")
		if strings.Contains(last(plain), "create_refund(") || !strings.Contains(last(further), "\ncreate_refund(payment_intent: string") {
			t.Errorf("the last message is\n%s", last(further))
		}
		if len(last(further))-len(last(plain)) > 4500 {
			t.Errorf("further tools take %d bytes", len(last(further))-len(last(plain)))
		}
	})
	t.Run("a tool that fills the room alone is named alone", func(t *testing.T) {
		var fields []string
		for i := range 800 {
			fields = append(fields, fmt.Sprintf(`"field_%d":{"type":"string"}`, i))
		}
		huge := plan.Tool{Name: "close_issue_with_comment", Server: "odd", Description: "Close an issue of GitHub with a comment", InputSchema: []byte(`{"type":"object","properties":{` + strings.Join(fields, ",") + `}}`)}
		b := b
		b.Catalog = append(slices.Clone(b.Catalog), huge)
		list := toolsMessage(t, b)
		if typed, _ := typedTools(t, prompt.AnalysisRequest(b).Format); slices.Contains(typed, huge.Name) || !slices.Contains(typed, "update_issue") {
			t.Errorf("got the typed forms %q", typed)
		}
		if !strings.Contains(list, "close_issue_with_comment") || strings.Contains(list, "close_issue_with_comment(") || !strings.Contains(list, "\nupdate_issue(") {
			t.Errorf("got\n%s", list)
		}
	})
	t.Run("no tools", func(t *testing.T) {
		if list := toolsMessage(t, prompt.Brief{Goal: "x"}); !strings.Contains(list, "There are no tools.") {
			t.Errorf("got\n%s", list)
		}
	})
}

// TestGoalsThatNeedNoToolsGetOnlyNames checks by which words a goal is taken for
// one that the model answers from what it knows.
func TestGoalsThatNeedNoToolsGetOnlyNames(t *testing.T) {
	for goal, bare := range map[string]bool{
		"Hello!":                 true,
		"Hi there, good morning": true,
		"thanks":                 true,
		"What is the difference between TCP and UDP?":        true,
		"Why is the sky blue?":                               true,
		"Define entropy for a beginner":                      true,
		"Who wrote Hamlet?":                                  true,
		"Hello, read main.go":                                false,
		"What does @README.md say?":                          false,
		"What is in cmd/server?":                             false,
		"Why does it fail?":                                  false,
		"What does this project do?":                         false,
		"How does `Parse` work?":                             false,
		"What does parse_config do?":                         false,
		"How do I call Parse()?":                             false,
		"What is the weather like in Lisbon?":                false, // a server's name
		"Who can see my calendar?":                           false,
		"What is an issue?":                                  false, // a word of tools' names
		"What is today's date?":                              false,
		"Rename authenticate to verify_user":                 false,
		"Summarise chapter two":                              false,
		"":                                                   false,
		"Was ist der Unterschied zwischen TCP und UDP?":      false, // the rule is about English
		"Explain " + strings.Repeat("very ", 30) + "closely": false,
	} {
		b := prompt.Brief{Goal: goal, Catalog: plantest.Beside(t, 200, nil)}
		list := toolsMessage(t, b)
		if got := onlyNames(list); got != bare {
			t.Errorf("%q: only names is %v, want %v", goal, got, bare)
		}
		for _, name := range []string{"create_refund", "geocode"} {
			if !strings.Contains(list, name) {
				t.Errorf("%q: %s is not named", goal, name)
			}
		}
		if got := prompt.NeedsNoTools(b); got != bare {
			t.Errorf("%q: needs no tools is %v, want %v", goal, got, bare)
		}
		b.Prompting.ForcePlan = true
		if goal != "" && onlyNames(toolsMessage(t, b)) {
			t.Errorf("%q: a forced plan gets only names", goal)
		}
	}
	b := prompt.Brief{Goal: "What is it?", Catalog: plantest.Beside(t, 200, nil)}
	b.Goal, b.Prompting.Mentions = "Why is the sky blue?", []prompt.Mention{{Name: "sky.txt"}}
	if onlyNames(toolsMessage(t, b)) {
		t.Error("a goal with a mention gets only names")
	}
	b.Prompting.Mentions = nil
	if more := last(prompt.PlanRequest(b, analysisOf("get_forecast: get the forecast"), "")); !strings.Contains(more, "\nget_forecast(") {
		t.Errorf("a plan after all does not see its tools:\n%s", more)
	}
}

// onlyNames reports whether no tool of a list has a line with its description.
func onlyNames(list string) bool { return !strings.Contains(list, " — ") }

// analysisOf returns an analysis that says so much.
func analysisOf(text string) reply.Analysis { return reply.Analysis{Brief: text} }
