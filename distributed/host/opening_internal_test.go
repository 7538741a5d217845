package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/distributed/records"
)

// idle starts a host on a new database, with a rhythm that no test sees a beat of.
func idle(t *testing.T) *Host {
	t.Helper()
	d, err := records.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := Start(t.Context(), Config{Database: d, Worker: remote.Worker{ID: "w1", Version: "test"}, Rhythm: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func TestRunFailsWhenWorkersCannotOpenItAgainAndAgain(t *testing.T) {
	l := idle(t).newLive(remote.Task{Run: "r-1"})
	full := errors.New("the disk is full")
	for range maxNotOpened - 1 {
		r, err := l.failed(t.Context(), full)
		if err != nil || r.NotOpened == nil || r.NotOpened.Worker != "w1" || r.NotOpened.Why != "the disk is full" {
			t.Fatalf("the run is not put back but %+v: %v", r, err)
		}
		l.record(r, false)
	}
	r, err := l.failed(t.Context(), full)
	if err != nil || len(r.Events) != 1 {
		t.Fatalf("the run does not end but %+v: %v", r, err)
	}
	reply, _ := r.Events[0].Data.(event.ChatReply)
	if text := string(reply.Text); reply.Reason != event.ReasonWorkersFailed || reply.Reason.ExitCode() != 6 || !strings.Contains(text, "5 times") || !strings.HasSuffix(text, "by the worker w1: the disk is full") {
		t.Errorf("the run ends with %+v", reply)
	}
	if r, err := l.next(t.Context()); err != nil || r.End == nil || r.End.Status != event.StatusFailed {
		t.Errorf("the workflow does not end but %+v: %v", r, err)
	}
}

func TestWorkerThatCannotOpenRunsTakesNoneForAGrowingPause(t *testing.T) {
	h := idle(t)
	for _, want := range []time.Duration{firstPause, 2 * firstPause, 4 * firstPause} {
		for range 2 { // the second fails at the same time
			if err := h.notOpened(errors.New("the disk is full")); err != nil {
				t.Fatal(err)
			}
		}
		if o := h.openings; o.pause != want || !o.paused() {
			t.Errorf("the worker pauses %v instead of %v", o.pause, want)
		}
		h.openings.until = time.Now()
	}
	h.openings.pause = longestPause
	if err := h.notOpened(errors.New("the disk is full")); err != nil || h.openings.pause != longestPause {
		t.Errorf("the worker pauses %v: %v", h.openings.pause, err)
	}
	if health := h.Health(); health.Problem != "the disk is full" {
		t.Errorf("its health is %+v", health)
	}
	h.openings.succeeded()
	if health := h.Health(); health.Problem != "" || h.openings.paused() {
		t.Errorf("it pauses though it can open runs: %+v", health)
	}
}

func TestOnlyWorkersThatARunMayHaveKilledAreCounted(t *testing.T) {
	taken := records.Record{TakenUp: "w1"}
	of := func(data ...event.Data) (r records.Record) {
		for _, d := range data {
			r.Events = append(r.Events, event.Event{Run: "r-1", Data: d})
		}
		return r
	}
	for name, c := range map[string]struct {
		between []records.Record
		want    int
		gates   map[string]bool // open all the time
	}{
		"nothing":               {between: nil, want: 5},
		"a stop in order":       {between: []records.Record{of(event.RunResumed{}), of(event.StepStarted{}), of(event.RunPaused{})}, want: 1},
		"a stop while it opens": {between: []records.Record{{Stopped: true}}, want: 1},
		"a wait at a gate":      {[]records.Record{of(event.RunResumed{})}, 1, map[string]bool{"r-1 g-1": true}},
		"a step beside a gate":  {[]records.Record{of(event.RunResumed{}), of(event.StepStarted{})}, 5, map[string]bool{"r-1 g-1": true}},
		"the same step again":   {between: []records.Record{of(event.RunResumed{}, event.StepInDoubt{}), of(event.DoubtResolved{Decision: event.DoubtRerun}), of(event.StepStarted{Attempt: 2})}, want: 5},
		"the same gate again":   {between: []records.Record{of(event.RunResumed{}), of(event.GateRequested{}), of(event.GateResolved{By: "--approve all"})}, want: 5},
		"the same phase again":  {between: []records.Record{of(event.RunResumed{}, event.PhaseStarted{Phase: 1})}, want: 5},
		"a plan of a step":      {between: []records.Record{of(event.RunSpawned{}), of(event.RunStarted{}, event.PlanCreated{})}, want: 5},
		"a phase":               {between: []records.Record{of(event.PhaseCompleted{Phase: 1})}, want: 1},
		"a step":                {between: []records.Record{of(event.StepCompleted{})}, want: 1},
		"a command":             {between: []records.Record{{Mail: true}}, want: 1},
		"another worker":        {between: []records.Record{{NotOpened: &records.NotOpened{}}}, want: 1},
	} {
		var a attempts
		for range 4 {
			a.count(taken, len(c.gates) > 0)
			for _, r := range c.between {
				a.count(r, len(c.gates) > 0)
			}
		}
		if a.count(taken, len(c.gates) > 0); a.deaths != c.want {
			t.Errorf("with %s in between, %d deaths count instead of %d", name, a.deaths, c.want)
		}
	}
}

func TestOnlyWorkersThatCannotOpenARunInARowAreCounted(t *testing.T) {
	var a attempts
	a.count(records.Record{NotOpened: &records.NotOpened{}}, false)
	a.count(records.Record{Events: []event.Event{{Run: "r-1", Data: event.RunResumed{}}}}, false)
	if a.notOpened != 0 {
		t.Errorf("after a worker that could, %d count", a.notOpened)
	}
}

func TestEndOfARunThatIsNotOpenedEndsNoPause(t *testing.T) {
	h := idle(t)
	if err := h.notOpened(errors.New("the disk is full")); err != nil {
		t.Fatal(err)
	}
	l := h.newLive(remote.Task{Run: "r-1"})
	l.takenUp = true
	l.record(records.Record{Events: []event.Event{{Run: records.SessionID("r-1"), Data: event.ChatReply{Status: event.StatusFailed}}}}, false)
	if r, err := l.next(t.Context()); err != nil || r.End == nil || h.Health().Problem == "" {
		t.Errorf("after %+v, %v the worker is well", r, err)
	}
}

func TestLargeValueThatCannotBeKeptIsLogged(t *testing.T) {
	var log bytes.Buffer
	d, err := records.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "runs.db")) // without its tables
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	values := d.Values("r-1", slog.New(slog.NewTextHandler(io.MultiWriter(&log, ending{cancel}), nil)))
	large := event.Event{Seq: 1, Run: "r-1", Data: event.StepCompleted{Index: "1", Attempt: 1, Result: strings.Repeat("x", 300<<10)}}
	if _, err := values.Record(ctx, []event.Event{large}); err == nil || !strings.Contains(log.String(), "run=r-1") || !strings.Contains(log.String(), "replan_values") {
		t.Errorf("the log says %q: %v", log.String(), err)
	}
}

// ending ends a context once something is written.
type ending struct{ end context.CancelFunc }

func (e ending) Write(text []byte) (int, error) {
	e.end()
	return len(text), nil
}

func TestAnswersCarryTheirAuthor(t *testing.T) {
	for _, command := range []session.Command{session.Resolve{}, session.ResolveDoubt{}, session.Edit{}, session.AnswerElicitation{}, session.Review{}, session.ResolveFailure{}, session.Cancel{}, session.Stop{}} {
		if got := signed(remote.Input{Command: command, By: "ann"}); reflect.ValueOf(got).FieldByName("By").String() != "ann" {
			t.Errorf("%T is signed as %+v", command, got)
		}
	}
}

func TestHostClosesIn30SecondsWithTheLastTraces(t *testing.T) {
	const traces = 5 * time.Second // see the package worker
	if all := leaveTime + closeTime + traces; all > 30*time.Second {
		t.Errorf("a worker may take %s to stop", all)
	}
}

func TestRunThatItsWorkerTakesUpAgainIsGivenUpFirst(t *testing.T) {
	h := idle(t)
	lost, again := h.newLive(remote.Task{Run: "r-1"}), h.newLive(remote.Task{Run: "r-1"})
	defer again.close()
	if !h.attach(lost) || len(lost.commandHint) > 0 || !h.attach(again) || len(lost.commandHint) == 0 {
		t.Error("the session that has lost the run does not learn of it")
	}
}
