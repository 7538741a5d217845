package runner

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// opener returns the model that the next goal asks first.
func opener(s *Session) string {
	t, purpose := s.jobConfig(), prompt.PurposeAnalysis
	switch {
	case s.status.Planner == event.PlannerNone || s.status.Planner == event.PlannerRouter || t.prompting.SkipAnalysis && t.prompting.SkipPlan:
		purpose = prompt.PurposeChat
	case t.prompting.SkipAnalysis:
		purpose = prompt.PurposePlan
	}
	return cmp.Or(t.prompting.Models.Of(purpose).Name, t.model)
}

// The least that a server reads ahead: what takes it so long, or without a measurement so
// many tokens.
const (
	worthReading = time.Second
	worthTokens  = 64
)

// warm prepares the first request while the user types a goal: it has the workspace looked
// through, and loads the model, unless it is still loaded or would be unloaded again before
// its next request. Then its server reads what all requests begin with, until a run starts.
func (s *Session) warm(ctx context.Context) {
	lister, ok := s.cfg.Model.(ModelLister)
	name := opener(s)
	if !ok || s.busy() || s.modelUse.warming[name] || lister.KeepAlive() == 0 {
		return
	}
	stays, t, all := s.modelUse.stays(lister.KeepAlive(), s.cfg.Now()), s.jobConfig(), s.catalogue
	s.modelUse.stopReading() // for a model that is no longer the first
	reading, stop := context.WithCancel(ctx)
	s.modelUse.warming[name], s.modelUse.stopReading = true, stop
	s.workers.Go(func() {
		defer stop()
		var err error
		var looking sync.WaitGroup // beside the load: files of a large workspace are read for seconds
		if s.cfg.Survey != nil {
			looking.Go(func() { t.prompting.Sketch = s.cfg.Survey(ctx, "").Sketch })
		}
		if !stays {
			err = lister.Warm(ctx, name) // to the end: a server may give up a load whose client is gone
		}
		looking.Wait()
		read := false
		if err == nil && all != nil {
			read, err = s.preparation().readAhead(reading, name, t, all)
		}
		if err != nil {
			s.cfg.Logger.Info("warm the model", "model", name, "error", err)
		}
		s.outcomes <- outcome{finish: func() { s.warmed(name, err == nil && (read || !stays)) }}
	})
}

// expect warms the model if somebody is about to type a goal.
func (s *Session) expect(ctx context.Context) {
	if s.cfg.Warm && s.catalogue != nil {
		s.warm(ctx)
	}
}

// readAhead has the server of a model read what the requests of the next run begin with. It
// reports whether the server has read anything: it need not if it remembers the text, or
// reads it in no time. A service that bills by the token never reads ahead.
func (s preparation) readAhead(ctx context.Context, name string, t jobConfig, all plan.Catalogue) (bool, error) {
	server, ok := s.cfg.Model.(ModelForecaster)
	if !ok {
		return false, nil
	}
	info, err := s.cfg.Model.Describe(ctx, name)
	if err != nil || info.Remote {
		return false, err
	}
	prompting := t.prompting.DrivenBy(info)
	prompting.Profiles = slices.Clone(prompting.Profiles)
	for i, profile := range prompting.Profiles {
		if profile.Model == "" {
			continue
		}
		if own, err := s.cfg.Model.Describe(ctx, profile.Model); err == nil {
			prompting.Profiles[i].Small, prompting.Profiles[i].Loops = own.Small, own.Loops
		}
	}
	prompting.Profiles, _ = prompting.Loopable(info.Tools)
	req := prompt.OpeningRequest(prompt.Brief{Catalogue: t.offered(all).Accepted(), Prompting: prompting})
	req.Model = name
	f, err := server.Forecast(ctx, req)
	if err != nil || f.New() < worthTokens || f.Speed.Read > 0 && f.Reading() < worthReading {
		return false, err
	}
	_, err = s.cfg.Model.Ask(ctx, req, func(string, string) {})
	return err == nil, err
}

// warmed records that a model is warm, or that it could not be warmed, unless the user
// chose another one since.
func (s *Session) warmed(name string, active bool) {
	delete(s.modelUse.warming, name)
	if active && name == opener(s) {
		s.modelUse.active = s.cfg.Now()
	}
}
