package store

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
)

// maxConversations is the maximum number of listed conversations; older ones are
// left out.
const maxConversations = 200

// clockSlack is the tolerated difference between the time of a file and that of
// an event in it.
const clockSlack = time.Minute

// Conversations lists the conversations with at least one message, newest first.
func (s *Store) Conversations() ([]session.Conversation, error) {
	entries, err := s.Sessions.List()
	if err != nil {
		return nil, fmt.Errorf("list the conversations: %w", err)
	}
	started, err := s.StartedRuns()
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	folders := map[string][]string{} // of the runs of each conversation, newest first
	for _, r := range started {
		folders[r.Session] = append(folders[r.Session], r.Workspace)
	}
	list := []session.Conversation{}
	for _, e := range entries {
		if len(list) == maxConversations {
			break
		}
		events, err := s.Sessions.Read(e.ID)
		if err != nil {
			continue // a damaged journal does not hide the others
		}
		c := session.Conversation{Session: e.ID, Changed: e.Modified, Open: e.Locked, Runs: len(folders[e.ID])}
		if n := len(events); n > 0 {
			c.Changed = events[n-1].Time
		}
		for _, kept := range events {
			request, ok := kept.Data.(event.ChatUser)
			if !ok {
				continue
			}
			if c.Turns++; c.First == "" && !strings.HasPrefix(string(request.Text), "/") && strings.TrimSpace(string(request.Text)) != "" {
				c.First = untrusted.Text(request.Text)
			}
			c.Last = untrusted.Text(request.Text)
		}
		if c.Turns == 0 {
			continue
		}
		c.First = cmp.Or(c.First, c.Last)
		if runs := folders[e.ID]; len(runs) > 0 {
			c.Workspace = runs[0]
		}
		list = append(list, c)
	}
	return list, nil
}
