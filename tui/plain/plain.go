package plain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/plantext"
	"replan/tui/telling"
)

// outputShown is the maximum number of lines printed of a result, an error or a
// failed step's output. The journal has all of them.
const outputShown = 20

// Log writes a line for each event that matters.
type Log struct {
	*Printer
	session    string
	ascii      bool
	again      string                         // the command that runs a deleted run again
	run        *agent.Run                     // the run being printed
	runs       []*agent.Run                   // active runs; a run started by a chat call follows the run that made the call
	before     session.Resuming               // earlier events, which are not printed again
	ended      untrusted.Text                 // why the run ends, already printed
	failed     untrusted.Text                 // reason of the step failure printed last
	notes      string                         // file with the project's instructions
	named      bool                           // notes has been named
	status     session.Status                 // last status received
	lost       map[string]bool                // servers that have failed
	cuts       map[toolCut]bool               // of offers of tools, already printed
	polled     map[string]untrusted.Text      // what each step waits for, already printed
	untyped    map[string]bool                // tools without typed arguments, already printed
	silent     bool                           // a line said that the model does not answer
	diffs      []string                       // printed at gates
	gates      map[string]event.GateRequested // those asked, by run and gate
	progresses map[string]said                // by run and step
	hint       string                         // how to let a denied gate pass
}

// toolCut tells the cuts of offers apart. Which tools are left out depends on the goal,
// so that the next turn of the same chat often has another number.
type toolCut struct{ tools, window int }

// New returns a log that writes to out. session is the id of the session, whose own
// events belong to no run.
func New(out io.Writer, session string, o Options) *Log {
	l := &Log{Printer: NewPrinter(out, o), session: session, ascii: o.ASCII, again: o.Again, lost: map[string]bool{}, cuts: map[toolCut]bool{}, polled: map[string]untrusted.Text{}, untyped: map[string]bool{}, gates: map[string]event.GateRequested{}, progresses: map[string]said{}}
	l.inset = l.nested
	return l
}

// Event prints one event in one write, so that an open question is repeated once
// below it. Once a write fails, Event returns that error on every call.
func (l *Log) Event(e event.Event) error {
	var lines bytes.Buffer
	out := l.out
	l.out = &lines
	err := l.event(e)
	l.out = out
	if l.err == nil && lines.Len() > 0 {
		_, l.err = out.Write(lines.Bytes())
	}
	return cmp.Or(err, l.err)
}

