package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/tui/untrusted"
)

// graceTime is how long no key may have been pressed before a gate that has
// just opened takes one. Keys that were meant for the input approve nothing.
const graceTime = 400 * time.Millisecond

// graceMsg says that graceTime has passed since the key numbered count.
type graceMsg struct{ count int }

// openGate is a gate that waits for an answer: a run's, or the session's own.
type openGate struct {
	run     string
	ask     agent.GateRequested
	session bool
}

// id is unique over all runs.
func (g openGate) id() string { return g.run + " " + g.ask.Gate }

// gateDialog puts open gates to the user, one after the other. It opens by
// itself over whatever is shown.
type gateDialog struct {
	look  *look
	keys  *keyMap
	queue []openGate

	open     bool
	seen     map[string]bool // gates that were put to the user
	answered map[string]bool // gates whose answer is on its way
	shown    string          // id of the gate in the dialog
	grace    bool            // takes no key yet
	early    bool            // a key came too early
	count    int             // of grace times begun
	mute     bool            // another question has the keys
	placed   bool            // the view was put where the change shows
	top      int
	doc      *document
	body     int // lines of the document in view
}

func newGateDialog(l *look, k *keyMap) *gateDialog {
	return &gateDialog{look: l, keys: k, seen: map[string]bool{}, answered: map[string]bool{}}
}

// set takes the gates that are open now. A gate not seen before opens the
// dialog and begins a grace time.
func (g *gateDialog) set(gates []openGate) tea.Cmd {
	g.queue = g.queue[:0]
	fresh := false
	for _, gate := range gates {
		if g.answered[gate.id()] {
			continue
		}
		g.queue = append(g.queue, gate)
		if !g.seen[gate.id()] {
			g.seen[gate.id()], fresh = true, true
		}
	}
	if len(g.queue) == 0 {
		g.open, g.shown, g.doc = false, "", nil
		return nil
	}
	if fresh && !g.open {
		g.open = true
	}
	return g.front()
}

// front puts the first gate of the queue in the dialog. Another one than before
// begins a grace time of its own.
func (g *gateDialog) front() tea.Cmd {
	if len(g.queue) == 0 {
		g.open, g.shown, g.doc = false, "", nil
		return nil
	}
	if id := g.queue[0].id(); id != g.shown {
		g.shown, g.top, g.doc, g.placed = id, 0, nil, false
		if g.open {
			return g.wait()
		}
	}
	return nil
}

// wait begins a grace time.
func (g *gateDialog) wait() tea.Cmd {
	g.grace = true
	g.count++
	count := g.count
	return tea.Tick(graceTime, func(time.Time) tea.Msg { return graceMsg{count} })
}

// rested ends the grace time, unless a key has come since.
func (g *gateDialog) rested(m graceMsg) {
	if m.count == g.count {
		g.grace, g.early = false, false
	}
}

// reopen shows the gates again after the user looked around.
func (g *gateDialog) reopen() tea.Cmd {
	g.open, g.shown = true, ""
	g.early = false
	return g.front()
}

// waiting is how many gates are open.
func (g *gateDialog) waiting() int { return len(g.queue) }

// press takes a key while the dialog is open. It returns the answer, where the
// key was one.
func (g *gateDialog) press(k tea.KeyPressMsg) (*runner.Resolve, tea.Cmd) {
	if g.grace {
		g.early = true
		return nil, g.wait()
	}
	gate := g.queue[0]
	page := max(g.body-1, 1)
	switch {
	case key.Matches(k, g.keys.Once):
		return g.answer(gate, agent.Allow, agent.ScopeOnce)
	case key.Matches(k, g.keys.ForRun) && !gate.session:
		return g.answer(gate, agent.Allow, agent.ScopeRun)
	case key.Matches(k, g.keys.Deny):
		return g.answer(gate, agent.Deny, agent.ScopeOnce)
	case key.Matches(k, g.keys.Away):
		g.open = false
	case key.Matches(k, g.keys.Up):
		g.top--
	case key.Matches(k, g.keys.Down):
		g.top++
	case key.Matches(k, g.keys.PageUp, g.keys.HalfUp):
		g.top -= page
	case key.Matches(k, g.keys.PageDown, g.keys.HalfDown) || k.String() == "space":
		g.top += page
	case key.Matches(k, g.keys.First):
		g.top = 0
	case key.Matches(k, g.keys.Last):
		g.top = 1 << 30
	}
	return nil, nil
}

// scroll moves what the dialog shows by lines.
func (g *gateDialog) scroll(lines int) { g.top += lines }

func (g *gateDialog) answer(gate openGate, d agent.Decision, s agent.Scope) (*runner.Resolve, tea.Cmd) {
	g.answered[gate.id()] = true
	g.queue = g.queue[1:]
	return &runner.Resolve{Run: gate.run, Gate: gate.ask.Gate, Decision: d, Scope: s}, g.front()
}

// retheme draws the dialog anew.
func (g *gateDialog) retheme() { g.doc = nil }

// showing reports whether the dialog is on the screen.
func (g *gateDialog) showing() bool { return g.open && len(g.queue) > 0 }

