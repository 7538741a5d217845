package tui

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/ask"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// footer draws the last line: a question, a message about the last key, or the
// keys available now.
func (m *Model) footer() string {
	l, width := m.look, m.layout.width
	switch {
	case m.quitting:
		return l.Fit(m.quitLine(width), width)
	case m.word != "":
		return l.Fit(" "+l.Warning.Render(m.word), width)
	}
	line := ""
	for _, h := range m.hints() {
		next := line + " " + m.drawHint(h) + " "
		if draw.VisibleWidth(next) > width {
			break
		}
		line = next
	}
	return l.Fit(line, width)
}

// quitLine asks whether to quit, with the longest text that leaves room for the
// keys.
func (m *Model) quitLine(width int) string {
	keys := ""
	for _, h := range m.quitHints() {
		keys += "  " + m.drawHint(h)
	}
	line := ""
	for _, text := range []string{"A run is going on. Stop it and quit?", "Stop the run and quit?", "Quit?"} {
		if line = " " + m.look.Warning.Render(text) + keys; draw.VisibleWidth(line) <= width {
			break
		}
	}
	return line
}

// quitHints returns the keys of that question.
func (m *Model) quitHints() []keymap.Hint {
	return []keymap.Hint{m.keys.Hint("", "quit.yes"), m.keys.Hint("", "quit.no")}
}

// quitButtons returns the positions of those keys.
func (m *Model) quitButtons(width int) []draw.Button {
	var parts, ids []string
	for _, h := range m.quitHints() {
		parts, ids = append(parts, m.drawHint(h)), append(ids, h.IDs[0])
	}
	return draw.Buttons([]string{m.quitLine(width)}, parts, ids)
}

// drawHint draws one key of the footer.
func (m *Model) drawHint(h keymap.Hint) string {
	return m.look.Key.Render(h.Label) + " " + m.look.Faint.Render(h.Does)
}

// hints returns the keys available now, the most useful first.
func (m *Model) hints() []keymap.Hint {
	var hints []keymap.Hint
	add := func(h keymap.Hint) { hints = append(hints, h) }
	if over := m.over(); over != nil {
		return over.Hints()
	}
	switch {
	case m.searching():
		return m.searchHints()
	case m.ask.Showing():
		return m.ask.Hints()
	case m.options.Replay:
		return m.replayHints()
	case m.recalls() || m.completes():
		return m.writingHints()
	}
	if m.ask.Waiting() > 0 {
		add(m.keys.Hint(m.waiting(), "gate"))
	} else if m.review.Waits() {
		add(m.keys.Hint("review", "gate"))
	}
	switch m.focus {
	case paneChat:
		hints = append(hints, m.chatHints()...)
	case panePlan:
		hints = append(hints, m.planHints()...)
		if m.running() && !m.mapping() {
			add(m.keys.Hint("stop", "run.stop"))
		}
	case paneStep:
		add(m.keys.Hint("tabs", "step.previous_tab", "step.next_tab"))
		add(m.keys.Hint("scroll", "move.up", "move.down"))
		if m.running() {
			add(m.keys.Hint("stop", "run.stop"))
		}
	}
	add(m.keys.Hint("pane", "pane.next"))
	if m.focus == paneChat && !m.input.Empty() {
		add(m.keys.Untyped("help", "help"))
		add(m.keys.Hint("new line", "chat.new_line"))
		add(m.keys.Hint("clear", "quit"))
		return hints
	}
	add(m.keys.Hint("help", "help"))
	add(m.keys.Hint("quit", "quit"))
	if m.focus == paneChat && m.going() != "" {
		add(m.keys.Hint("queue", "chat.send"))
		if m.heeds() {
			add(m.keys.Hint("steer", "run.steer"))
		}
	}
	return hints
}

// chatHints returns the keys for the typed text and the run.
func (m *Model) chatHints() []keymap.Hint {
	var hints []keymap.Hint
	switch {
	case m.going() == "" && m.helpless() && m.input.Empty():
		hints = append(hints, m.keys.Hint("try again", "chat.send"))
	case m.going() == "":
		hints = append(hints, m.keys.Hint("send", "chat.send"))
	case !m.input.Empty():
		hints = append(hints, m.keys.Hint("queue", "chat.send"))
		if m.heeds() {
			hints = append(hints, m.keys.Hint("steer", "run.steer"))
		}
	}
	switch {
	case m.running():
		hints = append(hints, m.keys.Hint("stop", "run.stop"))
	case m.run != nil && m.run.Resumable():
		hints = append(hints, m.keys.Hint("resume", "runs"))
	}
	return hints
}

