package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/story"
)

const (
	analysisText = `{"mode": "plan", "task": "Find out why TestMake fails, and fix slug.Make without a change to its callers.", ` +
		`"goal": "go test ./... passes", "unknowns": ["Which rule does the code break?", "Who relies on the dashes?"], ` +
		`"resources": ["slug/slug.go"], "complexity": "medium", "subtasks": ["Read the code", "Fix Make"], "reflect": true}`
	reviewText = "## Critic\n- Nobody has seen the test fail yet.\n\n## Plan Adjustments\n- Run the tests of both packages side by side.\n" +
		"- Read the callers first.\n- Make one small edit at a time.\n- Test the whole module last.\n"
	planText = `{"title": "Fix slug.Make", "steps": [{"index": "1", "title": "Read the code", "executor": "tool", "tool": "fs.read", ` +
		`"args": {"path": "slug/slug.go"}, "depends_on": []}, {"index": "2", "title": "Write one dash`
)

// planningPane is a chat in which a run plans. Its clock shows the time of
// the newest event.
type planningPane struct {
	*Pane
	t   *testing.T
	run *agent.Run
	n   *Narrator
	seq int
}

func planningIn(t *testing.T, width, height int, mode themes.Mode) *planningPane {
	t.Helper()
	p := &planningPane{Pane: New(draw.NewStyles(new(themes.Set).New(themes.Dark, true, mode))), t: t, run: agent.NewRun(nil)}
	p.setSize(width, height)
	return p.apply(event.RunStarted{Goal: "fix slug.Make", Model: "qwen3:8b"})
}

// apply applies events, a second after each other.
func (p *planningPane) apply(data ...event.Data) *planningPane {
	p.t.Helper()
	for _, d := range data {
		var before story.Before
		if p.n != nil {
			before = p.n.Before(d)
		}
		p.seq++
		at := time.Unix(int64(p.seq), 0)
		if err := p.run.Apply(event.Event{Seq: uint64(p.seq), Time: at, Run: "run", Data: d}); err != nil {
			p.t.Fatal(err)
		}
		p.Styles.Now = at
		if started, ok := d.(event.RunStarted); ok {
			p.n = p.Narrate(p.run, false)
			p.n.Start(started)
			continue
		}
		p.n.Narrate(d, before)
		p.Invalidate()
		p.View()
	}
	return p
}

func (p *planningPane) text() string { return panetest.Stripped(p.View()) }

// phase starts a phase and streams its reply in two pieces.
func (p *planningPane) phase(n int, text string) *planningPane {
	half := len(text) / 2
	return p.begin(n).apply(event.PhaseDelta{Phase: n, Text: text[:half]}, event.PhaseDelta{Phase: n, Text: text[half:]})
}

func (p *planningPane) begin(n int) *planningPane {
	return p.apply(event.PhaseStarted{Phase: n, Label: phaseName(n)})
}

func (p *planningPane) complete(n int, text string) *planningPane {
	return p.apply(event.PhaseCompleted{Phase: n, Label: phaseName(n), Tokens: 900, MS: 2100, Reply: reply.Reply{Text: text}})
}

// planned ends the three phases with a plan.
func (p *planningPane) planned() *planningPane {
	p.phase(1, analysisText).complete(1, analysisText).phase(2, reviewText).complete(2, reviewText).phase(3, planText).complete(3, "")
	return p.apply(event.PlanCreated{Revision: 1, Plan: plan.Plan{
		Title: "Fix slug.Make", Steps: []plan.Step{{Index: "1", Title: "Read the code", Tool: "fs.read", Executor: plan.ExecutorTool}},
		Milestones: []plan.Milestone{{Title: "Understand", Steps: []string{"1"}}},
		Risks:      []string{"A caller may rely on **two dashes** in a `row`, which no test of this module would show.", "a \x1b[31mred\x1b[0m risk"},
	}})
}

