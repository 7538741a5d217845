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

// mostToasts is how many notices stand at once; an older one gives way.
const mostToasts = 3

// toastMsg is the end of a notice's time, unless another count goes by now.
type toastMsg struct{ count int }

// toasts are short notices in the upper right corner. They take no key: they
// vanish by themselves, or with the next key whatever that does.
type toasts struct {
	pauses draw.Pauses
	quiet  bool // what is told happened before: nothing of it is worth a notice
	list   []toast
	count  int  // of timers, so that one of cleared notices ends nothing
	timing bool // a timer is under way
	late   bool // the next is that of a notice that has stood beside another
}

// toast is one notice.
type toast struct {
	level string // info, warn or error, as of a note
	text  string
}

// show shows a notice. Whatever it is about, it is told once at a time.
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

// timer is the one timer of the notices, nil where none is wanted.
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

// faded takes the oldest notice away.
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

// clear takes all notices away.
func (t *toasts) clear() {
	t.list, t.timing, t.late = nil, false, false
	t.count++
}

// lay draws the notices over lines of the screen, at their right.
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

// notices tells what of an event is worth a notice.
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
