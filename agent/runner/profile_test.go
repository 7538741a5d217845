package runner_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestUnmatchedProfilePatternsAreReportedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		tools   []string
		builtIn bool
		servers []plan.ServerStatus
		want    string // "" for no note
	}{
		"matching patterns": {tools: []string{"look", "w:change", "ch*"}},
		"no patterns": {
			servers: []plan.ServerStatus{{Name: "w", State: plan.ServerReady}},
		},
		"unmatched patterns": {
			tools: []string{"nosuch.*", "look", "x:look"}, want: `the profile "p": there is no tool nosuch.*, x:look (replan tools lists them)`,
		},
		"built-in profile": {tools: []string{"nosuch.*"}, builtIn: true},
		"missing server": {
			tools:   []string{"nosuch.*"},
			servers: []plan.ServerStatus{{Name: "w", State: plan.ServerReady}, {Name: "x", State: plan.ServerFailed}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.tools.servers = c.servers
				s.config = func(cfg *runner.Config) {
					cfg.Profiles = []runner.Profile{{Name: "p", Tools: c.tools, BuiltIn: c.builtIn}}
				}
			})
			s.run(t, "one")
			s.run(t, "two")
			var got []string
			for _, e := range s.seen {
				if note, ok := e.Data.(event.Note); ok && strings.Contains(string(note.Text), "profile") {
					got = append(got, string(note.Text))
				}
			}
			if want := slices.DeleteFunc([]string{c.want}, func(s string) bool { return s == "" }); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestSlashCommandGetsSessionState(t *testing.T) {
	hold := make(chan struct{})
	moments := make(chan runner.SlashState, 1)
	s := open(t, policy.ApproveAll, func(s *stage) {
		settings(s)
		configure := s.config
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
		s.config = func(c *runner.Config) {
			configure(c)
			c.Slash = func(_ context.Context, _ string, now runner.SlashState) (runner.Answer, error) {
				moments <- now
				return runner.Answer{}, nil
			}
		}
	})
	check := func(want runner.SlashState) {
		t.Helper()
		s.Send(session.Submit{Text: "/model"})
		if got := <-moments; got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	status(t, s, func(st session.Status) bool { return st.Model == "m" })
	check(runner.SlashState{})
	s.Send(session.Choose{Profile: ptr("careful")})
	status(t, s, func(st session.Status) bool { return st.Profile == "careful" })
	check(runner.SlashState{Model: "slow", Think: prompt.ThinkHigh})
	s.Send(session.Submit{Text: "do it"})
	until[event.PhaseStarted](t, s)
	check(runner.SlashState{Model: "slow", Think: prompt.ThinkHigh, Busy: true})
	close(hold)
	until[event.RunCompleted](t, s)
}
