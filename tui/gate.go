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
	fits    func(args map[string]any) error // whether edited arguments fit the tool; nil for the session's own
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
			{key: k.ForRun, refuse: noStep, hidden: true},
			{key: k.Always, refuse: noStep, hidden: true},
			{key: k.EditCall, refuse: noStep, hidden: true},
		}
	}
	always := choice{key: k.Always, does: "always…", short: "always", send: answer(agent.Allow, agent.ScopeAlways), saves: g.ask.Always}
	if g.ask.Always == nil {
		always.does, always.refuse = "always", "Not always: "+g.ask.NoAlways+"."
		if g.ask.NoAlways == "" {
			always.hidden, always.refuse = true, "No rule was made for this call."
		}
	}
	args := g.ask.Args
	if args == nil {
		args = map[string]any{}
	}
	return []choice{
		{key: k.Once, does: "allow once", short: "once", send: once},
		{key: k.ForRun, does: untrusted.Line(g.ask.Tool) + " for this run", short: "run", send: answer(agent.Allow, agent.ScopeRun)},
		always,
		{key: k.Deny, does: "deny", short: "deny", send: deny},
		{key: k.EditCall, does: "edit", short: "edit", edit: args},
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

// saving writes the rule that an answer for always saves, as it will stand there.
func (d *document) saving(a *agent.Always) {
	l := d.look
	for line := range strings.SplitSeq(strings.TrimRight(a.Text, "\n"), "\n") {
		d.code(l.Strong, line)
	}
	d.must = len(d.lines)
	d.blank()
	d.prose(l.Text, "This rule goes into your configuration, config.toml, before its other rules. Every call that it fits passes without a gate from now on, in this run and in all others. To take it back, take it out there.")
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
	for _, words := range provenanceWords(a.Provenance) {
		d.field("beware", l.Warning, words)
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

// provenanceWords says where text in a call comes from: a sentence for each
// argument that carries some, and one for each that a model wrote after it had
// read some.
func provenanceWords(from []agent.Provenance) []string {
	var out, written []string
	read := map[string][]string{} // argument → what was read before it was written
	for _, p := range from {
		step := stepWords(p.Step)
		if p.Tool != "" {
			step += " (" + untrusted.Line(p.Tool) + ")"
		}
		if !p.Written {
			out = append(out, fmt.Sprintf("%s carries text from %s, an untrusted result", argWords(p.Arg), step))
			continue
		}
		if read[p.Arg] == nil {
			written = append(written, p.Arg)
		}
		read[p.Arg] = append(read[p.Arg], step)
	}
	for _, arg := range written {
		result := "result"
		if len(read[arg]) > 1 {
			result = "results"
		}
		out = append(out, fmt.Sprintf("a model wrote %s after reading the untrusted %s of %s", argWords(arg), result, strings.Join(read[arg], ", ")))
	}
	return out
}

// argWords names an argument; "" is all of them.
func argWords(name string) string {
	if name == "" {
		return "the call"
	}
	return fmt.Sprintf("%q", name)
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
