package ask

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// OpenGate is a gate that waits for an answer: one of a run, or the session's own.
type OpenGate struct {
	Run     string
	Ask     event.GateRequested
	Session bool
	Tools   plan.Catalog                    // tools of the run
	Fits    func(args map[string]any) error // checks edited arguments against the tool; nil for the session's own gate
	Allowed []string                        // what the user has allowed in the run beyond a single call
	Goal    string                          // of the run
	Repeats bool                            // a call that was allowed once before
	Heard   bool                            // a model follows what the user says in place of a yes
}

// untrustedMark marks calls that carry text of outsiders.
const untrustedMark = "contains untrusted text"

func (g OpenGate) id() string { return g.Run + " " + g.Ask.Gate }
func (g OpenGate) of() string { return g.Run }
func (g OpenGate) on() string { return g.Ask.Step }

func (g OpenGate) sign(l *draw.Styles) (string, lipgloss.Style) { return l.Glyphs.Gate, l.Warning }

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
		parts = append(parts, untrustedMark)
	}
	return parts
}

// untrustedText reports whether the call carries text that an outsider may have
// written.
func (g OpenGate) untrustedText() bool {
	return wording.CarriesUntrustedText(g.Ask.Provenance, g.Tools)
}

// Brief returns the step, the kind of request and the main argument, for a list of
// gates.
func (g OpenGate) Brief() (step, what, args string) {
	if g.Session {
		return "", g.Ask.Title.Line(), ""
	}
	return wording.StepWords(g.Ask.Step), untrusted.Line(g.Ask.Tool), wording.CallLine(g.Ask)
}

func (g OpenGate) choices(k *keymap.Map) []choice {
	answer := func(d event.Decision, s event.Scope) session.Command {
		return session.Resolve{Run: g.Run, Gate: g.Ask.Gate, Call: g.Ask.Call, Decision: d, Scope: s}
	}
	once, deny := answer(event.Allow, event.ScopeOnce), answer(event.Deny, event.ScopeOnce)
	if g.Session {
		return []choice{
			{id: "gate.once", does: "yes", short: "yes", send: once, allows: true},
			{id: "gate.deny", does: "no", short: "no", send: deny},
			{id: "gate.run", refuse: noStep(k), hidden: true},
			{id: "gate.always", refuse: noStep(k), hidden: true},
			{id: "gate.edit", refuse: noStep(k), hidden: true},
		}
	}
	always := choice{id: "gate.always", does: "always…", short: "always", send: answer(event.Allow, event.ScopeAlways), saves: g.Ask.Always, allows: true}
	if g.Ask.AlwaysTool != nil {
		always.wider = &choice{send: answer(event.Allow, event.ScopeTool), saves: g.Ask.AlwaysTool}
	}
	switch {
	case g.Ask.Always != nil:
	case always.wider != nil:
		always.send, always.saves, always.wider = always.wider.send, always.wider.saves, nil
	default:
		always.hidden, always.refuse = true, wording.AlwaysOff(g.Ask)+"."
		if g.Ask.NoAlways == "" {
			always.refuse = "This call has no rule to save."
		}
	}
	args := g.Ask.Args
	if args == nil {
		args = map[string]any{}
	}
	forRun := choice{id: "gate.run", does: wording.RunScope(g.Ask) + " for this run" + wording.RunScopeHint(g.Repeats), short: "run", send: answer(event.Allow, event.ScopeRun), allows: true}
	if _, why := g.Ask.ForRun(); why != "" {
		forRun.hidden, forRun.refuse = true, "Not for the run: "+why+"."
	}
	allow, short := "allow once", "once"
	if g.Ask.Changed != "" {
		allow, short = "accept the change and allow", "accept"
	}
	return []choice{
		{id: "gate.once", does: allow, short: short, send: once, allows: true},
		forRun,
		always,
		{id: "gate.deny", does: "deny", short: "deny", send: deny, says: true},
		{id: "gate.edit", does: "edit", short: "edit", edit: args, schema: schemaOf(g.Tools, g.Ask.QualifiedTool(), g.Ask.Tool)},
	}
}

