package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/tui/ask"
	"replan/tui/live"
	"replan/tui/notify"
	"replan/tui/review"
)

// alerts tell a user who looks elsewhere what has happened.
type alerts struct {
	live    *live.Runs
	pending *ask.Pending
	ask     *ask.Dialog
	review  *review.Dialog
	notify  *notify.Notifier
	now     func() time.Time
}

// update passes what the terminal reports to the notifier.
func (a *alerts) update(msg tea.Msg) tea.Cmd {
	return a.notify.Update(msg, a.ask.Waiting() > 0 || a.review.Waits(), a.now())
}

// keyPressed notes that the user is here.
func (a *alerts) keyPressed() { a.notify.KeyPressed(a.now()) }

// on reports whether the terminal must tell whether it has the focus.
func (a *alerts) on() bool { return a.notify.On() }

// tell alerts the user to what a batch of events brought: new questions, or the end of a
// run. That run has the id before, and was under way until then.
func (a *alerts) tell(before string) tea.Cmd {
	if a.pending.Muted || a.live.Repeating() {
		return nil
	}
	now := a.now()
	if fresh := a.ask.TakeFresh(); len(fresh) > 0 {
		step, subject, _ := fresh[0].Brief()
		text := strings.TrimSpace(fresh[0].Name() + " " + subject + " " + step)
		if n := len(fresh); n > 1 {
			text = fmt.Sprintf("%d questions wait: %s", n, text)
		}
		return a.notify.Ask(text, now)
	}
	if title, fresh := a.review.TakeFresh(); fresh {
		return a.notify.Ask("Review: "+title, now)
	}
	run := a.live.Current().State
	if before == "" || a.live.Active() == before || run == nil || run.ID != before {
		return nil
	}
	r := run.Result
	if r == nil || r.Status == event.StatusCanceled {
		return nil // the user canceled it
	}
	return a.notify.Alert(fmt.Sprintf("%s: %s", r.Status, run.Goal.FirstLine()), now)
}
