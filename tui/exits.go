package tui

import (
	"runtime"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
)

// exits are the ways out: of the run, of a pane, and of the program.
type exits struct {
	keys      *keymap.Map
	focus     *keyFocus
	live      *live.Runs
	waiting   *waiting
	continues bool // the run continues without the screen
	input     interface {
		Empty() bool
		Clear()
		AsksSide() bool
	}
	width     func() int  // of the screen, in cells
	sideAsked func() bool // a side question is being answered

	warned string // the action that the last key asked for, and that a second press does
	again  bool   // this key is that second press
	spared bool   // the next press may be meant for the end of a side question
}

// exitActions are the actions that stop the run and leave the program.
func exitActions() keymap.Table[*exits] {
	return keymap.Table[*exits]{
		{ID: "run.stop", Keys: "esc", Does: "stop the run", Refuse: (*exits).nothingToStop, Do: (*exits).stop},
		{ID: "quit", Keys: "ctrl+c", Does: "quit; clears the input first", Do: keymap.Runs((*exits).leave)},
		{ID: "suspend", Keys: "ctrl+z", Does: "suspend; fg in the shell continues", KeyOnly: true, Refuse: (*exits).cannotSuspend, Do: keymap.Runs(func(*exits) tea.Cmd { return suspend })},
		{ID: "replay.quit", Keys: "q", Does: "quit a replay", KeyOnly: true, When: (*exits).replays, Do: keymap.Runs(func(*exits) tea.Cmd { return tea.Quit })},
	}
}

// replayExits are the actions that replace them while a past run is shown.
func replayExits() keymap.Table[*exits] {
	return keymap.Table[*exits]{
		{ID: "run.stop", Refuse: (*exits).nothingToLeave, Do: keymap.Calls(func(e *exits) { e.focus.back() })},
	}
}

// nothingToLeave returns why a replay has nothing to stop or leave.
func (e *exits) nothingToLeave() string {
	if !e.focus.inChat() {
		return ""
	}
	return "A replay has nothing to stop; " + e.keys.Name("replay.quit") + " quits."
}

// replays reports whether a past run is shown, which every pane leaves by a letter.
func (e *exits) replays() bool { return e.live.Recorded }

// cannotSuspend returns why the program cannot be suspended.
func (e *exits) cannotSuspend() string {
	if runtime.GOOS == "windows" {
		return "Windows has no suspended programs."
	}
	return ""
}

// begin notes that a key or a click does the action id, "" for another one.
func (e *exits) begin(id string) { e.again, e.warned = id != "" && e.warned == id, "" }

// staysOnce returns what the footer says if this press of the key does not quit yet, else
// "". A conversation that is at rest is left by a second press: the first may have been
// meant for a run that ended a moment before.
func (e *exits) staysOnce() string {
	clears := e.focus.inChat() && !e.input.Empty() && !e.focus.covered()
	if e.again || clears || e.continues || e.live.Recorded || e.live.Busy() || len(e.live.All()) == 0 || e.focus.scene().Small {
		return ""
	}
	e.warned = "quit"
	return e.keys.Name("quit") + " again quits."
}

// spare has the next press of the key not stop the run yet: it may be meant for a side
// question that has just ended.
func (e *exits) spare() { e.spared = true }

// leave clears the input, else quits. It asks first during a run.
func (e *exits) leave() tea.Cmd {
	switch {
	case e.focus.inChat() && !e.input.Empty() && !e.focus.covered():
		e.input.Clear()
		return nil
	case e.live.Busy() && !e.continues:
		e.focus.askToQuit()
		return nil
	default:
		return tea.Quit
	}
}

// nothingToStop returns why there is nothing to stop or leave.
func (e *exits) nothingToStop() string {
	switch {
	case e.sideAsked() || e.input.AsksSide() || e.live.Stopping() || !e.focus.inChat() || e.waiting.asked() != "":
		return ""
	case !e.live.Busy():
		return "Nothing is running."
	default:
		return ""
	}
}

// noRun returns why no run can be stopped, "" if one can.
func (e *exits) noRun() string {
	if e.live.Busy() || e.waiting.asked() != "" {
		return ""
	}
	return "Nothing is running."
}

// stop stops the run; without one, it leads back from the step to the plan and to the
// chat. If the run only waits at a gate, or a side question has ended, stop asks for a
// second press: the first may have been meant for these.
func (e *exits) stop() keymap.Requests {
	spared := e.spared
	e.spared = false
	run := e.live.Current().State
	switch asked := e.waiting.asked(); {
	case e.focus.onMap():
		e.focus.back()
	case e.input.AsksSide() && e.focus.inChat():
		return keymap.Requests{keymap.DoAction("run.ask")} // which takes it back
	case e.sideAsked() && e.focus.inChat():
		return keymap.SendCommands(session.CancelSideQuestion{})
	case e.live.Stopping():
		return keymap.Requests{keymap.FooterUntilEvent("The run is stopping.")}
	case asked != "" && !e.live.Busy() && e.focus.inChat():
		return keymap.ShowFooter("A " + asked + " is open: " + e.keys.Name("gate") + " returns to it.")
	case asked != "" && !e.again && (run == nil || !run.Busy()):
		return e.warn("A "+asked+" is open", "the "+asked)
	case e.waiting.reviewing() && !e.again:
		return e.warn("A plan waits for review", "it")
	case e.live.Busy() && spared && e.focus.inChat():
		e.warned = "run.stop"
		return keymap.ShowFooter("The side question is over: " + e.keys.Name("run.stop") + " again stops the run.")
	case e.live.Busy():
		return keymap.SendCommands(session.Stop{})
	default:
		e.focus.back()
	}
	return nil
}

// warn says that a second press stops the run although something waits for an answer; a
// narrow screen says only what the keys do.
func (e *exits) warn(waits, back string) keymap.Requests {
	e.warned = "run.stop"
	again, returns := e.keys.Name("run.stop")+" again stops the run, ", e.keys.Name("gate")+" returns"
	words := waits + ": " + again + returns + " to " + back + "."
	if draw.VisibleWidth(words) >= e.width()-1 {
		words = again + returns
	}
	return keymap.ShowFooter(words)
}
