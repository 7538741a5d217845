package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/planning"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// openGate is a gate that waits for an answer: a run's, or the session's own.
type openGate struct {
	run     string
	ask     agent.GateRequested
	session bool
	tools   planning.Catalogue              // of the run
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
	return slices.ContainsFunc(g.ask.Provenance, func(p agent.Provenance) bool { return !g.computed(p) })
}

func (g openGate) brief() (step, what, args string) {
	if g.session {
		return "", untrusted.Line(g.ask.Title), ""
	}
	return stepWords(g.ask.Step), untrusted.Line(g.ask.Tool), brief(g.ask.Args)
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
		always.hidden, always.refuse = true, "Not always: "+g.ask.NoAlways+"."
		if g.ask.NoAlways == "" {
			always.refuse = "No rule was made for this call."
		}
	}
	args := g.ask.Args
	if args == nil {
		args = map[string]any{}
	}
	forRun := choice{key: k.ForRun, does: plain.ForRun(g.ask) + " for this run", short: "run", send: answer(agent.Allow, agent.ScopeRun)}
	if _, why := g.ask.ForRun(); why != "" {
		forRun.hidden, forRun.refuse = true, "Not for the run: "+why+"."
	}
	return []choice{
		{key: k.Once, does: "allow once", short: "once", send: once},
		forRun,
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
	if a.Planned && a.Rule.Source != agent.SourcePlan {
		d.field("", l.Text, "the plan asks for a gate here too")
	}
	if len(g.allowed) > 0 {
		d.field("allowed", l.Text, strings.Join(g.allowed, "; ")+" (in this run, from the next call on)")
	}
	for _, from := range g.sources() {
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

// computed reports whether what an argument carries is no text that somebody
// wrote, but a change that the workspace's own operator worked out, of which the
// gate shows all.
func (g openGate) computed(p agent.Provenance) bool {
	t, err := g.tools.Find(p.Tool)
	return err == nil && t.Trusted && t.Name == "code.transform" && !p.Written
}

// source says where text in a call comes from.
type source struct {
	words    string
	computed bool
}

// sources says where text in the call comes from: a sentence for each step whose
// result arguments carry, and one for each argument that a model wrote after it
// had read results.
func (g openGate) sources() []source {
	var out []source
	var steps, written []string
	carry := map[string][]string{} // step → the arguments that carry its result
	own := map[string]bool{}       // step → its result is computed
	read := map[string][]string{}  // argument → what was read before it was written
	for _, p := range g.ask.Provenance {
		if p.Mention != "" {
			out = append(out, source{words: "a model wrote " + argWords(p.Arg) + " after reading " + untrusted.Line(p.Mention) + ", which your message mentions"})
			continue
		}
		step := stepWords(p.Step)
		if p.Tool != "" {
			step += " (" + untrusted.Line(p.Tool) + ")"
		}
		if !p.Written {
			if carry[step] == nil {
				steps = append(steps, step)
			}
			carry[step], own[step] = append(carry[step], argWords(p.Arg)), g.computed(p)
			continue
		}
		if read[p.Arg] == nil {
			written = append(written, p.Arg)
		}
		read[p.Arg] = append(read[p.Arg], step)
	}
	for _, step := range steps {
		args, verb := carry[step], "carries"
		words := args[0]
		if last := len(args) - 1; last > 0 {
			words, verb = strings.Join(args[:last], ", ")+" and "+args[last], "carry"
		}
		if own[step] {
			words += " " + verb + " what was computed by " + step
		} else {
			words += " " + verb + " text from " + step + ", an untrusted result"
		}
		out = append(out, source{words, own[step]})
	}
	for _, arg := range written {
		result := "result"
		if len(read[arg]) > 1 {
			result = "results"
		}
		out = append(out, source{words: fmt.Sprintf("a model wrote %s after reading the untrusted %s of %s", argWords(arg), result, strings.Join(read[arg], ", "))})
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
