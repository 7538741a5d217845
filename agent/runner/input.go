package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"replan/planning/prompt"
)

// Limits on mentions in a message.
const (
	maxMentions     = 16
	maxMentionBytes = 256 << 10 // of all mentions together
)

// ErrUnnamed reports that nothing has the name given by an @.
var ErrUnnamed = errors.New("nothing is called so")

// input is what the user types: its history, and what it mentions.
type input struct {
	help       InputHelp // nil: neither is known
	events     *publisher
	background *background
	log        *slog.Logger
}

// publishHistory publishes the input history.
func (i *input) publishHistory() {
	if i.help == nil {
		return
	}
	history, err := i.help.History()
	if err != nil {
		i.log.Warn("what was sent before", "error", err)
	}
	if len(history.Here)+len(history.Elsewhere) > 0 {
		_ = i.events.publish(history)
	}
}

// record adds the text that the user sent to the history, unless it begins with a blank.
func (i *input) record(text string) {
	if i.help == nil || strings.TrimLeft(text, " ") != text || strings.TrimSpace(text) == "" {
		return
	}
	i.background.run(func() func() {
		if err := i.help.Remember(text); err != nil {
			i.log.Warn("keep what was sent", "error", err)
		}
		return nil
	})
}

// mentions reads what a message mentions, in a worker. A single word that names nothing
// counts as plain text.
func (i *input) mentions(ctx context.Context, text string) ([]prompt.Mention, error) {
	var out []prompt.Mention
	size := 0
	for _, n := range prompt.Namings(text) {
		if slices.ContainsFunc(out, func(m prompt.Mention) bool { return m.Name == n.Name }) {
			continue
		}
		m, err := i.help.Mention(ctx, n.Name)
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
