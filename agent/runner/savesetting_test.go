package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
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
			c.SaveSetting = k.keep
		}
	})
}

func TestChoicesOfTheUserAreSaved(t *testing.T) {
	k := &keeper{}
	s := keeping(t, k)
	for _, c := range []struct {
		command session.Command
		want    []session.SettingSaved
	}{
		{session.Choose{Model: new("big"), Think: new(prompt.ThinkLow)}, []session.SettingSaved{{Key: "model.name", Value: "big:latest", File: "config.toml"}, {Key: "model.think", Value: "low", File: "config.toml"}}},
		{session.Choose{Think: new(prompt.ThinkAuto)}, []session.SettingSaved{{Key: "model.think", Value: "auto", File: "config.toml"}}},
		{session.Choose{Model: new("")}, []session.SettingSaved{{Key: "model.name", Removed: true, File: "config.toml"}}},
		{session.Choose{Planner: new("big")}, []session.SettingSaved{{Key: "planning.planner_model", Value: "big", File: "config.toml"}}},
		{session.Choose{Planner: new("")}, []session.SettingSaved{{Key: "planning.planner_model", Removed: true, File: "config.toml"}}},
		{session.Hold{On: true}, []session.SettingSaved{{Key: "screen.review", Value: "true", File: "config.toml"}}},
		{session.Hold{}, []session.SettingSaved{{Key: "screen.review", Removed: true, File: "config.toml"}}},
		{session.SaveSetting{Key: "screen.theme", Value: new("ember")}, []session.SettingSaved{{Key: "screen.theme", Value: "ember", File: "config.toml"}}},
	} {
		s.Send(c.command)
		for _, want := range c.want {
			if got := until[session.SettingSaved](t, s); got != want {
				t.Errorf("%+v: got %+v, want %+v", c.command, got, want)
			}
		}
	}
}

func TestChoicesUnderAProfileAreNotSaved(t *testing.T) {
	k := &keeper{}
	s := keeping(t, k)
	s.Send(session.Choose{Profile: new("careful")})
	s.Send(session.Choose{Model: new("big")})
	status(t, s, func(st session.Status) bool { return st.Model == "big:latest" })
	s.Send(session.SaveSetting{Key: "screen.theme", Value: new("ember")}) // saved after the rest
	until[session.SettingSaved](t, s)
	if !slices.Equal(k.saved, []string{"screen.theme=ember"}) {
		t.Errorf("saved %v", k.saved)
	}
}

func TestSlowSaveHoldsUpNothing(t *testing.T) {
	calling, stopped := make(chan struct{}), make(chan struct{})
	var saved []string
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.tools.call = func(ctx context.Context, _ plan.ToolCall) (any, error) {
			close(calling)
			<-ctx.Done()
			close(stopped)
			return nil, ctx.Err()
		}
		s.config = func(c *runner.Config) {
			c.SaveSetting = func(key string, _ *string) (string, error) {
				<-stopped // by the end of the session
				saved = append(saved, key)
				return "config.toml", nil
			}
		}
	})
	s.Send(session.SaveSetting{Key: "screen.theme", Value: new("ember")})
	s.Send(session.Hold{})
	s.Send(session.Choose{Think: new(prompt.ThinkLow)})
	until[session.Chosen](t, s)
	s.Send(session.Submit{Text: "do it"})
	until[event.StepStarted](t, s)
	<-calling
	s.Send(session.SaveSetting{Key: "screen.ascii", Value: new("true")})
	s.shut()
	if want := []string{"screen.theme", "screen.review", "model.think", "screen.ascii"}; !slices.Equal(saved, want) {
		t.Errorf("saved %v, want %v", saved, want)
	}
}

func TestSettingsShowWhatWasSavedBefore(t *testing.T) {
	var saved atomic.Bool
	save := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			c.SaveSetting = func(string, *string) (string, error) {
				<-save
				saved.Store(true)
				return "config.toml", nil
			}
			c.Settings = func() session.Settings { return session.Settings{Missing: !saved.Load()} }
		}
	})
	s.Send(session.SaveSetting{Key: "screen.theme", Value: new("ember")})
	within, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.Settings(within); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before it is saved: %v", err)
	}
	close(save)
	if got, err := s.Settings(t.Context()); err != nil || got.Missing {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestUnsavedChoiceSaysWhy(t *testing.T) {
	s := keeping(t, &keeper{err: errors.New("the file is read-only")})
	s.Send(session.Hold{On: true})
	if got := until[session.SettingSaved](t, s); got.Problem != "the file is read-only" {
		t.Errorf("got %+v", got)
	}
	s = open(t, policy.ApproveAll, settings) // saves nothing
	s.Send(session.Hold{On: true})
	s.Send(session.SaveSetting{Key: "screen.theme", Value: new("ember")})
	if got, want := until[session.SettingSaved](t, s), (session.SettingSaved{Key: "screen.theme", Value: "ember"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSettingChosenAtTheEndIsSaved(t *testing.T) {
	k := &keeper{}
	s := keeping(t, k)
	var want []string
	for i := range 10 {
		s.Send(session.SaveSetting{Key: "screen.theme", Value: new(fmt.Sprint(i))})
		want = append(want, fmt.Sprintf("screen.theme=%d", i))
	}
	s.Close()
	if !slices.Equal(k.saved, want) {
		t.Errorf("saved %v, want %v", k.saved, want)
	}
}
