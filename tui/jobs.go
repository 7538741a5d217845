package tui

import (
	"path/filepath"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/chat"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/frame"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panes"
	"replan/tui/wording"
)

// jobFeed shows the progress and the end of what the session does for the user beside its
// runs: settings, models, logins, changes and undos.
type jobFeed struct {
	shows   sessionDialogs
	chat    *chat.Pane
	live    *live.Runs // marks the runs that were undone
	panes   *panes.Arrangement
	toasts  *frame.Toasts
	message *frame.Message
	home    string // the user's home folder, "" if unknown
	redoKey string // name of the key that takes an undo back

	starting bool   // the model server is being started
	log      string // the file with its output, once it was started; "" for none
	login    string // the address of a login, to be copied; "" for none
	saved    bool   // a setting was saved since the last batch of events
	relist   bool   // the models of the server may have changed
}

// sessionDialogs are the dialogs that show what the session does.
type sessionDialogs struct {
	models   *dialog.Models
	servers  *dialog.Servers
	settings *dialog.Settings
	changes  *dialog.Changes
	undo     *dialog.Undo
	runs     *dialog.Runs
}

// apply applies an event about a job. now is the newest status of the session.
func (f *jobFeed) apply(d event.Data, now session.Status) {
	switch d := d.(type) {
	case session.SettingSaved:
		f.setting(d)
	case session.Chosen:
		if words := f.shows.models.Chosen(d, now); words != "" {
			f.chat.Add(f.chat.Notice(untrusted.Text(words))...)
		}
	case session.ChangesOffered:
		f.shows.changes.Open(d.Changes)
	case session.ChangesSettled:
		f.shows.changes.Settled(d.SettledChanges)
	case session.UndoRefused:
		f.shows.undo.Take(d.Undo)
	case event.ChatUndone:
		f.undone(d)
	case session.PullProgress:
		f.pulled(d)
	case session.ModelServerStart:
		f.started(d)
	case session.Removed:
		f.removed(d)
	case session.LoginProgress:
		f.loggedIn(d)
	}
}

// setting says that a setting was saved, or why not.
func (f *jobFeed) setting(d session.SettingSaved) {
	f.saved = true
	short := func(path string) string { return draw.ShortPath(path, f.home) }
	if f.shows.settings.Shown() {
		short = filepath.Base // the dialog shows the path
	}
	words := wording.Kept(d, short)
	if d.Problem != "" {
		f.message.Set(words) // too long for a notice
		return
	}
	if d.Key == panes.ChatWidth || d.Key == panes.PlanHeight || d.Key == dialog.KeyRecent {
		return // the panes and the palette show it
	}
	f.toasts.Show("info", words)
}

// undone marks the run, closes its undo dialog, if open, and focuses the chat, which
// lists the restored files.
func (f *jobFeed) undone(d event.ChatUndone) {
	f.live.Undo(d)
	for _, run := range append([]string{d.Run}, d.Inner...) {
		if n := f.chat.Narrator(run); n != nil {
			n.Undone()
		}
	}
	if !d.Redo && len(d.Files) > 0 {
		f.toasts.Show("info", f.redoKey+" redoes it")
	}
	if f.shows.undo.Done(d.Run) {
		if f.shows.runs.Shown() { // opened from its list; the plan keeps the keys
			f.panes.SetFocus(panes.Chat)
		}
		f.shows.runs.Close()
		f.chat.ToEnd()
	}
}

// pulled shows how far the download of a model has come, or how it ended.
func (f *jobFeed) pulled(d session.PullProgress) {
	if f.shows.models.Pulled(d) {
		f.relist = true
	}
	if !d.Ended {
		return
	}
	level := "info"
	if d.Problem != "" || d.Canceled {
		f.chat.ForgetAgain()
	}
	if d.Problem != "" {
		level = "warn"
		f.chat.Add(f.chat.Note("warn", d.Problem.Visible()))
	}
	f.toasts.Show(level, wording.PullEnd(d))
}

// started shows that the model server is being started, or how that ended.
func (f *jobFeed) started(d session.ModelServerStart) {
	f.starting, f.log = !d.Ended, untrusted.Line(d.Log)
	f.chat.Invalidate()
	switch {
	case !d.Ended:
	case d.Problem != "":
		f.chat.ForgetAgain()
		f.chat.Add(f.chat.Note("warn", d.Problem.Visible()))
	case d.Canceled:
		f.chat.ForgetAgain()
		f.toasts.Show("info", "Ollama is not started")
	default:
		f.toasts.Show("info", "Ollama is started; its output is in "+draw.ShortPath(f.log, f.home))
	}
}

// removed says that a model was removed, or why not.
func (f *jobFeed) removed(d session.Removed) {
	shown := f.shows.models.Removed(d)
	f.relist = f.relist || shown
	switch {
	case d.Problem == "":
		f.toasts.Show("info", untrusted.Line(d.Model)+" is removed")
	case !shown:
		f.chat.Add(f.chat.Note("warn", d.Problem.Visible()))
	}
}

// loggedIn shows where the user logs in to a server, or how that ended.
func (f *jobFeed) loggedIn(d session.LoginProgress) {
	f.shows.servers.LoggedIn(d)
	switch {
	case d.Problem != "":
		f.chat.Add(f.chat.Note("warn", d.Problem.Visible()))
	case d.Address != "":
		f.login = d.Address.Line()
		f.chat.Add(f.chat.Note("info", wording.LoginAddress(d)))
		f.toasts.Show("info", "the address of the login is sent to the clipboard")
	case d.Ended && !d.Canceled:
		f.toasts.Show("info", "logged in to "+untrusted.Line(d.Server))
	}
}

// remedy returns what the user can do at once about a missing model.
func (f *jobFeed) remedy(now session.Status) (r chat.Remedy) {
	if f.log != "" {
		r.Log = draw.ShortPath(f.log, f.home)
	}
	switch {
	case now.Model != "", f.pulling().Model != "":
	case f.starting:
		r.Starting = true
	default:
		r.Start, r.Pull = now.Trouble.Start, now.Trouble.Pull.Line()
	}
	return r
}

// starts reports whether the model server is being started.
func (f *jobFeed) starts() bool { return f.starting }

// pulling returns the progress of the download of a model; no Model means none.
func (f *jobFeed) pulling() session.PullProgress { return f.shows.models.Pulling() }

// takeAgain returns what sends a refused goal again that waited for a model, once; nil while
// there is none.
func (f *jobFeed) takeAgain(now session.Status) keymap.Requests {
	if now.Model == "" || !f.chat.SendsAgain() {
		return nil
	}
	f.shows.models.Close() // it showed the pull
	return f.chat.TakeAgain()
}

// takeLogin returns the address of a login that was not copied yet, once; "" for none.
func (f *jobFeed) takeLogin() string {
	address := f.login
	f.login = ""
	return address
}

// takeLists returns the queries for what has changed since the last call: the settings and
// the models; nil for none.
func (f *jobFeed) takeLists() (settings, models keymap.Query) {
	if f.saved && f.shows.settings.Shown() {
		settings = keymap.QuerySettings
	}
	if f.relist {
		models = keymap.QueryModels
	}
	f.saved, f.relist = false, false
	return settings, models
}
