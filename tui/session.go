package tui

import (
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/frame"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panes"
	"replan/tui/review"
	"replan/tui/wording"
)

// sessionFeed knows what the session has told of itself, and applies its events: those of
// runs go to the feed of runs.
type sessionFeed struct {
	runs    *runFeed
	live    *live.Runs
	outbox  *outbox
	styles  *draw.Styles
	keys    *keymap.Map
	panes   *panes.Arrangement
	chat    *chat.Pane
	input   *input.Pane
	dag     *dag.Pane
	review  *review.Dialog
	shows   sessionDialogs
	toasts  *frame.Toasts
	message *frame.Message
	replay  *replayName // how a replay is named; nil for none
	home    string      // the user's home folder, "" if unknown

	status   session.Status
	past     []agent.Summary      // runs of earlier sessions, known after the first frame
	caughtUp bool                 // the session has sent its status; earlier events were history
	closed   bool                 // the session is over
	looking  bool                 // the session looks again for a model and its servers
	pull     session.PullProgress // under way; no Model means none
	servers  serverNews
	saved    bool // a setting was saved since the last batch of events
	relist   bool // the models of the server may have changed
}

// sessionDialogs are the dialogs that show what the session tells.
type sessionDialogs struct {
	models   *dialog.Models
	servers  *dialog.Servers
	settings *dialog.Settings
	changes  *dialog.Changes
	undo     *dialog.Undo
	runs     *dialog.Runs
}

// apply applies one event to its run or to what is known of the session.
func (f *sessionFeed) apply(e event.Event) {
	if f.live.Repeats(e) {
		f.runs.repeat(e)
		return
	}
	f.toasts.Notify(e.Data)
	f.servers.observe(e.Data, f.shows.servers.Shown())
	if f.runs.handle(e) {
		if _, ok := e.Data.(event.RunStarted); ok && f.replay != nil {
			f.replay.show("replay of "+untrusted.Line(e.Run), "replay of "+wording.ShortID(e.Run))
		}
		return
	}
	switch d := e.Data.(type) {
	case session.Status:
		f.reported(d)
	case session.Queue:
		f.queued(d)
	case session.History:
		f.input.Restore(d)
	case session.Returned:
		f.returned(d)
	case session.Resuming:
		f.runs.announce(d)
	case event.ChatUser:
		f.userSent(d)
	case event.ChatReply:
		f.runs.reply(d)
		f.chat.Introduce(f.live.Preparing())
	case event.ChatCompacted:
		f.chat.Add(f.chat.Compacted(d))
	case event.Note:
		f.note(d)
	case event.GateRequested, event.GateResolved:
		f.runs.gate(e)
	default:
		f.applyJob(d)
	}
}

