package tui

import (
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/chat"
	"replan/tui/dialog"
	"replan/tui/frame"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/wording"
)

// sessionFeed knows what the session has told of itself, and applies its events. Those of
// runs go to the feed of runs, and those of what it does beside them to the feed of jobs.
type sessionFeed struct {
	runs    *runFeed
	jobs    *jobFeed
	live    *live.Runs
	chat    *chat.Pane
	input   *input.Pane
	listed  *dialog.Servers // the servers
	toasts  *frame.Toasts
	replay  *replayName // how a replay is named; nil for none
	servers serverNews
	plan    interface{ Lose(servers []string) }
	review  interface{ Refused(why string) }

	status     session.Status
	past       []agent.Summary // runs of earlier sessions, known after the first frame
	caughtUp   bool            // the session has sent its status; earlier events were history
	sideEnded  bool            // a side question has ended, which nobody has taken note of
	closed     bool            // the session is over
	rechecking bool            // the session looks again for a model and its servers
}

// apply applies one event to its run or to what is known of the session.
func (f *sessionFeed) apply(e event.Event) {
	if f.live.Repeats(e) {
		f.runs.repeat(e)
		return
	}
	f.toasts.Notify(e.Data)
	f.servers.observe(e.Data, f.listed.Shown())
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
	case session.SideProgress:
		f.chat.SideQuestions().Progress(d)
	case event.ChatSide:
		f.chat.SideQuestions().End(d)
		f.sideEnded = f.caughtUp
	case event.ChatCompacted:
		f.chat.Add(f.chat.Compacted(d))
	case event.Note:
		f.note(d)
	case event.GateRequested, event.GateResolved:
		f.runs.gate(e)
	default:
		f.jobs.apply(d, f.status)
	}
}

// reported applies the session's status.
func (f *sessionFeed) reported(d session.Status) {
	f.caughtUp = true
	f.servers.notices(d, f.live.Shown().State, f.toasts.Show)
	f.plan.Lose(wording.LostServers(d.Servers))
	f.status, f.rechecking = d, false
	if f.listed.Shown() && f.listed.Changed(d.Servers) {
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
	if f.caughtUp && !asksSide(string(d.Text)) { // the history of a continued session starts nothing
		f.live.Prepare()
	}
	if f.live.Active() == "" {
		f.chat.Settle()
	}
	f.chat.Message(d, f.live.Preparing())
	f.input.Remember(string(d.Text))
}

// asksSide reports whether a message is a side question, which starts no run.
func asksSide(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), session.SideCommand+" ")
}

// note shows a note of the session in the chat.
func (f *sessionFeed) note(d event.Note) {
	f.review.Refused(d.Text.Line())
	if d.Level == "warn" {
		f.listed.Refused(d.Text.Visible())
	}
	f.chat.Add(f.chat.Note(d.Level, d.Text.Visible()))
}

// now returns the newest status of the session.
func (f *sessionFeed) now() session.Status { return f.status }

// sideAsked reports whether a side question is being answered.
func (f *sessionFeed) sideAsked() bool { return f.chat.SideQuestions().Asked() && !f.closed }

// takeSideEnd reports once that the last of the side questions has ended.
func (f *sessionFeed) takeSideEnd() bool {
	if !f.sideEnded || f.sideAsked() {
		return false
	}
	f.sideEnded = false
	return true
}

// ended reports whether the session is over.
func (f *sessionFeed) ended() bool { return f.closed }

// asReplay names the replay that the screen shows in place of the input.
func (f *sessionFeed) asReplay(name *replayName) {
	f.replay = name
	name.show("replay")
}

// end notes that the session is over.
func (f *sessionFeed) end() {
	f.closed = true
	f.live.Await(false)
}

// remember takes the runs of earlier sessions.
func (f *sessionFeed) remember(runs []agent.Summary) { f.past = runs }

// takeStale returns the query for the servers if events asked for it since the last call,
// else nil.
func (f *sessionFeed) takeStale() keymap.Query {
	if f.servers.takeStale() {
		return keymap.QueryServers
	}
	return nil
}

// holdActions are the actions on the plans to come.
func holdActions() keymap.Table[*sessionFeed] {
	return keymap.Table[*sessionFeed]{
		{ID: "review.next", Keys: "alt+l", Does: "toggle plan review", Do: (*sessionFeed).holdPlans},
	}
}

// recheckActions are the actions on what the session has found.
func recheckActions() keymap.Table[*sessionFeed] {
	return keymap.Table[*sessionFeed]{
		{ID: "look", Keys: "f5 ctrl+l", Shown: "F5", Does: "reconnect; reread server files", Do: (*sessionFeed).recheck},
	}
}

// recheck asks the session to look again for a model and its servers.
func (f *sessionFeed) recheck() keymap.Requests { return keymap.SendCommands(session.Recheck{}) }

// rechecks notes that the session looks again for a model and its servers.
func (f *sessionFeed) rechecks() { f.rechecking = true }

// holdPlans toggles the review of the next plans before they run.
func (f *sessionFeed) holdPlans() keymap.Requests {
	on := !f.status.Review
	word := "The next plans run at once."
	if on {
		word = "The next plans wait for your review."
	}
	return keymap.Requests{keymap.Footer(word), session.Hold{On: on}}
}

// serverWaits reports whether a server of the project waits for the user's answer.
func (f *sessionFeed) serverWaits() bool {
	return slices.ContainsFunc(f.status.Servers, func(s plan.ServerStatus) bool { return s.State == plan.ServerWaiting })
}

// frameState returns what the frame shows of the session.
func (f *sessionFeed) frameState() frame.State {
	return frame.State{Past: f.past, Session: f.status, Pull: f.jobs.pulling(), Starting: f.jobs.starts(), Reported: f.caughtUp, Rechecking: f.rechecking, Closed: f.closed}
}
