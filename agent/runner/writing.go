package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/agent/session"
	"replan/internal/untrusted"
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

// publishHistory publishes the input history.
func (s *Session) publishHistory() {
	if s.cfg.InputHelp == nil {
		return
	}
	history, err := s.cfg.InputHelp.History()
	if err != nil {
		s.cfg.Logger.Warn("what was sent before", "error", err)
	}
	if len(history.Here)+len(history.Elsewhere) > 0 {
		_ = s.publish(history)
	}
}

// keepWords remembers the text that the user sent, unless it begins with a blank.
func (s *Session) keepWords(text string) {
	if s.cfg.InputHelp == nil || strings.TrimLeft(text, " ") != text || strings.TrimSpace(text) == "" {
		return
	}
	s.workers.Go(func() {
		if err := s.cfg.InputHelp.Remember(text); err != nil {
			s.cfg.Logger.Warn("keep what was sent", "error", err)
		}
	})
}

// unqueue removes a job that still waits in the queue.
func (s *Session) unqueue(c session.Unqueue) {
	at := slices.IndexFunc(s.queue, func(j job) bool { return j.id == c.ID })
	if at < 0 {
		return
	}
	j := s.queue[at]
	s.queue = slices.Delete(s.queue, at, at+1)
	s.publishQueue()
	if c.Back && j.words != "" {
		_ = s.publish(session.Returned{Text: j.words})
	}
}

// admit puts a job after its mentions were read. Later jobs wait their turn.
func (s *Session) admit(ctx context.Context, j job) {
	if len(s.admitting) == 0 && (s.cfg.InputHelp == nil || !j.names()) {
		s.enqueue(ctx, j)
		return
	}
	s.admitting = append(s.admitting, j)
	s.readNext(ctx)
}

// readNext reads the mentions of the next job unless a read is in progress.
func (s *Session) readNext(ctx context.Context) {
	for len(s.admitting) > 0 && s.reading == nil {
		j := s.admitting[0]
		if s.cfg.InputHelp == nil || !j.names() {
			s.admitting = s.admitting[1:]
			s.enqueue(ctx, j)
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
			_ = s.publish(session.Returned{Text: j.typed, Reason: untrusted.Text(err.Error())})
		} else {
			j.mentions, j.fresh = mentions, !s.busy()
			s.enqueue(ctx, j)
		}
	}
	s.readNext(ctx)
	s.next(ctx)
}

// cancelMentions returns the jobs whose mentions are not yet read, and cancels
// reading them.
func (s *Session) cancelMentions() {
	if s.reading == nil {
		return
	}
	for _, j := range s.admitting[1:] {
		_ = s.publish(session.Returned{Text: j.typed, Reason: "stopped before it started"})
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
		m, err := s.cfg.InputHelp.Mention(ctx, n.Name)
		switch {
		case ctx.Err() != nil:
			return nil, errors.New("stopped before it started")
		case errors.Is(err, ErrUnnamed) && !strings.ContainsAny(text[n.Start:n.End], `"/\.:`):
			continue
		case err != nil:
			return nil, fmt.Errorf("nothing was sent, because %s cannot be attached: %w; write \\%[1]s for plain text", text[n.Start:n.End], err)
		}
		if size += len(m.Text); len(out) == maxMentions || size > maxMentionBytes {
			return nil, fmt.Errorf("a message mentions at most %d files of %d KB together; name fewer, and let a plan read the others", maxMentions, maxMentionBytes>>10)
		}
		out = append(out, m)
	}
	return out, nil
}
