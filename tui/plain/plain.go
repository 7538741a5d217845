package plain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/plantext"
	"replan/tui/telling"
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
	look    *draw.Look                     // nil without a terminal
	width   func() int                     // of the terminal, in cells
	run     *agent.Run                     // the run being printed
	runs    []*agent.Run                   // active runs; a run started by a chat call follows the run that made the call
	before  session.Resuming               // earlier events, which are not printed again
	blocked untrusted.Text                 // guard sentence already printed
	failed  untrusted.Text                 // reason of the step failure printed last
	notes   string                         // file with the project's instructions
	named   bool                           // notes has been named
	status  session.Status                 // last status received
	lost    map[string]bool                // servers that have failed
	silent  bool                           // a line said that the model does not answer
	diffs   []string                       // printed at gates
	gates   map[string]event.GateRequested // those asked, by run and gate
	hint    string                         // how to let a denied gate pass
	err     error                          // from the first failed write
}

// marks are the signs at the start of lines.
type marks struct {
	done, failed, started, gate, skipped, note, removed, added, revised, replan, pending ink
	between                                                                              string
}

// Options say what a log prints on.
type Options struct {
	ASCII bool // print only ASCII characters
	// Look draws for a terminal of Width cells. Without one the log prints plain
	// text, whose lines programs can rely on.
	Look  *draw.Look
	Width func() int
}

// New returns a log that writes to out. session is the id of the session, whose own
// events belong to no run.
func New(out io.Writer, session string, o Options) *Log {
	l := &Log{out: out, session: session, ascii: o.ASCII, look: o.Look, width: o.Width, lost: map[string]bool{}, gates: map[string]event.GateRequested{}}
	signs, between := []string{"✓", "✗", "▸", "◆", "—", "·", "−", "+", "~", "↻", "○"}, " · "
	if o.ASCII {
		signs, between = []string{"ok", "x", ">", "?", "=", ".", "-", "+", "~", "again:", "o"}, ", "
	}
	styles := l.styles()
	m := &l.marks
	m.between = between
	for i, to := range []*ink{&m.done, &m.failed, &m.started, &m.gate, &m.skipped, &m.note, &m.removed, &m.added, &m.revised, &m.replan, &m.pending} {
		*to = ink{signs[i], [...]lipgloss.Style{
			styles.Success, styles.Danger, styles.Accent, styles.Warning, styles.Muted, styles.Muted,
			styles.Removed, styles.Added, styles.Accent, styles.Warning, styles.Muted,
		}[i]}
	}
	return l
}

// Event prints one event. Once a write fails, Event returns that error on every
// call.
func (l *Log) Event(e event.Event) error {
	if e.Run == l.session {
		l.printSession(e.Data)
		return l.err
	}
	if _, ok := e.Data.(event.RunStarted); ok {
		l.enter()
	} else if !l.find(e.Run) {
		return l.err
	}
	if err := l.run.Apply(e); err != nil {
		return fmt.Errorf("print a run: %w", err)
	}
	if e.Run != l.before.Run || e.Seq > l.before.Upto {
		l.printEvent(e.Data)
	}
	return l.err
}

// enter starts a run. It drops the previous runs if the first of them is over.
func (l *Log) enter() {
	if len(l.runs) > 0 && l.runs[0].Result != nil {
		l.runs = nil
	}
	l.run = agent.NewRun(nil)
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

// block writes text unchanged, with indent before each line.
func (l *Log) block(indent, text string, maxLines int) {
	lines := strings.Split(strings.TrimRight(untrusted.Visible(text), "\n"), "\n")
	for i, line := range lines {
		if maxLines > 0 && i == maxLines {
			l.line("%s… %s", indent, english.Count(len(lines)-maxLines, "more line"))
			return
		}
		l.line("%s", strings.TrimRight(indent+line, " "))
	}
}

// args writes the arguments of a call, by name.
func (l *Log) args(indent string, args map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		l.block(indent, name+": "+text(args[name]), 0)
	}
}

func (l *Log) printSession(d event.Data) {
	if len(l.runs) > 0 {
		l.run = l.runs[0]
	}
	switch d := d.(type) {
	case event.ChatCompacted:
		l.compacted(d)
	case event.ChatUndone:
		l.line("%s undone: %s, %s put back", l.marks.note, d.Run, english.Count(len(d.Files), "file"))
	case event.Note:
		l.line("%s %s", l.marks.note, d.Text.Line())
	case event.GateRequested:
		l.gate(d)
	case event.GateResolved:
		l.resolved(d)
	case session.Resuming:
		l.before = d
	case session.Status:
		l.notes = d.Instructions.Line()
		l.health(d)
	}
}

