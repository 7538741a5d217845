package tui

import (
	"slices"
	"strings"

	"replan/planning"
	"replan/tui/untrusted"
)

// header draws the first line: where we are, and with which model, context and
// tools.
func (m *Model) header() string {
	l, width := m.look, m.layout.width
	left, named := " "+l.Brand.Render("replan"), len(" replan")
	if m.options.Replay {
		left += "  " + l.Warning.Render("replay")
		named += len("  replay")
	}
	right := strings.Join(m.facts(), l.Faint.Render(" "+l.glyphs.Separator+" "))
	if right != "" {
		right += " "
	}
	room := width - named - 3 - visibleWidth(right) - 2
	const least = 8 // a shorter path says nothing
	if folder := m.folder(); folder != "" && room >= least {
		left += "  " + l.Muted.Render(l.cutLeft(folder, room))
	}
	return l.fit(l.sides(left, right, width), width)
}

// folder is the workspace with the home folder shortened.
func (m *Model) folder() string {
	w := untrusted.Line(m.status.Workspace)
	if rest, ok := strings.CutPrefix(w, m.home); ok && m.home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return w
}

// facts are model, context and tools, as far as there is room for them.
func (m *Model) facts() []string {
	l := m.look
	var facts []string
	const between = 3 // cells
	room := m.layout.width - len(" replan")
	if m.options.Replay {
		room -= len("  replay")
	}
	add := func(text string) {
		if need := visibleWidth(text) + between; text != "" && need <= room {
			facts = append(facts, text)
			room -= need
		}
	}
	meter := m.meter()
	if name := untrusted.Line(m.modelName()); name != "" {
		least := min(visibleWidth(name), 8)
		left := room - between
		if need := visibleWidth(meter) + between; meter != "" && left-need >= least {
			left -= need // a long name is cut before there is no meter
		}
		add(l.Muted.Render(l.cut(name, max(left, least))))
	}
	named := len(facts)
	if named == 0 && m.status.Problem != "" {
		add(l.Warning.Render("no model"))
	} else {
		add(meter)
	}
	if named > 0 && m.layout.width >= 60 {
		// Beside the model stands how it works, where there is room.
		meters := facts[named:]
		facts = facts[:named:named]
		if t := m.status.Think; t != planning.ThinkAuto {
			add(l.Accent.Render("think " + untrusted.Line(string(t))))
		}
		if p := untrusted.Line(m.status.Profile); p != "" {
			add(l.Accent.Render(l.cut(p, 20)))
		}
		facts = append(facts, meters...)
	}
	if m.layout.width >= 60 {
		if m.status.Tools > 0 {
			add(l.Muted.Render(plural(m.status.Tools, "tool")))
		}
		starting, failed := 0, 0
		for _, s := range m.status.Servers {
			switch s.State {
			case planning.ServerStarting:
				starting++
			case planning.ServerFailed:
				failed++
			}
		}
		if starting > 0 {
			add(l.Faint.Render(plural(starting, "server") + " starting"))
		}
		if failed > 0 {
			add(l.Danger.Render(l.glyphs.Failed + " " + plural(failed, "server")))
		}
	}
	return facts
}

func (m *Model) modelName() string {
	if m.status.Model != "" || m.run == nil {
		return m.status.Model
	}
	return m.run.Model
}

// meter is how much of the model's context is used, "" where nothing is known.
func (m *Model) meter() string {
	l := m.look
	used, window, estimate := m.contextUse()
	style, text := l.Muted, ""
	if used > 0 {
		if text = tokens(used); estimate {
			text = "~" + text
		}
	}
	switch {
	case window > 0 && text != "":
		text += "/" + windowSize(window)
		if used*10 >= window*8 {
			style = l.Warning
		}
	case window > 0:
		text = windowSize(window)
	case text == "":
		return ""
	}
	if window == 0 || m.layout.width >= wideFrom {
		text += " ctx"
	}
	return style.Render(text)
}

// contextUse is how much of the model's context the newest request of the run
// that goes on took, else an estimate of what the next opens with.
func (m *Model) contextUse() (used, window int, estimate bool) {
	window = m.status.ContextWindow
	if m.run != nil {
		used = m.run.ContextTokens
		if m.run.ContextWindow > 0 {
			window = m.run.ContextWindow
		}
	}
	if next := m.status.ContextTokens; next > 0 && (used == 0 || !m.running()) {
		used, estimate = next, true
		if m.status.ContextWindow > 0 {
			window = m.status.ContextWindow
		}
	}
	return used, window, estimate
}

// tabRow draws the tabs of a narrow screen and remembers where they stand.
func (m *Model) tabRow() string {
	l := m.look
	names := [panes]string{"Chat", m.dag.title(), m.stepTitle()}
	if m.layout.width < 60 {
		names[panePlan] = m.shortPlan()
	}
	var b strings.Builder
	b.WriteString(" ")
	x := 1
	for p, name := range names {
		if p > 0 {
			b.WriteString(l.Border.Render(" " + l.glyphs.Guide + " "))
			x += 3
		}
		style := l.Muted
		if pane(p) == m.focus {
			style = l.Accent.Bold(true).Underline(true)
		}
		name = l.cut(name, max(m.layout.width-x-1, 0))
		m.tabAt[p] = rect{x, m.layout.tabs.y, visibleWidth(name), 1}
		x += visibleWidth(name)
		b.WriteString(style.Render(name))
	}
	return l.fit(b.String(), m.layout.width)
}

// shortPlan is the plan's title for a screen with no room.
func (m *Model) shortPlan() string {
	if m.shown.run == nil {
		return "Plan"
	}
	parts := strings.Split(m.dag.title(), " "+m.look.glyphs.Separator+" ")
	for _, p := range parts {
		if strings.Contains(p, "/") {
			return parts[0] + " " + p
		}
	}
	return parts[0]
}

func (m *Model) stepTitle() string {
	if r := m.dag.chosen(); r != nil && r.step != nil {
		return stepTitle(m.look, r.step.Step.Index)
	}
	return "Step"
}

// running reports whether something goes on that can be stopped.
func (m *Model) running() bool { return m.preparing || m.going() != "" }

// going is the run that goes on, "" where none does.
func (m *Model) going() string {
	if !m.goes() {
		return ""
	}
	return m.run.ID
}

// spins reports whether something on the screen moves.
func (m *Model) spins() bool {
	return m.preparing || m.goes() && slices.ContainsFunc(m.stages, (*stage).spins)
}
