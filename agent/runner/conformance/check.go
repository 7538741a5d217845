package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store"
)

// Host plays a case, and returns its events and the id of its run.
type Host func(t *testing.T, c Case) (events []event.Event, run string)

// shown are the kinds of events that some case must show, so that the cases exercise
// what a host may get wrong.
var shown = []event.Kind{
	event.KindGateResolved, event.KindPlanDiff, event.KindCheckCompleted, event.KindStepExpanded, event.KindModelReplied,
	event.KindStepInDoubt, event.KindDoubtResolved, event.KindStepSkipped, event.KindStepFailed, event.KindTimerFired, event.KindRunCompleted,
}

// Check fails unless all hosts show the same events in each of the first n cases.
func Check(t *testing.T, n int, hosts ...Host) {
	t.Helper()
	var mu sync.Mutex
	seen := map[event.Kind]bool{}
	t.Run("cases", func(t *testing.T) {
		for _, c := range Cases(n) {
			t.Run(fmt.Sprint(c.Seed), func(t *testing.T) {
				t.Parallel()
				var first []string
				for _, host := range hosts {
					events, run := host(t, c)
					lines, err := Lines(events, run)
					if err != nil {
						t.Fatal(err)
					}
					if first == nil {
						first = lines
					} else if !slices.Equal(first, lines) {
						t.Fatal(difference(first, lines))
					}
					mu.Lock()
					for _, e := range events {
						seen[e.Data.Kind()] = true
					}
					mu.Unlock()
				}
			})
		}
	})
	for _, kind := range shown {
		if n >= minCases && !seen[kind] {
			t.Errorf("no case shows %s", kind)
		}
	}
}

// difference shows where the events of two hosts part.
func difference(a, b []string) string {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	const shown = 5
	before := a[max(0, same-shown):same]
	a, b = a[same:], b[same:]
	at := 0
	if len(a) > 0 && len(b) > 0 {
		for at < len(a[0]) && at < len(b[0]) && a[0][at] == b[0][at] {
			at++
		}
	}
	return fmt.Sprintf("after\n%s\none host shows\n%s\nand another\n%s\nthe first line differs at its byte %d", strings.Join(before, "\n"), strings.Join(a, "\n"), strings.Join(b, "\n"), at)
}

// minCases are enough to show all kinds.
const minCases = 100

// Local is the host of one machine: a session with its journals in files.
func Local(t *testing.T, c Case) (events []event.Event, run string) {
	t.Helper()
	dir := t.TempDir()
	cfg := c.Config()
	ids := 0
	cfg.Store, cfg.Approve, cfg.InDoubt = store.New(store.Dirs{Config: dir, Data: dir, State: dir}), c.Approve, c.InDoubt
	cfg.NewID = func(time.Time) string { ids++; return fmt.Sprint(ids) }
	s, err := runner.NewSession(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Send(session.Execute{Plan: c.Plan})
	var closing sync.WaitGroup
	for e := range s.Events() {
		if reply, ok := e.Data.(event.ChatReply); ok {
			run = reply.Run
			closing.Go(s.Close)
		}
		events = append(events, e)
	}
	closing.Wait()
	return events, run
}
