package cli

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"replan/agent/runner"
	"replan/tui/transcript"
)

// slashExport is /export in the chat: it writes the conversation as Markdown to a
// file that was not there before.
func (o *options) slashExport(w *workshop, file string) (runner.Answer, error) {
	text, err := o.transcript(w.session.ID(), time.Now())
	if err != nil {
		return runner.Answer{}, err
	}
	path, err := o.store.Export(o.Workspace, file, text, time.Now())
	switch {
	case errors.Is(err, fs.ErrExist):
		return runner.Answer{}, usage("%s is there already, and nothing is overwritten: name another file", path)
	case err != nil:
		return runner.Answer{}, wrap("export", err)
	}
	return runner.Answer{Text: "the conversation is in `" + path + "`; what looks like a secret was left out"}, nil
}

// transcript is a session as Markdown.
func (o *options) transcript(session string, now time.Time) (string, error) {
	events, err := o.store.Sessions.Read(session)
	if err != nil {
		return "", o.unopened(err)
	}
	c := transcript.Conversation{Session: events, Exported: now, Workspace: o.Workspace}
	if c.Home, err = os.UserHomeDir(); err != nil {
		c.Home = ""
	}
	if c.Runs, err = o.store.RunsOfSession(session, events); err != nil {
		return "", o.unopened(err)
	}
	return transcript.Markdown(c), nil
}
