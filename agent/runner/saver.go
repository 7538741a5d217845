package runner

import (
	"context"
	"log/slog"

	"replan/agent/session"
	"replan/internal/untrusted"
)

// saver saves settings that the user chose, for later sessions. Workers do it, since a
// file may be locked; they do so one at a time, in order.
type saver struct {
	events     *publisher
	background *background
	log        *slog.Logger
	do         func(key string, value *string) (file string, err error) // nil saves nothing
	last       <-chan struct{}                                          // closed when the last setting is saved; nil if there was none
}

// save saves a setting and reports it. A nil value removes it. Where nothing is saved,
// an answer comes only if it is awaited.
func (s *saver) save(key string, value *string, awaited bool) {
	kept := session.SettingSaved{Key: key, Removed: value == nil}
	if value != nil {
		kept.Value = *value
	}
	if s.do == nil {
		if awaited {
			_ = s.events.publish(kept)
		}
		return
	}
	before, saved := s.last, make(chan struct{})
	s.last = saved
	s.background.run(func() func() {
		defer close(saved)
		if before != nil {
			<-before
		}
		var err error
		if kept.File, err = s.do(key, value); err != nil {
			s.log.Warn("save a setting", "key", key, "error", err)
			kept.Problem = untrusted.Text(err.Error())
		}
		if err == nil && kept.File == "" && !awaited {
			return nil
		}
		s.background.publishLater(kept)
		return nil
	})
}

// saves reports whether anything is saved.
func (s *saver) saves() bool { return s.do != nil }

// saved returns a function that waits until all settings of now are saved.
func (s *saver) saved() func(context.Context) error {
	saved := s.last
	return func(ctx context.Context) error {
		if saved == nil {
			return nil
		}
		select {
		case <-saved:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
