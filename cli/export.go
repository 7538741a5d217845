package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"replan/agent"
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
	path, err := o.writeExport(file, text, time.Now())
	if err != nil {
		return runner.Answer{}, err
	}
	return runner.Answer{Text: "the conversation is in `" + path + "`; what looks like a secret was left out"}, nil
}

// transcript is a session as Markdown.
func (o *options) transcript(session string, now time.Time) (string, error) {
	events, err := o.sessions().Read(session)
	if err != nil {
		return "", unopened(err)
	}
	c := transcript.Conversation{Session: events, Exported: now, Workspace: o.workspace}
	if c.Home, err = os.UserHomeDir(); err != nil {
		c.Home = ""
	}
	runs, err := o.runs().List()
	if err != nil {
		return "", unopened(err)
	}
	for _, entry := range runs {
		if len(events) > 0 && entry.Modified.Before(events[0].Time.Add(-time.Minute)) {
			continue // it ended before this began
		}
		head, err := o.runs().Head(entry.ID)
		if err != nil {
			continue // it is not there any more, or not yet
		}
		if d, ok := head.Data.(agent.RunStarted); !ok || d.Session != session {
			continue
		}
		run, err := o.runs().Read(entry.ID)
		if err != nil {
			return "", unopened(err)
		}
		c.Runs = append(c.Runs, run)
	}
	return transcript.Markdown(c), nil
}

// writeExport writes a transcript where the user wants it, else among the exports
// in the data folder. Nothing is overwritten.
func (o *options) writeExport(file, text string, now time.Time) (string, error) {
	name := "chat-" + now.Format("20060102-150405")
	path := file
	switch {
	case file == "":
		dir := filepath.Join(o.dirs.data, "exports")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", wrap("export", err)
		}
		path = filepath.Join(dir, name+".md")
	case !filepath.IsAbs(file):
		path = filepath.Join(o.workspace, file)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, name+".md")
	}
	for n := 2; ; n++ {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the user names it
		switch {
		case errors.Is(err, fs.ErrExist) && file == "" && n < 100:
			path = strings.TrimSuffix(path, filepath.Ext(path))
			path = strings.TrimSuffix(path, fmt.Sprintf("-%d", n-1)) + fmt.Sprintf("-%d.md", n)
			continue
		case errors.Is(err, fs.ErrExist):
			return "", usage("%s is there already, and nothing is overwritten: name another file", path)
		case err != nil:
			return "", wrap("export", err)
		}
		_, err = f.WriteString(text)
		return path, wrap("export", errors.Join(err, f.Close()))
	}
}