// printEvent prints an event that has already been applied to the run.
func (l *Log) printEvent(d event.Data) {
	switch d := d.(type) {
	case event.RunStarted:
		l.line("%s goal: %s", l.marks.started, l.strong(d.Goal.Line()))
		for _, m := range d.Prompting.Mentions {
			l.line("  @ %s", telling.MentionWords(m, strings.TrimSpace(l.marks.between)))
		}
		l.where(d.Model, len(d.Catalogue), d.Workspace)
	case event.RunResumed:
		l.resumed(d)
	case event.PhaseStarted:
		l.starts("%s %s", l.marks.started, d.Label)
	case event.PhaseCompleted:
		l.line("%s %s  %s", l.marks.done, d.Label, l.faint("%s  %s", telling.Milliseconds(d.MS), english.Count(d.Tokens, "token")))
	case event.PhaseSkipped:
		l.line("%s %s skipped: %s", l.marks.skipped, d.Label, d.Reason.Line())
	case event.PhaseFailed:
		if d.Failure == event.FailureInterrupted {
			l.line("%s %s stopped", l.marks.skipped, d.Label)
			break
		}
		l.line("%s %s failed: %s", l.marks.failed, d.Label, d.Reason.Line())
	case event.ModelRequested:
		l.modelRequested(d)
	case event.ModelReplied:
		l.modelReplied(d)
	case event.SynthesisStarted:
		l.starts("%s answer", l.marks.started)
	case event.GuardBlocked:
		l.blocked = d.Reason
		l.line("%s %s", l.marks.failed, d.Reason.Line())
	case event.GuardWarned:
		l.line("%s %s (guard %s)", l.marks.note, d.Reason, d.Guard)
	case event.BudgetWarned:
		l.line("%s %s", l.marks.note, telling.BudgetWarning(d))
	case event.Note:
		l.line("%s %s", l.marks.note, d.Text.Line())
	case event.JournalDamaged:
		l.line("%s %s", l.marks.note, telling.DamagedWords(d))
	case event.RunSteered:
		l.line("%s you: %s", l.marks.started, d.Text.Line())
	case event.RunPaused:
		l.line("%s %s", l.marks.note, d.Reason.Line())
	case event.RunCompleted:
		l.completed(d.Result)
	default:
		if !l.printPlan(d) {
			l.printStep(d)
		}
	}
	l.held(d)
}

// printPlan prints how the plan was made and changed. It reports whether the event
// concerns the plan.
func (l *Log) printPlan(d event.Data) bool {
	switch d := d.(type) {
	case event.RouteMatched:
		l.line("%s %s", l.marks.done, untrusted.Line(telling.RouteWords(d, l.run.Model)))
	case event.PlanCreated:
		l.line("%s plan: %s", l.marks.started, l.strong(d.Plan.Title.Line()))
		l.plan("  ", plantext.Plan(d.Plan, l.ascii))
	case event.PlanEmpty:
		l.blocked = d.Reason
		l.line("%s no plan: %s", l.marks.failed, d.Reason.Line())
	case event.PlanDiff:
		l.diff(d)
	case event.PlanReviewed:
		l.reviewed(d)
	case event.ReplanStarted:
		l.line("%s replan %d: step %s failed", l.marks.replan, d.Attempt, d.Step)
	case event.ReplanRefused:
		l.line("%s replan %d refused: %s", l.marks.failed, d.Attempt, d.Reason.Line())
	default:
		return false
	}
	return true
}

// modelRequested prints that a model is working on a request that may take long. It
// skips turns, because their step or answer is already announced.
func (l *Log) modelRequested(d event.ModelRequested) {
	if d.Purpose != prompt.PurposeAgent && d.Purpose != prompt.PurposeChat {
		l.starts("%s %s", l.marks.started, asked(d.Purpose, d.Step))
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
		l.line("%s %s failed: %s", l.marks.failed, name, d.Error.Line())
		return
	}
	switch d.Purpose {
	case prompt.PurposeAgent:
		return // its calls are printed
	case prompt.PurposeChat:
		if d.Reply.Text != "" && len(d.Reply.Calls) > 0 {
			l.markdown(d.Reply.Text)
		}
		return
	}
	l.line("%s %s  %s", l.marks.done, name, l.faint("%s  %s", telling.Milliseconds(d.MS), english.Count(d.PromptTokens+d.CompletionTokens, "token")))
}

