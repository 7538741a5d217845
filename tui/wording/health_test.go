package wording_test

import (
	"slices"
	"testing"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/wording"
)

func TestHealthFollowsAServer(t *testing.T) {
	const failed, ready, starting, stopped = plan.ServerFailed, plan.ServerReady, plan.ServerStarting, plan.ServerStopped
	const restarting = "starting after a fault"
	for name, c := range map[string]struct {
		states []plan.ServerState
		want   []wording.HealthKind
	}{
		"starts":                      {[]plan.ServerState{starting, ready, ready}, nil},
		"fails and is back":           {[]plan.ServerState{ready, failed, failed, starting, ready, ready}, []wording.HealthKind{wording.ServerLost, wording.ServerBack}},
		"restarts":                    {[]plan.ServerState{ready, restarting, ready}, []wording.HealthKind{wording.ServerRestarts, wording.ServerBack}},
		"restarts in vain":            {[]plan.ServerState{ready, restarting, failed}, []wording.HealthKind{wording.ServerRestarts, wording.ServerLost}},
		"never starts":                {[]plan.ServerState{starting, failed, starting, failed}, []wording.HealthKind{wording.ServerNotStarted, wording.ServerNotStarted}},
		"starts at last":              {[]plan.ServerState{starting, failed, starting, ready}, []wording.HealthKind{wording.ServerNotStarted, wording.ServerBack}},
		"had failed before":           {[]plan.ServerState{failed, failed, starting, ready}, []wording.HealthKind{wording.ServerMissing, wording.ServerBack}},
		"is stopped and starts again": {[]plan.ServerState{ready, stopped, starting, ready}, []wording.HealthKind{wording.ServerStopped}},
	} {
		t.Run(name, func(t *testing.T) {
			var h wording.Health
			var got []wording.HealthKind
			for _, state := range c.states {
				s := plan.ServerStatus{Name: "s", State: state}
				if state == restarting {
					s.State, s.Error = starting, "it ended"
				}
				for _, change := range h.Follow(session.Status{Servers: []plan.ServerStatus{s}}) {
					got = append(got, change.Kind)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestHealthFollowsTheModel(t *testing.T) {
	var h wording.Health
	for i, c := range []struct {
		model, problem untrusted.Text
		want           wording.HealthChange
	}{
		{"", "no model", wording.HealthChange{}},
		{"m", "", wording.HealthChange{Kind: wording.ModelAnswers, Model: "m"}},
		{"m", "", wording.HealthChange{}},
		{"m", "it ended", wording.HealthChange{Kind: wording.ModelSilent, Why: "it ended"}},
		{"m", "it ended", wording.HealthChange{}},
		{"m", "", wording.HealthChange{Kind: wording.ModelAnswers, Model: "m", Again: true}},
	} {
		var got wording.HealthChange
		for _, change := range h.Follow(session.Status{Model: c.model, Problem: c.problem}) {
			got = change
		}
		if got.Kind != c.want.Kind || got.Model != c.want.Model || got.Why != c.want.Why || got.Again != c.want.Again {
			t.Errorf("status %d: got %+v, want %+v", i, got, c.want)
		}
	}
}
