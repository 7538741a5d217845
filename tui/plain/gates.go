package plain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/form"
	"replan/tui/draw"
	"replan/tui/story"
	"replan/tui/wording"
)

// gate prints the full call that waits. It omits whatever a workspace diff already
// shows.
func (l *Log) gate(d event.GateRequested) {
	what, tool := d.Tool, ""
	if d.Step != "" {
		what, tool = d.Step+" "+d.Title.Line(), "["+d.Tool+"]  "
	} else if what == "" {
		what = d.Title.Line()
	}
	l.Line("%s %s  %sasks: %s", l.Signs.Gate, l.Strong(what), l.Faint("%s", tool), wording.GateReason(d))
	if d.Outdated != "" {
		l.Line("    asked again: %s", d.Outdated.Line())
	}
	if word := wording.LookAlike(d); word != "" {
		l.Line("    beware: %s", word)
	}
	if d.Rule.Tool != "" && d.Step != "" {
		l.Line("    %s", l.Faint("rule: %s", wording.RuleWords(d.Rule)))
	}
	if d.Planned && d.Rule.Source != rule.SourcePlan {
		l.Line("    %s", wording.PlanGate)
	}
	if l.run != nil && d.Step != "" {
		if allowed := wording.Grants(l.run); len(allowed) > 0 {
			l.Line("    allowed in this run so far: %s", strings.Join(allowed, "; "))
		}
	}
	args := wording.NamedFiles(d.Args, d.Trusted)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		shown := d.Diff != "" && d.Trusted && slices.Contains(drawn, name) || d.Command != nil && slices.Contains(run, name)
		if !shown {
			value := text(args[name])
			if d.Tool == "" { // the session asks about a server
				value = wording.ServerWords(d.Args[name])
			}
			l.approved(name, value)
		}
	}
	if d.Command != nil {
		l.approved("runs", wording.CallWords(d))
	}
	l.provenance(d.Provenance)
	if words := wording.PassRuleWords(d); words != "" {
		l.Line("    %s", words)
	}
	if d.Changed != "" {
		l.Block("    ", wording.ChangedTool+":\n"+strings.TrimRight(d.Changed.Visible(), "\n"), 0)
	}
	if d.Diff != "" {
		l.Patch("    ", d.Diff)
	}
}

// approved prints a value that the user approves. Lines of a longer one stand behind a
// margin, so that none of them looks like a line of the gate itself.
func (l *Log) approved(name, value string) {
	const indent = "    "
	name, value = untrusted.Line(name), untrusted.Visible(wording.Marked(value))
	if !strings.Contains(value, "\n") && (l.styles == nil || draw.VisibleWidth(name+": "+value) <= l.room(indent)) {
		l.Line(indent+"%s: %s", name, value)
		return
	}
	margin := indent + "│ "
	if l.ascii {
		margin = indent + "| "
	}
	l.Line(indent+"%s:", name)
	if l.styles != nil { // the terminal would break lines without a margin
		value = strings.Join(draw.WrapCode(value, l.room(indent+"| ")), "\n")
	}
	for line := range strings.SplitSeq(value, "\n") {
		l.put(margin + line)
	}
}

// drawn lists the arguments of workspace operators that their diff already shows.
var drawn = []string{"diff", "hashes", "new", "old", "text"}

// run lists the arguments of workspace operators that their command already shows, or
// that only tell what passes.
var run = []string{"path", "run", "sources", "allow_none", "allow_failures"}

// provenance prints the sources of text in a call.
func (l *Log) provenance(from []rule.Provenance) {
	for _, line := range wording.SourceLines(from) {
		l.Line("    %s", line)
	}
}

// granted prints that an earlier permission in the run lets a call pass, and where
// its text comes from.
func (l *Log) granted(e story.Entry) {
	words, from := e.Words, e.Event.(event.StepStarted).Provenance
	if len(from) > 0 {
		words += l.Between + "untrusted text"
	}
	l.Line("%s%s %s", inset(e), l.Signs.Gate, words)
	l.provenance(from)
}

// suggest remembers how to let a gate pass that nobody could answer.
func (l *Log) suggest(e story.Entry) {
	d, g := e.Event.(event.GateResolved), e.Gate
	if g == nil || g.Nothing || d.Decision != event.Deny || d.By != policy.ByNobody && !strings.HasPrefix(d.By, "--approve") {
		return
	}
	command := l.again
	if command == "" {
		command = "replan plan resume " + wording.ShortID(l.id())
	}
	if g.Changed != "" {
		l.hint = "to allow it: " + policy.AcceptCommand(*g) + ", then " + command
		return
	}
	l.hint = fmt.Sprintf("to allow it: %s --approve %s", command, policy.Least(*g))
}

// id returns the id of the run being printed, "" for the session's own events.
func (l *Log) id() string {
	if l.run == nil {
		return ""
	}
	return l.run.ID
}

// elicitation prints the question of a server, with its form or its page.
func (l *Log) elicitation(d event.ElicitationRequested) {
	l.Line("%s %s  the server %s asks:", l.Signs.Gate, l.Strong(d.Step+" "+l.title(d.Step)), untrusted.Line(d.Server))
	l.Block("    ", d.Message.Visible(), outputShown)
	if d.URL != "" {
		l.Line("    page: %s", untrusted.Line(d.URL))
		return
	}
	fields, _ := form.Parse(d.Schema) // checked when it came
	for _, f := range fields {
		l.Line("    %s: %s", f.Label(), f.Hint())
	}
	if warning := form.Warning(fields); warning != "" {
		l.Line("    beware: %s", warning)
	}
}
