package tui

import "replan/tui/keymap"

// inPlan returns an action on the plan that may report a message.
func (m *Model) inPlan(f func() (word string)) func() keymap.Wanted {
	return keymap.Just(func() {
		if word := f(); word != "" {
			m.say(word)
		}
		m.refresh()
	})
}

// noSteps returns why there is nothing to filter.
func (m *Model) noSteps() string {
	if m.shown.run == nil || len(m.shown.run.Steps) == 0 {
		return "There are no steps yet that could be filtered."
	}
	return ""
}

// noFilter returns why there is no next match.
func (m *Model) noFilter() string {
	if !m.dag.Filter.On() {
		return "Nothing is filtered: " + m.keys.Filter.Help().Key + " begins."
	}
	return ""
}

// filters reports whether the plan's filter takes the keys, or a key can clear
// it.
func (m *Model) filters() bool {
	return m.focus == panePlan && (m.dag.Filter.Typing || m.dag.Filter.On())
}
