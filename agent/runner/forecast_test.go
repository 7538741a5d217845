package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// forecasting is a model whose server knows how fast it is.
type forecasting struct {
	*model
	forecast pace.Forecast
	from     string // it is fast for goals without this
}

func (f forecasting) Forecast(_ context.Context, req prompt.Request) (pace.Forecast, error) {
	if !slices.ContainsFunc(req.Messages, func(m prompt.Message) bool { return strings.Contains(m.Content, f.from) }) {
		return pace.Forecast{Tokens: 10}, nil
	}
	return f.forecast, nil
}

// slowNotes returns what the events note about the speed.
func slowNotes(seen []event.Event) (notes []string) {
	for _, e := range seen {
		if n, ok := e.Data.(event.Note); ok && strings.Contains(string(n.Text), "tokens a second") {
			notes = append(notes, string(n.Text))
		}
	}
	return notes
}

func TestSlowGoalIsToldBeforehandOnceASession(t *testing.T) {
	slow := pace.Forecast{Tokens: 1900, Cached: 400, Reply: 200, Speed: pace.Speed{Read: 25, Write: 10}}
	for _, tc := range []struct {
		name     string
		forecast pace.Forecast
		before   string // an earlier goal
		foreign  int
		want     string // "" for no note
	}{
		{"model", slow, "hello", 0, "m reads 25, writes 10 tokens a second here: understanding the goal will take about 1m20s. A smaller model would help."},
		{"servers", slow, "hello", 20, "It describes 22 tools of MCP servers: fewer servers or a smaller model would help."},
		{"conversation", slow, strings.Repeat("long ago ", 3000), 20, "Most of it is the conversation so far: /compact, a new session or a smaller model would help."},
		{"fast enough", pace.Forecast{Tokens: 1900, Cached: 1000, Reply: 200, Speed: slow.Speed}, "hello", 20, ""},
		{"not measured", pace.Forecast{Tokens: 1900, Reply: 200}, "hello", 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.config = func(c *runner.Config) {
					c.Model = forecasting{model: s.model, forecast: tc.forecast, from: "do it"}
				}
				s.tools.offered = s.tools.Ready(t.Context())
				for i := range tc.foreign {
					s.tools.offered = append(s.tools.offered, plan.Tool{Name: fmt.Sprintf("more%d", i), Server: "other", InputSchema: json.RawMessage(`{"type":"object"}`)})
				}
			})
			for _, goal := range []string{tc.before, "do it", "do it again"} {
				s.run(t, goal)
			}
			notes := slowNotes(s.seen)
			if want := min(len(tc.want), 1); len(notes) != want || want == 1 && !strings.Contains(notes[0], tc.want) {
				t.Errorf("the session noted %q, want %q once", notes, tc.want)
			}
		})
	}
}
