package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/telling"
)

// mostToasts is the maximum number of notices shown at once; a new one replaces
// the oldest.
const mostToasts = 3

// toastMsg ends the oldest notice's time. A message with an outdated count is
// ignored.
type toastMsg struct{ count int }

// toasts are short notices in the upper right corner. They take no keys and
// disappear after a while, or at the next key.
type toasts struct {
	pauses draw.Pauses
	quiet  bool // events are history and need no notices
	list   []toast
	count  int  // number of timers, so that a timer of cleared notices has no effect
	timing bool // a timer is running
	late   bool // the next timer is for a notice that was shown beside another
}

// toast is one notice.
type toast struct {
	level string // info, warn or error, like a note's
	text  string
}

// show shows a notice. It ignores a text that is already on the screen.
func (t *toasts) show(level, text string) {
	if t.quiet {
		return
	}
	text = untrusted.FirstLine(text)
	for _, other := range t.list {
		if other.text == text {
			return
		}
	}
	if len(t.list) == mostToasts {
		t.list = t.list[1:]
	}
	t.list = append(t.list, toast{level, text})
}

// timer starts the timer of the notices; nil if none is needed.
func (t *toasts) timer() tea.Cmd {
	if len(t.list) == 0 || t.timing {
		return nil
	}
	t.timing = true
	t.count++
	count, after := t.count, t.pauses.Toast
	if t.late {
		after = t.pauses.NextToast
	}
	return tea.Tick(after, func(time.Time) tea.Msg { return toastMsg{count} })
}

// faded removes the oldest notice.
func (t *toasts) faded(msg toastMsg) {
	if msg.count != t.count || !t.timing {
		return
	}
	t.timing = false
	if len(t.list) > 0 {
		t.list = t.list[1:]
	}
	t.late = len(t.list) > 0
}

// clear removes all notices.
func (t *toasts) clear() {
	t.list, t.timing, t.late = nil, false, false
	t.count++
}

// lay draws the notices over the right side of lines.
func (t *toasts) lay(l *draw.Look, width int, lines []string, rows int) {
	const widest, margin = 56, 1 // cells
	for i, t := range t.list {
		if i >= rows || i >= len(lines) {
			return
		}
		glyph, style := l.Glyphs.Done, l.Success
		switch t.level {
		case "warn":
			glyph, style = l.Glyphs.Warning, l.Warning
		case "error":
			glyph, style = l.Glyphs.Failed, l.Danger
		}
		lit := func(s lipgloss.Style, text string) string { return l.Selected(s).Render(text) }
		room := min(widest, width-margin-1) - 4
		text := l.Cut(t.text, room)
		drawn := lit(style, " "+glyph+" ") + lit(l.Text, text+" ")
		left := width - draw.VisibleWidth(drawn) - margin
		under := lines[i]
		before := ansi.Truncate(under, left, "")
		before += strings.Repeat(" ", max(left-draw.VisibleWidth(before), 0))
		lines[i] = before + drawn + ansi.TruncateLeft(under, width-margin, "")
	}
}

// notices shows a notice for an event that deserves one.
func (m *Model) notices(e event.Event) {
	switch d := e.Data.(type) {
	case session.Status:
		m.servers.notices(m.status, d, m.toasts.show)
	case event.GateResolved:
		if d.Scope == event.ScopeAlways && d.Rule != nil {
			m.toasts.show("info", "saved the rule "+d.Rule.String())
		}
	case event.BudgetWarned:
		m.toasts.show("warn", "80 % used: "+telling.BudgetWords(agent.Budget{Guard: d.Guard, Used: d.Used, Limit: d.Limit}))
	}
}
