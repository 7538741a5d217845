package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/internal/untrusted"
)

// attach attaches to a fake and closes it after the test.
func attach(t *testing.T, o remote.Options, r remote.Request) *remote.Session {
	t.Helper()
	s, err := remote.Attach(t.Context(), o, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// collect reads events until the session ends, and calls see with each.
func collect(s *remote.Session, see func(event.Event)) (all []event.Event) {
	for e := range s.Events() {
		all = append(all, e)
		if see != nil {
			see(e)
		}
	}
	return all
}

// lines describes events in short.
func lines(events []event.Event) (out []string) {
	for _, e := range events {
		name := map[string]string{runID: "run", sessionID: "session"}[e.Run]
		if name == "" {
			name = e.Run
		}
		line := name + " " + string(e.Data.Kind())
		switch d := e.Data.(type) {
		case session.Resuming:
			line = fmt.Sprintf("%s %s to %d", line, d.Run, d.Upto)
		case event.GateResolved:
			line += " by " + d.By
		case event.ChatReply:
			line += ": " + string(d.Text)
		}
		out = append(out, line)
	}
	return out
}

// allows answers the gates of a session.
func allows(s *remote.Session, gate string) func(event.Event) {
	return func(e event.Event) {
		if d, ok := e.Data.(event.GateRequested); ok && d.Gate == gate {
			s.Send(session.Resolve{Run: e.Run, Gate: d.Gate, Decision: event.Allow})
		}
	}
}

var submit = remote.Request{Submit: &remote.Task{Run: runID, Goal: "tidy up"}}

func TestAttachedSessionShowsARunAndAnswersItsGates(t *testing.T) {
	s := attach(t, options("run"), submit)
	if s.ID() != sessionID || s.Run() != runID {
		t.Errorf("got session %s of run %s", s.ID(), s.Run())
	}
	want := []string{
		"session session.status", "session note", "session chat.user", "session session.status", "run run.started", "run gate.requested",
		"run gate.resolved by ann@laptop", "run run.completed", "session chat.reply: done",
	}
	if got := lines(collect(s, allows(s, "g1"))); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := s.Err(); err != nil {
		t.Errorf("the session broke off: %v", err)
	}
}

// The screen asks what is open at a new event, so the last past one is new; an old answer is void.
func TestFollowedRunRepeatsAllButTheLastPastEvent(t *testing.T) {
	s := attach(t, options("run"), remote.Request{Follow: &remote.Follow{Run: "abc123"}})
	want := []string{
		"session session.status", "session chat.user", "session session.status", "session session.resuming " + runID + " to 2", "run run.started",
		"r-inner run.started", "run note", "run gate.requested", "run gate.resolved by ann@laptop", "run run.completed", "session chat.reply: done",
	}
	if got := lines(collect(s, allows(s, "g1"))); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// As the runner does: the events of an inner run follow when that is resumed.
func TestResumedRunRepeatsItsPastEvents(t *testing.T) {
	s := attach(t, options("run"), remote.Request{Resume: &remote.Follow{Run: "abc123"}})
	want := []string{
		"session session.status", "session chat.user", "session session.status", "session session.resuming " + runID + " to 3", "run run.started",
		"run note", "run gate.requested", "run run.resumed", "session session.resuming r-inner to 1", "r-inner run.started", "r-inner run.resumed",
		"run gate.requested", "run gate.resolved by ann@laptop", "run run.completed", "session chat.reply: done",
	}
	if got := lines(collect(s, allows(s, "g2"))); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCommandsThatDoNotReachARunAreAnsweredHere(t *testing.T) {
	o := options("run")
	o.SaveSetting = func(key string, value *string) (string, error) { return "/config", nil }
	s := attach(t, o, submit)
	value := "dark"
	s.Send(session.Warm{})
	s.Send(session.Submit{Text: "another goal"})
	s.Send(session.Recheck{})
	s.Send(session.SaveSetting{Key: "screen.theme", Value: &value})
	seen := map[string]bool{}
	collect(s, func(e event.Event) {
		switch d := e.Data.(type) {
		case session.Returned:
			seen["returned "+d.Text] = true
		case event.Note:
			seen[d.Text.Line()] = true
		case session.SettingSaved:
			seen["kept "+d.Value] = true
		}
		if len(seen) == 4 {
			s.Send(session.Stop{})
		}
		if d, ok := e.Data.(event.RunPaused); ok && d.Reason == "stopped by ann@laptop" {
			s.Send(session.Resolve{Run: runID, Gate: "g1", Decision: event.Deny})
		}
	})
	for _, want := range []string{"returned another goal", "this works only in a session of this machine, not in a run of a worker", "kept dark"} {
		if !seen[want] {
			t.Errorf("%q is missing in %v", want, seen)
		}
	}
}

func TestEventsOfAWorkerShareTheirLargeValues(t *testing.T) {
	s := attach(t, options("large"), submit)
	var result, arg []any
	for _, e := range collect(s, nil) {
		switch d := e.Data.(type) {
		case event.StepCompleted:
			result, _ = d.Result.([]any)
		case event.StepStarted:
			arg, _ = d.Args["x"].([]any)
		}
	}
	if !slices.Equal(result, largeResult()) || !slices.Equal(arg, result) {
		t.Fatalf("got a result with %d items and an argument with %d", len(result), len(arg))
	}
	if &arg[0] != &result[0] {
		t.Error("the argument is a copy of the result")
	}
}

func TestProblemsOfAProgramAreOneSentence(t *testing.T) {
	for way, want := range map[string]string{
		"problem": "no worker has the MCP server github",
		"dies":    "ended too early (exit status 7); the log says more",
		"garbage": "wrote a line that cannot be read; are it and replan of the same version?",
		"bad-id":  "accepted a run without a proper id",
	} {
		log := &bytes.Buffer{}
		o := options(way)
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
		_, err := remote.Attach(t.Context(), o, submit)
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: got %v, want %s", way, err, want)
		}
		if way == "dies" && !strings.Contains(log.String(), "a last word") {
			t.Errorf("standard error is not in the log: %s", log)
		}
	}
	o := options("run")
	o.Command = []string{"/nowhere/replan-worker"}
	if _, err := remote.Attach(t.Context(), o, submit); err == nil || !strings.Contains(err.Error(), "start replan-worker") {
		t.Errorf("got %v", err)
	}
}

func TestSessionThatBreaksOffEndsWithOneSentence(t *testing.T) {
	for way, want := range map[string]string{
		"dies-later": "ended too early (exit status 7)", "problem-later": "the database went away", "long": "wrote a line of more than 64 MB",
		"forgetful": "it refers to a value that was not written before",
	} {
		o := options(way)
		o.Tell = true
		s := attach(t, o, submit)
		all := collect(s, nil)
		last, _ := all[len(all)-1].Data.(event.Note)
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(string(last.Text), want) {
			t.Errorf("%s: got %v and the note %q, want %s", way, err, last.Text, want)
		}
	}
}

func TestDatabaseAnswersAfterTheEndOfTheRun(t *testing.T) {
	s := attach(t, options("run"), remote.Request{Follow: &remote.Follow{Run: "abc123"}})
	collect(s, allows(s, "g1"))
	if runs, err := s.Runs(t.Context()); err != nil || len(runs) != 1 {
		t.Errorf("got runs %v, %v", runs, err)
	}
	s.Close()
	if _, err := s.Runs(t.Context()); !errors.Is(err, session.ErrClosed) {
		t.Errorf("a closed session answers: %v", err)
	}
}

func TestClosingASessionLeavesTheRun(t *testing.T) {
	for _, way := range []string{"run", "endless"} {
		s := attach(t, options(way), submit)
		<-s.Events()
		s.Close()
		if _, open := <-s.Events(); open || s.Err() != nil {
			t.Errorf("%s: the session is open, or broke off: %v", way, s.Err())
		}
		s.Send(session.Stop{}) // too late, but it does not hang
	}
}

func TestCloseWaitsForProgramsOfQueries(t *testing.T) {
	o, started := options("slow"), make(chan *exec.Cmd, 2)
	o.Prepare = func(cmd *exec.Cmd) { started <- cmd }
	s := attach(t, o, submit)
	<-started
	var queries sync.WaitGroup
	defer queries.Wait()
	queries.Go(func() {
		if _, err := s.Runs(t.Context()); !errors.Is(err, session.ErrClosed) {
			t.Errorf("a session that is closed meanwhile answers: %v", err)
		}
	})
	query := <-started
	s.Close()
	if query.ProcessState == nil && query.Process != nil {
		t.Error("the program of the query still runs")
	}
}

func TestEndOfTheContextClosesASession(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := remote.Attach(ctx, options("run"), submit)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	collect(s, nil)
	if _, err := s.Runs(t.Context()); !errors.Is(err, session.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestProgramThatDoesNotAnswerIsKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	o := options("deaf")
	o.Patience = 10 * time.Millisecond
	if _, err := remote.Attach(ctx, o, submit); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestQueriesAreAnsweredByTheDatabase(t *testing.T) {
	s := attach(t, options("run"), submit)
	runs, err := s.Runs(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Run != runID {
		t.Errorf("got runs %v, %v", runs, err)
	}
	for run, want := range map[string]int{runID: 3, "r-inner": 1} {
		if events, err := s.Journal(t.Context(), run); err != nil || len(events) != want {
			t.Errorf("%s: got %d events, %v; want %d", run, len(events), err, want)
		}
	}
	if _, err := s.Settings(t.Context()); err == nil {
		t.Error("the settings of another machine are known")
	}
	if c, err := s.Completions(t.Context(), session.CompleteFiles); err != nil || len(c.Items) > 0 {
		t.Errorf("got completions %v, %v", c, err)
	}
}

func TestSubmittedRunIsNotFollowed(t *testing.T) {
	var notes []untrusted.Text
	a, err := remote.Submit(t.Context(), options("run"), submit, func(n untrusted.Text) { notes = append(notes, n) })
	if err != nil || a.Run != runID || len(notes) != 1 {
		t.Errorf("got %v, %v, %v", a, notes, err)
	}
}
