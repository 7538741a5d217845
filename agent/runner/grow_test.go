package runner_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/planning/prompt"
)

// grower is a model server with the memory for a window of this size.
type grower struct {
	*model
	most int // tokens

	mu    sync.Mutex
	asked []int // tokens
	names []string
	grown int // tokens
}

func (g *grower) Describe(ctx context.Context, name string) (prompt.ModelInfo, error) {
	info, err := g.model.Describe(ctx, name)
	g.mu.Lock()
	defer g.mu.Unlock()
	info.ContextWindow = max(info.ContextWindow, g.grown)
	return info, err
}

func (g *grower) Grow(ctx context.Context, name string, tokens int) (prompt.ModelInfo, error) {
	g.mu.Lock()
	g.asked, g.names, g.grown = append(g.asked, tokens), append(g.names, name), g.most
	g.mu.Unlock()
	return g.Describe(ctx, name)
}

func TestWindowGrowsBeforeARunThatNeedsIt(t *testing.T) {
	const tight = "the context window of m has only 16k tokens, but the goal with its tools, mentions and the project's notes takes half of it: "
	const note = "the context window of m has grown from 16k to 32k tokens, since the goal with its tools, mentions and the project's notes takes half of it; the model was loaded with it"
	for _, tc := range []struct {
		name  string
		notes string // instructions of the project
		own   int    // the model's context
		most  int
		want  int
		note  string
	}{
		{"the notes take most of the window", strings.Repeat("note ", 8000), 65536, 32768, 32768, note},
		{"little is needed", "note", 65536, 32768, 16384, ""},
		{"the server has no memory for it", strings.Repeat("note ", 8000), 65536, 0, 16384, tight + "set context_window = 32768 in [model] if the server has the memory"},
		{"the model has no larger context", strings.Repeat("note ", 8000), 16384, 0, 16384, tight + "choose a model with a larger context"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &grower{most: tc.most}
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.model.info.ContextWindow, s.model.info.Longest = 16384, tc.own
				server.model = s.model
				s.config = func(c *runner.Config) { c.Model, c.Prompting.Instructions = server, tc.notes }
			})
			started := s.run(t, "do it")
			s.run(t, "do it again") // nothing is said twice
			if started.Prompting.ContextWindow != tc.want {
				t.Errorf("the run started with a window of %d, want %d", started.Prompting.ContextWindow, tc.want)
			}
			var notes []string
			for _, e := range s.seen {
				if n, ok := e.Data.(event.Note); ok {
					notes = append(notes, string(n.Text))
				}
			}
			if (tc.note != "" || len(notes) > 0) && !slices.Equal(notes, []string{tc.note}) {
				t.Errorf("notes %q, want %q", notes, tc.note)
			}
		})
	}
}

func TestWindowGrowsAfterARunThatWasCut(t *testing.T) {
	server := &grower{}
	s := open(t, policy.ApproveAll, func(s *stage) {
		withLongAnswers(s)
		server.model = s.model
		s.config = func(c *runner.Config) { c.Model = server }
	})
	first := s.run(t, strings.Repeat("do it ", 7000))
	if first.Prompting.ContextWindow != 16384 {
		t.Fatalf("the first run has a window of %d", first.Prompting.ContextWindow)
	}
	server.mu.Lock()
	before := len(server.asked)
	server.most = 65536
	server.mu.Unlock()
	second := s.run(t, "go on")
	server.mu.Lock()
	defer server.mu.Unlock()
	if after := server.asked[before:]; len(after) != 1 || after[0] <= 16384 || second.Prompting.ContextWindow != 65536 {
		t.Errorf("asked for %v, got a window of %d; want one that holds what the first run wanted", after, second.Prompting.ContextWindow)
	}
}
