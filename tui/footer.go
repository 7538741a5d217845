package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"

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
		next := line + " " + h + " "
		if visibleWidth(next) > width {
			break
		}
		line = next
	}
	return l.fit(line, width)
}

// quitLine asks whether to quit, in as many words as leave room for the keys.
func (m *Model) quitLine(width int) string {
	keys := "  " + m.hint(m.keys.Yes, "") + "  " + m.hint(m.keys.No, "")
	line := ""
	for _, text := range []string{"A run is going on. Stop it and quit?", "Stop the run and quit?", "Quit?"} {
		if line = " " + m.look.Warning.Render(text) + keys; visibleWidth(line) <= width {
			break
		}
	}
	return line
}

// quitButtons is where its keys stand.
func (m *Model) quitButtons(width int) []button {
	keys := []key.Binding{m.keys.Yes, m.keys.No}
	return buttons([]string{m.quitLine(width)}, []string{m.hint(keys[0], ""), m.hint(keys[1], "")}, keys)
}

// hint is one key of the footer.
func (m *Model) hint(k key.Binding, does string) string {
	h := k.Help()
	if does == "" {
		does = h.Desc
	}
	return m.look.Key.Render(h.Key) + " " + m.look.Faint.Render(does)
}

// hints are the keys that do something now, the most useful first.
func (m *Model) hints() []string {
	k := &m.keys
	var hints []string
	add := func(b key.Binding, does string) { hints = append(hints, m.hint(b, does)) }
	if over := m.over(); over != nil {
		return m.drawHints(over.hints())
	}
	switch {
	case m.searching():
		return m.searchHints()
	case m.ask.showing():
		return m.drawHints(m.ask.hints())
	case m.options.Replay:
		return m.replayHints()
	case m.recalls() || m.completes():
		return m.writingHints()
	}
	if m.ask.waiting() > 0 {
		add(k.Gate, m.waiting())
	} else if m.review.waits() {
		add(k.Gate, "review")
	}
	switch m.focus {
	case paneChat:
		hints = append(hints, m.chatHints()...)
	case panePlan:
		hints = append(hints, m.planHints()...)
		if m.running() && !m.mapping() {
			add(k.Stop, "stop")
		}
	case paneStep:
		add(shownAs("left/right"), "tabs")
		add(shownAs("up/down"), "scroll")
		if m.running() {
			add(k.Stop, "stop")
		}
	}
	add(k.NextPane, "pane")
	if m.focus == paneChat && !m.input.empty() {
		add(shownAs("F1"), "help")
		add(k.Newline, "new line")
		add(k.Quit, "clear")
		return hints
	}
	add(k.Help, "help")
	add(k.Quit, "quit")
	if m.focus == paneChat && m.going() != "" {
		add(k.Send, "queue")
		if m.heeds() {
			add(k.Steer, "steer")
		}
	}
	return hints
}

// drawHints draws the keys of a dialog.
func (m *Model) drawHints(hints []hint) []string {
	drawn := make([]string, len(hints))
	for i, h := range hints {
		drawn[i] = m.hint(h.key, h.does)
	}
	return drawn
}

// chatHints are the keys that do something with what is typed, or with the run.
func (m *Model) chatHints() []string {
	k := &m.keys
	var hints []string
	switch {
	case m.going() == "" && m.helpless() && m.input.empty():
		hints = append(hints, m.hint(k.Send, "try again"))
	case m.going() == "":
		hints = append(hints, m.hint(k.Send, "send"))
	case !m.input.empty():
		hints = append(hints, m.hint(k.Send, "queue"))
		if m.heeds() {
			hints = append(hints, m.hint(k.Steer, "steer"))
		}
	}
	switch {
	case m.running():
		hints = append(hints, m.hint(k.Stop, "stop"))
	case m.run != nil && m.run.Resumable():
		hints = append(hints, m.hint(k.Runs, "resume"))
	}
	return hints
}

// planHints are the keys that do something to the step that is chosen.
func (m *Model) planHints() []string {
	k := &m.keys
	switch f := &m.dag.filter; {
	case f.typing:
		return []string{m.hint(shownAs("enter"), "keep the filter"), m.hint(k.Stop, "clear it"), m.hint(shownAs("up/down"), "move")}
	case f.on():
		return []string{m.hint(k.NextMatch, "next"), m.hint(k.PreviousMatch, "previous"), m.hint(k.Open, "look in"), m.hint(k.Stop, "clear the filter")}
	}
	hints := []string{m.hint(shownAs("up/down"), "move")}
	if m.dag.showsGraph() {
		hints[0] = m.hint(shownAs("arrows"), "move")
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
	hints = append(hints, m.hint(k.Open, open))
	if m.mapping() {
		hints = append(hints, m.hint(k.Stop, "back"), m.hint(shownAs("[/]"), "zoom"))
	}
	if s != nil && s.Loop != nil && len(s.Loop.Calls) > 0 {
		hints = append(hints, m.hint(k.Fold, "calls"))
	}
	if s != nil && s.Status == agent.StepActive && m.shown.goes() && !m.options.Replay {
		hints = append(hints, m.hint(k.Cancel, "cancel"))
	}
	if m.changedFiles() {
		hints = append(hints, m.hint(k.Undo, "undo"))
	}
	if !m.dag.follow {
		hints = append(hints, m.hint(k.Follow, "follow"))
	}
	if !m.mapping() && m.noMap() == "" {
		hints = append(hints, m.hint(k.Map, "map"))
	}
	if m.dag.large() {
		hints = append(hints, m.hint(k.Filter, "filter"))
	}
	return hints
}

// replayHints are the keys that do something in a replay.
func (m *Model) replayHints() []string {
	k := &m.keys
	scroll := m.hint(shownAs("up/down"), "scroll")
	hints := []string{m.hint(k.LeaveReplay, "quit")}
	if p := m.control; p != nil {
		does := "pause"
		if p.paused {
			does = "play"
		}
		hints = []string{m.hint(k.Pause, does), m.hint(shownAs("left/right"), "seek"), m.hint(shownAs("+/-"), "speed"), m.hint(k.LeaveReplay, "quit")}
	}
	switch m.focus {
	case panePlan:
		hints = append(hints, m.planHints()...)
	case paneStep:
		if m.control == nil {
			hints = append(hints, m.hint(shownAs("left/right"), "tabs"))
		}
		hints = append(hints, scroll)
	default:
		hints = append(hints, scroll)
	}
	return append(hints, m.hint(k.NextPane, "pane"), m.hint(k.Help, "help"))
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
