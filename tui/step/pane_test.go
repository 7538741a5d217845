package step_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
	"replan/tui/step"
)

// inspecting shows a step of a story in the pane of a wide or a narrow screen.
func inspecting(t *testing.T, st *panetest.Story, index string, size draw.Rect, tabbed bool) *panetest.Driver {
	t.Helper()
	k, look := panetest.Keys(), panetest.DarkLook()
	look.SetTime(st.Now)
	p, run := step.New(look, k), st.Runs(t).Shown().State
	p.SetState(step.State{Size: size, Tabbed: tabbed})
	p.Show(run, &step.Subject{Kind: step.SubjectStep, Key: index, Step: run.Step(index)})
	s := &panetest.Driver{T: t, Keys: k, Part: p, Draw: func() []string {
		lines := p.View()
		if !tabbed {
			lines = append([]string{strings.TrimSpace(p.Title(size.W-2) + "  " + p.Place())}, lines...)
		}
		return lines
	}}
	s.Draw()
	return s
}

// The panes of a wide, a usual and a narrow screen.
var (
	wide   = draw.Rect{W: 86, H: 21}
	usual  = draw.Rect{W: 50, H: 14}
	high   = draw.Rect{W: 50, H: 25}
	narrow = draw.Rect{W: 38, H: 9}
)

func TestEveryTabIsDrawnWideAndNarrow(t *testing.T) {
	for _, c := range []struct {
		name, step, keys string
		st               func(*panetest.Story) *panetest.Story
	}{
		{"args", "3", "1", (*panetest.Story).Referring},
		{"output", "2", "2", (*panetest.Story).Finished},
		{"test output", "8", "2", (*panetest.Story).Finished},
		{"diff", "4", "3", (*panetest.Story).Finished},
		{"story of a retry", "1", "4", (*panetest.Story).Referring},
		{"story of a gate", "3", "4", (*panetest.Story).Edited},
		{"args of an edit", "3", "1", (*panetest.Story).Edited},
		{"timing", "3", "5", (*panetest.Story).Edited},
	} {
		for name, size := range map[string]draw.Rect{"200x50": wide, "120x36": usual, "40x12": narrow} {
			t.Run(fmt.Sprintf("%s/%s", c.name, name), func(t *testing.T) {
				s := inspecting(t, c.st(panetest.NewStory()), c.step, size, size == narrow)
				golden.RequireEqual(t, panetest.Stripped(s.Type(c.keys).Draw())+"\n")
			})
		}
	}
}

func TestKeysSwitchTabs(t *testing.T) {
	s := inspecting(t, panetest.NewStory().Finished(), "4", high, false)
	for _, c := range []struct{ key, want string }{
		{"4", "allowed once by you after 2.1s"}, {"5", "waited at its gate"}, {"1", "does     fs.patch"}, {"2", "expects"}, {"3", "verifyUser(r.Context()"},
	} {
		s.Type(c.key).Wants(c.want)
	}
	s.Press(panetest.Key("right")).Wants("attempt 1, revision 1")
	s.Press(panetest.Named("right", "right")...).Wants("does     fs.patch")
	s.Press(panetest.Key("left")).Wants("altogether")
}

func TestClickSwitchesTabs(t *testing.T) {
	for _, size := range []draw.Rect{wide, usual, narrow} {
		s := inspecting(t, panetest.NewStory().Finished(), "4", size, size == narrow)
		for _, c := range []struct{ tab, want string }{{"timing", "altogether"}, {"story", "attempt 1"}, {"args", "does     fs.patch"}, {"diff", "auth/handler.go"}, {"output", "expect"}} {
			title := s.Lines()[0]
			x, y := strings.Index(title, c.tab), 0
			if x < 0 {
				t.Fatalf("the tab %s is not drawn: %s", c.tab, title)
			}
			if x = draw.VisibleWidth(title[:x]); size != narrow {
				x, y = x+1, -1 // in the frame above
			}
			s.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			if s.Wants(c.want); keymap.First[keymap.Focus](s.Requests) != keymap.Focus(keymap.PlaceStep) {
				t.Errorf("%v: the click on %s does not focus the step", size, c.tab)
			}
		}
	}
}

