package tui_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
	"replan/tui"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// under returns the titles of the palette in view below each heading.
func (s *screen) under(heading string) (titles []string) {
	s.t.Helper()
	_, body, _ := strings.Cut(s.front(), "├")
	now := ""
	for _, line := range strings.Split(body, "\n")[1:] {
		cells := []rune(strings.Trim(line, "│ ╰─╯"))
		line = string([]rune(line + strings.Repeat(" ", 30)))
		label := strings.TrimSpace(string([]rune(line)[2:12]))
		if label != "" {
			now = label
		}
		if title := strings.Trim(string([]rune(line)[12:]), " ▌"); now == heading && len(cells) > 0 {
			title, _, _ = strings.Cut(title, "  ")
			titles = append(titles, title)
		}
	}
	return titles
}

func TestPaletteBeginsWithWhatFitsTheMoment(t *testing.T) {
	resumable := keymap.AnswerMsg[[]agent.Summary]{Value: []agent.Summary{{Run: "r-1", Goal: "fix the parser", Status: event.StatusFailed, Resumable: true}}}
	for name, c := range map[string]struct {
		from  *story
		want  []string
		never []string
	}{
		"nothing yet":   {newStory().Greeted(), []string{"Open runs", "Run a shell command", "Resume run: fix the parser", "Find TODO"}, []string{"Stop the run"}},
		"a run":         {newStory().Branching(), []string{"Stop the run", "Open timeline"}, []string{"Find TODO", "Undo last run", "Resume run: fix the parser"}},
		"a gate":        {newStory().Gated(), []string{"Show the open gate or question", "Stop the run"}, []string{"Find TODO"}},
		"an ended run":  {newStory().Finished(), []string{"Undo last run", "Open timeline", "Export the chat as Markdown", "Open runs"}, []string{"Stop the run"}},
		"an undone run": {newStory().Finished().Session(event.ChatUndone{Undo: panetest.Undo()}), []string{"Redo last undo", "Open runs"}, []string{"Undo last run"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{Examples: []string{"find TODO"}}, 120, 40).show(c.from)
			s.m.Update(s.m.Rested())
			s.press(ctrlK)
			s.m.Update(resumable)
			got := s.under("Now")
			if len(got) < len(c.want) || !slices.Equal(got[:len(c.want)], c.want) {
				t.Errorf("first come %q, want %q\n%s", got, c.want, s.text())
			}
			for _, title := range c.never {
				if slices.Contains(got, title) {
					t.Errorf("%q fits in %q", title, got)
				}
			}
		})
	}
}

func TestPaletteListsTheRestUnderHeadings(t *testing.T) {
	s := settled(t, newStory().Branching(), 120, 80).press(ctrlK)
	var headings []string
	for _, heading := range []string{"Session", "Plan", "View", "Models", "Settings", "Commands"} {
		for range 6 { // as far down as it takes
			if len(s.under(heading)) > 0 {
				headings = append(headings, heading)
				break
			}
			s.press(pageDown)
		}
	}
	if want := []string{"Session", "Plan", "View", "Models", "Settings"}; !slices.Equal(headings, want) && !slices.Equal(headings, append(want, "Commands")) {
		t.Errorf("headings %q\n%s", headings, s.text())
	}
	s.lacks("Switch theme: frost") // only a search lists all themes
	s.press(letters("frost")...).wants("Switch theme: frost")
}

func TestPaletteDimsWhatCannotBeDoneNow(t *testing.T) {
	s := settled(t, newStory().Greeted(), 120, 36).press(tabKey, tabKey, ctrlK) // the key also leads back from other panes
	s.lacks("Stop the run")
	s.press(letters("stop the")...).wants("Nothing is running.")
	s.press(enter).wants("Stop the run")
	s.sent()

	o := tui.Options{Examples: []string{"explain what this project does", "find TODO", "add tests for F"}}
	s = open(t, o, 120, 36).show(newStory().Greeted().Session(panetest.NoModel(prompt.TroubleUnreachable, "")))
	s.press(ctrlK).wants("Find TODO")
	s.lacks("Explain what")
	s.lacks("Add tests")
	s.press(letters("explain")...).wants("It needs a model, and there is none.")
}

func TestPaletteListsOnlyWhatFindsSomething(t *testing.T) {
	unchanged := newStory().Asked().Run(event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}})
	for name, c := range map[string]struct {
		from   *story
		lists  []string
		leaves []string
	}{
		"a fresh home":               {newStory().Greeted(), nil, []string{"Ask about the run", "Undo last run", "Redo last undo", "Go to the next gate"}},
		"a run that changed nothing": {unchanged, []string{"Ask about the run"}, []string{"Undo last run", "Redo last undo"}},
		"a run that changed files":   {newStory().Finished(), []string{"Undo last run", "Ask about the run"}, []string{"Redo last undo", "Go to the next gate", "Go to the next running step"}},
		"a run with steps under way": {newStory().Branching(), []string{"Go to the next running step"}, []string{"Undo last run", "Go to the next gate"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, c.from, 120, 100).press(ctrlK)
			for range 6 {
				text := s.front()
				c.lists = slices.DeleteFunc(c.lists, func(title string) bool { return strings.Contains(text, title) })
				for _, title := range c.leaves {
					if strings.Contains(text, title) {
						t.Errorf("it lists %q\n%s", title, text)
					}
				}
				s.press(pageDown)
			}
			if len(c.lists) > 0 {
				t.Errorf("it does not list %q", c.lists)
			}
		})
	}
}

func TestPaletteListsAnswersOfGateUnderGate(t *testing.T) {
	s := settled(t, newStory().Gated(), 120, 60).press(ctrlK)
	if got := s.under("Gate"); !slices.Contains(got, "Allow once") || slices.Contains(s.under("Session"), "Allow once") {
		t.Errorf("under Gate stand %q\n%s", got, s.text())
	}
}
