// Package plain prints a run as lines of text, for pipes, logs and screen readers.
// It applies the same events to the same run type as the full screen.
package plain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// outputShown is the maximum number of lines printed of a result, an error or a
// failed step's output. The journal has all of them.
const outputShown = 20

// Log writes a line for each event that matters.
type Log struct {
	out     io.Writer
	session string
	marks   marks
	ascii   bool
	run     *agent.Run       // the run being printed
	runs    []*agent.Run     // active runs; a run started by a chat call follows the run that made the call
	before  session.Resuming // earlier events, which are not printed again
	cut     string           // last message about text left out of a prompt
	blocked string           // guard sentence already printed
	notes   string           // file with the project's instructions
	named   bool             // notes has been named
	status  session.Status   // last status received
	lost    map[string]bool  // servers that have failed
	silent  bool             // the model was told not to answer
	err     error            // from the first failed write
}

// marks are the signs at the start of lines.
type marks struct {
	done, failed, started, gate, skipped, note, removed, added, revised, replan, pending, between string
}

// New returns a log that writes to out. session is the id of the session, whose own
// events belong to no run. ascii limits the output to ASCII characters.
func New(out io.Writer, session string, ascii bool) *Log {
	m := marks{"✓", "✗", "▸", "◆", "—", "·", "−", "+", "~", "↻", "○", " · "}
	if ascii {
		m = marks{"ok", "x", ">", "?", "=", ".", "-", "+", "~", "again:", "o", ", "}
	}
	return &Log{out: out, session: session, marks: m, ascii: ascii, lost: map[string]bool{}}
}

// Event prints one event. Once a write fails, Event returns that error on every
// call.
func (l *Log) Event(e event.Event) error {
	if e.Run == l.session {
		l.tellSession(e.Data)
		return l.err
	}
	if _, ok := e.Data.(event.RunStarted); ok {
		l.enter()
	} else if !l.find(e.Run) {
		return l.err
	}
	if err := l.run.Apply(e); err != nil {
		return fmt.Errorf("tell a run: %w", err)
	}
	if e.Run != l.before.Run || e.Seq > l.before.Upto {
		l.tell(e.Data)
	}
	return l.err
}

// enter starts a run. It drops the previous runs if the first of them is over.
func (l *Log) enter() {
	if len(l.runs) > 0 && l.runs[0].Result != nil {
		l.runs = nil
	}
	l.run = &agent.Run{}
	l.runs = append(l.runs, l.run)
}

// find selects the run with the given id and reports whether it exists.
func (l *Log) find(id string) bool {
	for _, r := range l.runs {
		if r.ID == id {
			l.run = r
			return true
		}
	}
	return false
}

// inset returns the indentation for lines of a run started by a call.
func (l *Log) inset() string {
	if len(l.runs) > 0 && l.run != l.runs[0] {
		return "    "
	}
	return ""
}

// line writes one line. All output passes through it, so it keeps text from models
// and servers from controlling the terminal or adding lines.
func (l *Log) line(format string, args ...any) {
	if l.err != nil {
		return
	}
	text := untrusted.Visible(fmt.Sprintf(format, args...))
	if text != "" {
		text = l.inset() + text
	}
	_, l.err = io.WriteString(l.out, strings.ReplaceAll(text, "\n", " ")+"\n")
}

// block writes text unchanged, with indent before each line.
func (l *Log) block(indent, text string, most int) {
	lines := strings.Split(strings.TrimRight(untrusted.Visible(text), "\n"), "\n")
	for i, line := range lines {
		if most > 0 && i == most {
			l.line("%s… %d more lines", indent, len(lines)-most)
			return
		}
		l.line("%s", strings.TrimRight(indent+line, " "))
	}
}

