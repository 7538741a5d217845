package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
)

func TestVariablesFromOutside(t *testing.T) {
	const plan = `{"title":"t","variables":{"a":1,"b":2},"steps":[]}`
	for name, c := range map[string]struct {
		plan string
		vars []string
		want string // "" is the plan, byte for byte
	}{
		"none leave the plan as it is":             {plan, nil, ""},
		"JSON keeps its type and every digit":      {plan, []string{`a={"x":[12345678901234567890]}`}, `{"steps":[],"title":"t","variables":{"a":{"x":[12345678901234567890]},"b":2}}`},
		"what is no JSON is text":                  {plan, []string{"a=x y=z"}, `{"steps":[],"title":"t","variables":{"a":"x y=z","b":2}}`},
		"an empty value is empty text":             {plan, []string{"a="}, `{"steps":[],"title":"t","variables":{"a":"","b":2}}`},
		"the last of one name counts":              {plan, []string{"a=1", "a=true"}, `{"steps":[],"title":"t","variables":{"a":true,"b":2}}`},
		"a plan without any gets them":             {`{"title":"t"}`, []string{"a=null"}, `{"title":"t","variables":{"a":null}}`},
		"what is no plan is left to the check":     {`{"title":`, []string{"a=1"}, ""},
		"variables of a wrong type are left to it": {`{"variables":[1]}`, []string{"a=1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == "" {
				c.want = c.plan
			}
			got, err := variables(c.vars).into([]byte(c.plan))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
	for _, bad := range []string{"a", "=1", " =1", ""} {
		if _, err := (variables{bad}).into([]byte(plan)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 30 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "0d": 0, "90m": 90 * time.Minute, "1h30m": 90 * time.Minute,
	} {
		if got, err := parseAge(text); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-3d", "-3h", "3", "1.5d", "99999999999d"} {
		if got, err := parseAge(text); err == nil {
			t.Errorf("%q was taken for %s", text, got)
		}
	}
}

func TestAReplayKeepsThePaceAndShortensLongPauses(t *testing.T) {
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
			t.Errorf("at speed %g it rests %v, want %v", speed, got, want)
		}
	}
}

// storyOf is a journal of a run that was interrupted, with a long rest in it.
func storyOf(t *testing.T) []event.Event {
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

func TestAReplayIsASession(t *testing.T) {
	r := newReplayed("r-1", storyOf(t), 0)
	r.start(context.Background())
	defer r.close()
	r.Send(runner.Submit{Text: "do something"}) // is not taken
	var kinds []event.Kind
	var last event.Data
	for e := range r.Events() {
		kinds, last = append(kinds, e.Data.Kind()), e.Data
	}
	want := []event.Kind{session.KindStatus, event.KindChatUser, event.KindRunStarted, event.KindNote, event.KindChatReply}
	if !slices.Equal(kinds, want) {
		t.Errorf("it plays %v, want %v", kinds, want)
	}
	if reply := last.(event.ChatReply); !strings.Contains(reply.Text, "unfinished") || reply.Run != "r-1" {
		t.Errorf("it ends with %+v", reply)
	}
}

func TestAReplayEndsWhereItIsStopped(t *testing.T) {
	r := newReplayed("r-1", storyOf(t), 0.001) // every rest is as long as can be
	r.start(context.Background())
	defer r.close()
	for range 3 {
		<-r.Events()
	}
	r.Send(runner.Stop{})
	for e := range r.Events() { // it may have been about to be taken
		if e.Data.Kind() == event.KindChatReply {
			t.Error("it was played to its end")
		}
	}
}
