package plain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/form"
	"replan/tui/draw"
	"replan/tui/story"
	"replan/tui/wording"
)

// gates prints what asks the user, and what lets calls pass.
type gates struct {
	*Printer
	ascii bool
	again string // the command that runs a deleted run again; "" if runs are kept
	hint  string // how to let a denied gate pass, "" if none was denied
}

// opens prints the full call that waits. It omits whatever a workspace diff already
// shows.
func (g *gates) opens(d event.GateRequested, run *agent.Run) {
	what, tool := d.Tool, ""
	if d.Step != "" {
		what, tool = d.Step+" "+d.Title.Line(), "["+d.Tool+"]  "
	} else if what == "" {
		what = d.Title.Line()
	}
	g.Line("%s %s  %sasks: %s", g.Signs.Gate, g.Strong(what), g.Faint("%s", tool), wording.GateReason(d))
	if d.Outdated != "" {
		g.Line("    asked again: %s", d.Outdated.Line())
	}
	if word := wording.LookAlike(d); word != "" {
		g.Line("    beware: %s", word)
	}
	if d.Rule.Tool != "" && d.Step != "" {
		g.Line("    %s", g.Faint("rule: %s", wording.RuleWords(d.Rule)))
	}
	if d.Planned && d.Rule.Source != rule.SourcePlan {
		g.Line("    %s", wording.PlanGate)
	}
	if run != nil && d.Step != "" {
		if allowed := wording.Grants(run); len(allowed) > 0 {
			g.Line("    allowed in this run so far: %s", strings.Join(allowed, "; "))
		}
	}
	args := wording.NamedFiles(d.Args, d.Trusted)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		shown := d.Diff != "" && d.Trusted && slices.Contains(drawn, name) || d.Command != nil && slices.Contains(commanded, name)
		if !shown {
			value := text(args[name])
			if d.Tool == "" { // the session asks about a server
				value = wording.ServerWords(d.Args[name])
			}
			g.approved(name, value)
		}
	}
	if d.Command != nil {
		g.approved("runs", wording.CallWords(d))
	}
	g.provenance(d.Provenance)
	if words := wording.AlwaysNote(d); words != "" {
		g.Line("    %s", words)
	}
	if d.Changed != "" {
		g.Block("    ", wording.ChangedTool+":\n"+strings.TrimRight(d.Changed.Visible(), "\n"), 0)
	}
	if d.Diff != "" {
		g.Patch("    ", d.Diff)
	}
}

// approved prints a value that the user approves. Lines of a longer one stand behind a
// margin, so that none of them looks like a line of the gate itself.
func (g *gates) approved(name, value string) {
	const indent = "    "
	name, value = untrusted.Line(name), untrusted.Visible(wording.Marked(value))
	if !strings.Contains(value, "\n") && (!g.onTerminal() || draw.VisibleWidth(name+": "+value) <= g.room(indent)) {
		g.Line(indent+"%s: %s", name, value)
		return
	}
	margin := indent + "│ "
	if g.ascii {
		margin = indent + "| "
	}
	g.Line(indent+"%s:", name)
	if g.onTerminal() { // the terminal would break lines without a margin
		value = strings.Join(draw.WrapCode(value, g.room(indent+"| ")), "\n")
	}
	for line := range strings.SplitSeq(value, "\n") {
		g.put(margin + line)
	}
}

// drawn lists the arguments of workspace operators that their diff already shows.
var drawn = []string{"diff", "hashes", "new", "old", "text"}

// commanded lists the arguments of workspace operators that their command already shows, or
// that only tell what passes.
var commanded = []string{"path", "run", "sources", "allow_none", "allow_failures"}

// provenance prints the sources of text in a call.
func (g *gates) provenance(from []rule.Provenance) {
	for _, line := range wording.SourceLines(from) {
		g.Line("    %s", line)
	}
}

// granted prints that an earlier permission in the run lets a call pass, and where
// its text comes from.
func (g *gates) granted(e story.Entry) {
	words, from := e.Words, e.Event.(event.StepStarted).Provenance
	if len(from) > 0 {
		words += g.Between + "untrusted text"
	}
	g.Line("%s%s %s", inset(e), g.Signs.Gate, words)
	g.provenance(from)
}

// answered remembers how to let a gate pass that no user could answer.
func (g *gates) answered(e story.Entry, run *agent.Run) {
	d, gate := e.Event.(event.GateResolved), e.Gate
	if gate == nil || gate.Nothing || d.Decision != event.Deny || d.By != policy.ByNobody && !strings.HasPrefix(d.By, "--approve") {
		return
	}
	command := g.again
	if command == "" {
		id := ""
		if run != nil { // nil for what the session itself asks
			id = run.ID
		}
		command = "replan plan resume " + wording.ShortID(id)
	}
	if gate.Changed != "" {
		g.hint = "to allow it: " + policy.AcceptCommand(*gate) + ", then " + command
		return
	}
	g.hint = fmt.Sprintf("to allow it: %s --approve %s", command, policy.Least(*gate))
}

// howToAllow returns how to let the last denied gate pass, "" if none was denied.
func (g *gates) howToAllow() string { return g.hint }

// serverAsks prints the question of a server, with its form or its page.
func (g *gates) serverAsks(d event.ElicitationRequested, run *agent.Run) {
	title := ""
	if s := run.Step(d.Step); s != nil {
		title = s.Step.Title.Line()
	}
	g.Line("%s %s  the server %s asks:", g.Signs.Gate, g.Strong(d.Step+" "+title), untrusted.Line(d.Server))
	g.Block("    ", d.Message.Visible(), outputShown)
	if d.URL != "" {
		g.Line("    page: %s", untrusted.Line(d.URL))
		return
	}
	fields, _ := form.Parse(d.Schema) // checked when it came
	for _, f := range fields {
		g.Line("    %s: %s", f.Label(), f.Hint())
	}
	if warning := form.Warning(fields); warning != "" {
		g.Line("    beware: %s", warning)
	}
}