func TestWheelScrollsStep(t *testing.T) {
	s := inspecting(t, panetest.NewStory().Finished(), "4", usual, false).Type("3")
	s.Wants("1-14 of 24")
	s.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	s.Wants("4-17 of 24")
	s.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	s.Wants("1-14 of 24")
}

func TestYCopiesShownTab(t *testing.T) {
	copied := func(step, tab string) keymap.Copy {
		s := inspecting(t, panetest.NewStory().Finished(), step, usual, false)
		return keymap.First[keymap.Copy](s.Type(tab + "y").Requests)
	}
	if got := copied("2", "2"); !strings.HasPrefix(got.Text, "package auth\n\nimport") || got.What != "output of step 2, 9 lines" {
		t.Errorf("the output is copied as %q, named %s", got.Text, got.What)
	}
	if got, want := copied("2", "1").Text, "{\n  \"path\": \"auth/handler.go\"\n}\n"; got != want {
		t.Errorf("the args are copied as %q, want %q", got, want)
	}
	if got := copied("4", "3").Text; got != panetest.HandlerDiff {
		t.Errorf("the diff is copied as %q", got)
	}
	if got := copied("4", "4").Text; !strings.Contains(got, "asked at its gate") || strings.Contains(got, "\x1b") {
		t.Errorf("the story is copied as %q", got)
	}
	inspecting(t, panetest.NewStory().Finished(), "2", usual, false).Type("3y").Wants("There is nothing to copy: diff of step 2 is empty.")
}

func TestStepShowsCallOutputAndDiff(t *testing.T) {
	s := inspecting(t, panetest.NewStory().Revised(), "7", high, false)
	for _, c := range []struct{ key, want string }{
		{"1", "args, as they would be sent"}, {"2", "No output so far."}, {"3", "verifyUser(ctx, s.token)"}, {"l", "attempt 1, revision 2"}, {"h", "@@ -31,5"},
	} {
		s.Type(c.key).Wants(c.want)
	}
}

func TestRevisedStepShowsItsChanges(t *testing.T) {
	inspecting(t, panetest.NewStory().Tested(), "6", high, false).Type("3").Wants("changed by revision 2", "-title: Sum up the change", "+title: Sum up both changes")
}

func TestSTogglesDiffLayout(t *testing.T) {
	s := inspecting(t, panetest.NewStory().Gated(), "4", draw.Rect{W: 160, H: 25}, false)
	sided := func() bool {
		return slices.ContainsFunc(s.Lines(), func(line string) bool {
			return strings.Contains(line, "authenticate(r.Context(), token)") && strings.Contains(line, "verifyUser(r.Context(), token)")
		})
	}
	was := sided()
	if s.Type("s"); sided() == was {
		t.Errorf("s does not change the layout:\n%s", s.Text())
	}
	s.Type("1s").Wants("No diff in view")
	s.Sent()
}

func TestStoppedAgentShowsWhatItDid(t *testing.T) {
	st := panetest.NewStory().Halted(event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted})
	s := inspecting(t, st, "2", high, false)
	s.Wants("■ Find out why a session expires early", "I read the rest.")
	s.Type("1").Wants("stopped before it was done", "3 of 4 calls")
}

func TestCallOfAnAgentIsInspectedLikeAStep(t *testing.T) {
	s := inspecting(t, panetest.NewStory().Exploring(), "2.1", high, false)
	s.Wants("Step 2.1", `matches ["auth/session.go:41"]`)
	s.Type("1").Wants(`query "ExpiresAt"`)
}

func TestCallThatAModelAsksForSaysSo(t *testing.T) {
	st := panetest.NewStory().Halted(event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted})
	inspecting(t, st, "2.4", high, false).Type("1").Wants("args, as the model asks")
	inspecting(t, panetest.NewStory().Patching(), "2.4", high, false).Type("1").Wants("args, as they would be sent", "All of it was written by the model")
}

func TestDryRunHasNoAttempts(t *testing.T) {
	inspecting(t, panetest.NewStory().DryRun(), "1", high, false).Type("4").Wants("A dry run makes no attempts.")
}