func TestPlanningIsWorthWatching(t *testing.T) {
	stages := []struct {
		name string
		play func(*planningPane)
	}{
		{"loading", func(p *planningPane) { p.begin(1) }},
		{"thinking", func(p *planningPane) {
			p.begin(1).apply(event.PhaseDelta{Phase: 1, Thinking: "The user wants a fixed function.\n\nI should look "}, event.PhaseDelta{Phase: 1, Thinking: "for its callers first, because one of them may rely on it."})
		}},
		{"analysis", func(p *planningPane) { p.phase(1, analysisText[:len(analysisText)-90]) }},
		{"reading", func(p *planningPane) { p.phase(1, analysisText).complete(1, analysisText).begin(2) }},
		{"review", func(p *planningPane) {
			p.phase(1, analysisText).complete(1, analysisText).phase(2, reviewText[:120])
		}},
		{"plan", func(p *planningPane) {
			p.phase(1, analysisText).complete(1, analysisText).phase(2, reviewText).complete(2, reviewText).phase(3, planText)
		}},
		{"planned", func(p *planningPane) { p.planned() }},
		{"planned, unfolded", func(p *planningPane) { p.planned().foldNewest("") }},
		{"analysis unfolded", func(p *planningPane) {
			p.phase(1, analysisText).complete(1, analysisText).foldNewest("")
			p.phase(2, reviewText[:120])
		}},
		{"simple", func(p *planningPane) {
			p.phase(1, analysisText).complete(1, analysisText).apply(event.PhaseSkipped{Phase: 2, Label: "review", Reason: "switched off"}).phase(3, planText)
		}},
	}
	for _, size := range []struct {
		name          string
		width, height int
		mode          themes.Mode
	}{{"wide", 100, 26, themes.Mode{}}, {"small", 38, 9, themes.Mode{}}, {"ascii", 62, 18, themes.Mode{ASCII: true}}} {
		t.Run(size.name, func(t *testing.T) {
			var all strings.Builder
			for _, stage := range stages {
				p := planningIn(t, size.width, size.height, size.mode)
				stage.play(p)
				all.WriteString("--- " + stage.name + "\n" + p.text() + "\n")
			}
			golden.RequireEqual(t, []byte(all.String()))
		})
	}
}

func TestDirectAnswerNamesNoSkippedPhases(t *testing.T) {
	for text, want := range map[string]bool{`{"mode":"direct"}`: false, analysisText: true} {
		p := planningIn(t, 60, 24, themes.Mode{}).begin(1).complete(1, text)
		got := p.apply(event.PhaseSkipped{Phase: 2}, event.PhaseSkipped{Phase: 3}).text()
		if strings.Contains(got, "skipped") != want || !strings.Contains(got, "analysis") {
			t.Errorf("after %s\n%s", text, got)
		}
	}
}

func TestNothingMovesWhileAPhaseStreams(t *testing.T) {
	for _, height := range []int{9, 18, 30} {
		p := planningIn(t, 50, height, themes.Mode{}).begin(1)
		height := func() (n int) {
			for i := range p.Blocks[1:] { // without the goal
				n += len(p.LinesOf(i + 1))
			}
			return n
		}
		before := height()
		for i := range len(analysisText) {
			p.apply(event.PhaseDelta{Phase: 1, Text: analysisText[i : i+1]})
			if got := height(); got != before {
				t.Fatalf("%d lines become %d after %q", before, got, analysisText[:i+1])
			}
		}
	}
}

func TestReducedMotionShowsFinishedLinesOnly(t *testing.T) {
	p := planningIn(t, 60, 20, themes.Mode{Still: true}).phase(2, "- one\n- two\n- thr")
	if got := p.text(); !strings.Contains(got, "- two") || strings.Contains(got, "- thr") {
		t.Errorf("got\n%s", got)
	}
}

func TestCodeIsShownWithoutItsMarksBeforeACardIsOpened(t *testing.T) {
	const text = "## Plan Adjustments\n\n- Read `config_cmd.go` first.\n"
	p := planningIn(t, 80, 24, themes.Mode{}).phase(2, text)
	streamed, card := p.text(), p.complete(2, text).text()
	for _, got := range []string{streamed, card} {
		if !strings.Contains(got, "Read config_cmd.go first.") || strings.Contains(got, "`") {
			t.Errorf("got\n%s", got)
		}
	}
}

func TestRepeatedPhaseStreamsAnew(t *testing.T) {
	p := planningIn(t, 60, 20, themes.Mode{}).phase(3, "- an old line\n").complete(3, "x").phase(3, "- a new line that is longer\n")
	if got := p.text(); !strings.Contains(got, "- a new line") || strings.Contains(got, "old") {
		t.Errorf("got\n%s", got)
	}
}

