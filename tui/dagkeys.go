package tui

import tea "charm.land/bubbletea/v2"

// inPlan is an action on the plan that may have something to say.
func (m *Model) inPlan(f func() (word string)) func() tea.Cmd {
	return just(func() {
		if word := f(); word != "" {
			m.say(word)
		}
		m.refresh()
	})
}

// noSteps is why there is nothing to filter.
func (m *Model) noSteps() string {
	if m.shown.run == nil || len(m.shown.run.Steps) == 0 {
		return "There are no steps yet that could be filtered."
	}
	return ""
}

// noFilter is why there is no next match.
func (m *Model) noFilter() string {
	if !m.dag.filter.on() {
		return "Nothing is filtered: " + m.keys.Filter.Help().Key + " begins."
	}
	return ""
}

// pressFilter gives a key to the filter of the plan, where one is typed there or
// esc takes it away, and reports whether it was for it.
func (m *Model) pressFilter(k tea.KeyPressMsg) bool {
	f := &m.dag.filter
	switch {
	case m.focus != panePlan:
		return false
	case f.typing:
		if !m.dag.pressFilter(k) {
			return false
		}
	case f.on() && matches(k, m.keys.Stop):
		m.dag.clearFilter()
	default:
		return false
	}
	m.refresh()
	return true
}
