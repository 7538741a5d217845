package runner

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// The least that a server reads ahead: what takes it so long, or without a measurement so
// many tokens.
const (
	worthReading = time.Second
	worthTokens  = 64
)

// warmer prepares the first request of the next run while the user types a goal.
type warmer struct {
	model      Model
	survey     func(ctx context.Context, goal string) intent.Facts // nil finds nothing
	unasked    bool                                                // warm the model even if it was not asked for
	now        func() time.Time
	log        *slog.Logger
	background *background
	overview   *overview

	busy    bool            // a run is in progress or about to start
	active  time.Time       // when the model last worked or was loaded; zero if unknown
	warming map[string]bool // models being warmed, by requested name
	stop    func()          // ends what a server reads ahead; never nil
}

// occupied tells whether a run is in progress or about to start.
func (w *warmer) occupied(busy bool) { w.busy = busy }

// worked notes when the model last worked.
func (w *warmer) worked(at time.Time) { w.active = at }

// cooled notes that the model may not be loaded.
func (w *warmer) cooled() { w.active = time.Time{} }

// stopReading ends what a server reads ahead.
func (w *warmer) stopReading() { w.stop() }

// expect warms the model if the user is about to type a goal.
func (w *warmer) expect(ctx context.Context) {
	if w.unasked && w.overview.known() != nil {
		w.warm(ctx)
	}
}

// warm has the workspace looked through, and loads the model, unless it is still loaded or
// would be unloaded again before its next request. Then its server reads what all requests
// begin with, until a run starts.
func (w *warmer) warm(ctx context.Context) {
	lister, ok := w.model.(ModelLister)
	name := w.overview.opener()
	if !ok || w.busy || w.warming[name] || lister.KeepAlive() == 0 {
		return
	}
	keep, t, all := w.staysLoaded(lister.KeepAlive()), w.overview.jobConfig(), w.overview.known()
	w.stop() // for a model that is no longer the first
	reading, stop := context.WithCancel(ctx)
	w.warming[name], w.stop = true, stop
	w.background.run(func() func() {
		defer stop()
		var err error
		var looking sync.WaitGroup // beside the load: files of a large workspace are read for seconds
		if w.survey != nil {
			looking.Go(func() { t.prompting.Sketch = w.survey(ctx, "").Sketch })
		}
		if !keep {
			err = lister.Warm(ctx, name) // to the end: a server may give up a load whose client is gone
		}
		looking.Wait()
		read := false
		if err == nil && all != nil {
			read, err = readAhead(reading, w.model, name, t, all)
		}
		if err != nil {
			w.log.Info("warm the model", "model", name, "error", err)
		}
		return func() { w.warmed(name, err == nil && (read || !keep)) }
	})
}

// warmed records that a model is warm, or that it could not be warmed, unless the user
// chose another one since.
func (w *warmer) warmed(name string, active bool) {
	delete(w.warming, name)
	if active && name == w.overview.opener() {
		w.active = w.now()
	}
}

// staysLoaded reports whether loading the model now would gain nothing. Once a fifth or
// less of its keep-alive time is left, loading does gain something.
func (w *warmer) staysLoaded(loaded time.Duration) bool {
	switch {
	case loaded == 0:
		return true
	case w.active.IsZero():
		return false
	default:
		return loaded < 0 || w.now().Sub(w.active) < loaded-loaded/5
	}
}

// readAhead has the server of a model read what the requests of the next run begin with. It
// reports whether the server has read anything: it need not if it remembers the text, or
// reads it in no time. A service that bills by the token never reads ahead.
func readAhead(ctx context.Context, model Model, name string, t jobConfig, all plan.Catalog) (bool, error) {
	server, ok := model.(ModelForecaster)
	if !ok {
		return false, nil
	}
	info, err := model.Describe(ctx, name)
	if err != nil || info.Remote {
		return false, err
	}
	prompting := t.prompting.DrivenBy(info)
	prompting.Profiles = slices.Clone(prompting.Profiles)
	for i, profile := range prompting.Profiles {
		if profile.Model == "" {
			continue
		}
		if own, err := model.Describe(ctx, profile.Model); err == nil {
			prompting.Profiles[i].Small, prompting.Profiles[i].Loops = own.Small, own.Loops
		}
	}
	prompting.Profiles, _ = prompting.Loopable(info.Tools)
	req := prompt.OpeningRequest(prompt.Brief{Catalog: t.offered(all).Accepted(), Prompting: prompting})
	req.Model = name
	f, err := server.Forecast(ctx, req)
	if err != nil || f.New() < worthTokens || f.Speed.Read > 0 && f.Reading() < worthReading {
		return false, err
	}
	_, err = model.Ask(ctx, req, func(string, string) {})
	return err == nil, err
}
