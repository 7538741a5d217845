package runner

import (
	"cmp"
	"context"
	"strings"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/markdown"
	"replan/internal/untrusted"
)

// changes are what runs changed in the copy of the workspace, until the user takes or
// drops them.
type changes struct {
	events       *publisher
	background   *background
	overview     *overview
	conversation *conversation
	copy         WorkingCopy // nil if runs work in the workspace itself

	offered string // what was shown last; "" is nothing
	busy    bool   // they are being looked up, taken or dropped
}

// pending reports whether the changes are being looked up, taken or dropped.
func (c *changes) pending() bool { return c.busy }

// offer publishes the changes, if there are any. asked tells that the user wants to know,
// also about none.
func (c *changes) offer(ctx context.Context, asked bool) {
	if c.copy == nil {
		return
	}
	c.busy = true
	c.background.run(func() func() {
		found, err := c.copy.Changes(ctx)
		return func() {
			c.busy = false
			switch {
			case err != nil:
				c.events.note("warn", "the changes of the run cannot be found: "+err.Error())
			case !found.Empty():
				c.offered = found.Offer
				_ = c.events.publish(session.ChangesOffered{Changes: found})
			case asked:
				c.events.note("info", "no changes wait")
			}
		}
	})
}

// settle takes the chosen changes and drops the others or lets them wait, unless a run is
// active. A choice that names no offer is of the last one.
func (c *changes) settle(ctx context.Context, choice event.ChangesChoice, active bool) {
	choice.Offer = cmp.Or(choice.Offer, c.offered)
	switch {
	case c.copy == nil:
		c.events.note("info", "runs work in this folder itself: there are no changes to take")
		return
	case active:
		_ = c.events.publish(session.ChangesSettled{SettledChanges: event.SettledChanges{Refused: "a run is active: take or drop its changes when it has ended"}})
		return
	case choice.Offer == "":
		c.events.note("info", "nothing was taken or dropped: look at the changes first")
		c.offer(ctx, true)
		return
	}
	c.busy = true
	c.background.run(func() func() {
		done, err := c.copy.Settle(ctx, choice)
		if err != nil {
			done.Refused = err.Error()
		}
		return func() {
			c.busy = false
			c.report(done)
			c.overview.findBranch(ctx)
			if done.Refused != "" {
				c.offer(ctx, true) // as they are now
			}
		}
	})
}

// report publishes which changes were taken and which dropped. Runs whose changes
// were all dropped are undone.
func (c *changes) report(done event.SettledChanges) {
	_ = c.events.publish(session.ChangesSettled{SettledChanges: done})
	if done.Refused != "" {
		return
	}
	if len(done.Taken) == 0 && len(done.Dropped) > 0 {
		for _, run := range done.Runs {
			record := event.ChatUndone{Undo: event.Undo{Run: run, Files: []event.UndoneFile{}}}
			_ = c.events.publish(record)
			c.conversation.tellUndone(record)
		}
	}
	_ = c.events.publish(event.ChatReply{Text: untrusted.Text(settledReply(done))})
	c.overview.weigh()
}

// settledReply describes in Markdown which changes were taken and which dropped.
func settledReply(done event.SettledChanges) string {
	var lines []string
	list := func(heading string, paths []string) {
		if len(paths) > 0 {
			lines = append(lines, heading+":\n")
			for _, at := range paths {
				lines = append(lines, "- "+markdown.Code(at, 400))
			}
		}
	}
	var taken []string
	for _, f := range done.Taken {
		taken = append(taken, f.Path)
	}
	list("Took the changes of", taken)
	list("Dropped the changes of", done.Dropped)
	if len(lines) == 0 {
		lines = append(lines, "Nothing was taken")
	}
	for _, n := range done.Notes {
		lines = append(lines, "- note: "+markdown.Legible(n, 400))
	}
	return strings.Join(lines, "\n")
}
