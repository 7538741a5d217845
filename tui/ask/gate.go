package ask

import (
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/telling"
)

// OpenGate is a gate that waits for an answer: one of a run, or the session's own.
type OpenGate struct {
	Run     string
	Ask     event.GateRequested
	Session bool
	Tools   plan.Catalogue                  // tools of the run
	Fits    func(args map[string]any) error // checks edited arguments against the tool; nil for the session's own gate
	Allowed []string                        // what the user has allowed in the run beyond a single call
}

func (g OpenGate) id() string { return g.Run + " " + g.Ask.Gate }
func (g OpenGate) of() string { return g.Run }
func (g OpenGate) on() string { return g.Ask.Step }

func (g OpenGate) sign(l *draw.Look) (string, lipgloss.Style) { return l.Glyphs.Gate, l.Warning }

// Name returns the kind of step or call that the gate guards.
func (g OpenGate) Name() string {
	if g.Session {
		return "Question"
	}
	return "Gate"
}

func (g OpenGate) about() []string {
	var parts []string
	if g.Ask.Tool != "" {
		parts = append(parts, untrusted.Line(g.Ask.Tool))
	}
	if g.untrustedText() {
		parts = append(parts, "untrusted text")
	}
	return parts
}

// untrustedText reports whether the call carries text that an outsider may have
// written.
func (g OpenGate) untrustedText() bool {
	return telling.CarriesUntrustedText(g.Ask.Provenance, g.Tools)
}

// Brief returns the step, the kind of request and the main argument, for a list of
// gates.
func (g OpenGate) Brief() (step, what, args string) {
	if g.Session {
		return "", g.Ask.Title.Line(), ""
	}
	return telling.StepWords(g.Ask.Step), untrusted.Line(g.Ask.Tool), brief(g.Ask.Args)
}

func (g OpenGate) choices(k *keymap.Map) []choice {
	answer := func(d event.Decision, s event.Scope) runner.Command {
		return runner.Resolve{Run: g.Run, Gate: g.Ask.Gate, Decision: d, Scope: s}
	}
	once, deny := answer(event.Allow, event.ScopeOnce), answer(event.Deny, event.ScopeOnce)
	if g.Session {
		return []choice{
			{id: "gate.once", key: k.Once, does: "yes", short: "yes", send: once},
			{id: "gate.deny", key: k.Deny, does: "no", short: "no", send: deny},
			{id: "gate.run", key: k.ForRun, refuse: noStep(k), hidden: true},
			{id: "gate.always", key: k.Always, refuse: noStep(k), hidden: true},
			{id: "gate.edit", key: k.EditCall, refuse: noStep(k), hidden: true},
		}
	}
	always := choice{id: "gate.always", key: k.Always, does: "always…", short: "always", send: answer(event.Allow, event.ScopeAlways), saves: g.Ask.Always}
	if g.Ask.Always == nil {
		always.hidden, always.refuse = true, "Not always: "+g.Ask.NoAlways.Visible()+"."
		if g.Ask.NoAlways == "" {
			always.refuse = "This call has no rule to save."
		}
	}
	args := g.Ask.Args
	if args == nil {
		args = map[string]any{}
	}
	forRun := choice{id: "gate.run", key: k.ForRun, does: telling.RunScope(g.Ask) + " for this run", short: "run", send: answer(event.Allow, event.ScopeRun)}
	if _, why := g.Ask.ForRun(); why != "" {
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

// noStep explains why the gate for a project's servers accepts only two answers.
func noStep(k *keymap.Map) string {
	return "This is not a step of a run: " + k.Name("gate.once") + " or " + k.Name("gate.deny") + "."
}

// with replaces the arguments at the gate.
func (g OpenGate) with(args map[string]any) (runner.Command, error) {
	if err := g.Fits(args); err != nil {
		return nil, err
	}
	return runner.Edit{Run: g.Run, Gate: g.Ask.Gate, Args: args}, nil
}

func (g OpenGate) resends() string { return "check the call with these" }

// writeRule writes the rule that an "always" answer saves, in the form in which it
// is saved.
func writeRule(d *draw.Document, a *event.Always) {
	l := d.Look
	for line := range strings.SplitSeq(strings.TrimRight(a.Text, "\n"), "\n") {
		d.Code(l.Strong, line)
	}
	d.Must = len(d.Lines)
	d.Blank()
	d.Prose(l.Text, "This rule is added to your configuration, config.toml, before the other rules. From now on every matching call passes without a gate, in this run and in all others in that folder and below. To undo this, remove it there.")
}

// write writes the full request: the call, the reason for the gate, the expected
// changes, every argument, and the sources of their text.
func (g OpenGate) write(l *draw.Look, d *draw.Document) {
	a := g.Ask
	title := a.Title.Line()
	if title == "" {
		title = untrusted.Line(a.Tool)
	}
	if a.Tool == "" {
		d.Prose(l.Strong, title)
	} else {
		d.Call(title, a.Tool, a.Server, a.Step)
	}
	if a.Rule.Why != "" {
		d.Field("why", l.Text, a.Rule.Why.Visible())
	}
	if a.Outdated != "" {
		d.Field("again", l.Text, a.Outdated.Visible())
	}
	if !g.Session {
		d.Field("rule", l.Text, telling.RuleWords(a.Rule))
	}
	if a.Planned && a.Rule.Source != rule.SourcePlan {
		d.Field("", l.Text, telling.PlanGate)
	}
	if len(g.Allowed) > 0 {
		d.Field("allowed", l.Text, strings.Join(g.Allowed, "; ")+" (in this run, from the next call on)")
	}
	for _, from := range telling.TextSources(g.Ask.Provenance, g.Tools) {
		name, style := "beware", l.Warning
		if from.Computed {
			name, style = "from", l.Text
		}
		d.Field(name, style, from.Words)
	}
	if words := telling.PassRuleWords(a); words != "" {
		d.Field("", l.Faint, words)
	}
	if a.Always == nil && a.NoAlways != "" {
		d.Field("always", l.Text, "is not offered: "+a.NoAlways.Visible())
	}
	if a.Diff != "" {
		d.Blank()
		d.Changes(a.Diff)
	}
	if len(a.Args) > 0 {
		heading := "the whole call"
		if g.Session {
			heading = "programs to start"
		}
		d.Heading(heading)
		d.Object(a.Args)
	}
}