// where prints the name of the run, its model, its tools and its workspace.
func (l *Log) where(model string, tools int, workspace string) {
	named := "no model"
	if model != "" {
		named = "model " + untrusted.Line(model)
	}
	l.line("  %s", l.faint("run %s, %s, %s, in %s", l.run.ID, named, english.Count(tools, "tool"), workspace))
	if l.notes != "" && !l.named {
		l.named = true
		l.line("  notes of this project: %s", l.notes)
	}
}

// dryStep prints what a step would do: the known part of its call, and whether a
// gate would stop it.
func (l *Log) dryStep(d event.StepCompleted) {
	what := ""
	if s := l.run.Step(d.Index); s != nil {
		what = "  [" + plantext.Executor(s.Step.Executor, s.Step.Tool) + "]"
	}
	l.line("%s %s %s%s", l.marks.pending, d.Index, l.title(d.Index), l.faint("%s  dry run", what))
	l.args("    ", d.Args)
	if d.Gate == nil {
		return
	}
	l.line("    %s: %s (%s rule for %s)", telling.WouldWords(*d.Gate), d.Gate.Why, d.Gate.Source, d.Gate.Tool)
}

// printStep prints what happened to a step or its gate.
func (l *Log) printStep(d event.Data) {
	if l.printCall(d) {
		return
	}
	switch d := d.(type) {
	case event.StepStarted:
		again := ""
		if d.Attempt > 1 {
			again = fmt.Sprintf(", attempt %d", d.Attempt)
		}
		l.starts("%s %s %s  %s", l.marks.started, d.Index, d.Title.Line(), l.faint("[%s]%s", plantext.Executor(d.Executor, d.Tool), again))
		l.coerced("  ", d.Coerced)
		l.passed("  ", d)
	case event.StepCompleted:
		if d.DryRun {
			l.dryStep(d)
			return
		}
		l.line("%s %s %s  %s", l.marks.done, d.Index, l.title(d.Index), l.faint("%s", l.outcome(d)))
	case event.StepFailed:
		if d.Removes != "" || d.Outdated != "" {
			return // its gate reports the reason
		}
		l.line("%s %s %s  %s", l.marks.failed, d.Index, l.title(d.Index), l.faint("%s", telling.Milliseconds(d.MS)))
		l.block("    ", d.Error.Visible(), outputShown)
		l.failed = d.Error
	case event.StepRetry:
		l.line("%s %s %s  again", l.marks.replan, d.Index, l.title(d.Index))
	case event.StepSkipped:
		l.line("%s %s %s  skipped: %s", l.marks.skipped, d.Index, l.title(d.Index), d.Reason.Line())
	case event.StepInDoubt:
		l.line("%s %s %s  in doubt: %s", l.marks.gate, d.Index, l.title(d.Index), d.Reason.Line())
	case event.DoubtResolved:
		l.line("  %s step %s: %s%s", l.marks.gate, d.Step, telling.OfDoubt(d.Decision).Does, telling.SignedBy(d.By))
	case event.FailureResolved:
		l.line("  %s step %s: %s%s", l.marks.gate, d.Step, telling.OfFailure(d.Decision).Does, telling.SignedBy(d.By))
		l.args("    ", d.Args)
	case event.GateRequested:
		l.gate(d)
	case event.GateResolved:
		l.resolved(d)
	}
}

// question prints a step that waits for the user's decision, with its full call.
func (l *Log) question(q agent.Question) {
	tool := "model"
	if q.Tool != "" {
		tool = q.Tool
	}
	l.line("%s %s %s  [%s]  %s", l.marks.gate, q.Step, q.Title.Line(), tool, telling.QuestionAsks(q))
	if q.Reason != "" {
		l.block("    ", q.Reason.Visible(), outputShown)
	}
	l.args("    ", q.Args)
}

func (l *Log) title(index string) string {
	if s := l.run.Step(index); s != nil {
		return s.Step.Title.Line()
	}
	return ""
}

func (l *Log) diff(d event.PlanDiff) {
	l.line("%s plan, revision %d", l.marks.started, d.Revision)
	l.plan("  ", plantext.Run(l.run, l.ascii, nil))
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
