package frame

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/panes"
	"replan/tui/panetest"
)

func newFrame(o Options) *Frame {
	l := panetest.DarkLook()
	return New(l, panetest.Keys(), draw.NewMarkdown(l), o)
}

// text returns drawn lines without styles.
func text(lines ...string) string { return panetest.Stripped(lines) }

func running(index string) *agent.StepState {
	return &agent.StepState{Step: plan.Step{Index: index, Title: untrusted.Text("read " + index)}, Status: agent.StepRunning}
}

func TestHeaderShowsRunState(t *testing.T) {
	ended := func(status event.Status, reason event.Reason) State {
		return State{Run: &agent.Run{Outcome: agent.Outcome{Result: &event.Result{Status: status, Reason: reason}}}}
	}
	active := func(run agent.Run) State { return State{Run: &run, Active: true} }
	for name, c := range map[string]struct {
		state State
		want  string
	}{
		"preparing":     {State{Preparing: true}, "getting ready"},
		"stopping":      {State{Preparing: true, Stopping: true}, "stopping"},
		"at a gate":     {State{Run: &agent.Run{}, Active: true, Waiting: "gate"}, "gate"},
		"in review":     {State{Run: &agent.Run{}, Active: true, Reviewing: true}, "review"},
		"planning":      {active(agent.Run{}), "planning"},
		"running":       {active(agent.Run{Board: agent.Board{Revision: 1, Steps: []*agent.StepState{running("1"), running("2")}}}), "running 2"},
		"replanning":    {active(agent.Run{Board: agent.Board{Revision: 1}, Planning: agent.Planning{Replanning: &agent.Replanning{}}}), "replanning"},
		"answering":     {active(agent.Run{Board: agent.Board{Revision: 1}, Outcome: agent.Outcome{Synthesis: agent.Synthesis{Started: true}}}), "answering"},
		"abandoned":     {State{Run: &agent.Run{}}, "interrupted"},
		"done":          {ended(event.StatusCompleted, ""), "done"},
		"partial":       {ended(event.StatusCompleted, event.ReasonPartial), "partial"},
		"nothing found": {ended(event.StatusCompleted, event.ReasonNothingFound), "nothing found"},
		"no changes":    {ended(event.StatusCompleted, event.ReasonNothingToCommit), "nothing to commit"},
		"cancelled":     {ended(event.StatusCanceled, ""), "stopped"},
		"failed":        {ended(event.StatusFailed, event.ReasonStepFailed), "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text(newFrame(Options{}).Header(c.state, 50)); !strings.HasSuffix(strings.TrimSpace(got), c.want) {
				t.Errorf("got %q, want %q at its end", got, c.want)
			}
		})
	}
}

func TestPartialRunIsNotShownAsDone(t *testing.T) {
	f := newFrame(Options{})
	run := &agent.Run{Outcome: agent.Outcome{Result: &event.Result{Status: event.StatusCompleted, Reason: event.ReasonPartial}}}
	if got := text(f.Header(State{Run: run}, 80)); strings.Contains(got, f.screen.styles.Glyphs.Done) {
		t.Errorf("the header shows %s", got)
	}
}

func TestHeaderDropsLeastImportantFactsFirst(t *testing.T) {
	f := newFrame(Options{Home: "/home/me"})
	state := State{Session: session.Status{
		Workspace: "/home/me/auth-service", Branch: "main", Model: "qwen3:8b", ContextWindow: 8192, ContextTokens: 2048, Tools: 6, Review: true,
		Servers: []plan.ServerStatus{{State: plan.ServerFailed}, {State: plan.ServerStarting}},
	}}
	wide := text(f.Header(state, 140))
	for _, want := range []string{"~/auth-service", "main", "qwen3:8b", "~2.0k/8k ctx", "review on", "6 tools", "1 server starting"} {
		if !strings.Contains(wide, want) {
			t.Errorf("a wide header lacks %q: %s", want, wide)
		}
	}
	for _, width := range []int{20, 40, 60, 80, 100} {
		got := f.Header(state, width)
		if draw.VisibleWidth(got) != width {
			t.Errorf("at %d cells it is %d wide", width, draw.VisibleWidth(got))
		}
		if !strings.Contains(text(got), "qwen3") {
			t.Errorf("at %d cells the model is missing: %s", width, text(got))
		}
	}
	if got := text(f.Header(state, 60)); strings.Contains(got, "tools") && !strings.Contains(got, "review on") {
		t.Errorf("tools have priority over the review: %s", got)
	}
}

