package frame

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

// mostToasts is the maximum number of notices shown at once; a new one replaces
// the oldest.
const mostToasts = 3

// ToastMsg ends the oldest notice's time.
type ToastMsg struct{ timer int }

// Toasts are short notices at the right edge. They take no keys and disappear after a
// while, or at the next key.
type Toasts struct {
	silent  bool // show none: events are history
	pauses  draw.Pauses
	notices []toast
	budgets []string // texts of notices about budgets of runs under way
	timers  int      // number of timers, so that a timer of cleared notices has no effect
	timing  bool     // a timer is running
	late    bool     // the next timer is for a notice that was shown beside another
}

// toast is one notice.
type toast struct {
	level string // info, warn or error, like a note's
	text  string
}

// NewToasts returns no notices; pauses say how long they will stay.
func NewToasts(pauses draw.Pauses) *Toasts { return &Toasts{pauses: pauses} }

// Silence shows no more notices: events are history.
func (t *Toasts) Silence() { t.silent = true }

// Show shows a notice; its level is info, warn or error. It ignores a text that
// is already on the screen.
func (t *Toasts) Show(level, text string) {
	if t.silent {
		return
	}
	text = untrusted.FirstLine(text)
	for _, shown := range t.notices {
		if shown.text == text {
			return
		}
	}
	if len(t.notices) == mostToasts {
		t.notices = t.notices[1:]
	}
	t.notices = append(t.notices, toast{level, text})
}

// Notify shows a notice for an event of a run that deserves one.
func (t *Toasts) Notify(data event.Data) {
	switch d := data.(type) {
	case event.GateResolved:
		if d.Scope == event.ScopeAlways && d.Rule != nil {
			t.Show("info", wording.SavedRule(*d.Rule))
		}
	case event.BudgetWarned:
		t.Show("warn", wording.BudgetWords(agent.Budget{Guard: d.Guard, Used: d.Used, Limit: d.Limit}))
		t.budgets = append(t.budgets, wording.BudgetWords(agent.Budget{Guard: d.Guard, Used: d.Used, Limit: d.Limit}))
	case event.RunCompleted:
		t.notices = slices.DeleteFunc(t.notices, func(n toast) bool { return slices.Contains(t.budgets, n.text) })
		t.budgets = nil
	}
}

// Timer starts the timer of the oldest notice; nil if none is needed.
func (t *Toasts) Timer() tea.Cmd {
	if len(t.notices) == 0 || t.timing {
		return nil
	}
	t.timing = true
	t.timers++
	end, after := t.End(), t.pauses.Toast
	if t.late {
		after = t.pauses.NextToast
	}
	return tea.Tick(after, func(time.Time) tea.Msg { return end })
}

// End returns the message of the newest timer.
func (t *Toasts) End() ToastMsg { return ToastMsg{t.timers} }

// Update removes the oldest notice when its time ends.
func (t *Toasts) Update(msg ToastMsg) {
	if msg != t.End() || !t.timing {
		return
	}
	t.timing = false
	if len(t.notices) > 0 {
		t.notices = t.notices[1:]
	}
	t.late = len(t.notices) > 0
}

// Clear removes all notices.
func (t *Toasts) Clear() {
	t.notices, t.timing, t.late = nil, false, false
	t.timers++
}

// Draw draws the notices at the right of lines of width cells, one on each. It takes the
// lowest that are blank there, else on the first. The last ones are left out if there are
// too few lines.
func (t *Toasts) Draw(l *draw.Styles, width int, lines []string) {
	const margin = 1 // cells
	drawn := make([]string, min(len(t.notices), len(lines)))
	widest := 0
	for i := range drawn {
		drawn[i] = t.notices[i].draw(l, width-margin-1)
		widest = max(widest, draw.VisibleWidth(drawn[i]))
	}
	for i, at := range places(lines, len(drawn), width-margin-widest, width-margin) {
		left := width - draw.VisibleWidth(drawn[i]) - margin
		before := ansi.Truncate(lines[at], left, "")
		before += strings.Repeat(" ", max(left-draw.VisibleWidth(before), 0))
		lines[at] = before + drawn[i] + ansi.TruncateLeft(lines[at], width-margin, "")
	}
}

// places returns the n lowest lines that are blank between two columns but for the
// edges of panes, from the top. If there are fewer, it returns the first n lines.
func places(lines []string, n, from, to int) []int {
	const edges = " │|"
	out := make([]int, 0, n)
	for at, line := range slices.Backward(lines) {
		if len(out) < n && strings.Trim(ansi.Strip(ansi.Cut(line, from, to)), edges) == "" {
			out = append(out, at)
		}
	}
	if len(out) < n {
		out = out[:0]
		for at := range n {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// draw draws a notice in at most room cells.
func (n toast) draw(l *draw.Styles, room int) string {
	const widest = 76 // cells
	glyph, style := l.Glyphs.Done, l.Success
	switch n.level {
	case "warn":
		glyph, style = l.Glyphs.Warning, l.Warning
	case "error":
		glyph, style = l.Glyphs.Failed, l.Danger
	}
	lit := func(s lipgloss.Style, text string) string { return l.Selected(s).Render(text) }
	return lit(style, " "+glyph+" ") + lit(l.Text, l.Cut(n.text, min(widest, room)-4)+" ")
}
