package chat

import (
	"slices"
	"strings"
	"testing"

	"replan/agent/session"
	"replan/cli/app"
)

func TestCompletionMatchesChatCommands(t *testing.T) {
	c := chat{app.New("", app.IO{}, Commands)}
	all, help := c.List(), c.help()
	takes := map[string][]session.Completing{}
	for _, c := range all {
		takes[c.Text] = c.Takes
		words := strings.Fields(c.Text)
		if !strings.Contains(help, "- `"+c.Text) && c.Detail != "" {
			t.Errorf("%s is not in /help", c.Text)
		}
		if c.Detail == "" && len(words) == 1 {
			t.Errorf("%s has no description", c.Text)
		}
	}
	for _, name := range c.aboutSession() {
		if _, ok := takes[name]; !ok {
			t.Errorf("%s is not completed", name)
		}
	}
	for text, want := range map[string][]session.Completing{
		"/plan run":    {session.CompletePlans, session.CompleteFiles},
		"/plan show":   {session.CompletePlans},
		"/plan resume": {session.CompleteRuns},
		"/plan check":  {session.CompleteFiles},
		"/undo":        {session.CompleteRuns},
		"/runs show":   {session.CompleteRuns},
		"/model":       {session.CompleteModels},
		"/profile":     {session.CompleteProfiles},
		"/think high":  nil,
		"/compact":     nil,
		"/plan create": nil,
	} {
		if got, ok := takes[text]; !ok || !slices.Equal(got, want) {
			t.Errorf("%s takes %v, want %v (%v)", text, got, want, ok)
		}
	}
}