func TestTabIsFoundWhereItIsDrawn(t *testing.T) {
	f := newFrame(Options{})
	separator := " " + f.screen.styles.Glyphs.Separator + " "
	tabs := Tabs{Plan: "Plan" + separator + "rev 2" + separator + "3/7", Step: "Step 4", Focus: panes.Plan}
	for _, width := range []int{40, 80} {
		row := text(f.Tabs(tabs, width))
		for pane, title := range []string{"Chat", "Plan", "Step"} {
			x := draw.VisibleWidth(row[:strings.Index(row, title)])
			if got, ok := f.TabAt(tabs, x, width); !ok || got != panes.Pane(pane) {
				t.Errorf("at %d cells, the tab of %s is %v, %v", width, title, got, ok)
			}
			if got, ok := f.TabAt(tabs, x-1, width); ok {
				t.Errorf("at %d cells, pane %v is before %s", width, got, title)
			}
		}
	}
	if row := text(f.Tabs(tabs, 40)); strings.Contains(row, "rev 2") || !strings.Contains(row, "Plan 3/7") {
		t.Errorf("a narrow row is %q", row)
	}
}

func TestFooterRunsClickedKey(t *testing.T) {
	f := newFrame(Options{})
	footer := Footer{Hints: f.Hints(Keys{Focus: panes.Step, Busy: true})}
	line := text(f.Footer(footer, 80))
	for _, c := range []struct{ label, id string }{{"stop", "run.stop"}, {"pane", "pane.next"}, {"quit", "quit"}} {
		x := draw.VisibleWidth(line[:strings.Index(line, c.label)])
		if id, ok := f.FooterAction(footer, x, 80); !ok || id != c.id {
			t.Errorf("a click on %q runs %q, %v", c.label, id, ok)
		}
	}
	if id, ok := f.FooterAction(footer, 79, 80); ok {
		t.Errorf("a click beside the keys runs %q", id)
	}
	quit := Footer{Quitting: true}
	line = text(f.Footer(quit, 80))
	if id, _ := f.FooterAction(quit, draw.VisibleWidth(line[:strings.Index(line, " yes")]), 80); id != "quit.yes" {
		t.Errorf("a click on yes runs %q", id)
	}
}

func TestPassingMessageEndsWithNextEvent(t *testing.T) {
	streamed, kept := event.Event{Data: event.StepOutput{}}, event.Event{Data: event.StepCompleted{}}
	var m Message
	m.Set("why a key did nothing")
	if m.ApplyEvent(kept); m.Text == "" {
		t.Error("an event clears a message that lasts until the next key")
	}
	m.SetUntilEvent("canceling")
	if m.ApplyEvent(streamed); m.Text == "" {
		t.Error("a streamed event clears the message")
	}
	if m.ApplyEvent(kept); m.Text != "" {
		t.Errorf("after an event it is %q", m.Text)
	}
}

