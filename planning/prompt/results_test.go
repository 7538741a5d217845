package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// completed returns n completed steps in a chain, each with a result of that many
// characters, and the step after all of them.
func completed(n, size int) (plan.Plan, []plan.HistoryItem) {
	p := plan.Plan{Title: "t"}
	var items []plan.HistoryItem
	for i := 1; i <= n+1; i++ {
		step := plan.Step{Index: fmt.Sprint(i), Title: untrusted.Text(fmt.Sprintf("Look %d", i)), Executor: plan.ExecutorSelf}
		if i > 1 {
			step.DependsOn = []string{fmt.Sprint(i - 1)}
		}
		p.Steps = append(p.Steps, step)
		if i <= n {
			items = append(items, plan.HistoryItem{
				Index: step.Index, Title: step.Title, Status: plan.ItemCompleted, Attempt: 1, Result: fmt.Sprintf("result %d ", i) + strings.Repeat("x", size),
			})
		}
	}
	return p, items
}

func TestStepSeesOlderResultsWithinBudget(t *testing.T) {
	tests := []struct {
		name    string
		n, size int
		whole   []int    // steps whose results are whole
		partial string   // steps whose results are shortened
		want    []string // parts of the prompt
		silent  bool     // the prompt names no results
	}{
		{name: "short results", n: 6, size: 2000, whole: []int{1, 2, 3, 4, 5, 6}, silent: true},
		{
			name: "long results are cut, except the dependency", n: 3, size: 12000, whole: []int{3}, partial: "1 2",
			want: []string{"Not shown whole, for want of room: step 1, Look 1 (8000 of 12009 characters shown); step 2, Look 2 (8000 of 12009 characters shown)."},
		},
		{
			name: "short result leaves room for a long one", n: 3, size: 12000, whole: []int{2, 3}, partial: "1",
			want: []string{"step 1, Look 1 (11000 of 12009 characters shown)."},
		},
		{
			name: "oldest of many results are left out and named", n: 300, size: 2000, whole: []int{300},
			want: []string{"step 1, Look 1 (left out, 2009 characters)", "and 279 more steps."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, items := completed(tt.n, tt.size)
			if len(tt.whole) == 2 {
				items[1].Result = strings.Repeat("y", 5000)
			}
			b := prompttest.Brief()
			b.Prompting.ContextWindow = 65536
			req := prompt.StepRequest(b, plan, plan.Steps[tt.n], items)
			for _, i := range tt.whole {
				if !strings.Contains(last(req), "result: "+items[i-1].Result.(string)) {
					t.Errorf("the result of step %d is not whole", i)
				}
			}
			if got := strings.Join(req.Partial, " "); tt.partial != "" && got != tt.partial || tt.silent && got != "" {
				t.Errorf("got the partial results %q, want %q", got, tt.partial)
			}
			for _, want := range tt.want {
				if !strings.Contains(last(req), want) {
					t.Errorf("the prompt lacks %q", want)
				}
			}
			if tt.silent && strings.Contains(last(req), "Not shown whole") {
				t.Error("the prompt names missing results although there are none")
			}
			if n := len(last(req)); n > 60_000 {
				t.Errorf("the prompt has %d bytes", n)
			}
		})
	}
}

func TestOlderResultsAreCutBeforeDependencies(t *testing.T) {
	plan, items := completed(6, 8000)
	b := prompttest.Brief()
	b.Prompting.ContextWindow = 12000
	req := prompt.StepRequest(b, plan, plan.Steps[6], items)
	if room := 12000 - req.MaxTokens; weight(req) > room {
		t.Errorf("got about %d tokens in room for %d", weight(req), room)
	}
	if !strings.Contains(last(req), "result: "+items[5].Result.(string)) || strings.Join(req.Partial, " ") != "1 2 3 4 5" {
		t.Errorf("step 6 is not whole, or others are: partial %v", req.Partial)
	}
}