// schemaOf returns the schema of a tool by the first of its names that is known.
func schemaOf(tools plan.Catalog, names ...string) json.RawMessage {
	for _, name := range names {
		if t, err := tools.Find(name); err == nil {
			return t.InputSchema
		}
	}
	return nil
}

// noStep explains why the gate for a project's servers accepts only two answers.
func noStep(k *keymap.Map) string {
	return "Answer " + k.Name("gate.once") + " or " + k.Name("gate.deny") + "."
}

// with replaces the arguments at the gate.
func (g OpenGate) with(args map[string]any) (session.Command, error) {
	if err := g.Fits(args); err != nil {
		return nil, err
	}
	return session.Edit{Run: g.Run, Gate: g.Ask.Gate, Call: g.Ask.Call, Args: args}, nil
}

func (g OpenGate) resends() string { return "preview" }

// writeRule writes the rule that an "always" answer saves, in the form in which it
// is saved.
func writeRule(d *draw.Document, a *event.Always) page {
	l := d.Styles
	for line := range strings.SplitSeq(strings.TrimRight(a.Text, "\n"), "\n") {
		d.Code(l.Strong, line)
	}
	rule := page{must: []draw.Range{{From: 0, To: len(d.Lines)}}}
	d.Blank()
	until := ""
	if a.Rule.Pin != "" {
		until = " It no longer applies once the server changes the tool."
	}
	d.Prose(l.Text, "This rule is added to your configuration, config.toml, before the other rules. From now on every matching call passes without a gate, in this run and in all others in that folder and below."+until+" To undo this, remove it there.")
	return rule
}

// notes returns the reasons for a gate, the most urgent first. The sources of text
// are a warning only where they can do harm.
func (g OpenGate) notes(l *draw.Styles, width int) []string {
	if g.Session {
		return nil
	}
	var lines []string
	wrapped := func(style lipgloss.Style, text string) {
		lines = append(lines, draw.Paint(style, draw.Wrap(text, width))...)
	}
	more := " " + l.Glyphs.Folded
	if word := wording.LookAlike(g.Ask); word != "" {
		wrapped(l.Warning, "beware: "+word)
	}
	sources := wording.SourceWords(g.Ask.Provenance, g.Tools)
	if warning := wording.Warning(g.Ask, g.Tools, g.Goal); warning != "" {
		wrapped(l.Warning, "beware: "+warning+"; "+sources)
		sources = ""
	}
	if g.Ask.Outdated != "" {
		wrapped(l.Warning, "asks again: "+g.Ask.Outdated.Line())
	}
	asks, whose := wording.AskWords(g.Ask)
	if whose != "" {
		asks += " " + l.Glyphs.Separator + " " + whose
	}
	last := asks
	if sources != "" {
		lines, last = append(lines, l.Faint.Render(l.Cut(asks, width))), sources
	}
	lines = append(lines, l.Faint.Render(l.Cut(last, width-2)+more))
	if note := wording.AlwaysNote(g.Ask); note != "" {
		wrapped(l.Faint, note)
	}
	return lines
}