func TestActivityListsCurrentWorkAndQuestions(t *testing.T) {
	f := newFrame(Options{})
	f.screen.styles.Now = time.Date(2026, 1, 2, 3, 4, 15, 0, time.UTC)
	step := running("2")
	step.StartedAt = f.screen.styles.Now.Add(-10 * time.Second)
	run := &agent.Run{Board: agent.Board{Revision: 1, Steps: []*agent.StepState{step}}}
	each := panetest.EachRun(3, 1)
	each.Step("2").Items[1].Status = agent.StepRunning
	for name, c := range map[string]struct {
		state State
		want  string
	}{
		"nothing":   {State{Run: run}, ""},
		"preparing": {State{Preparing: true, Preparation: "waiting for tickets to start"}, "waiting for tickets to start"},
		"a step":    {State{Run: run, Active: true}, "2 read 2 10s"},
		"an item":   {State{Run: each, Active: true}, "(internal/part2/file.go)"},
		"a review":  {State{Run: &agent.Run{}, Active: true, Reviewing: true}, "waits for review"},
		"arguments": {State{Run: &agent.Run{}, Active: true, Requests: Requests{Arguments: true, ArgumentsOf: "3"}}, "works out step 3"},
		"an answer": {State{Run: &agent.Run{Outcome: agent.Outcome{Synthesis: agent.Synthesis{Started: true}}}, Active: true, Requests: Requests{Answer: true, AnswerSince: f.screen.styles.Now}}, "writing the answer"},
		"its text":  {State{Run: &agent.Run{Outcome: agent.Outcome{Synthesis: agent.Synthesis{Started: true}}}, Active: true, Requests: Requests{Answer: true, Writing: true}}, ""},
		"a stop":    {State{Run: run, Active: true, Stopping: true}, "stopping"},
		"a choice":  {State{Run: &agent.Run{}, Active: true, Requests: Requests{Tools: true}}, "choosing tools for the plan"},
		"a repair":  {State{Run: &agent.Run{}, Active: true, Requests: Requests{Repair: true}}, "repairing the plan"},
	} {
		t.Run(name, func(t *testing.T) {
			got := text(f.Activity(c.state, 60)...)
			if c.want == "" && strings.TrimSpace(got) != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestWelcomeExplainsHowToGetAModel draws the page at the sizes that the chat has
// on a screen of 120x36 and of 40x12 cells.
func TestWelcomeExplainsHowToGetAModel(t *testing.T) {
	for name, status := range map[string]session.Status{
		"unreachable": panetest.NoModel(prompt.TroubleUnreachable, ""),
		"no models":   panetest.NoModel(prompt.TroubleNoModels, ""),
		"missing":     panetest.NoModel(prompt.TroubleMissing, "qwen3:32b", "qwen3:8b", "llama3.2:3b"),
		"unfit":       panetest.NoModel(prompt.TroubleUnfit, "", "gemma:2b"),
	} {
		for _, size := range []draw.Rect{{W: 62, H: 30}, {W: 38, H: 7}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.W, size.H), func(t *testing.T) {
				f := newFrame(Options{})
				page := f.Welcome(State{Reported: true, Session: status}, size.W, size.H)
				golden.RequireEqual(t, text(f.screen.styles.Block(page, size.W, size.H)...)+"\n")
			})
		}
	}
}

func TestWelcomeIntroducesProgram(t *testing.T) {
	state := State{Reported: true, Session: session.Status{
		Workspace: "/home/me/shelf", Branch: "main", Model: "qwen3:8b", ContextWindow: 16384, Tools: 28, Instructions: "AGENTS.md",
		Servers: []plan.ServerStatus{{State: plan.ServerReady}},
	}}
	for _, size := range []draw.Rect{{W: 116, H: 31}, {W: 78, H: 19}, {W: 38, H: 7}} {
		for _, ascii := range []bool{false, true} {
			t.Run(fmt.Sprintf("%dx%d,ascii=%v", size.W, size.H, ascii), func(t *testing.T) {
				l := draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{ASCII: ascii, NoColor: ascii}))
				f := New(l, panetest.Keys(), draw.NewMarkdown(l), Options{
					Version: "1.2.3", Home: "/home/me", Examples: []string{"explain what this project does", "where is Shelf used", "add tests for Shelf", "run the tests"},
				})
				golden.RequireEqual(t, text(l.Block(f.Welcome(state, size.W, size.H), size.W, size.H)...)+"\n")
			})
		}
	}
}

func TestWelcomeSaysWhyNoModelAnswers(t *testing.T) {
	f := newFrame(Options{})
	state := State{Reported: true, Session: session.Status{
		Problem: "there is no model", Trouble: prompt.ModelTrouble{Kind: prompt.TroubleMissing, Model: "qwen3:32b", Models: []untrusted.Text{"qwen3:8b"}},
	}}
	page := text(f.Welcome(state, 80, 30)...)
	for _, want := range []string{"has no qwen3:32b", "ollama pull qwen3:32b", "take one of qwen3:8b"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if state.Rechecking = true; !strings.Contains(text(f.Welcome(state, 80, 30)...), "Asking again") {
		t.Error("the page does not say that it asks again")
	}
	if page := text(f.Welcome(State{Reported: true}, 80, 30)...); !strings.Contains(page, "run the tests") {
		t.Errorf("the greeting has no example:\n%s", page)
	}
}
