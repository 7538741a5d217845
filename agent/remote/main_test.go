package remote_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// fakeVariable makes the test binary act as a worker program, in the named way.
const fakeVariable = "REPLAN_TEST_FAKE"

func TestMain(m *testing.M) {
	if way := os.Getenv(fakeVariable); way != "" {
		os.Exit(fake(way))
	}
	goleak.VerifyTestMain(m)
}

// The ids of the fake's run and session.
const (
	runID     = "r-20260101-120000-abc123"
	sessionID = "s-20260101-120000-abc123"
)

// options returns the options for a fake.
func options(way string) remote.Options {
	return remote.Options{
		Command: []string{os.Args[0]}, By: "ann@laptop",
		Env: append(os.Environ(), fakeVariable+"="+way, "GORACE=atexit_sleep_ms=0"), // the race detector would linger for a second
	}
}

// fake is a worker program.
func fake(way string) int {
	lines := bufio.NewReader(os.Stdin)
	request, err := lines.ReadString('\n')
	if err != nil {
		return 3
	}
	f := &faked{in: lines, out: remote.NewWriter(os.Stdout)}
	if err := json.Unmarshal([]byte(request), &f.request); err != nil {
		return 4
	}
	switch way {
	case "dies":
		fmt.Fprintln(os.Stderr, "a last word")
		return 7
	case "garbage":
		fmt.Println("no JSON")
	case "bad-id":
		f.put(remote.Output{Accepted: &remote.Accepted{Run: "r-\x1b[2J", Session: sessionID}})
	case "problem":
		f.put(remote.Output{Problem: &remote.Problem{Code: remote.CodeNoWorker, Text: "no worker has the MCP server github"}})
	case "deaf": // reads nothing, writes nothing, ignores the end of its input
		time.Sleep(time.Hour)
	case "endless":
		f.put(remote.Output{Accepted: &remote.Accepted{Run: runID, Session: sessionID}})
		for {
			f.put(remote.Output{Note: "still waiting"})
		}
	case "long":
		f.put(remote.Output{Accepted: &remote.Accepted{Run: runID, Session: sessionID}})
		_, _ = os.Stdout.WriteString(strings.Repeat("x", 65<<20) + "\n")
	case "large":
		f.put(remote.Output{Accepted: &remote.Accepted{Run: runID, Session: sessionID}})
		f.event(false, 1, runID, event.StepCompleted{Index: "1", Result: largeResult()})
		f.event(false, 2, runID, event.StepStarted{Index: "2", Args: map[string]any{"x": largeResult()}})
		f.put(remote.Output{End: true})
	case "forgetful":
		f.put(remote.Output{Accepted: &remote.Accepted{Run: runID, Session: sessionID}})
		sum := strings.Repeat("0", 64)
		fmt.Printf(`{"event":{"v":1,"seq":1,"time":"2026-01-01T00:00:00Z","run":%q,"kind":"step.completed","refs":["/result"],"data":{"index":"1","result":{"ref":"%s.json","sha256":"%[2]s","bytes":9}}}}`+"\n", runID, sum)
	case "dies-later":
		f.put(remote.Output{Accepted: &remote.Accepted{Run: runID, Session: sessionID}})
		f.put(remote.Output{Event: &event.Event{Seq: 1, Run: sessionID, Data: event.ChatUser{Text: "tidy up"}}})
		return 7
	case "problem-later":
		f.put(remote.Output{Accepted: &remote.Accepted{Run: runID, Session: sessionID}})
		f.put(remote.Output{Problem: &remote.Problem{Code: remote.CodeDatabase, Text: "the database went away"}})
	default:
		f.answer()
	}
	return 0
}

// largeResult returns a result of many small values.
func largeResult() []any { return slices.Repeat([]any{"small"}, 50_000) }

type faked struct {
	in      *bufio.Reader
	out     *remote.Writer
	request remote.Request
}

func (f *faked) put(o remote.Output) {
	if err := f.out.Write(o); err != nil {
		os.Exit(5)
	}
}

