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
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
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

// toast shows a notice. Whatever it is about, it is told once at a time.
func (m *Model) toast(level, text string) {
	if m.quiet {
		return
	}
	text = untrusted.FirstLine(text)
	t := &m.toasts
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

// lay draws the notices over the screen's lines, from the first on, at their right.
func (m *Model) lay(screen []string, first, rows int) {
	l, width := m.look, m.layout.width
	const widest, margin = 56, 1 // cells
	for i, t := range m.toasts.list {
		if i >= rows || first+i >= len(screen) {
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
		under := screen[first+i]
		before := ansi.Truncate(under, left, "")
		before += strings.Repeat(" ", max(left-draw.VisibleWidth(before), 0))
		screen[first+i] = before + drawn + ansi.TruncateLeft(under, width-margin, "")
	}
}

// notices tells what of an event is worth a notice.
func (m *Model) notices(e event.Event) {
	switch d := e.Data.(type) {
	case session.Status:
		m.serverNotices(d)
	case event.GateResolved:
		if d.Scope == event.ScopeAlways && d.Rule != nil {
			m.toast("info", "saved the rule "+d.Rule.String())
		}
	case event.BudgetWarned:
		m.toast("warn", "80 % used: "+telling.BudgetWords(agent.Budget{Guard: d.Guard, Used: d.Used, Limit: d.Limit}))
	}
}

// serverNotices tells which servers were lost and which are back, and that a
// model answers at last.
func (m *Model) serverNotices(now session.Status) {
	was := map[string]plan.ServerState{}
	for _, s := range m.status.Servers {
		was[s.Name] = s.State
	}
	for _, s := range now.Servers {
		switch {
		case s.State == plan.ServerFailed && was[s.Name] == plan.ServerReady:
			m.lost[s.Name] = true
			m.toast("error", "lost the server "+s.Name+": "+s.Error)
		case s.State == plan.ServerFailed && was[s.Name] == plan.ServerStarting:
			m.lost[s.Name] = true
			m.toast("error", "the server "+s.Name+" did not start")
		case s.State == plan.ServerReady && m.lost[s.Name]:
			delete(m.lost, s.Name)
			m.toast("info", "the server "+s.Name+" is ready: "+english.Count(s.Tools, "tool"))
		}
	}
	if m.status.Problem != "" && now.Problem == "" && now.Model != "" {
		m.toast("info", now.Model+" answers")
	}
}