// write writes the request: the change that the call makes, or the call itself.
// Details are the reasons for the gate, the sources of text and every argument.
func (g OpenGate) write(l *draw.Styles, d *draw.Document, details bool) page {
	a := g.Ask
	d.ShowExact()
	title := a.Title.Line()
	if title == "" {
		title = untrusted.Line(a.Tool)
	}
	if g.Session {
		d.Prose(l.Strong, title)
		from := len(d.Lines)
		for _, name := range slices.Sorted(maps.Keys(a.Args)) {
			const short = 8 // cells: a longer name would be cut, and must be read
			words, label := wording.Marked(wording.ServerWords(a.Args[name])), untrusted.Line(name)
			if draw.VisibleWidth(label) <= short {
				d.Field(label, l.Text, words)
				continue
			}
			d.Prose(l.Faint, label)
			d.Item("  ", l.Text, words)
		}
		if a.Changed != "" {
			writeChange(l, d, a.Changed)
		}
		must := everyLine(from, len(d.Lines))
		d.Blank()
		d.Field("why", l.Text, a.Rule.Why.Visible())
		return page{must: must}
	}
	words := wording.CallWords(a)
	from := len(d.Lines)
	if words != "" {
		d.Code(l.Strong, wording.Marked(words))
	}
	must := everyLine(from, len(d.Lines))
	d.Call(title, a.Tool, a.Server, a.Step)
	whole := a.Diff == "" && words == "" // only the arguments say what the call does
	var p page
	switch {
	case a.Changed != "":
		if len(a.Args) > 0 {
			d.Blank()
			from = len(d.Lines)
			d.Object(a.Args)
			must = append(must, everyLine(from, len(d.Lines))...)
		}
		d.Heading(wording.ChangedTool)
		from = len(d.Lines)
		writeChange(l, d, a.Changed)
		p.must = append(must, everyLine(from, len(d.Lines))...)
	case a.Diff != "":
		d.Blank()
		p = page{must: append(must, d.Changes(a.Diff)...), changes: true}
	case whole && len(a.Args) > 0:
		d.Blank()
		from = len(d.Lines)
		d.Object(wording.NamedFiles(a.Args, a.Trusted))
		p.must = everyLine(from, len(d.Lines))
	default:
		p.must = must
	}
	p.details = len(d.Lines)
	if details {
		g.writeDetails(l, d, !whole)
	}
	return p
}

// writeChange writes how a server has changed a text. The words of descriptions, which
// stand behind a bar, stay whole.
func writeChange(l *draw.Styles, d *draw.Document, diff untrusted.Text) {
	for line := range strings.SplitSeq(strings.TrimRight(diff.Visible(), "\n"), "\n") {
		style := changeStyle(l, line)
		if sign, words, prose := strings.Cut(line, "| "); prose && len(sign) == 1 && words != "" {
			d.Item(style.Render(sign+"| "), style, words)
			continue
		}
		d.Code(style, line)
	}
}

// changeStyle returns the style for a line of what a server has changed.
func changeStyle(l *draw.Styles, line string) lipgloss.Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return l.Added
	case strings.HasPrefix(line, "-"):
		return l.Removed
	default:
		return l.Muted
	}
}

// everyLine returns a range for each line of a part of a document.
func everyLine(from, to int) []draw.Range {
	var out []draw.Range
	for i := from; i < to; i++ {
		out = append(out, draw.Range{From: i, To: i + 1})
	}
	return out
}

// writeDetails writes the reasons for the gate, the sources of text and, with args,
// every argument.
func (g OpenGate) writeDetails(l *draw.Styles, d *draw.Document, args bool) {
	a := g.Ask
	d.Heading("why it asks")
	if why := wording.GateReason(a); why != "" {
		d.Field("why", l.Text, why)
	}
	if a.Outdated != "" {
		d.Field("again", l.Text, a.Outdated.Visible())
	}
	d.Field("rule", l.Text, wording.RuleWords(a.Rule))
	if a.Planned && a.Rule.Source != rule.SourcePlan {
		d.Field("", l.Text, wording.PlanGate)
	}
	if len(g.Allowed) > 0 {
		d.Field("allowed", l.Text, strings.Join(g.Allowed, "; ")+" (in this run, from the next call on)")
	}
	for _, from := range wording.TextSources(a.Provenance, g.Tools) {
		d.Field("from", l.Text, from)
	}
	switch note := wording.AlwaysNote(a); {
	case note != "":
		d.Field("always", l.Text, strings.TrimPrefix(note, "always "))
	case a.Always == nil && a.NoAlways != "":
		d.Field("always", l.Text, "is off: "+a.NoAlways.Visible())
	}
	if args && len(a.Args) > 0 {
		d.Heading("arguments")
		d.Object(a.Args)
	}
}
