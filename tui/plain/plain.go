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
	again   string           // the command that runs a deleted run again
	story   *story.Story     // what the log tells
	run     *agent.Run       // the run being printed
	runs    []*agent.Run     // active runs; a run started by a chat call follows the run that made the call
	before  session.Resuming // earlier events, which are not printed again
	notes   string           // file with the project's instructions
	named   bool             // notes has been named
	status  session.Status   // last status received
	lost    map[string]bool  // servers that have failed
	silent  bool             // a line said that the model does not answer
	hint    string           // how to let a denied gate pass
}

// New returns a log that writes to out. session is the id of the session, whose own
// events belong to no run.
func New(out io.Writer, session string, o Options) *Log {
	l := &Log{Printer: NewPrinter(out, o), session: session, ascii: o.ASCII, again: o.Again, lost: map[string]bool{}}
	l.story = story.New(story.Lines, story.NewOnce())
	l.inset = l.nested
	return l
}

// Event prints one event in one write, so that an open question is repeated once
// below it. Once a write fails, Event returns that error on every call.
func (l *Log) Event(e event.Event) error {
	return l.whole(func() error { return l.event(e) })
}

// whole does what a function prints in one write.
func (l *Log) whole(print func() error) error {
	var lines bytes.Buffer
	out := l.out
	l.out = &lines
	err := print()
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
	l.story.Follow(l.run, l.run != l.runs[0])
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
		return nil, l.run.Apply(e)
	}
	return l.story.Apply(e)
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

func (l *Log) printSession(d event.Data) {
	if len(l.runs) > 0 {
		l.run = l.runs[0]
	}
	switch d := d.(type) {
	case session.Resuming:
		l.before = d
	case session.Status:
		l.notes = d.Instructions.Line()
		l.health(d)
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

func (l *Log) title(index string) string {
	if s := l.run.Step(index); s != nil {
		return s.Step.Title.Line()
	}
	return ""
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