func (l *Log) tellSession(d event.Data) {
	if len(l.runs) > 0 {
		l.run = l.runs[0]
	}
	switch d := d.(type) {
	case event.ChatCompacted:
		l.compacted(d)
	case event.ChatUndone:
		l.line("%s undone: %s, %s put back", l.marks.note, d.Run, english.Count(len(d.Files), "file"))
	case event.Note:
		l.line("%s %s", l.marks.note, untrusted.Line(d.Text))
	case event.GateRequested:
		l.gate(d)
	case event.GateResolved:
		l.resolved(d)
	case session.Resuming:
		l.before = d
	case session.Status:
		l.notes = untrusted.Line(d.Instructions)
		l.health(d)
	}
}

// tell prints an event that has already been applied to the run.
func (l *Log) tell(d event.Data) {
	if n := len(l.run.Exchanges); n > 0 {
		if cut := l.run.Exchanges[n-1].Request.Shortened; cut != "" && cut != l.cut {
			l.cut = cut
			l.line("%s %s", l.marks.note, untrusted.Line(cut))
		}
	}
	switch d := d.(type) {
	case event.RunStarted:
		l.line("%s goal: %s", l.marks.started, untrusted.Line(d.Goal))
		for _, m := range d.Prompting.Mentions {
			l.line("  @ %s", Mentioned(m, strings.TrimSpace(l.marks.between)))
		}
		l.where(d.Model, len(d.Catalogue), d.Workspace)
	case event.RunResumed:
		l.resumed(d)
	case event.PhaseStarted:
		l.line("%s %s", l.marks.started, d.Label)
	case event.PhaseCompleted:
		l.line("%s %s  %s  %d tokens", l.marks.done, d.Label, seconds(d.MS), d.Tokens)
	case event.PhaseSkipped:
		l.line("%s %s skipped: %s", l.marks.skipped, d.Label, untrusted.Line(d.Reason))
	case event.PhaseFailed:
		if d.Failure == event.FailureInterrupted {
			l.line("%s %s stopped", l.marks.skipped, d.Label)
			break
		}
		l.line("%s %s failed: %s", l.marks.failed, d.Label, untrusted.Line(d.Reason))
	case event.ModelRequested:
		l.modelRequested(d)
	case event.ModelReplied:
		l.modelReplied(d)
	case event.SynthesisStarted:
		l.line("%s answer", l.marks.started)
	case event.GuardBlocked:
		l.blocked = d.Reason
		l.line("%s %s", l.marks.failed, untrusted.Line(d.Reason))
	case event.GuardWarned:
		l.line("%s %s (guard %s)", l.marks.note, d.Reason, d.Guard)
	case event.BudgetWarned:
		l.line("%s %s: %d of %d used", l.marks.note, d.Guard, d.Used, d.Limit)
	case event.Note:
		l.line("%s %s", l.marks.note, untrusted.Line(d.Text))
	case event.JournalDamaged:
		l.line("%s line %d of the journal is damaged, and what it said is lost", l.marks.note, d.Line)
	case event.RunSteered:
		l.line("%s you: %s", l.marks.started, untrusted.Line(d.Text))
	case event.RunPaused:
		l.line("%s %s", l.marks.note, untrusted.Line(d.Reason))
	case event.RunCompleted:
		l.completed(d.Result)
	default:
		if !l.tellPlan(d) {
			l.tellStep(d)
		}
	}
	l.held(d)
}

// tellPlan prints how the plan was made and changed. It reports whether the event
// concerns the plan.
func (l *Log) tellPlan(d event.Data) bool {
	switch d := d.(type) {
	case event.RouteMatched:
		l.line("%s %s", l.marks.done, untrusted.Line(Routed(d, l.run.Model)))
	case event.PlanCreated:
		l.line("%s plan: %s", l.marks.started, untrusted.Line(d.Plan.Title))
		l.block("  ", Plan(d.Plan, l.ascii), 0)
	case event.PlanEmpty:
		l.line("%s no plan: %s", l.marks.failed, untrusted.Line(d.Reason))
	case event.PlanDiff:
		l.diff(d)
	case event.PlanReviewed:
		l.reviewed(d)
	case event.ReplanStarted:
		l.line("%s replan %d: step %s failed", l.marks.replan, d.Attempt, d.Step)
	case event.ReplanRefused:
		l.line("%s replan %d refused: %s", l.marks.failed, d.Attempt, untrusted.Line(d.Reason))
	default:
		return false
	}
	return true
}

