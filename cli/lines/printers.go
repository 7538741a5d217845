package lines

import (
	"errors"
	"io"

	"replan/agent/event"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/internal/untrusted"
	"replan/tui/plain"
)

// Printer prints a run for a line-oriented reader.
type Printer interface {
	Event(event.Event) error
}

// NewPrinter returns the printer for the events of a session, and of its runs, by
// --output.
func NewPrinter(a *app.App, session string, text io.Writer) Printer {
	return Job{}.printer(a, session, text)
}

// printer returns the printer for the events of the job.
func (job Job) printer(a *app.App, session string, text io.Writer) Printer {
	switch {
	case job.Printer != nil:
		return job.Printer(session, text)
	case a.Out().JSON():
		return &jsonLines{out: a.IO().Out, note: a.Out().Note, session: session, past: map[string]uint64{}}
	default:
		return a.Out().Log(text, session, plain.Options{Again: job.Again})
	}
}

// NotesOnly prints the session's notes on standard error, returns a run's failure, and
// prints nothing else.
type NotesOnly struct{ Out *app.Output }

// Event prints a note.
func (n NotesOnly) Event(e event.Event) error {
	switch d := e.Data.(type) {
	case event.Note:
		n.Out.Note("%s", d.Text.Line())
	case event.RunCompleted:
		return Failure(d.Result)
	}
	return nil
}

// Failure returns the error for a run that failed; nil if it succeeded.
func Failure(end event.Result) error {
	if end.Reason.ExitCode() == 0 {
		return nil
	}
	return &exit.Error{Status: end.Reason.ExitCode(), Code: string(end.Reason), Err: errors.New(config.First(string(end.Error), string(end.Reason)))}
}

// jsonLines writes the events of runs, one per line. Of the session's own events,
// which are for the screen, it writes only the notes.
type jsonLines struct {
	out     io.Writer
	note    func(format string, args ...any) // for the user
	session string
	past    map[string]uint64 // by run: the last event that an earlier life already printed
}

// Event writes one event.
func (j *jsonLines) Event(e event.Event) error {
	if e.Run == j.session {
		switch d := e.Data.(type) {
		case event.Note:
			j.note("%s", d.Text.Line())
		case session.Resuming:
			j.past[d.Run] = d.Upto
		}
		return nil
	}
	if e.Seq <= j.past[e.Run] {
		return nil
	}
	line, err := e.Line()
	if err != nil {
		return err
	}
	line.JSON = append(line.JSON, '\n')
	_, err = line.WriteTo(safeJSON{j.out})
	return err
}

// safeJSON makes JSON safe to draw as it is written.
type safeJSON struct{ to io.Writer }

// Write writes JSON that does not end within a character.
func (w safeJSON) Write(text []byte) (int, error) { return w.to.Write(untrusted.JSON(text)) }