func TestControlCharactersOfAStreamDoNotReachTheScreen(t *testing.T) {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		`{"task": "`, `"`, `\u001b[2J`, `\u0007`, `\u202e`, "\x1b]0;title\x07", "\x1b[31m", "\x9b2J", "\r", "\b", "\x00", "\u202e", "\u2028", "## Plan Adjustments\n- ", "\n",
	}))
	rapid.Check(t, func(r *rapid.T) {
		p := planningIn(t, 60, 20, themes.Mode{NoColor: true})
		for n := 1; n <= 3; n++ {
			text := ""
			p.begin(n)
			for _, s := range rapid.SliceOfN(piece, 0, 12).Draw(r, "pieces") {
				text += s
				thinking := rapid.Bool().Draw(r, "thinking")
				d := event.PhaseDelta{Phase: n, Text: s}
				if thinking {
					d = event.PhaseDelta{Phase: n, Thinking: s}
				}
				p.apply(d)
				checkClean(r, p)
			}
			p.complete(n, text)
			checkClean(r, p)
			if p.foldNewest("") {
				checkClean(r, p)
			}
		}
	})
}

func checkClean(r *rapid.T, p *planningPane) {
	text := p.text()
	if i := strings.IndexFunc(text, func(c rune) bool {
		return c != '\n' && unicode.IsControl(c) || c == '\u202e' || c == '\u2028'
	}); i >= 0 {
		r.Fatalf("%q is on the screen:\n%q", text[i:min(i+4, len(text))], text)
	}
}

// BenchmarkPhaseStream draws each frame of a phase that streams fast, by the
// length of its reply so far.
func BenchmarkPhaseStream(b *testing.B) {
	step := `{"index": "1", "title": "Read the code", "executor": "tool", "tool": "fs.read", "args": {"path": "slug/slug.go"}},`
	for _, size := range []int{1 << 10, 100 << 10} {
		b.Run(fmt.Sprintf("%d KB", size>>10), func(b *testing.B) {
			c := idlePane(106, 46)
			run := &agent.Run{Terms: agent.Terms{Model: "qwen3:8b"}}
			run.Phases[2] = agent.Phase{Status: agent.PhaseRunning, Text: `{"steps": [` + strings.Repeat(step, size/len(step))}
			c.Add(phaseBlocks(c, run)...)
			c.View()
			whole := run.Phases[2].Text + strings.Repeat(step, 100_000)
			for i := 0; b.Loop(); i++ {
				run.Phases[2].Text = whole[:min(size+i*8, len(whole))]
				c.Invalidate()
				c.View()
			}
		})
	}
}

func TestUserMessageStandsBesideBarWithoutColors(t *testing.T) {
	p := planningIn(t, 12, 20, themes.Mode{NoColor: true})
	lines := userMessage(p.Styles, "two lines of words", 12)
	if got := panetest.Stripped(draw.Texts(lines)); got != "▌ two lines\n▌ of words" {
		t.Errorf("got\n%s", got)
	}
}

func TestReplanStreamsLikeAPhase(t *testing.T) {
	p := planningIn(t, 60, 20, themes.Mode{}).planned()
	p.apply(event.StepStarted{Index: "1", Attempt: 1}, event.StepFailed{Index: "1", Attempt: 1, Error: "no such file", Failure: event.FailureTool},
		event.ReplanStarted{Attempt: 1, Step: "1", Error: "no such file", Remaining: []string{"1"}})
	if got := p.text(); !strings.Contains(got, "replanning") || !strings.Contains(got, "qwen3:8b is reading the prompt") {
		t.Errorf("before the first word got\n%s", got)
	}
	p.apply(event.ModelRequested{Purpose: prompt.PurposeReplan},
		event.ModelReading{Purpose: prompt.PurposeReplan, Forecast: pace.Forecast{Tokens: 1900, Speed: pace.Speed{Read: 25}}})
	if got := p.text(); !strings.Contains(got, "qwen3:8b is reading the prompt, 0 % of 1,900 tokens, 1 min") || !strings.Contains(got, "16 s left…") {
		t.Errorf("while it reads got\n%s", got)
	}
	half := len(planText) / 2
	p.apply(event.ReplanDelta{Thinking: "The file has another name."}, event.ReplanDelta{Text: planText[:half]}, event.ReplanDelta{Text: planText[half:]})
	if got := p.text(); !strings.Contains(got, "Write one dash") || !strings.Contains(got, "tok/s") {
		t.Errorf("while it streams got\n%s", got)
	}
	p.apply(event.PlanDiff{Revision: 2, Reason: "no such file", Plan: p.run.Plan})
	if got := p.text(); strings.Contains(got, "replanning") || strings.Contains(got, "Write one dash") {
		t.Errorf("after the replan got\n%s", got)
	}
}
