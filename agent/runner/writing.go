package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/agent/session"
	"replan/planning/prompt"
)

// Limits on mentions in a message.
const (
	maxMentions     = 16
	maxMentionBytes = 256 << 10 // of all mentions together
)

// ErrUnnamed reports that nothing has the name given by an @.
var ErrUnnamed = errors.New("nothing is called so")

// wordsJob returns the job for words that the user typed.
func wordsJob(text string) job {
	return job{words: text, typed: text, goal: strings.TrimSpace(prompt.Unescaped(text))}
}

// names reports whether the job may contain mentions.
func (j job) names() bool { return len(prompt.Namings(j.typed)) > 0 }

// tellHistory publishes the input history.
func (s *Session) tellHistory() {
	if s.cfg.Aids == nil {
		return
	}
	history, err := s.cfg.Aids.History()
	if err != nil {
		s.cfg.Logger.Warn("what was sent before", "error", err)
	}
	if len(history.Here)+len(history.Elsewhere) > 0 {
		_ = s.say(history)
	}
}

// keepWords remembers what the user sent, unless it begins with a blank.
func (s *Session) keepWords(text string) {
	if s.cfg.Aids == nil || strings.TrimLeft(text, " ") != text || strings.TrimSpace(text) == "" {
		return
	}
	s.workers.Go(func() {
		if err := s.cfg.Aids.Remember(text); err != nil {
			s.cfg.Logger.Warn("keep what was sent", "error", err)
		}
	})
}

// unqueue removes a job that still waits in the queue.
func (s *Session) unqueue(c Unqueue) {
	at := slices.IndexFunc(s.queue, func(j job) bool { return j.id == c.ID })
	if at < 0 {
		return
	}
	j := s.queue[at]
	s.queue = slices.Delete(s.queue, at, at+1)
	s.tellQueue()
	if c.Back && j.words != "" {
		_ = s.say(session.Returned{Text: j.words})
	}
}

// admit puts a job after its mentions were read. Later jobs wait their turn.
func (s *Session) admit(ctx context.Context, j job) {
	if len(s.admitting) == 0 && (s.cfg.Aids == nil || !j.names()) {
		s.put(ctx, j)
		return
	}
	s.admitting = append(s.admitting, j)
	s.readNext(ctx)
}

// readNext reads the mentions of the next job unless a read is in progress.
func (s *Session) readNext(ctx context.Context) {
	for len(s.admitting) > 0 && s.reading == nil {
		j := s.admitting[0]
		if s.cfg.Aids == nil || !j.names() {
			s.admitting = s.admitting[1:]
			s.put(ctx, j)
			continue
		}
		var reading context.Context
		reading, s.reading = context.WithCancel(ctx)
		s.workers.Go(func() {
			mentions, err := s.preparation().mentions(reading, j.typed)
			s.outcomes <- outcome{finish: func() { s.admitted(ctx, mentions, err) }}
		})
	}
}

// admitted puts the job whose mentions were read, or returns it to the user.
func (s *Session) admitted(ctx context.Context, mentions []prompt.Mention, err error) {
	s.reading()
	s.reading = nil
	if len(s.admitting) > 0 { // empty when the session ends
		j := s.admitting[0]
		s.admitting = s.admitting[1:]
		if err != nil {
			_ = s.say(session.Returned{Text: j.typed, Reason: err.Error()})
		} else {
			j.mentions, j.fresh = mentions, !s.busy()
			s.put(ctx, j)
		}
	}
	s.readNext(ctx)
	s.next(ctx)
}

// dismiss returns all jobs that were not yet put.
func (s *Session) dismiss() {
	if s.reading == nil {
		return
	}
	for _, j := range s.admitting[1:] {
		_ = s.say(session.Returned{Text: j.typed, Reason: "stopped before it began"})
	}
	s.admitting = s.admitting[:1]
	s.reading()
}

// mentions reads the mentions in a message. A single word that names nothing
// counts as plain text.
func (s preparation) mentions(ctx context.Context, text string) ([]prompt.Mention, error) {
	var out []prompt.Mention
	size := 0
	for _, n := range prompt.Namings(text) {
		if slices.ContainsFunc(out, func(m prompt.Mention) bool { return m.Name == n.Name }) {
			continue
		}
		m, err := s.cfg.Aids.Mention(ctx, n.Name)
		switch {
		case ctx.Err() != nil:
			return nil, errors.New("stopped before it began")
		case errors.Is(err, ErrUnnamed) && !strings.ContainsAny(text[n.Start:n.End], `"/\.:`):
			continue
		case err != nil:
			return nil, fmt.Errorf("nothing was sent, since %s cannot go with it: %w; write \\%[1]s where it is only words", text[n.Start:n.End], err)
		}
		if size += len(m.Text); len(out) == maxMentions || size > maxMentionBytes {
			return nil, fmt.Errorf("a message mentions at most %d files of %d KB together; name fewer, and let a plan read the others", maxMentions, maxMentionBytes>>10)
		}
		out = append(out, m)
	}
	return out, nil
}
