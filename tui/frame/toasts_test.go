package frame

import (
	"fmt"
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
