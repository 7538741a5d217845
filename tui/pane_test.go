package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/draw"
	"replan/tui/input"
	"replan/tui/panetest"
)

func revisedTwice() *agent.Run {
	state := func(index, title string, status agent.StepStatus, change agent.Change, deps ...string) *agent.StepState {
		return &agent.StepState{Step: plan.Step{Index: index, Title: title, Tool: "t", DependsOn: deps}, Status: status, Change: change}
	}
	return &agent.Run{
		ID: "r", Revision: 3,
		Steps: []*agent.StepState{
			state("1", "First", agent.StepCompleted, agent.ChangeNone),
			state("5", "Fifth", agent.StepPending, agent.ChangeAdded, "1"),
		},
		Revisions: []agent.Revision{
			{Number: 2, Reason: "no", Removed: []agent.StepState{
				*state("2", "Second", agent.StepFailed, agent.ChangeNone), *state("3", "Third", agent.StepPending, agent.ChangeNone),
			}, After: []string{"1", "2"}, Added: []string{"4"}},
			{Number: 3, Reason: "again", Removed: []agent.StepState{*state("4", "Fourth", agent.StepFailed, agent.ChangeAdded)}, After: []string{"1"}, Added: []string{"5"}},
		},
	}
}

func TestOlderRevisionsFoldToALineAndOpen(t *testing.T) {
	d := dag.New(panetest.DarkLook())
	d.SetSize(60, 12)
	d.Show(revisedTwice())
	folded := "   ┌ ✓ 1 First  t    0ms\n │ ▸ rev 2: 2 removed, 1 added (enter opens)\n │ ▾ rev 3: because again\n − │ ✗ 4 Fourth  t  failed\n + └ ○ 5 Fifth   t ready"
	if got := panetest.Stripped(d.Lines()); squash(got) != squash(folded) {
		t.Fatalf("got\n%s", got)
	}
	d.Move(-100)
	d.Move(1)
	if !d.Toggle() {
		t.Fatalf("the revision is not chosen but %q", d.Selected)
	}
	if got := panetest.Stripped(d.Lines()); !strings.Contains(got, "▾ rev 2") || !strings.Contains(got, "Second") || !strings.Contains(got, "Third") ||
		strings.Index(got, "Third") > strings.Index(got, "Fourth") {
		t.Fatalf("got\n%s", got)
	}
	if d.Toggle(); strings.Contains(panetest.Stripped(d.Lines()), "Second") {
		t.Error("it does not fold again")
	}
}

// squash makes runs of blanks one, for what columns alone would change.
func squash(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, strings.Join(strings.Fields(strings.NewReplacer("▌", " ").Replace(line)), " "))
	}
	return strings.Join(out, "\n")
}

func TestAChosenStepLightsWhatItDependsOnAndWhatDependsOnIt(t *testing.T) {
	run := panetest.WideRun(3)
	run.Steps[1].Step.DependsOn = []string{"1"}
	d := dag.New(panetest.DarkLook())
	d.SetSize(60, 8)
	d.SetFocus(true)
	d.Show(run)
	d.Lines()
	chosen := d.Chosen()
	for i := range d.Outline.Rows {
		r := &d.Outline.Rows[i]
		if r.Kind != dag.RowStep || r == chosen {
			continue
		}
		want := dag.KinDim
		if (chosen.Key == "1" && r.Key == "2") || (chosen.Key == "2" && r.Key == "1") {
			want = dag.KinLit
		}
		if got := d.KinOf(r); got != want {
			t.Errorf("with %s chosen, %s is %v", chosen.Key, r.Key, got)
		}
	}
}

func TestABlockedStepNamesWhatItWaitsFor(t *testing.T) {
	run := panetest.WideRun(4)
	for i, s := range run.Steps {
		s.Status = agent.StepPending
		if i == 3 {
			s.Step.DependsOn = []string{"1", "2", "3"}
		}
	}
	run.Steps[0].Status = agent.StepCompleted
	d := dag.New(panetest.DarkLook())
	d.SetSize(60, 8)
	d.Show(run)
	if got := panetest.Stripped(d.Lines()); !strings.Contains(got, "←2,3") {
		t.Errorf("got\n%s", got)
	}
}

func TestAPlanThatCannotBeSeenWholeIsCounted(t *testing.T) {
	d := dag.New(panetest.DarkLook())
	d.SetSize(60, 8)
	d.Show(panetest.WideRun(60))
	d.Lines()
	if got := ansi.Strip(d.Summary()); got != "✓20 ⠋4 ○6 ·30" {
		t.Errorf("got %q", got)
	}
}

// TestAKeyDoesNotDrawOldMessages counts how often blocks are drawn.
func TestAKeyDoesNotDrawOldMessages(t *testing.T) {
	m := New(silent{}, Options{Theme: themes.Dark})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	drawn := 0
	for i := range 500 {
		m.chat.Add(&chat.Block{Draw: func(int) []string { drawn++; return []string{fmt.Sprint(i)} }})
	}
	m.View()
	if drawn == 0 || drawn > 40 {
		t.Fatalf("%d of 500 blocks are drawn for one screen", drawn)
	}
	drawn = 0
	for range 10 {
		m.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		m.View()
	}
	if drawn != 0 {
		t.Errorf("10 keys draw %d blocks again", drawn)
	}
}

func TestALineIsWrappedWithoutAHole(t *testing.T) {
	for width := 8; width < 50; width++ {
		lines := draw.Wrap("start it with `ollama serve`, or name another with --host", width)
		for _, line := range lines {
			if strings.TrimSpace(line) == "" {
				t.Errorf("%d cells: %q", width, lines)
			}
		}
	}
	if got := draw.Wrap("one\n\ntwo", 8); len(got) != 3 {
		t.Errorf("an empty line of the text itself is gone: %q", got)
	}
}

func TestTheInputKeepsWhatIsPasted(t *testing.T) {
	m := New(silent{}, Options{Theme: themes.Dark})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	text := strings.Repeat("a line of pasted text\n", 200)
	m.Update(tea.PasteMsg{Content: text})
	if got := m.input.Expanded(); got != text || m.input.Area.Value() != "[pasted 200 lines]" {
		t.Errorf("%d bytes of %d are kept as %q", len(got), len(text), m.input.Area.Value())
	}
	m.input.OpenPaste()
	if got := m.input.Area.Value(); got != text {
		t.Errorf("%d bytes of %d are opened", len(got), len(text))
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if m.layout.input.H > input.MaxInputHeight || m.layout.chat.H < 5 {
		t.Errorf("the input takes %d lines and leaves %d", m.layout.input.H, m.layout.chat.H)
	}
}

func BenchmarkKeyInALongChat(b *testing.B) {
	m := New(silent{}, Options{Theme: themes.Dark})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	for i := range 20_000 {
		m.chat.Add(m.chat.Note("info", fmt.Sprintf("note number %d", i)))
	}
	m.chat.Started(panetest.WideRun(100), false)
	m.View()
	down := tea.KeyPressMsg{Code: 'x', Text: "x"}
	back := tea.KeyPressMsg{Code: tea.KeyBackspace}
	for b.Loop() {
		m.Update(down)
		m.View()
		m.Update(back)
		m.View()
	}
}