// planHints returns the keys for the chosen step.
func (m *Model) planHints() []keymap.Hint {
	switch f := &m.dag.Filter; {
	case f.Typing:
		return []keymap.Hint{m.keys.Hint("keep the filter", "list.choose"), m.keys.Hint("clear it", "dialog.leave"), m.keys.Hint("move", "list.up", "list.down")}
	case f.On():
		return []keymap.Hint{m.keys.Hint("next", "plan.next_match"), m.keys.Hint("previous", "plan.previous_match"), m.keys.Hint("look in", "plan.open"), m.keys.Hint("clear the filter", "run.stop")}
	}
	hints := []keymap.Hint{m.keys.Hint("move", "move.up", "move.down")}
	if m.dag.ShowsGraph() {
		hints[0] = m.keys.Hint("move", "move.up", "move.down", "plan.left", "plan.right")
	}
	s := m.dag.ChosenStep()
	open := "look in"
	if s != nil && s.Status == agent.StepFailed && m.resumable() {
		open = "go on from here"
	}
	switch folded, heads := m.dag.Heading(); {
	case heads && folded:
		open = "unfold"
	case heads:
		open = "fold"
	}
	hints = append(hints, m.keys.Hint(open, "plan.open"))
	if m.mapping() {
		hints = append(hints, m.keys.Hint("back", "run.stop"), m.keys.Hint("zoom", "plan.zoom_out", "plan.zoom_in"))
	}
	if s != nil && s.Loop != nil && len(s.Loop.Calls) > 0 {
		hints = append(hints, m.keys.Hint("calls", "plan.fold"))
	}
	if s != nil && s.Status == agent.StepRunning && m.shown.goes() && !m.options.Replay {
		hints = append(hints, m.keys.Hint("cancel", "plan.cancel"))
	}
	if m.changedFiles() {
		hints = append(hints, m.keys.Hint("undo", "plan.undo"))
	}
	if !m.dag.Follow {
		hints = append(hints, m.keys.Hint("follow", "plan.follow"))
	}
	if !m.mapping() && m.noMap() == "" {
		hints = append(hints, m.keys.Hint("map", "plan.map"))
	}
	if m.dag.Large() {
		hints = append(hints, m.keys.Hint("filter", "plan.filter"))
	}
	return hints
}

// replayHints returns the keys of a replay.
func (m *Model) replayHints() []keymap.Hint {
	scroll := m.keys.Hint("scroll", "move.up", "move.down")
	hints := []keymap.Hint{m.keys.Hint("quit", "replay.quit")}
	if p := m.control; p != nil {
		does := "pause"
		if p.Paused {
			does = "play"
		}
		hints = []keymap.Hint{m.keys.Hint(does, "replay.pause"), m.keys.Hint("seek", "replay.back", "replay.forth"), m.keys.Hint("speed", "replay.faster", "replay.slower"), m.keys.Hint("quit", "replay.quit")}
	}
	switch m.focus {
	case panePlan:
		hints = append(hints, m.planHints()...)
	case paneStep:
		if m.control == nil {
			hints = append(hints, m.keys.Hint("tabs", "step.previous_tab", "step.next_tab"))
		}
		hints = append(hints, scroll)
	default:
		hints = append(hints, scroll)
	}
	return append(hints, m.keys.Hint("pane", "pane.next"), m.keys.Hint("help", "help"))
}

// say shows a message about the last key in the footer until the next key.
func (m *Model) say(parts ...string) { m.word, m.passing = strings.Join(parts, " "), false }

// sayUntilHeard is like say for work that a key has started: the next event
// clears the message too.
func (m *Model) sayUntilHeard(word string) { m.word, m.passing = word, true }

// heard clears a message that lasts until the next event.
func (m *Model) heard(e event.Event) {
	if m.passing && !e.Data.Kind().Passing() {
		m.word, m.passing = "", false
	}
}

// waiting names what waits for the user.
func (m *Model) waiting() string {
	if _, gate := m.ask.Current().(ask.OpenGate); gate {
		return "gate"
	}
	return "question"
}

// resumable reports whether the run in the plan pane has ended and can be
// resumed.
func (m *Model) resumable() bool {
	r := m.shown.run
	return !m.options.Replay && r != nil && r.Result != nil && r.Resumable() && !m.running()
}
