package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
	"replan/planning/intent"
	"replan/tui/plain"
)

func TestCommandsWaitAsLongAsServersMayTakeToStart(t *testing.T) {
	pool, err := mcpclient.NewPool(t.Context(), mcpclient.Config{Later: true, Servers: []mcpconfig.Server{
		{Name: "slow", Command: "x", StartTimeout: 5 * time.Minute}, {Name: "usual", Command: "x"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	if all, usual := toolsWithin(pool, nil), toolsWithin(pool, []string{"usual"}); all <= 5*time.Minute || usual != 2*time.Minute {
		t.Errorf("waits %s for all and %s for the usual one", all, usual)
	}
}

func TestVariablesAreMergedIntoPlan(t *testing.T) {
	const plan = `{"title":"t","variables":{"a":1,"b":2},"steps":[]}`
	for name, c := range map[string]struct {
		plan string
		vars []string
		want string // "" means the unchanged plan
	}{
		"no variables":                            {plan, nil, ""},
		"JSON keeps type and digits":              {plan, []string{`a={"x":[12345678901234567890]}`}, `{"steps":[],"title":"t","variables":{"a":{"x":[12345678901234567890]},"b":2}}`},
		"not JSON":                                {plan, []string{"a=x y=z"}, `{"steps":[],"title":"t","variables":{"a":"x y=z","b":2}}`},
		"empty value":                             {plan, []string{"a="}, `{"steps":[],"title":"t","variables":{"a":"","b":2}}`},
		"last of the same name wins":              {plan, []string{"a=1", "a=true"}, `{"steps":[],"title":"t","variables":{"a":true,"b":2}}`},
		"plan without variables":                  {`{"title":"t"}`, []string{"a=null"}, `{"title":"t","variables":{"a":null}}`},
		"invalid plan is unchanged":               {`{"title":`, []string{"a=1"}, ""},
		"variables of a wrong type are unchanged": {`{"variables":[1]}`, []string{"a=1"}, ""},
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
			t.Errorf("%q was accepted", bad)
		}
	}
}

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

func TestReplayIsASession(t *testing.T) {
	r := newReplayed("r-1", interruptedRun(t), 0)
	r.start(context.Background())
	defer r.close()
	r.Send(session.Submit{Text: "do something"}) // is ignored
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

func TestStopEndsReplay(t *testing.T) {
	r := newReplayed("r-1", interruptedRun(t), 0.001) // every pause has the maximum length
	r.start(context.Background())
	defer r.close()
	for range 3 {
		<-r.Events()
	}
	r.Send(session.Stop{})
	for e := range r.Events() { // one event may already be on its way
		if e.Data.Kind() == event.KindChatReply {
			t.Error("the replay ran to its end")
		}
	}
}

func TestIntentIsShownWithItsStepsOnATerminal(t *testing.T) {
	const words = "rename authenticate to verify_user"
	var b strings.Builder
	writeIntent(plain.NewPrinter(&b, plain.Options{}), intent.Parse(words), intent.Facts{}.RouteWords(words, intent.Policy{}), false)
	for _, want := range []string{
		"rename  (refactor)\ntarget: authenticate\nnew name: verify_user\ncertainty: 0.85, sure enough to act on\n\n",
		"1. Find", "[code.references]", "[code.transform]", "\n\n◆ this step asks first: 4\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant it to contain %q", b.String(), want)
		}
	}
	b.Reset()
	writeRoute(plain.NewPrinter(&b, plain.Options{}), intent.Facts{}.RouteWords("sing me a song", intent.Policy{}), false)
	if want := "· no chain of operators fits these words: a model plans them\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestLeavingTheScreenSaysWhatCanBeDoneWithTheLastRun(t *testing.T) {
	for want, c := range map[string]struct {
		agent.Summary
		changed bool
	}{
		"Run a61ec9 stopped after 3 of 7 steps. Continue: replan plan resume a61ec9": {Summary: agent.Summary{Status: event.StatusCancelled, Resumable: true, Done: 3, Steps: 7}},
		"Run a61ec9 stopped. Continue: replan plan resume a61ec9":                    {Summary: agent.Summary{Status: event.StatusCancelled, Resumable: true}},
		"Run a61ec9: done. Show it: replan runs show a61ec9":                         {Summary: agent.Summary{Status: event.StatusCompleted, Steps: 7}},
		"Run a61ec9: done. Show it: replan runs show a61ec9, undo it: replan undo a61ec9": {
			Summary: agent.Summary{Status: event.StatusCompleted, Steps: 7}, changed: true,
		},
		"Run a61ec9: partial, 1 of 3 steps. Show it: replan runs show a61ec9": {
			Summary: agent.Summary{Status: event.StatusCompleted, Reason: event.ReasonPartial, Done: 1, Steps: 3},
		},
		"Run a61ec9: nothing to commit. Show it: replan runs show a61ec9": {
			Summary: agent.Summary{Status: event.StatusCompleted, Reason: event.ReasonNothingToCommit, Done: 1, Steps: 2},
		},
		"": {Summary: agent.Summary{Status: event.StatusFailed, Steps: 7, Undone: true}},
	} {
		c.Run = "r-20260102-030405-a61ec9"
		if got := exitHint(c.Summary, c.changed); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := exitHint(agent.Summary{Status: event.StatusCompleted}, false); got != "" {
		t.Errorf("after an answer without a plan: got %q", got)
	}
}
