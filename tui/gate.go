package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/tui/untrusted"
)

// openGate is a gate that waits for an answer: a run's, or the session's own.
type openGate struct {
	run     string
	ask     agent.GateRequested
	session bool
}

func (g openGate) id() string { return g.run + " " + g.ask.Gate }
func (g openGate) of() string { return g.run }
func (g openGate) on() string { return g.ask.Step }

func (g openGate) sign(l *look) (string, lipgloss.Style) { return l.glyphs.Gate, l.Warning }

func (g openGate) name() string {
	if g.session {
		return "Question"
	}
	return "Gate"
}

func (g openGate) about() []string {
	var parts []string
	if g.ask.Tool != "" {
		parts = append(parts, untrusted.Line(g.ask.Tool))
	}
	if len(g.ask.Provenance) > 0 {
		parts = append(parts, "untrusted text")
	}
	return parts
}

func (g openGate) choices(k *keyMap) []choice {
	answer := func(d agent.Decision, s agent.Scope) runner.Command {
		return runner.Resolve{Run: g.run, Gate: g.ask.Gate, Decision: d, Scope: s}
	}
	once, deny := answer(agent.Allow, agent.ScopeOnce), answer(agent.Deny, agent.ScopeOnce)
	if g.session {
		return []choice{
			{key: k.Once, does: "yes", short: "yes", send: once},
			{key: k.Deny, does: "no", short: "no", send: deny},
			{key: k.ForRun, refuse: "This is no step of a run: y or n.", hidden: true},
		}
	}
	return []choice{
		{key: k.Once, does: "allow once", short: "once", send: once},
		{key: k.ForRun, does: untrusted.Line(g.ask.Tool) + " for this run", short: "run", send: answer(agent.Allow, agent.ScopeRun)},
		{key: k.Deny, does: "deny", short: "deny", send: deny},
	}
}

// write writes the whole question: what is called, why it asks, what it would
// change, every argument, and where text in them comes from.
func (g openGate) write(l *look, d *document) {
	a := g.ask
	title := untrusted.Line(a.Title)
	if title == "" {
		title = untrusted.Line(a.Tool)
	}
	if a.Tool == "" {
		d.prose(l.Strong, title)
	} else {
		d.call(title, a.Tool, a.Server, a.Step)
	}
	if a.Rule.Why != "" {
		d.field("why", l.Text, ruleWords(a.Rule))
	}
	for _, p := range a.Provenance {
		d.field("beware", l.Warning, provenanceWords(p))
	}
	if a.Diff != "" {
		d.blank()
		d.diff(a.Diff)
	}
	if len(a.Args) > 0 {
		heading := "the whole call"
		if g.session {
			heading = "what would be started"
		}
		d.heading(heading)
		d.object(a.Args)
	}
}

// provenanceWords says where text in a call comes from.
func provenanceWords(p agent.Provenance) string {
	from := stepWords(p.Step)
	if p.Tool != "" {
		from += " (" + untrusted.Line(p.Tool) + ")"
	}
	what := "the call"
	if p.Arg != "" {
		what = fmt.Sprintf("%q", p.Arg)
	}
	if p.Written {
		return fmt.Sprintf("a model wrote %s after reading the untrusted result of %s", what, from)
	}
	return fmt.Sprintf("%s carries text from %s, an untrusted result", what, from)
}

// ruleWords says why a rule asks, and whose it is.
func ruleWords(r agent.Rule) string {
	if r.Source == "" {
		return r.Why
	}
	return r.Why + " (" + r.Source + " rule)"
}

// call adds what is called, beside its title: the tool, its server and its step.
func (d *document) call(title, tool, server, step string) {
	l := d.look
	var parts []string
	for _, name := range []string{tool, server} {
		if name != "" {
			parts = append(parts, untrusted.Line(name))
		}
	}
	if step != "" {
		parts = append(parts, stepWords(step))
	}
	if title == parts[0] { // a call that a model asks for has no title of its own
		parts = parts[1:]
	}
	call := strings.Join(parts, " "+l.glyphs.Separator+" ")
	d.lines = append(d.lines, flow([]string{
		l.Strong.Render(l.cut(title, d.width)), l.Muted.Render(l.cut(call, d.width)),
	}, "  ", d.width)...)
}