// applyJob shows the progress or the end of what the session does for the user beside its
// runs.
func (f *sessionFeed) applyJob(d event.Data) {
	switch d := d.(type) {
	case session.SettingSaved:
		f.setting(d)
	case session.Chosen:
		if words := f.shows.models.Chosen(d, f.status); words != "" {
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
	case session.Removed:
		f.removed(d)
	case session.LoginProgress:
		f.loggedIn(d)
	}
}

// reported applies the session's status.
func (f *sessionFeed) reported(d session.Status) {
	f.caughtUp = true
	f.servers.notices(f.status, d, f.live.Shown().State, f.toasts.Show)
	f.dag.Lose(wording.LostServers(d.Servers))
	f.status, f.looking = d, false
	if f.shows.servers.Shown() && f.shows.servers.Changed(d.Servers) {
		f.servers.changed()
	}
}

// introduce lets the chat introduce itself, unless it greets.
func (f *sessionFeed) introduce() {
	if !f.chat.Greets() {
		f.chat.Introduce(f.live.Preparing())
	}
}

// queued stores the queue of the session. When the session stops preparing, its request
// is finished.
func (f *sessionFeed) queued(d session.Queue) {
	f.caughtUp = true
	if d.Doing != "" && f.live.Active() == "" {
		f.live.Await(true) // even if sent before the session's first status
	}
	if f.input.SetQueue(d) {
		f.live.Finish()
	}
	f.chat.Invalidate()
}

// returned puts back into the input a text that was rejected or removed from
// the queue.
func (f *sessionFeed) returned(d session.Returned) {
	if d.Reason != "" {
		f.live.Finish()
		f.chat.Add(f.chat.Note("warn", d.Reason.Visible()))
		f.chat.ToEnd()
	}
	f.input.PutBack(d.Text)
}

// userSent shows what the user sent.
func (f *sessionFeed) userSent(d event.ChatUser) {
	if f.caughtUp { // the history of a continued session starts nothing
		f.live.Prepare()
	}
	if f.live.Active() == "" {
		f.chat.Settle()
	}
	f.chat.Message(d, f.live.Preparing())
	f.input.Remember(string(d.Text))
}

// note shows a note of the session in the chat.
func (f *sessionFeed) note(d event.Note) {
	f.review.Refused(d.Text.Line())
	if d.Level == "warn" {
		f.shows.servers.Refused(d.Text.Visible())
	}
	f.chat.Add(f.chat.Note(d.Level, d.Text.Visible()))
}

// setting says that a setting was saved, or why not.
func (f *sessionFeed) setting(d session.SettingSaved) {
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
func (f *sessionFeed) undone(d event.ChatUndone) {
	f.live.Undo(d)
	if f.shows.undo.Done(d.Run) {
		if f.shows.runs.Shown() { // opened from its list; the plan keeps the keys
			f.panes.SetFocus(panes.Chat)
		}
		f.shows.runs.Close()
		f.chat.ToEnd()
	}
}

// pulled shows how far the download of a model has come, or how it ended.
func (f *sessionFeed) pulled(d session.PullProgress) {
	f.pull = d
	if f.shows.models.Pulled(d) {
		f.relist = true
	}
	if !d.Ended {
		return
	}
	f.pull = session.PullProgress{}
	level := "info"
	if d.Problem != "" {
		level = "warn"
		f.chat.Add(f.chat.Note("warn", d.Problem.Visible()))
	}
	f.toasts.Show(level, wording.PullEnd(d))
}

// removed says that a model was removed, or why not.
func (f *sessionFeed) removed(d session.Removed) {
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
func (f *sessionFeed) loggedIn(d session.LoginProgress) {
	f.shows.servers.LoggedIn(d)
	switch {
	case d.Problem != "":
		f.chat.Add(f.chat.Note("warn", d.Problem.Visible()))
	case d.Address != "":
		f.servers.login(d.Address.Line())
		f.chat.Add(f.chat.Note("info", wording.LoginAddress(d)))
		f.toasts.Show("info", "the address of the login is sent to the clipboard")
	case d.Ended && !d.Canceled:
		f.toasts.Show("info", "logged in to "+untrusted.Line(d.Server))
	}
}

// now returns the newest status of the session.
func (f *sessionFeed) now() session.Status { return f.status }

// ended reports whether the session is over.
func (f *sessionFeed) ended() bool { return f.closed }

// asReplay names the replay that the screen shows in place of the input.
func (f *sessionFeed) asReplay() {
	f.replay = &replayName{styles: f.styles, keys: f.keys, input: f.input}
	f.replay.show("replay")
}

// end notes that the session is over.
func (f *sessionFeed) end() {
	f.closed = true
	f.live.Await(false)
}

// remember takes the runs of earlier sessions.
func (f *sessionFeed) remember(runs []agent.Summary) { f.past = runs }

// afterEvents returns the commands that fetch the servers again, and that copy the address
// of a login, if events asked for that since the last call.
func (f *sessionFeed) afterEvents(clipboard *clipboard) (cmds []tea.Cmd) {
	if f.servers.takeStale() {
		cmds = append(cmds, f.outbox.ask(keymap.QueryServers))
	}
	if address := f.servers.takeLogin(); address != "" {
		cmds = append(cmds, clipboard.write(address))
	}
	return cmds
}

// lists returns the commands that ask again for what has changed since the last call: the
// settings and the models.
func (f *sessionFeed) lists() (settings, models tea.Cmd) {
	if f.saved && f.shows.settings.Shown() {
		settings = f.outbox.ask(keymap.QuerySettings)
	}
	if f.relist {
		models = f.outbox.ask(keymap.QueryModels)
	}
	f.saved, f.relist = false, false
	return settings, models
}

// holdActions are the actions on the plans to come.
func holdActions() keymap.Table[*sessionFeed] {
	return keymap.Table[*sessionFeed]{
		{ID: "review.next", Keys: "alt+l", Does: "toggle plan review", Do: (*sessionFeed).holdPlans},
	}
}

// lookActions are the actions on what the session has found.
func lookActions() keymap.Table[*sessionFeed] {
	return keymap.Table[*sessionFeed]{
		{ID: "look", Keys: "f5 ctrl+l", Shown: "F5", Does: "reconnect; reread server files", Do: keymap.Runs((*sessionFeed).lookAgain)},
	}
}

// lookAgain asks the session to look again for a model and its servers.
func (f *sessionFeed) lookAgain() tea.Cmd {
	f.looking = true
	f.message.SetUntilEvent("Looking for the model and the servers again" + f.styles.Glyphs.Ellipsis)
	f.chat.Invalidate()
	return f.outbox.send(session.Recheck{})
}

// holdPlans toggles the review of the next plans before they run.
func (f *sessionFeed) holdPlans() keymap.Requests {
	on := !f.status.Review
	word := "The next plans run at once."
	if on {
		word = "The next plans wait for your review."
	}
	return keymap.Requests{keymap.Footer(word), session.Hold{On: on}}
}

// holdsGoals reports whether no run starts before the user has answered about the
// servers of the project.
func (f *sessionFeed) holdsGoals() bool { return f.runs.asksForSession() && f.serverWaits() }

// serverWaits reports whether a server of the project waits for the user's answer.
func (f *sessionFeed) serverWaits() bool {
	return slices.ContainsFunc(f.status.Servers, func(s plan.ServerStatus) bool { return s.State == plan.ServerWaiting })
}

// frameState returns what the frame shows of the session.
func (f *sessionFeed) frameState() frame.State {
	return frame.State{Past: f.past, Session: f.status, Pull: f.pull, Reported: f.caughtUp, Looking: f.looking, Closed: f.closed}
}
