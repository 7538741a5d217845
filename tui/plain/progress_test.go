package plain_test

import (
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plain"
)

func TestNewProgressMessagesArePrintedNowAndThen(t *testing.T) {
	var out strings.Builder
	log := plain.New(&out, "s", plain.Options{})
	step := plan.Step{Index: "1", Title: "Load", Tool: "load", Executor: plan.ExecutorTool}
	var seq uint64
	at := func(second int, d event.Data) {
		seq++
		if err := log.Event(event.Event{Seq: seq, Time: time.Unix(int64(second), 0), Run: "r", Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	at(0, event.RunStarted{Goal: "load"})
	at(0, event.PlanCreated{Plan: plan.Plan{Title: "Load", Steps: []plan.Step{step}}})
	at(0, event.StepStarted{Index: "1", Attempt: 1, Title: "Load", Tool: "load", Executor: plan.ExecutorTool})
	for second, message := range []string{"reading", "soon", "reading", "sorting", "late", "sorting", "reading"} {
		at(10+second, event.StepProgress{Index: "1", Done: float64(second), Total: 10, Message: untrusted.Text("it is " + message)})
	}
	var got []string
	for line := range strings.SplitSeq(out.String(), "\n") {
		if strings.Contains(line, "it is ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if want := "1 it is reading  0%|1 it is sorting  30%|1 it is reading  60%"; strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}
