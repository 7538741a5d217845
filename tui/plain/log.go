package plain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/story"
	"replan/tui/wording"
)

// outputShown is the maximum number of lines printed of a result, an error or a
// failed step's output. The journal has all of them.
const outputShown = 20

// Log writes a line for each event that matters.
type Log struct {
	*Printer
	session string
	ascii   bool
	quiet   bool         // about the end of a run that succeeds
	story   *story.Story // what the log tells
	runs    activeRuns
	gates   gates
	health  health
	before  session.Resuming // earlier events, which are not printed again
	notes   string           // file with the project's instructions
	named   bool             // notes has been named
}

// New returns a log that writes to out. session is the id of the session, whose own
// events belong to no run.
func New(out io.Writer, session string, o Options) *Log {
	p := NewPrinter(out, o)
	l := &Log{
		Printer: p, session: session, ascii: o.ASCII, quiet: o.QuietSuccess, story: story.New(story.Lines, story.NewOnce()),
		gates: gates{Printer: p, ascii: o.ASCII, again: o.Again}, health: health{Printer: p},
	}
	p.insetBy(l.runs.inset)
	return l
}

// Event prints one event in one write, so that an open question is repeated once
// below it. Once a write fails, Event returns that error on every call.
func (l *Log) Event(e event.Event) error {
	if end, ok := e.Data.(event.RunCompleted); ok && l.quiet && end.Reason.ExitCode() == 0 {
		return nil
	}
	return l.batch(func() error { return l.event(e) })
}

func (l *Log) event(e event.Event) error {
	if e.Run == l.session {
		l.printSession(e.Data)
		return nil
	}
	if _, ok := e.Data.(event.RunStarted); ok {
		l.runs.enter()
	} else if !l.runs.find(e.Run) {
		return nil
	}
	l.story.Follow(l.runs.printed(), l.runs.nested())
	entries, err := l.apply(e)
	if err != nil {
		return fmt.Errorf("print a run: %w", err)
	}
	l.draw(entries)
	return nil
}

// apply applies an event to its run and returns what to print: nothing of events before a
// resume.
func (l *Log) apply(e event.Event) ([]story.Entry, error) {
	if e.Run == l.before.Run && e.Seq <= l.before.Upto {
		return nil, l.runs.printed().Apply(e)
	}
	return l.story.Apply(e)
}

func (l *Log) printSession(d event.Data) {
	l.runs.toFirst()
	switch d := d.(type) {
	case session.Resuming:
		l.before = d
	case event.ChatSide:
		l.side(d)
	case session.Status:
		l.notes = d.Instructions.Line()
		l.health.tell(d, l.runs.all())
	default:
		l.draw(l.story.Session(d))
	}
}

// goal prints the goal of a run and what is attached to it.
func (l *Log) goal(d event.RunStarted) {
	l.Line("%s goal: %s", l.Signs.Started, l.Strong(d.Goal.Line()))
	for _, m := range d.Prompting.Mentions {
		l.Line("  @ %s", wording.MentionWords(m, strings.TrimSpace(l.Between)))
	}
}

// where prints the name of the run, its model, its tools and its workspace.
func (l *Log) where(words string) {
	l.Line("  %s", l.Faint("%s", words))
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
	l.Line("%s %s %s  [%s]  %s", l.Signs.Gate, q.Step, q.Title.Line(), tool, wording.QuestionAsks(q))
	if q.Reason != "" {
		l.Block("    ", q.Reason.Visible(), outputShown)
	}
	l.Args("    ", q.Args)
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