func TestModelsSeeTheInvisibleCharactersOfWhatToolsReturn(t *testing.T) {
	const hidden, seen = "a\u200bb \u202ec\U000E0041\t⚠\ufe0f 👩\u200d💻 שלום", "a<U+200B>b <U+202E>c<U+E0041>\t⚠\ufe0f 👩\u200d💻 שלום"
	args := map[string]any{"of": hidden}
	steps := []plan.Step{{Index: "1", Title: "Fetch", Tool: "web.fetch"}, {Index: "2", Title: "Sum up", Executor: plan.ExecutorSelf, DependsOn: []string{"1"}}}
	p := plan.Plan{Title: "t", Steps: steps}
	done := plan.HistoryItem{Index: "1", Title: "Fetch", Tool: "web.fetch", Attempt: 1, Status: plan.ItemCompleted, Args: args, Result: map[string]any{"page": hidden}, Beside: plan.Beside{Text: hidden}}
	failed, inner := done, done
	failed.Status, failed.Result, failed.Text, failed.Error = plan.ItemFailed, nil, "", hidden
	inner.Index, inner.Parent, inner.Result, inner.Error = "1.1", "1", nil, hidden
	use := reply.ToolUse{ID: "c1", Name: "web.fetch"}
	for name, m := range map[string]prompt.Message{
		"step":      {Content: last(prompt.StepRequest(prompttest.Brief(), p, steps[1], []plan.HistoryItem{done}))},
		"synthesis": {Content: last(prompt.SynthesisRequest(prompttest.Brief(), p, []plan.HistoryItem{done}, nil))},
		"replan": {Content: last(replanRequest(prompttest.Brief(), prompt.Situation{
			Plan: p, History: []plan.HistoryItem{inner, failed}, Remaining: steps, Failed: "1", Error: hidden, StepsLeft: -1, ReplansLeft: -1,
		}))},
		"call":        prompt.Answered(use, hidden, hidden, "", ""),
		"failed call": prompt.Answered(use, nil, "", hidden, ""),
	} {
		for _, r := range "\u200b\u202e\U000E0041" {
			if strings.ContainsRune(m.Content, r) {
				t.Errorf("%s: %U is hidden in\n%s", name, r, m.Content)
			}
		}
		if !strings.Contains(strings.ReplaceAll(m.Content, `\t`, "\t"), seen) {
			t.Errorf("%s: the text is not as people see it:\n%s", name, m.Content)
		}
	}
	if args["of"] != hidden {
		t.Errorf("the argument is %+q now", args["of"])
	}
}

func TestSynthesisSeesAllStepsOfList(t *testing.T) {
	for _, r := range []string{
		`["Read A","Read B","Compare","Recommend"]`,
		"1. Read A\n2. Read B → TOOL: fs.read\n3. Compare\n4. Recommend → SELF",
		"- Read A\n- Read B\n- Compare\n- Recommend\n\n**Parallel:** 1, 2",
		`[{"title":"Read A","tool":"fs.read","args":{}},{"title":"Read B","tool":"fs.read","args":{}},{"title":"Compare"},{"title":"Recommend"}]`,
	} {
		p := plan.Plan{Title: "t", Steps: reply.ReadProposal(reply.Reply{Text: r}, false).Plan.Steps}
		var history []plan.HistoryItem
		for _, s := range p.Steps {
			history = append(history, plan.HistoryItem{Index: s.Index, Title: s.Title, Status: plan.ItemCompleted, Attempt: 1, Result: string(s.Title)})
		}
		if got := len(prompt.SynthesisItems(p, history, nil)); got != 4 || got != len(p.Steps) {
			t.Errorf("%s\nthe synthesizer sees %d of %d steps", r, got, len(p.Steps))
		}
		graph := plan.NewGraph(p)
		if n := len(graph.Ancestors("4")); n != 3 {
			t.Errorf("%s\nthe last step comes after %d others, want all 3", r, n)
		}
	}
}

func TestPartialResultIsNotConsumed(t *testing.T) {
	p, items := completed(2, 10)
	items = append(items, plan.HistoryItem{Index: "3", Status: plan.ItemCompleted, Attempt: 1})
	indices := func(partial map[string][]string) string {
		var seen []string
		for _, item := range prompt.SynthesisItems(p, items, partial) {
			seen = append(seen, item.Index)
		}
		return strings.Join(seen, " ")
	}
	if got := indices(nil); got != "3" {
		t.Errorf("with whole results: the synthesizer sees %s, want 3", got)
	}
	if got := indices(map[string][]string{"3": {"1", "2"}}); got != "2 3" {
		t.Errorf("with partial results: the synthesizer sees %s, want 2 3", got)
	}
}
