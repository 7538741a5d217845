package runner_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/intent"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// reader is a model server that remembers prompts and knows how fast it is.
type reader struct {
	*shelved
	forecast pace.Forecast
	began    []prompt.Request // that ask nothing
	stopped  int
	hold     bool // it reads until it is stopped
}

func (r *reader) Forecast(context.Context, prompt.Request) (pace.Forecast, error) {
	return r.forecast, nil
}

func (r *reader) Ask(ctx context.Context, req prompt.Request, delta func(text, thinking string)) (reply.Reply, error) {
	if req.Purpose != "" {
		return r.shelved.Ask(ctx, req, delta)
	}
	r.began = append(r.began, req)
	if r.hold {
		<-ctx.Done()
		r.stopped++
		return reply.Reply{}, ctx.Err()
	}
	return reply.Reply{PromptTokens: 900}, nil
}

// readers opens a session with a reader, whose settings change adds to.
func readers(t *testing.T, change func(*reader, *runner.Config)) (*stage, *reader) {
	t.Helper()
	r := &reader{forecast: pace.Forecast{Tokens: 900, Speed: pace.Speed{Read: 25}}}
	s := open(t, policy.ApproveAll, func(s *stage) {
		r.shelved = &shelved{model: s.model, keep: 5 * time.Minute, loaded: make(chan string, 8)}
		s.config = func(c *runner.Config) {
			c.Model = r
			change(r, c)
		}
	})
	return s, r
}

func TestWarmReadsTheBeginningOfTheNextRequest(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*reader, *runner.Config)
	}{
		{"small model", func(r *reader, _ *runner.Config) { r.info.Small = true }},
		{"large model", func(r *reader, _ *runner.Config) { r.info.Tools = true }},
		{"agents", func(r *reader, c *runner.Config) {
			r.info.Tools = true
			r.others = map[string]prompt.ModelInfo{"tiny": {Name: "tiny", Small: true, Tools: true}}
			c.Prompting.Profiles = []prompt.Profile{{Name: "finder", Description: "finds"}, {Name: "weak", Model: "tiny"}}
		}},
		{"agents of a model without tools", func(_ *reader, c *runner.Config) {
			c.Prompting.Profiles = []prompt.Profile{{Name: "finder", Description: "finds"}}
		}},
		{"sketch of the workspace", func(_ *reader, c *runner.Config) {
			c.Survey = func(_ context.Context, goal string) intent.Facts {
				sketch := intent.Sketch{Languages: []string{"Go"}, Files: []string{"a.go", "b.go"}}
				if goal == "do it" {
					sketch.Named = []string{"It: function, a.go:3"}
				}
				return intent.Facts{Known: true, Sketch: sketch}
			}
		}},
		{"notes of the project", func(_ *reader, c *runner.Config) { c.Prompting.Instructions = "Write short names." }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := readers(t, tc.change)
				synctest.Wait()
				for i := range 2 {
					s.Send(session.Warm{})
					synctest.Wait()
					if len(r.began) != i+1 {
						t.Fatalf("%d requests were read ahead, want %d", len(r.began), i+1)
					}
					ahead := r.began[i]
					s.run(t, "do it")
					plans := r.requests(prompt.PurposePlan)
					asked := plans[len(plans)-1].Messages
					if n := len(ahead.Messages); n < 2*i+1 || n > len(asked) || ahead.MaxTokens != 1 {
						t.Errorf("%d messages were read ahead of goal %d, for %d tokens", n, i+1, ahead.MaxTokens)
					}
					for j, m := range ahead.Messages {
						if same := asked[j].Content == m.Content; asked[j].Role != m.Role || !same && (j < len(asked)-1 || !strings.HasPrefix(asked[j].Content, m.Content+"\n")) {
							t.Errorf("message %d was read ahead as\n%s\nand asked as\n%s", j, m.Content, asked[j].Content)
						}
					}
				}
			})
		})
	}
}

