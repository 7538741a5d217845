package tui

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
)

// footer draws the last line: a question, a word on the last key, or the keys
// that do something now.
func (m *Model) footer() string {
	l, width := m.look, m.layout.width
	switch {
	case m.quitting:
		return l.fit(m.quitLine(width), width)
	case m.word != "":
		return l.fit(" "+l.Warning.Render(m.word), width)
	}
	line := ""
	for _, h := range m.hints() {
		next := line + " " + m.drawHint(h) + " "
		if visibleWidth(next) > width {
			break
		}
		line = next
	}
	return l.fit(line, width)
}

// quitLine asks whether to quit, in as many words as leave room for the keys.
func (m *Model) quitLine(width int) string {
	keys := ""
	for _, h := range m.quitHints() {
		keys += "  " + m.drawHint(h)
	}
	line := ""
	for _, text := range []string{"A run is going on. Stop it and quit?", "Stop the run and quit?", "Quit?"} {
		if line = " " + m.look.Warning.Render(text) + keys; visibleWidth(line) <= width {
			break
		}
	}
	return line
}

// quitHints are its keys.
func (m *Model) quitHints() []hint {
	return []hint{m.keys.hint("", "quit.yes"), m.keys.hint("", "quit.no")}
}

// quitButtons is where its keys stand.
func (m *Model) quitButtons(width int) []button {
	var parts, ids []string
	for _, h := range m.quitHints() {
		parts, ids = append(parts, m.drawHint(h)), append(ids, h.ids[0])
	}
	return buttons([]string{m.quitLine(width)}, parts, ids)
}

// drawHint draws one key of the footer.
func (m *Model) drawHint(h hint) string {
	return m.look.Key.Render(h.label) + " " + m.look.Faint.Render(h.does)
}

// hints are the keys that do something now, the most useful first.
func (m *Model) hints() []hint {
	var hints []hint
	add := func(h hint) { hints = append(hints, h) }
	if over := m.over(); over != nil {
		return over.hints()
	}
	switch {
	case m.searching():
		return m.searchHints()
	case m.ask.showing():
		return m.ask.hints()
	case m.options.Replay:
		return m.replayHints()
	case m.recalls() || m.completes():
		return m.writingHints()
	}
	if m.ask.waiting() > 0 {
		add(m.keys.hint(m.waiting(), "gate"))
	} else if m.review.waits() {
		add(m.keys.hint("review", "gate"))
	}
	switch m.focus {
	case paneChat:
		hints = append(hints, m.chatHints()...)
	case panePlan:
		hints = append(hints, m.planHints()...)
		if m.running() && !m.mapping() {
			add(m.keys.hint("stop", "run.stop"))
		}
	case paneStep:
		add(m.keys.hint("tabs", "step.previous_tab", "step.next_tab"))
		add(m.keys.hint("scroll", "move.up", "move.down"))
		if m.running() {
			add(m.keys.hint("stop", "run.stop"))
		}
	}
	add(m.keys.hint("pane", "pane.next"))
	if m.focus == paneChat && !m.input.empty() {
		add(m.keys.untyped("help", "help"))
		add(m.keys.hint("new line", "chat.new_line"))
		add(m.keys.hint("clear", "quit"))
		return hints
	}
	add(m.keys.hint("help", "help"))
	add(m.keys.hint("quit", "quit"))
	if m.focus == paneChat && m.going() != "" {
		add(m.keys.hint("queue", "chat.send"))
		if m.heeds() {
			add(m.keys.hint("steer", "run.steer"))
		}
	}
	return hints
}

// chatHints are the keys that do something with what is typed, or with the run.
func (m *Model) chatHints() []hint {
	var hints []hint
	switch {
	case m.going() == "" && m.helpless() && m.input.empty():
		hints = append(hints, m.keys.hint("try again", "chat.send"))
	case m.going() == "":
		hints = append(hints, m.keys.hint("send", "chat.send"))
	case !m.input.empty():
		hints = append(hints, m.keys.hint("queue", "chat.send"))
		if m.heeds() {
			hints = append(hints, m.keys.hint("steer", "run.steer"))
		}
	}
	switch {
	case m.running():
		hints = append(hints, m.keys.hint("stop", "run.stop"))
	case m.run != nil && m.run.Resumable():
		hints = append(hints, m.keys.hint("resume", "runs"))
	}
	return hints
}