// prepare writes the question for a dialog of that width, its border included.
func (g *gateDialog) prepare(width int) {
	if g.doc == nil || g.doc.width != width-4 {
		g.doc = &document{look: g.look, width: width - 4}
		g.write(g.queue[0])
	}
}

// height is how many lines the dialog would like, its border included.
func (g *gateDialog) height(width int) int {
	if !g.showing() {
		return 0
	}
	g.prepare(width)
	return len(g.doc.lines) + len(g.bar(g.queue[0], width-4)) + 3
}

// draw draws the dialog in exactly height lines of exactly width cells.
func (g *gateDialog) draw(width, height int) []string {
	l, gate := g.look, g.queue[0]
	g.prepare(width)
	bar := g.bar(gate, width-4)
	g.body = max(height-3-len(bar), 1)
	if first := g.doc.change; !g.placed && first+2 >= g.body {
		g.top = first + 3 - g.body // the first lines that change are in view
	}
	g.placed = true
	content := g.doc.rows(&g.top, g.body)
	title := l.Warning.Bold(true).Render(l.glyphs.Gate + " " + g.title(gate))
	for i, line := range bar {
		bar[i] = l.fit(line, width-4)
	}
	return l.frame(width, l.Warning,
		section{title: title, note: g.doc.place(g.top, g.body), lines: padded(content), style: l.Warning},
		section{lines: padded(bar), style: l.Warning},
	)
}

func (g *gateDialog) title(gate openGate) string {
	title := "Gate"
	if gate.session {
		title = "Question"
	}
	if n := len(g.queue); n > 1 {
		title += fmt.Sprintf(" 1 of %d", n)
	}
	parts := []string{title}
	if gate.ask.Tool != "" {
		parts = append(parts, untrusted.Line(gate.ask.Tool))
	}
	if len(gate.ask.Provenance) > 0 {
		parts = append(parts, "untrusted text")
	}
	return strings.Join(parts, " "+g.look.glyphs.Separator+" ")
}

// bar is the keys of the dialog, faint while they do nothing yet.
func (g *gateDialog) bar(gate openGate, width int) []string {
	l := g.look
	if g.grace && g.early {
		return []string{l.Warning.Render(l.cut("That key came too early to be an answer. Press it again.", width))}
	}
	keyStyle, textStyle := l.Key.Bold(true), l.Text
	if g.grace || g.mute {
		keyStyle, textStyle = l.Faint, l.Faint
	}
	choice := func(k key.Binding, does string) string {
		return keyStyle.Render(k.Help().Key) + " " + textStyle.Render(does)
	}
	var parts []string
	if gate.session {
		parts = []string{choice(g.keys.Once, "yes"), choice(g.keys.Deny, "no")}
	} else {
		parts = []string{choice(g.keys.Once, "allow once"), choice(g.keys.ForRun, untrusted.Line(gate.ask.Tool)+" for this run"), choice(g.keys.Deny, "deny, end run")}
	}
	parts = append(parts, choice(g.keys.Away, "look around"))
	lines := flow(parts, "   ", width)
	if len(lines) > 2 {
		short := []string{choice(g.keys.Once, "once"), choice(g.keys.ForRun, "run"), choice(g.keys.Deny, "deny"), choice(g.keys.Away, "back")}
		if gate.session {
			short = []string{choice(g.keys.Once, "yes"), choice(g.keys.Deny, "no"), choice(g.keys.Away, "back")}
		}
		lines = flow(short, "  ", width)
	}
	return lines
}

// write writes the whole question: what is called, why it asks, what it would
// change, every argument, and where text in them comes from.
func (g *gateDialog) write(gate openGate) {
	l, d, a := g.look, g.doc, gate.ask
	title := untrusted.Line(a.Title)
	if title == "" {
		title = untrusted.Line(a.Tool)
	}
	if a.Tool == "" {
		d.prose(l.Strong, title)
	} else {
		d.lines = append(d.lines, flow([]string{
			l.Strong.Render(l.cut(title, d.width)), l.Muted.Render(l.cut(g.call(a), d.width)),
		}, "  ", d.width)...)
	}
	if a.Rule.Why != "" {
		why := a.Rule.Why
		if a.Rule.Source != "" {
			why += " (" + a.Rule.Source + " rule)"
		}
		d.field("why", l.Text, why)
	}
	for _, p := range a.Provenance {
		from := "step " + p.Step
		if p.Tool != "" {
			from += " (" + p.Tool + ")"
		}
		d.field("beware", l.Warning, fmt.Sprintf("%q carries text from %s, an untrusted result", p.Arg, from))
	}
	if a.Diff != "" {
		d.blank()
		d.diff(a.Diff)
	}
	if len(a.Args) > 0 {
		heading := "the whole call"
		if gate.session {
			heading = "what would be started"
		}
		d.heading(heading)
		d.object(a.Args)
	}
}

// call names the tool, its server and its step.
func (g *gateDialog) call(a agent.GateRequested) string {
	parts := []string{untrusted.Line(a.Tool)}
	if a.Server != "" {
		parts = append(parts, untrusted.Line(a.Server))
	}
	if a.Step != "" {
		parts = append(parts, "step "+untrusted.Line(a.Step))
	}
	return strings.Join(parts, " "+g.look.glyphs.Separator+" ")
}