func (l *Log) event(e event.Event) error {
	if e.Run == l.session {
		l.printSession(e.Data)
		return nil
	}
	if _, ok := e.Data.(event.RunStarted); ok {
		l.enter()
	} else if !l.find(e.Run) {
		return nil
	}
	if err := l.run.Apply(e); err != nil {
		return fmt.Errorf("print a run: %w", err)
	}
	if e.Run != l.before.Run || e.Seq > l.before.Upto {
		l.printEvent(e.Data)
	}
	return nil
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

// nested returns the indentation for lines of a run started by a call.
func (l *Log) nested() string {
	if len(l.runs) > 0 && l.run != l.runs[0] {
		return "    "
	}
	return ""
}

// starts prints that work begins. On a terminal the live line shows that instead.
func (l *Log) starts(format string, args ...any) {
	if l.look == nil {
		l.Line(format, args...)
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
		l.Line("%s undone: %s, %s put back", l.Signs.Note, d.Run, english.Count(len(d.Files), "file"))
	case event.Note:
		l.Line("%s %s", l.Signs.Note, d.Text.Line())
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
		l.Line("%s goal: %s", l.Signs.Started, l.Strong(d.Goal.Line()))
		for _, m := range d.Prompting.Mentions {
			l.Line("  @ %s", telling.MentionWords(m, strings.TrimSpace(l.Between)))
		}
		l.where(d.Model, len(d.Catalogue), d.Workspace)
	case event.RunResumed:
		l.resumed(d)
	case event.PhaseStarted:
		l.untypedTools(d.Request.Untyped)
		l.starts("%s %s", l.Signs.Started, telling.PhaseWords(d.Label, d.Request.Draft))
	case event.PhaseCompleted:
		l.Line("%s %s  %s", l.Signs.Done, l.phase(d.Phase, d.Label), l.Faint("%s  %s", telling.Milliseconds(d.MS), english.Count(d.Tokens, "token")))
	case event.PhaseSkipped:
		l.Line("%s %s skipped: %s", l.Signs.Skipped, d.Label, d.Reason.Line())
	case event.PhaseFailed:
		if d.Failure == event.FailureInterrupted {
			l.Line("%s %s stopped", l.Signs.Skipped, l.phase(d.Phase, d.Label))
			break
		}
		l.Line("%s %s failed: %s", l.Signs.Failed, l.phase(d.Phase, d.Label), d.Reason.Line())
	case event.ModelRequested:
		l.modelRequested(d)
	case event.ModelReading:
		l.modelReading(d)
	case event.ModelReplied:
		l.modelReplied(d)
	case event.SynthesisStarted:
		l.starts("%s answer", l.Signs.Started)
	case event.GuardBlocked:
		l.ended = d.Reason
		l.Line("%s %s", l.Signs.Failed, d.Reason.Line())
	case event.GuardWarned:
		guard := ""
		if d.Guard != event.GuardRunaway { // its name says less than the reason
			guard = " (guard " + untrusted.Line(d.Guard) + ")"
		}
		l.Line("%s %s%s", l.Signs.Note, d.Reason, guard)
	case event.BudgetWarned:
		l.Line("%s %s", l.Signs.Note, telling.BudgetWarning(d))
	case event.Note:
		l.Line("%s %s", l.Signs.Note, d.Text.Line())
	case event.JournalDamaged:
		l.Line("%s %s", l.Signs.Note, telling.DamagedWords(d))
	case event.RunSteered:
		l.Line("%s %s: %s", l.Signs.Started, telling.WhoWords(cmp.Or(d.By, "user")), d.Text.Line())
	case event.RunPaused:
		l.ended = d.Reason
		l.Line("%s %s", l.Signs.Note, d.Reason.Line())
	case event.RunCompleted:
		l.completed(d.Result)
	case event.RunUndone:
		l.Line("%s %s", l.Signs.Note, telling.UndoneWords(d))
	default:
		if !l.printPlan(d) {
			l.printStep(d)
		}
	}
	l.held(d)
}

// modelReading prints how long the model will read.
func (l *Log) modelReading(d event.ModelReading) {
	model := l.run.Model
	if x := telling.Open(l.run); x != nil {
		model = cmp.Or(x.Request.Model, model)
	}
	if words := telling.WillRead(model, d.Forecast); words != "" {
		l.starts("  %s", l.Faint("%s", words))
	}
}

// printPlan prints how the plan was made and changed. It reports whether the event
// concerns the plan.
func (l *Log) printPlan(d event.Data) bool {
	switch d := d.(type) {
	case event.RouteMatched:
		l.Line("%s %s", l.Signs.Done, untrusted.Line(telling.RouteWords(d, l.run.Model)))
	case event.PlanCreated:
		if len(d.Drafts) > 0 {
			l.Line("%s %s", l.Signs.Done, telling.DraftsWords(d.Drafts))
		}
		l.Line("%s plan: %s", l.Signs.Started, l.Strong(d.Plan.Title.Line()))
		l.Plan("  ", plantext.Plan(d.Plan, l.ascii))
	case event.PlanEmpty:
		l.ended = d.Reason
		l.Line("%s no plan: %s", l.Signs.Failed, d.Reason.Line())
	case event.PlanDiff:
		l.diff(d)
	case event.PlanChosen:
		l.Line("%s %s", l.Signs.Gate, telling.ChosenWords(l.run.Drafts, d))
		l.Plan("  ", plantext.Plan(d.Plan, l.ascii))
	case event.PlanReviewed:
		l.reviewed(d)
	case event.ReplanStarted:
		why := "step " + d.Step + " failed"
		switch {
		case d.Step == "" && d.Request == "":
			why = d.Error.Line()
		case d.Step == "":
			why = "as requested" // by whoever sent the remark
		}
		l.Line("%s replan %d: %s", l.Signs.Replan, d.Attempt, why)
	case event.ReplanRefused:
		l.Line("%s replan %d refused: %s", l.Signs.Failed, d.Attempt, d.Reason.Line())
	default:
		return false
	}
	return true
}

// phase names a phase that has ended, with its draft.
func (l *Log) phase(number int, label string) string {
	return telling.PhaseWords(label, l.run.Phases[number-1].Draft)
}

// modelRequested prints that a model is working on a request that may take long. It
// skips turns, because their step or answer is already announced.
func (l *Log) modelRequested(d event.ModelRequested) {
	if u := d.Request.Unoffered; u != nil && !l.cuts[toolCut{u.Of, u.Window}] {
		l.cuts[toolCut{u.Of, u.Window}] = true
		l.Line("%s %s", l.Signs.Note, telling.UnofferedWords(*u))
	}
	if d.Purpose != prompt.PurposeAgent && d.Purpose != prompt.PurposeChat {
		l.starts("%s %s", l.Signs.Started, asked(d.Purpose, d.Step))
	}
}

// untypedTools prints once which tools a plan may give any arguments.
func (l *Log) untypedTools(tools []string) {
	if tools = telling.FreshUntyped(l.untyped, tools); len(tools) > 0 {
		l.Line("%s %s", l.Signs.Note, telling.UntypedWords(tools))
	}
}

// asked describes the request to a model.
func asked(purpose prompt.Purpose, step string) string {
	switch {
	case purpose == prompt.PurposeAgent:
		return "turn of step " + step
	case step != "":
		return "arguments of step " + step
	case purpose == prompt.PurposeTools:
		return "choice of tools"
	default:
		return string(purpose)
	}
}

func (l *Log) modelReplied(d event.ModelReplied) {
	name := asked(d.Purpose, d.Step)
	if d.Failure == event.FailureInterrupted {
		l.Line("%s %s stopped", l.Signs.Skipped, name)
		return
	}
	if d.Error != "" {
		l.Line("%s %s failed: %s", l.Signs.Failed, name, d.Error.Line())
		return
	}
	switch d.Purpose {
	case prompt.PurposeAgent:
		return // its calls are printed
	case prompt.PurposeChat:
		if d.Reply.Text != "" && len(d.Reply.Calls) > 0 {
			l.Markdown(d.Reply.Text)
		}
		return
	}
	l.Line("%s %s  %s", l.Signs.Done, name, l.Faint("%s  %s", telling.Milliseconds(d.MS), english.Count(d.PromptTokens+d.CompletionTokens, "token")))
}

// where prints the name of the run, its model, its tools and its workspace.
func (l *Log) where(model string, tools int, workspace string) {
	named := "no model"
	if model != "" {
		named = "model " + untrusted.Line(model)
	}
	l.Line("  %s", l.Faint("run %s, %s, %s, in %s", l.run.ID, named, english.Count(tools, "tool"), workspace))
	if l.notes != "" && !l.named {
		l.named = true
		l.Line("  notes of this project: %s", l.notes)
	}
}

// question prints a step that waits for the user's decision, with its full call.
func (l *Log) question(q agent.Question) {
	tool := "model"
	if q.Tool != "" {
		tool = q.Tool
	}
	l.Line("%s %s %s  [%s]  %s", l.Signs.Gate, q.Step, q.Title.Line(), tool, telling.QuestionAsks(q))
	if q.Reason != "" {
		l.Block("    ", q.Reason.Visible(), outputShown)
	}
	l.Args("    ", q.Args)
}

func (l *Log) title(index string) string {
	if s := l.run.Step(index); s != nil {
		return s.Step.Title.Line()
	}
	return ""
}

func (l *Log) diff(d event.PlanDiff) {
	l.Line("%s plan, revision %d", l.Signs.Started, d.Revision)
	l.Plan("  ", plantext.Run(l.run, l.ascii, nil))
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
	switch v := v.(type) {
	case string:
		return v
	case fmt.Stringer:
		return v.String()
	default:
		return plan.CanonicalJSON(v)
	}
}