// planHints are the keys that do something to the step that is chosen.
func (m *Model) planHints() []hint {
	switch f := &m.dag.filter; {
	case f.typing:
		return []hint{m.keys.hint("keep the filter", "list.choose"), m.keys.hint("clear it", "dialog.leave"), m.keys.hint("move", "list.up", "list.down")}
	case f.on():
		return []hint{m.keys.hint("next", "plan.next_match"), m.keys.hint("previous", "plan.previous_match"), m.keys.hint("look in", "plan.open"), m.keys.hint("clear the filter", "run.stop")}
	}
	hints := []hint{m.keys.hint("move", "move.up", "move.down")}
	if m.dag.showsGraph() {
		hints[0] = m.keys.hint("move", "move.up", "move.down", "plan.left", "plan.right")
	}
	s := m.chosenStep()
	open := "look in"
	if s != nil && s.Status == agent.StepBroken && m.resumable() {
		open = "go on from here"
	}
	switch folded, heads := m.dag.heading(); {
	case heads && folded:
		open = "unfold"
	case heads:
		open = "fold"
	}
	hints = append(hints, m.keys.hint(open, "plan.open"))
	if m.mapping() {
		hints = append(hints, m.keys.hint("back", "run.stop"), m.keys.hint("zoom", "plan.zoom_out", "plan.zoom_in"))
	}
	if s != nil && s.Loop != nil && len(s.Loop.Calls) > 0 {
		hints = append(hints, m.keys.hint("calls", "plan.fold"))
	}
	if s != nil && s.Status == agent.StepActive && m.shown.goes() && !m.options.Replay {
		hints = append(hints, m.keys.hint("cancel", "plan.cancel"))
	}
	if m.changedFiles() {
		hints = append(hints, m.keys.hint("undo", "plan.undo"))
	}
	if !m.dag.follow {
		hints = append(hints, m.keys.hint("follow", "plan.follow"))
	}
	if !m.mapping() && m.noMap() == "" {
		hints = append(hints, m.keys.hint("map", "plan.map"))
	}
	if m.dag.large() {
		hints = append(hints, m.keys.hint("filter", "plan.filter"))
	}
	return hints
}

// replayHints are the keys that do something in a replay.
func (m *Model) replayHints() []hint {
	scroll := m.keys.hint("scroll", "move.up", "move.down")
	hints := []hint{m.keys.hint("quit", "replay.quit")}
	if p := m.control; p != nil {
		does := "pause"
		if p.paused {
			does = "play"
		}
		hints = []hint{m.keys.hint(does, "replay.pause"), m.keys.hint("seek", "replay.back", "replay.forth"), m.keys.hint("speed", "replay.faster", "replay.slower"), m.keys.hint("quit", "replay.quit")}
	}
	switch m.focus {
	case panePlan:
		hints = append(hints, m.planHints()...)
	case paneStep:
		if m.control == nil {
			hints = append(hints, m.keys.hint("tabs", "step.previous_tab", "step.next_tab"))
		}
		hints = append(hints, scroll)
	default:
		hints = append(hints, scroll)
	}
	return append(hints, m.keys.hint("pane", "pane.next"), m.keys.hint("help", "help"))
}

// say puts a word about the last key into the footer; the next key takes it
// away.
func (m *Model) say(parts ...string) { m.word, m.passing = strings.Join(parts, " "), false }

// sayUntilHeard is say for a word on what a key has begun: the next thing that
// happens takes it away too.
func (m *Model) sayUntilHeard(word string) { m.word, m.passing = word, true }

// heard takes a word away that stands until something happens.
func (m *Model) heard(e event.Event) {
	if m.passing && !e.Data.Kind().Passing() {
		m.word, m.passing = "", false
	}
}

// waiting names what waits for the user's word.
func (m *Model) waiting() string {
	if _, gate := m.ask.current().(openGate); gate {
		return "gate"
	}
	return "question"
}

// chosenStep is the step that is chosen in the plan as it is now, or nil.
func (m *Model) chosenStep() *agent.StepState {
	if r := m.dag.chosen(); r != nil && (r.kind == rowStep || r.kind == rowCall || r.kind == rowCalls) {
		return r.step
	}
	return nil
}

// resumable reports whether the run in the plan pane has ended and can be taken up.
func (m *Model) resumable() bool {
	r := m.shown.run
	return !m.options.Replay && r != nil && r.Result != nil && r.Resumable() && !m.running()
}
