package plain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// gate prints the full call that waits. It omits whatever a workspace diff already
// shows.
func (l *Log) gate(d event.GateRequested) {
	what := d.Tool
	if d.Step != "" {
		what = fmt.Sprintf("%s %s  [%s]", d.Step, untrusted.Line(d.Title), d.Tool)
	} else if what == "" {
		what = untrusted.Line(d.Title)
	}
	l.line("%s %s  asks: %s", l.marks.gate, what, untrusted.Line(d.Rule.Why))
	if d.Outdated != "" {
		l.line("    asked again: %s", untrusted.Line(d.Outdated))
	}
	if d.Rule.Tool != "" {
		l.line("    rule: %s", Rule(d.Rule))
	}
	if d.Planned && d.Rule.Source != rule.SourcePlan {
		l.line("    the plan asks for a gate here too")
	}
	if l.run != nil && d.Step != "" {
		if allowed := Allowed(l.run); len(allowed) > 0 {
			l.line("    allowed in this run so far: %s", strings.Join(allowed, "; "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Args)) {
		if d.Diff == "" || !d.Trusted || !slices.Contains(drawn, name) {
			l.block("    ", name+": "+text(d.Args[name]), 0)
		}
	}
	l.provenance(d.Provenance)
	if words := Lifts(d); words != "" {
		l.line("    %s", words)
	}
	if d.Diff != "" {
		l.block("    ", d.Diff, 0)
	}
}

// drawn lists the arguments of workspace operators that their diff already shows.
var drawn = []string{"diff", "hashes", "new", "old", "text"}

// provenance prints the sources of text in a call.
func (l *Log) provenance(from []rule.Provenance) {
	for _, line := range sources(from) {
		l.line("    %s", line)
	}
}

// sources describes the source of the text in each argument, one line per source.
func sources(from []rule.Provenance) []string {
	var out, steps []string
	carry := map[string][]string{} // step → arguments that carry text of its result
	read := map[string][]string{}  // argument → steps whose results were read before it was written
	for _, p := range from {
		if p.Mention != "" {
			out = append(out, fmt.Sprintf("a model wrote %s after reading %s, which your message mentions", cmp.Or(p.Arg, "the call"), untrusted.Line(p.Mention)))
			continue
		}
		if p.Written {
			read[p.Arg] = append(read[p.Arg], p.Step)
			continue
		}
		if carry[p.Step] == nil {
			steps = append(steps, p.Step)
		}
		carry[p.Step] = append(carry[p.Step], cmp.Or(p.Arg, "the call"))
	}
	for _, step := range steps {
		args := carry[step]
		words := "text from step " + step + " is in "
		if last := len(args) - 1; last > 0 {
			words += strings.Join(args[:last], ", ") + " and "
		}
		out = append(out, words+args[len(args)-1])
	}
	for _, arg := range slices.Sorted(maps.Keys(read)) {
		out = append(out, fmt.Sprintf("a model wrote %s after reading the result of %s", cmp.Or(arg, "the call"), strings.Join(read[arg], ", ")))
	}
	return out
}

// Lifts describes the kind of untrusted text in a call and what would let such a
// call pass without a gate. It returns "" if there is no relevant text.
func Lifts(g event.GateRequested) string {
	var exact, written []string
	for _, p := range g.Provenance {
		arg := untrusted.Line(cmp.Or(p.Arg, "the call"))
		switch {
		case p.Written && !slices.Contains(written, arg) && !g.Undoable():
			written = append(written, arg)
		case !p.Written && !slices.Contains(exact, arg) && (!g.Undoable() || p.Tool != "code.transform"):
			exact = append(exact, arg)
		}
	}
	var out []string
	if len(exact) > 0 {
		run := "r or "
		if _, why := g.ForRun(); why != "" {
			run = ""
		}
		out = append(out, "exact ("+strings.Join(exact, ", ")+"): only "+run+"a rule with untrusted=yes lets this pass unasked")
	}
	if len(written) > 0 {
		out = append(out, "written ("+strings.Join(written, ", ")+"): only a rule with a pattern for it lets this pass unasked")
	}
	return strings.Join(out, "; ")
}

// coerced prints which arguments were converted to the type their tool expects.
func (l *Log) coerced(indent string, all []plan.Coercion) {
	for _, c := range all {
		l.line("%s%s fitted to the tool's types: %s", indent, l.marks.note, untrusted.Line(c.String()))
	}
}

// passed prints that an earlier permission in the run lets a call pass, and where
// its text comes from.
func (l *Log) passed(indent string, d event.StepStarted) {
	words := Passed(l.run, d)
	if words == "" {
		return
	}
	if len(d.Provenance) > 0 {
		words += l.marks.between + "untrusted text"
	}
	l.line("%s%s %s", indent, l.marks.gate, words)
	l.provenance(d.Provenance)
}

// resolved prints the answer to a gate.
func (l *Log) resolved(d event.GateResolved) {
	how := string(d.Decision)
	switch {
	case d.Decision == event.Edit:
		how = "edited: it asks again"
	case d.Scope == event.ScopeRun:
		how += " for this run"
	case d.Scope == event.ScopeAlways && d.Rule != nil:
		how += " always (" + d.Rule.String() + ")"
	}
	l.line("  %s %s%s", l.marks.gate, how, byWords(d.By))
}
