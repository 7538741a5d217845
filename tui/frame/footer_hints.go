package frame

import (
	"replan/tui/keymap"
	"replan/tui/panes"
)

// Keys is the state that decides which keys the footer lists while no dialog is
// open.
type Keys struct {
	Focus panes.Pane
	Input []keymap.Hint // the keys of the input
	Queue []keymap.Hint // the keys that send the typed text during a run
	Plan  []keymap.Hint // the keys of the plan pane

	Waiting   string // what waits for the user: "gate" or "question"; "" for nothing
	Reviewing bool   // a plan waits for the user's review

	Typed     bool // the input holds text
	Active    bool // a run is under way
	Busy      bool // there is work to stop
	Resumable bool // the current run can be resumed
	Mapped    bool // the plan fills the screen
	Side      bool // a side question is being answered, or typed

	Played *Playback // playback on this screen; nil for none
}

// Playback is the state of a playback.
type Playback struct {
	Paused bool
	Over   bool // at the end
}

// Hints returns the keys available now, the most useful first.
func (f *footerLine) Hints(k Keys) []keymap.Hint {
	if f.replay {
		return f.replayHints(k)
	}
	var hints []keymap.Hint
	add := func(does string, ids ...string) { hints = append(hints, f.keys.Hint(does, ids...)) }
	switch {
	case k.Waiting != "":
		add(k.Waiting, "gate")
	case k.Reviewing:
		add("review", "gate")
	}
	switch k.Focus {
	case panes.Chat:
		hints = append(hints, k.Input...)
		if k.Side {
			add("cancel the side question", "run.stop")
		} else if k.Busy {
			add("stop", "run.stop")
		} else if k.Resumable {
			add("runs", "runs")
		}
	case panes.Plan:
		hints = append(hints, k.Plan...)
		if k.Busy && !k.Mapped {
			add("stop", "run.stop")
		}
	case panes.Step:
		add("tabs", "step.previous_tab", "step.next_tab")
		add("scroll", "move.up", "move.down")
		if k.Busy {
			add("stop", "run.stop")
		}
	}
	add("pane", "pane.next")
	if k.Focus == panes.Chat && k.Typed {
		hints = append(hints, f.keys.Untyped("help", "help"))
		add("new line", "chat.new_line")
		add("clear", "quit")
		return hints
	}
	add("help", "help")
	add("quit", "quit")
	if k.Focus == panes.Chat && k.Active {
		hints = append(hints, k.Queue...)
	}
	return hints
}

// replayHints returns the keys of a replay.
func (f *footerLine) replayHints(k Keys) []keymap.Hint {
	var hints []keymap.Hint
	add := func(does string, ids ...string) { hints = append(hints, f.keys.Hint(does, ids...)) }
	if k.Played != nil {
		does := "pause"
		switch {
		case k.Played.Over:
			does = "play from start"
		case k.Played.Paused:
			does = "play"
		}
		add(does, "replay.pause")
		add("seek", "replay.back", "replay.forth")
		add("speed", "replay.faster", "replay.slower")
	}
	add("quit", "replay.quit")
	switch k.Focus {
	case panes.Plan:
		hints = append(hints, k.Plan...)
	case panes.Step:
		if k.Played == nil {
			add("tabs", "step.previous_tab", "step.next_tab")
		}
		fallthrough
	default:
		add("scroll", "move.up", "move.down")
	}
	add("pane", "pane.next")
	add("help", "help")
	return hints
}
