package step

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/wording"
)

// tab is one view of a step.
type tab int

// Tabs of the pane.
const (
	tabArgs   tab = iota
	tabItems      // only of a step that runs for each item of a list
	tabOutput     // next to the expected outcome
	tabChecks     // what its checks saw; only of a plan with checks
	tabDiff
	tabStory // attempts and decisions
	tabTiming
	tabs
)

var tabNames = [tabs]string{"args", "items", "output", "checks", "diff", "story", "timing"}

// tabBar is which tab is shown, and where the names of all are in the title.
type tabBar struct {
	current tab
	chosen  bool            // the user chose it; it stays until the pane shows another step
	at      [tabs]draw.Rect // in the title, from its start
}

// shown returns the tab that is shown.
func (b *tabBar) shown() tab { return b.current }

// choose shows a tab for the user.
func (b *tabBar) choose(t tab) { b.current, b.chosen = t, true }

// prefer shows the preferred tab, unless the user chose one. It reports whether that is
// another one.
func (b *tabBar) prefer(t tab) bool {
	if b.chosen || t == b.current {
		return false
	}
	b.current = t
	return true
}

// release lets the preferred tab be shown again.
func (b *tabBar) release() { b.chosen = false }

// beside returns the tab that is so many of the offered tabs after the current one.
func (b *tabBar) beside(offered []tab, by int) tab {
	return offered[(max(slices.Index(offered, b.current), 0)+by+len(offered))%len(offered)]
}

// under returns the tab at a cell of the title.
func (b *tabBar) under(x int) (t tab, found bool) {
	for t, r := range b.at {
		if r.Contains(x, 0) {
			return tab(t), true
		}
	}
	return 0, false
}

// title draws the name of the step and the offered tabs. Without a frame around it, the
// name is left out.
func (b *tabBar) title(l *draw.Styles, step string, offered []tab, framed bool, width int) string {
	names, count := 0, len(offered)
	for _, t := range offered {
		names += len(tabNames[t])
	}
	for _, between := range []string{" " + l.Glyphs.Separator + " ", "  ", " "} {
		gap := ansi.StringWidth(between)
		switch {
		case framed && ansi.StringWidth(step)+names+count*gap <= width:
			return l.Muted.Render(step) + l.Faint.Render(between) + b.row(l, offered, between, ansi.StringWidth(step)+gap)
		case !framed && names+(count-1)*gap <= width, gap == 1 && names+count-1 <= width:
			return b.row(l, offered, between, 0)
		}
	}
	b.at = [tabs]draw.Rect{}
	return l.Muted.Render(step+" ") + l.Accent.Bold(true).Underline(true).Render(tabNames[b.current]) +
		l.Muted.Render(fmt.Sprintf(" %d/%d", slices.Index(offered, b.current)+1, count))
}

// row draws the tabs from cell x and records their positions.
func (b *tabBar) row(l *draw.Styles, offered []tab, between string, x int) string {
	var row strings.Builder
	b.at = [tabs]draw.Rect{}
	for i, t := range offered {
		name := tabNames[t]
		if i > 0 {
			row.WriteString(l.Faint.Render(between))
			x += ansi.StringWidth(between)
		}
		style := l.Muted
		if t == b.current {
			style = l.Accent.Bold(true).Underline(true)
		}
		b.at[t] = draw.Rect{X: x, Y: 0, W: len(name), H: 1}
		x += len(name)
		row.WriteString(style.Render(name))
	}
	return row.String()
}

// offeredTabs returns the tabs of a step in their order.
func offeredTabs(run *agent.Run, s *agent.StepState) []tab {
	offered := make([]tab, 0, tabs)
	for t := range tabs {
		switch {
		case t == tabChecks && (run == nil || !run.Checks()), t == tabItems && (s == nil || s.Step.ForEach == nil):
		default:
			offered = append(offered, t)
		}
	}
	return offered
}

// preferredTab returns the most informative tab for the current state of a step. Gated
// means that its gate on the screen shows the change.
func preferredTab(run *agent.Run, s *agent.StepState, gated bool) tab {
	switch {
	case s == nil, s.DryRun && s.Items == nil:
		return tabArgs
	case s.Items != nil:
		return tabItems
	case s.Loop != nil && (s.Status == agent.StepRunning || wording.Halted(run, s)) && s.Loop.Text != "":
		return tabOutput
	case s.Failure == event.FailureCheck, s.Status == agent.StepChecking:
		return tabChecks
	case s.Status == agent.StepWaiting && s.Diff != "" && !gated:
		return tabDiff
	case s.Status == agent.StepRunning && s.Output != "", s.Status == agent.StepCompleted, s.Status == agent.StepFailed:
		return tabOutput
	default:
		return tabArgs
	}
}