func (f *faked) event(past bool, seq uint64, run string, d event.Data) {
	f.put(remote.Output{Event: &event.Event{Seq: seq, Run: run, Time: time.Unix(int64(seq), 0), Data: d}, Past: past})
}

// answer answers a request: the run asks at a gate, and ends with the answer.
func (f *faked) answer() {
	started := event.RunStarted{Goal: "tidy up", Workspace: "/w", Model: "m", Plan: &plan.Plan{}}
	switch r := f.request; {
	case r.Runs != nil && os.Getenv(fakeVariable) == "slow": // asked on the screen that is left
		_, _ = f.in.ReadByte()
	case r.Runs != nil:
		f.put(remote.Output{Runs: []agent.Summary{{Run: runID, Goal: "tidy up"}}})
	case r.Journal != nil:
		if r.Journal.Run == "r-inner" {
			f.put(remote.Output{Problem: &remote.Problem{Code: remote.CodeNotFound, Text: "there is no such run"}})
			return
		}
		f.put(remote.Output{Runs: []agent.Summary{{Run: runID, Goal: "tidy up"}}})
		f.past(started)
	case r.Follow != nil:
		f.put(remote.Output{Accepted: &remote.Accepted{Run: runID, Session: sessionID}})
		f.past(started)
		f.resolved(4)
	case r.Resume != nil:
		f.put(remote.Output{Accepted: &remote.Accepted{Run: runID, Session: sessionID}})
		f.past(started)
		f.event(false, 4, runID, event.RunResumed{From: 3})
		f.event(false, 2, "r-inner", event.RunResumed{From: 1})
		f.event(false, 5, runID, event.GateRequested{Gate: "g2", Tool: "fs.write"})
		f.resolved(6)
	case r.Detach:
		f.put(remote.Output{Accepted: &remote.Accepted{Run: r.Submit.Run, Session: sessionID}})
		f.put(remote.Output{Note: "no worker has the MCP server github yet"})
	default:
		f.put(remote.Output{Note: "waiting for a worker"})
		f.put(remote.Output{Accepted: &remote.Accepted{Run: runID, Session: sessionID}})
		f.event(false, 1, sessionID, event.ChatUser{Text: "tidy up"})
		f.event(false, 1, runID, started)
		f.event(false, 2, runID, event.GateRequested{Gate: "g1", Tool: "fs.write"})
		f.resolved(3)
	}
	f.put(remote.Output{End: true})
}

// past writes what happened before: an answer of an earlier life, and an inner run.
func (f *faked) past(started event.RunStarted) {
	f.event(true, 1, sessionID, event.ChatUser{Text: "tidy up"})
	f.event(true, 1, runID, started)
	f.event(true, 1, "r-inner", event.RunStarted{Outer: runID})
	f.event(true, 2, sessionID, event.ChatReply{Run: runID, Text: "it was stopped"})
	f.event(true, 2, runID, event.Note{Text: "it continues"})
	f.event(true, 3, runID, event.GateRequested{Gate: "g1", Tool: "fs.write"})
}

// resolved ends the run once a gate is answered, or leaves when its input ends.
func (f *faked) resolved(seq uint64) {
	for {
		line, err := f.in.ReadString('\n')
		if err == io.EOF {
			os.Exit(0)
		}
		var in remote.Input
		if err != nil || json.Unmarshal([]byte(line), &in) != nil {
			os.Exit(6)
		}
		switch c := in.Command.(type) {
		case session.Resolve:
			f.event(false, seq, runID, event.GateResolved{Gate: c.Gate, Decision: c.Decision, By: in.By})
			f.event(false, seq+1, runID, event.RunCompleted{Result: event.Result{Status: event.StatusCompleted}})
			f.event(false, 3, sessionID, event.ChatReply{Run: runID, Status: event.StatusCompleted, Text: "done"})
			return
		case session.Stop:
			f.event(false, seq, runID, event.RunPaused{Reason: untrusted.Text("stopped by " + in.By)})
		}
	}
}
