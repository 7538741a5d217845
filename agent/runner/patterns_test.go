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

func TestAPatternThatFitsNoToolIsToldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		tools   []string
		builtIn bool
		servers []plan.ServerStatus
		want    string // "" is no word
	}{
		"patterns that fit are not spoken of": {tools: []string{"look", "w:change", "ch*"}},
		"a profile without any has every tool": {
			servers: []plan.ServerStatus{{Name: "w", State: plan.ServerReady}},
		},
		"those that fit nothing are named": {
			tools: []string{"nosuch.*", "look", "x:look"}, want: `the profile "p": no tool is called nosuch.*, x:look (replan tools lists what there is)`,
		},
		"nobody is told of those that nobody wrote": {tools: []string{"nosuch.*"}, builtIn: true},
		"while a server is missing nobody knows": {
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
			var said []string
			for _, e := range s.seen {
				if note, ok := e.Data.(event.Note); ok && strings.Contains(note.Text, "profile") {
					said = append(said, note.Text)
				}
			}
			if want := slices.DeleteFunc([]string{c.want}, func(s string) bool { return s == "" }); !slices.Equal(said, want) {
				t.Errorf("it says %q, want %q", said, want)
			}
		})
	}
}

func TestACommandIsToldHowTheSessionStands(t *testing.T) {
	hold := make(chan struct{})
	moments := make(chan runner.Moment, 1)
	s := open(t, policy.ApproveAll, func(s *stage) {
		settings(s)
		configure := s.config
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
		s.config = func(c *runner.Config) {
			configure(c)
			c.Slash = func(_ context.Context, _ string, now runner.Moment) (runner.Answer, error) {
				moments <- now
				return runner.Answer{}, nil
			}
		}
	})
	asked := func(want runner.Moment) {
		t.Helper()
		s.Send(runner.Submit{Text: "/model"})
		if got := <-moments; got != want {
			t.Errorf("it is told %+v, want %+v", got, want)
		}
	}
	status(t, s, func(st session.Status) bool { return st.Model == "m" })
	asked(runner.Moment{})
	s.Send(runner.Choose{Profile: ptr("careful")})
	status(t, s, func(st session.Status) bool { return st.Profile == "careful" })
	asked(runner.Moment{Model: "slow", Think: prompt.ThinkHigh})
	s.Send(runner.Submit{Text: "do it"})
	until[event.PhaseStarted](t, s)
	asked(runner.Moment{Model: "slow", Think: prompt.ThinkHigh, Busy: true})
	close(hold)
	until[event.RunCompleted](t, s)
}