func TestNothingIsReadAheadInVain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*reader, *runner.Config)
		want   int
	}{
		{"slow machine", func(*reader, *runner.Config) {}, 1},
		{"unmeasured machine", func(r *reader, _ *runner.Config) { r.forecast.Speed = pace.Speed{} }, 1},
		{"fast machine", func(r *reader, _ *runner.Config) { r.forecast.Speed.Read = 2000 }, 0},
		{"text that the server remembers", func(r *reader, _ *runner.Config) { r.forecast.Cached = 890 }, 0},
		{"text that an unmeasured server remembers", func(r *reader, _ *runner.Config) { r.forecast = pace.Forecast{Tokens: 900, Cached: 890} }, 0},
		{"model of a service", func(r *reader, _ *runner.Config) { r.info.Remote = true }, 0},
		{"model that does not stay", func(r *reader, _ *runner.Config) { r.keep = 0 }, 0},
		{"model that cannot be loaded", func(r *reader, _ *runner.Config) { r.err = prompt.ErrNoModel }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := readers(t, tc.change)
				synctest.Wait()
				s.Send(session.Warm{})
				s.shut()
				if len(r.began) != tc.want {
					t.Errorf("%d requests were read ahead, want %d", len(r.began), tc.want)
				}
			})
		})
	}
}

func TestGoalStopsReadingAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := readers(t, func(r *reader, _ *runner.Config) { r.hold = true })
		synctest.Wait()
		s.Send(session.Warm{})
		synctest.Wait()
		if len(r.began) != 1 || r.stopped != 0 {
			t.Fatalf("read %d, stopped %d", len(r.began), r.stopped)
		}
		s.run(t, "do it")
		if r.stopped != 1 {
			t.Errorf("the server was stopped %d times, want once", r.stopped)
		}
	})
}

func TestAnotherModelStopsReadingAheadForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := readers(t, func(r *reader, _ *runner.Config) {
			r.hold, r.others = true, map[string]prompt.ModelInfo{"big": {Name: "big:latest", ContextWindow: 32768, Tools: true}}
		})
		synctest.Wait()
		s.Send(session.Warm{})
		synctest.Wait()
		s.Send(session.Choose{Model: ptr("big")})
		synctest.Wait()
		s.Send(session.Warm{})
		synctest.Wait()
		if len(r.began) != 2 || r.stopped != 1 {
			t.Errorf("read %d, stopped %d, want 2 and 1", len(r.began), r.stopped)
		}
		s.run(t, "do it")
		if r.stopped != 2 {
			t.Errorf("the server was stopped %d times, want twice", r.stopped)
		}
	})
}

func TestSessionOfTheScreenWarmsTheModelOnceToolsAreKnownAndAfterEachRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := readers(t, func(_ *reader, c *runner.Config) { c.Warm = true })
		for i := range 3 {
			synctest.Wait()
			if len(r.loaded) != 1 || len(r.began) != i+1 {
				t.Errorf("after %d runs: the model was loaded %d times and read %d requests, want 1 and %d", i, len(r.loaded), len(r.began), i+1)
			}
			s.run(t, "do it")
		}
	})
}

func TestWarmOnlyLoadsWhileToolsAreUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ready := make(chan struct{})
		s, r := readers(t, func(_ *reader, c *runner.Config) { c.Tools = &late{Tools: c.Tools, ready: ready}; c.Warm = true })
		s.Send(session.Warm{})
		synctest.Wait()
		if len(r.loaded) != 1 || len(r.began) != 0 {
			t.Errorf("before the tools: loaded %d, read %d", len(r.loaded), len(r.began))
		}
		close(ready)
		synctest.Wait()
		if len(r.loaded) != 1 || len(r.began) != 1 {
			t.Errorf("after them: loaded %d, read %d", len(r.loaded), len(r.began))
		}
	})
}

// late are tools that are not ready at once.
type late struct {
	runner.Tools
	ready chan struct{}
}

func (l *late) Ready(ctx context.Context) plan.Catalog {
	<-l.ready
	return l.Tools.Ready(ctx)
}
