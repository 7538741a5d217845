package cli

import (
	"strings"

	"replan/agent"
	"replan/agent/session"
)

// mostTalks is how many conversations are listed, the newest.
const mostTalks = 200

// talks lists the conversations in which something was said, newest first.
func (o *options) talks() ([]session.Conversation, error) {
	entries, err := o.sessions().List()
	if err != nil {
		return nil, wrap("list the conversations", err)
	}
	runs, err := o.runsOfTalks()
	if err != nil {
		return nil, err
	}
	talks := []session.Conversation{}
	for _, e := range entries {
		if len(talks) == mostTalks {
			break
		}
		events, err := o.sessions().Read(e.ID)
		if err != nil {
			continue // one that is damaged keeps nobody from the others
		}
		talk := session.Conversation{Session: e.ID, Changed: e.Modified, Open: e.Locked, Runs: len(runs[e.ID])}
		if n := len(events); n > 0 {
			talk.Changed = events[n-1].Time
		}
		for _, event := range events {
			said, ok := event.Data.(agent.ChatUser)
			if !ok {
				continue
			}
			if talk.Turns++; talk.First == "" && !strings.HasPrefix(said.Text, "/") {
				talk.First = said.Text
			}
			talk.Last = said.Text
		}
		if talk.Turns == 0 {
			continue
		}
		talk.First = first(talk.First, talk.Last)
		if at := runs[e.ID]; len(at) > 0 {
			talk.Workspace = at[0]
		}
		talks = append(talks, talk)
	}
	return talks, nil
}

// runsOfTalks returns the folders of the runs of each conversation, the newest
// first.
func (o *options) runsOfTalks() (map[string][]string, error) {
	entries, err := o.runs().List()
	if err != nil {
		return nil, wrap("list the runs", err)
	}
	folders := map[string][]string{}
	for _, e := range entries {
		head, err := o.runs().Head(e.ID)
		if err != nil {
			continue
		}
		if started, ok := head.Data.(agent.RunStarted); ok {
			folders[started.Session] = append(folders[started.Session], started.Workspace)
		}
	}
	return folders, nil
}
