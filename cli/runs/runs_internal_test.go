package runs

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/session"
)

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 30 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "99999d": 99999 * 24 * time.Hour, "0d": 0, "90m": 90 * time.Minute, "1h30m": 90 * time.Minute,
	} {
		if got, err := ParseAge(text); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-3d", "-3h", "3", "1.5d", "106752d", "99999999999d"} {
		if got, err := ParseAge(text); err == nil {
			t.Errorf("%q was accepted as %s", text, got)
		}
	}
}

func TestReplayKeepsPaceAndShortensLongPauses(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var events []event.Event
	for _, after := range []time.Duration{0, time.Second, time.Second, 9 * time.Second, 48 * time.Hour, 47 * time.Hour} {
		events = append(events, event.Event{Time: begun.Add(after)})
	}
	ms := time.Millisecond
	for speed, want := range map[float64][]time.Duration{
		0:   {0, 0, 0, 0, 0, 0},
		1:   {0, 1000 * ms, 0, 2000 * ms, 2000 * ms, 0}, // the clock was set back at the end
		4:   {0, 250 * ms, 0, 2000 * ms, 2000 * ms, 0},
		0.5: {0, 2000 * ms, 0, 2000 * ms, 2000 * ms, 0},
		10:  {0, 100 * ms, 0, 800 * ms, 2000 * ms, 0},
	} {
		if got := pauses(events, speed); !slices.Equal(got, want) {
			t.Errorf("speed %g: got pauses %v, want %v", speed, got, want)
		}
	}
}

// interruptedRun returns the journal of an interrupted run with a long pause.
func interruptedRun(t *testing.T) []event.Event {
	t.Helper()
	var events []event.Event
	for _, line := range []string{
		`{"v":1,"seq":1,"time":"2026-01-02T03:04:05Z","run":"r-1","kind":"run.started","data":{"goal":"go","workspace":"/w","model":"m","limits":{},"rules":[],"catalogue":[],"prompting":{}}}`,
		`{"v":1,"seq":2,"time":"2026-01-05T03:04:05Z","run":"r-1","kind":"note","data":{"level":"info","text":"later"}}`,
	} {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func TestReplayHasTheEventsOfASession(t *testing.T) {
	r := newJournalSession("r-1", interruptedRun(t), 0)
	r.start(context.Background())
	defer r.close()
	var kinds []event.Kind
	var last event.Data
	for e := range r.Events() {
		kinds, last = append(kinds, e.Data.Kind()), e.Data
	}
	want := []event.Kind{session.KindStatus, event.KindChatUser, event.KindRunStarted, event.KindNote, event.KindChatReply}
	if !slices.Equal(kinds, want) {
		t.Errorf("got events %v, want %v", kinds, want)
	}
	if reply := last.(event.ChatReply); !strings.Contains(string(reply.Text), "unfinished") || reply.Run != "r-1" {
		t.Errorf("got last event %+v", reply)
	}
}

func TestEndOfItsContextEndsReplay(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := newJournalSession("r-1", interruptedRun(t), 0.001) // every pause has the maximum length
	r.start(ctx)
	defer r.close()
	for range 3 {
		<-r.Events()
	}
	cancel()
	for e := range r.Events() { // one event may already be on its way
		if e.Data.Kind() == event.KindChatReply {
			t.Error("the replay ran to its end")
		}
	}
}