// modelRequested prints that a model is working on a request that may take long. It
// skips turns, because their step or answer is already announced.
func (l *Log) modelRequested(d event.ModelRequested) {
	if d.Purpose != prompt.PurposeAgent && d.Purpose != prompt.PurposeChat {
		l.line("%s %s", l.marks.started, asked(d.Purpose, d.Step))
	}
}

// asked describes the request to a model.
func asked(purpose prompt.Purpose, step string) string {
	switch {
	case purpose == prompt.PurposeAgent:
		return "turn of step " + step
	case step != "":
		return "arguments of step " + step
	default:
		return string(purpose)
	}
}

func (l *Log) modelReplied(d event.ModelReplied) {
	name := asked(d.Purpose, d.Step)
	if d.Failure == event.FailureInterrupted {
		l.line("%s %s stopped", l.marks.skipped, name)
		return
	}
	if d.Error != "" {
		l.line("%s %s failed: %s", l.marks.failed, name, untrusted.Line(d.Error))
		return
	}
	switch d.Purpose {
	case prompt.PurposeAgent:
		return // its calls are printed
	case prompt.PurposeChat:
		if d.Reply.Text != "" && len(d.Reply.Calls) > 0 {
			l.block("", d.Reply.Text, 0)
		}
		return
	}
	l.line("%s %s  %s  %d tokens", l.marks.done, name, seconds(d.MS), d.PromptTokens+d.CompletionTokens)
}

// where prints the name of the run, its model, its tools and its workspace.
func (l *Log) where(model string, tools int, workspace string) {
	named := "no model"
	if model != "" {
		named = "model " + untrusted.Line(model)
	}
	l.line("  run %s, %s, %s, in %s", l.run.ID, named, english.Count(tools, "tool"), untrusted.Line(workspace))
	if l.notes != "" && !l.named {
		l.named = true
		l.line("  notes of this project: %s", l.notes)
	}
}

// dryStep prints what a step would do: its call, as far as it is known, and whether
// a gate would stop it.
func (l *Log) dryStep(d event.StepCompleted) {
	what := ""
	if s := l.run.Step(d.Index); s != nil {
		what = "  [" + by(s.Step.Executor, s.Step.Tool) + "]"
	}
	l.line("%s %s %s%s  dry run", l.marks.pending, d.Index, l.title(d.Index), what)
	for _, name := range slices.Sorted(maps.Keys(d.Args)) {
		l.block("    ", name+": "+text(d.Args[name]), 0)
	}
	if d.Gate == nil {
		return
	}
	would := "would ask"
	if d.Gate.Verdict == rule.VerdictBlock {
		would = "would be denied"
	}
	l.line("    %s: %s (%s rule for %s)", would, d.Gate.Why, d.Gate.Source, d.Gate.Tool)
}

// doubtWords describes the decision about a step in doubt.
func doubtWords(d event.DoubtDecision) string {
	switch d {
	case event.DoubtDone:
		return "it took effect"
	case event.DoubtRerun:
		return "to be run again"
	default:
		return "it stays in doubt, and the run ends"
	}
}

// failureWords says how the run continues after a failed step.
func failureWords(d event.FailureDecision) string {
	switch d {
	case event.FailureRetry:
		return "to be tried again"
	case event.FailureSkip:
		return "to be left out, with what needs it"
	case event.FailureReplan:
		return "to be replanned"
	default:
		return "the run ends"
	}
}

