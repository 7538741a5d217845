package runner_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
)

// keeper saves settings of a session in memory.
type keeper struct {
	saved []string
	err   error
}

func (k *keeper) keep(key string, value *string) (string, error) {
	if value == nil {
		k.saved = append(k.saved, key)
	} else {
		k.saved = append(k.saved, key+"="+*value)
	}
	return "config.toml", k.err
}

// keeping opens a session that saves choices.
func keeping(t *testing.T, k *keeper) *stage {
	t.Helper()
	return open(t, policy.ApproveAll, func(s *stage) {
		settings(s)
		more := s.config
		s.config = func(c *runner.Config) {
			more(c)
			c.Keep = k.keep
		}
	})
}

func TestChoicesOfTheUserAreSaved(t *testing.T) {
	k := &keeper{}
	s := keeping(t, k)
	for _, c := range []struct {
		command runner.Command
		want    []session.Kept
	}{
		{runner.Choose{Model: new("big"), Think: new(prompt.ThinkLow)}, []session.Kept{{Key: "model.name", Value: "big:latest", File: "config.toml"}, {Key: "model.think", Value: "low", File: "config.toml"}}},
		{runner.Choose{Think: new(prompt.ThinkAuto)}, []session.Kept{{Key: "model.think", Value: "auto", File: "config.toml"}}},
		{runner.Choose{Model: new("")}, []session.Kept{{Key: "model.name", Removed: true, File: "config.toml"}}},
		{runner.Hold{On: true}, []session.Kept{{Key: "screen.review", Value: "true", File: "config.toml"}}},
		{runner.Hold{}, []session.Kept{{Key: "screen.review", Removed: true, File: "config.toml"}}},
		{runner.Keep{Key: "screen.theme", Value: new("ember")}, []session.Kept{{Key: "screen.theme", Value: "ember", File: "config.toml"}}},
	} {
		s.Send(c.command)
		for _, want := range c.want {
			if got := until[session.Kept](t, s); got != want {
				t.Errorf("%+v: got %+v, want %+v", c.command, got, want)
			}
		}
	}
}

func TestChoicesUnderAProfileAreNotSaved(t *testing.T) {
	k := &keeper{}
	s := keeping(t, k)
	s.Send(runner.Choose{Profile: new("careful")})
	s.Send(runner.Choose{Model: new("big")})
	s.Send(runner.Keep{Key: "screen.theme", Value: new("ember")}) // published once the rest is done
	status(t, s, func(st session.Status) bool { return st.Model == "big:latest" })
	if slices.Contains(k.saved, "model.name=big:latest") {
		t.Errorf("saved %v", k.saved)
	}
}

func TestUnsavedChoiceSaysWhy(t *testing.T) {
	s := keeping(t, &keeper{err: errors.New("the file is read-only")})
	s.Send(runner.Hold{On: true})
	if got := until[session.Kept](t, s); got.Problem != "the file is read-only" {
		t.Errorf("got %+v", got)
	}
	s = open(t, policy.ApproveAll, settings) // saves nothing
	s.Send(runner.Hold{On: true})
	s.Send(runner.Keep{Key: "screen.theme", Value: new("ember")})
	if got, want := until[session.Kept](t, s), (session.Kept{Key: "screen.theme", Value: "ember"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSettingChosenAtTheEndIsSaved(t *testing.T) {
	k := &keeper{}
	s := keeping(t, k)
	var want []string
	for i := range 10 {
		s.Send(runner.Keep{Key: "screen.theme", Value: new(fmt.Sprint(i))})
		want = append(want, fmt.Sprintf("screen.theme=%d", i))
	}
	s.Close()
	if !slices.Equal(k.saved, want) {
		t.Errorf("saved %v, want %v", k.saved, want)
	}
}
