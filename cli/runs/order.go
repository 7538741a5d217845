package runs

import (
	"cmp"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/internal/english"
)

// Orders returns the orders of a list of runs, the usual one first.
func Orders() []string { return []string{"newest", "oldest", "state", "steps", "replans", "goal"} }

// ordered returns runs in an order, of which at most so many; 0 is all. They come the
// newest first, and those that are equal stay so.
func ordered(list []agent.Summary, by string, most int) ([]agent.Summary, error) {
	states := []event.Status{agent.StatusRunning, agent.StatusWaiting, agent.StatusUnfinished, event.StatusFailed, event.StatusCompleted}
	compare := map[string]func(a, b agent.Summary) int{
		"newest": func(agent.Summary, agent.Summary) int { return 0 },
		"oldest": func(a, b agent.Summary) int { return a.Started.Compare(b.Started) },
		"state": func(a, b agent.Summary) int {
			return cmp.Compare(slices.Index(states, a.Status), slices.Index(states, b.Status))
		},
		"steps":   func(a, b agent.Summary) int { return cmp.Compare(b.Steps, a.Steps) },
		"replans": func(a, b agent.Summary) int { return cmp.Compare(b.Replans, a.Replans) },
		"goal": func(a, b agent.Summary) int {
			return strings.Compare(strings.ToLower(config.First(a.Goal, a.Title).Line()), strings.ToLower(config.First(b.Goal, b.Title).Line()))
		},
	}[by]
	switch {
	case compare == nil:
		return nil, exit.Usage("--sort takes %s, not %q%s", english.List(Orders(), "or"), by, english.DidYouMean(by, Orders()))
	case most < 0:
		return nil, exit.Usage("--limit takes a number from 0 on, 0 for all, not %d", most)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, compare)
	if most > 0 {
		list = list[:min(most, len(list))]
	}
	return list, nil
}