// tellStep prints what happened to a step or its gate.
func (l *Log) tellStep(d event.Data) {
	if l.tellCall(d) {
		return
	}
	switch d := d.(type) {
	case event.StepStarted:
		again := ""
		if d.Attempt > 1 {
			again = fmt.Sprintf(", attempt %d", d.Attempt)
		}
		l.line("%s %s %s  [%s]%s", l.marks.started, d.Index, untrusted.Line(d.Title), by(d.Executor, d.Tool), again)
		l.coerced("  ", d.Coerced)
		l.passed("  ", d)
	case event.StepCompleted:
		if d.DryRun {
			l.dryStep(d)
			return
		}
		l.line("%s %s %s  %s", l.marks.done, d.Index, l.title(d.Index), seconds(d.MS))
	case event.StepFailed:
		if d.Removes != "" || d.Outdated != "" {
			return // its gate reports the reason
		}
		l.line("%s %s %s  %s", l.marks.failed, d.Index, l.title(d.Index), seconds(d.MS))
		l.block("    ", d.Error, outputShown)
	case event.StepRetry:
		l.line("%s %s %s  again", l.marks.replan, d.Index, l.title(d.Index))
	case event.StepSkipped:
		l.line("%s %s %s  skipped: %s", l.marks.skipped, d.Index, l.title(d.Index), untrusted.Line(d.Reason))
	case event.StepInDoubt:
		l.line("%s %s %s  in doubt: %s", l.marks.gate, d.Index, l.title(d.Index), untrusted.Line(d.Reason))
	case event.DoubtResolved:
		l.line("  %s step %s: %s%s", l.marks.gate, d.Step, doubtWords(d.Decision), byWords(d.By))
	case event.FailureResolved:
		l.line("  %s step %s: %s%s", l.marks.gate, d.Step, failureWords(d.Decision), byWords(d.By))
		for _, name := range slices.Sorted(maps.Keys(d.Args)) {
			l.block("    ", name+": "+text(d.Args[name]), 0)
		}
	case event.GateRequested:
		l.gate(d)
	case event.GateResolved:
		l.resolved(d)
	}
}

// byWords names who decided: the user, an option, or a sentence on why nobody did.
func byWords(by string) string {
	switch {
	case by == "":
		return ""
	case strings.HasPrefix(by, "nobody "):
		return " (" + by + ")"
	default:
		return ", by " + by
	}
}

// question prints a step that waits for the user's decision, with its full call.
func (l *Log) question(q agent.Question) {
	tool := "model"
	if q.Tool != "" {
		tool = q.Tool
	}
	asks := "failed; how shall it go on?"
	switch {
	case q.Doubt:
		asks = "in doubt; did it take effect?"
	case q.Denied:
		asks = "denied; how shall the run go on?"
	}
	l.line("%s %s %s  [%s]  %s", l.marks.gate, q.Step, untrusted.Line(q.Title), tool, asks)
	if q.Reason != "" {
		l.block("    ", q.Reason, outputShown)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Args)) {
		l.block("    ", name+": "+text(q.Args[name]), 0)
	}
}

func (l *Log) title(index string) string {
	if s := l.run.Step(index); s != nil {
		return untrusted.Line(s.Step.Title)
	}
	return ""
}

func (l *Log) diff(d event.PlanDiff) {
	l.line("%s plan, revision %d", l.marks.started, d.Revision)
	l.block("  ", Run(l.run, l.ascii, nil), 0)
}

// by names the executor of a step.
func by(executor plan.Executor, tool string) string {
	if tool != "" {
		return untrusted.Line(tool)
	}
	return untrusted.Line(string(executor))
}

// indented formats a result: text unchanged, objects and lists over several lines.
func indented(v any) string {
	var lines bytes.Buffer
	if _, ok := v.(string); ok || json.Indent(&lines, []byte(plan.CanonicalJSON(v)), "", "  ") != nil {
		return text(v)
	}
	return lines.String()
}

// text formats the value of an argument: text unchanged, anything else as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return plan.CanonicalJSON(v)
}

func seconds(ms int64) string {
	return fmt.Sprintf("%.1fs", (time.Duration(ms) * time.Millisecond).Seconds())
}

// OneLine formats text from outside as one line, truncated with a mark at width
// runes.
func OneLine(s string, width int) string {
	runes := []rune(untrusted.Line(s))
	if len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return string(runes)
}
