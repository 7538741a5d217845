package frame

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// shown returns the notices as drawn on empty lines.
func (t *Toasts) shown() string {
	lines := make([]string, mostToasts+1)
	t.Draw(panetest.DarkLook(), 40, lines)
	return strings.TrimSpace(ansi.Strip(strings.Join(lines, "\n")))
}

func TestAtMostThreeNoticesAreShownOnceEach(t *testing.T) {
	toasts := NewToasts(draw.Pauses{}.Usual())
	for _, n := range []int{1, 2, 3, 4, 4} {
		toasts.Show("info", fmt.Sprintf("notice %d", n))
	}
	got := toasts.shown()
	if strings.Count(got, "notice") != mostToasts || strings.Contains(got, "notice 1") || strings.Count(got, "notice 4") != 1 {
		t.Errorf("shown:\n%s", got)
	}
}

func TestTimerOfClearedNoticesRemovesNone(t *testing.T) {
	toasts := NewToasts(draw.Pauses{}.Usual())
	toasts.Show("info", "old")
	toasts.Timer()
	old := toasts.End()
	toasts.Clear()
	toasts.Show("info", "new")
	toasts.Timer()
	if toasts.Update(old); !strings.Contains(toasts.shown(), "new") {
		t.Error("the timer of a cleared notice removes a new one")
	}
	if toasts.Update(toasts.End()); toasts.shown() != "" {
		t.Errorf("after its time it shows %q", toasts.shown())
	}
}

func TestBudgetNoticeEndsWithRun(t *testing.T) {
	toasts := NewToasts(draw.Pauses{})
	toasts.Notify(event.BudgetWarned{Guard: event.GuardSteps, Used: 9, Limit: 10})
	toasts.Show("info", "saved")
	toasts.Notify(event.RunCompleted{})
	if len(toasts.notices) != 1 || toasts.notices[0].text != "saved" {
		t.Errorf("got %+v", toasts.notices)
	}
}

func TestNoticesCoverNoTextWhereALineIsBlank(t *testing.T) {
	text, blank := "│ "+strings.Repeat("text ", 9)+"│", "│"+strings.Repeat(" ", 46)+"│"
	for _, c := range []struct {
		lines []string
		want  []int // lines of the notices
	}{
		{[]string{text, blank, text, blank, blank, text}, []int{3, 4}},
		{[]string{text, blank, text}, []int{0, 1}},
		{[]string{text}, []int{0}},
	} {
		toasts := NewToasts(draw.Pauses{})
		toasts.Show("info", "first notice")
		toasts.Show("warn", "second notice")
		lines := slices.Clone(c.lines)
		toasts.Draw(panetest.DarkLook(), 48, lines)
		var got []int
		for i := range lines {
			if strings.Contains(lines[i], "notice") {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("got notices on lines %v, want %v:\n%s", got, c.want, strings.Join(lines, "\n"))
		}
	}
}

func TestSavedRuleIsAnnounced(t *testing.T) {
	toasts := NewToasts(draw.Pauses{}.Usual())
	saved := panetest.HelperRule().Rule
	toasts.Notify(event.GateResolved{Gate: "7.2.1", Decision: event.Allow, Scope: event.ScopeAlways, By: "user", Rule: &saved})
	if got := toasts.shown(); !strings.Contains(got, "fs.patch") {
		t.Errorf("got %q", got)
	}
}
