package tui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// openGate is a gate that waits for an answer: a run's, or the session's own.
type openGate struct {
	run     string
	ask     event.GateRequested
	session bool
	tools   plan.Catalogue                  // of the run
	fits    func(args map[string]any) error // whether edited arguments fit the tool; nil for the session's own
	allowed []string                        // what the user has allowed in the run for longer than once
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
	if g.untrustedText() {
		parts = append(parts, "untrusted text")
	}
	return parts
}

// untrustedText reports whether the call carries text that somebody from outside
// may have written.
func (g openGate) untrustedText() bool {
	return carriesUntrustedText(g.ask.Provenance, g.tools)
}

func (g openGate) brief() (step, what, args string) {
	if g.session {
		return "", untrusted.Line(g.ask.Title), ""
	}
	return stepWords(g.ask.Step), untrusted.Line(g.ask.Tool), brief(g.ask.Args)
}

func (g openGate) choices(k *keyMap) []choice {
	answer := func(d event.Decision, s event.Scope) runner.Command {
		return runner.Resolve{Run: g.run, Gate: g.ask.Gate, Decision: d, Scope: s}
	}
	once, deny := answer(event.Allow, event.ScopeOnce), answer(event.Deny, event.ScopeOnce)
	if g.session {
		return []choice{
			{id: "gate.once", key: k.Once, does: "yes", short: "yes", send: once},
			{id: "gate.deny", key: k.Deny, does: "no", short: "no", send: deny},
			{id: "gate.run", key: k.ForRun, refuse: noStep, hidden: true},
			{id: "gate.always", key: k.Always, refuse: noStep, hidden: true},
			{id: "gate.edit", key: k.EditCall, refuse: noStep, hidden: true},
		}
	}
	always := choice{id: "gate.always", key: k.Always, does: "always…", short: "always", send: answer(event.Allow, event.ScopeAlways), saves: g.ask.Always}
	if g.ask.Always == nil {
		always.hidden, always.refuse = true, "Not always: "+g.ask.NoAlways+"."
		if g.ask.NoAlways == "" {
			always.refuse = "No rule was made for this call."
		}
	}
	args := g.ask.Args
	if args == nil {
		args = map[string]any{}
	}
	forRun := choice{id: "gate.run", key: k.ForRun, does: plain.ForRun(g.ask) + " for this run", short: "run", send: answer(event.Allow, event.ScopeRun)}
	if _, why := g.ask.ForRun(); why != "" {
		forRun.hidden, forRun.refuse = true, "Not for the run: "+why+"."
	}
	return []choice{
		{id: "gate.once", key: k.Once, does: "allow once", short: "once", send: once},
		forRun,
		always,
		{id: "gate.deny", key: k.Deny, does: "deny", short: "deny", send: deny},
		{id: "gate.edit", key: k.EditCall, does: "edit", short: "edit", edit: args},
	}
}

// noStep says why the servers of a project are answered in two ways alone.
const noStep = "This is no step of a run: y or n."

// with has other arguments take the place of those at the gate.
func (g openGate) with(args map[string]any) (runner.Command, error) {
	if err := g.fits(args); err != nil {
		return nil, err
	}
	return runner.Edit{Run: g.run, Gate: g.ask.Gate, Args: args}, nil
}

func (g openGate) resends() string { return "look at the call with these" }

// writeRule writes the rule that an answer for always saves, as it will stand there.
func writeRule(d *document, a *event.Always) {
	l := d.look
	for line := range strings.SplitSeq(strings.TrimRight(a.Text, "\n"), "\n") {
		d.code(l.Strong, line)
	}
	d.must = len(d.lines)
	d.blank()
	d.prose(l.Text, "This rule goes into your configuration, config.toml, before its other rules. Every call that it fits passes without a gate from now on, in this run and in all others in that folder and below. To take it back, take it out there.")
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
		d.field("why", l.Text, a.Rule.Why)
	}
	if a.Outdated != "" {
		d.field("again", l.Text, a.Outdated)
	}
	if !g.session {
		d.field("rule", l.Text, plain.Rule(a.Rule))
	}
	if a.Planned && a.Rule.Source != rule.SourcePlan {
		d.field("", l.Text, "the plan asks for a gate here too")
	}
	if len(g.allowed) > 0 {
		d.field("allowed", l.Text, strings.Join(g.allowed, "; ")+" (in this run, from the next call on)")
	}
	for _, from := range textSources(g.ask.Provenance, g.tools) {
		name, style := "beware", l.Warning
		if from.computed {
			name, style = "from", l.Text
		}
		d.field(name, style, from.words)
	}
	if words := plain.Lifts(a); words != "" {
		d.field("", l.Faint, words)
	}
	if a.Always == nil && a.NoAlways != "" {
		d.field("always", l.Text, "is no answer here: "+a.NoAlways)
	}
	if a.Diff != "" {
		d.blank()
		d.changes(a.Diff)
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
