package lines_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/lines"
)

// output returns an app that prints in a format, and its standard output and error.
func output(format string) (a *app.App, out, notes *strings.Builder) {
	out, notes = &strings.Builder{}, &strings.Builder{}
	a = app.New("", app.IO{Out: out, Err: notes, Getenv: func(string) string { return "" }}, nil)
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	a.Register(flags)
	if err := flags.Set("output", format); err != nil {
		panic(err)
	}
	return a, out, notes
}

func TestJSONHasTheEventsOfRunsAloneAndEachOnce(t *testing.T) {
	a, out, notes := output(config.OutputJSON)
	p := lines.NewPrinter(a, "s-1", out)
	for _, e := range []event.Event{
		{Run: "s-1", Data: event.Note{Text: "of the session"}},
		{Run: "s-1", Data: session.Resuming{Run: "r-1", Upto: 1}},
		{Seq: 1, Run: "r-1", Data: event.Note{Text: "past"}},
		{Seq: 2, Run: "r-1", Data: event.Note{Text: "new"}},
	} {
		if err := p.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(out.String(), "\n"); got != 1 || !strings.Contains(out.String(), "new") {
		t.Errorf("got %d lines: %s", got, out)
	}
	if notes.String() != "replan: of the session\n" {
		t.Errorf("got notes %q", notes)
	}
}

func TestEndsOfRunsAreExitCodesOrSilent(t *testing.T) {
	a, _, notes := output(config.OutputText)
	done := event.Event{Run: "r-1", Data: event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}}}
	only := lines.NotesOnly{Out: a.Out()}
	if err := only.Event(done); err != nil {
		t.Error(err)
	}
	failed := event.Event{Run: "r-1", Data: event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonStepFailed, Error: "it broke"}}}
	var e *exit.Error
	if err := only.Event(failed); !errors.As(err, &e) || e.Status != event.ReasonStepFailed.ExitCode() || e.Error() != "it broke" {
		t.Errorf("a failed end returns %v", err)
	}
	if err := only.Event(event.Event{Data: event.Note{Text: "by the way"}}); err != nil || notes.String() != "replan: by the way\n" {
		t.Errorf("a note prints %q, %v", notes, err)
	}
}
