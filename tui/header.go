package tui

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/telling"
)

// header draws the first line: the folder, the state of the run, and the model,
// context and tools.
func (m *Model) header() string {
	l, width := m.look, m.layout.width
	left := " " + l.Brand.Render("replan")
	if m.options.Replay {
		left += "  " + l.Warning.Render("replay")
	}
	named := draw.VisibleWidth(left)
	right := strings.Join(m.facts(width-named), l.Faint.Render(" "+l.Glyphs.Separator+" "))
	if right != "" {
		right += " "
	}
	room := width - named - 3 - draw.VisibleWidth(right) - 2
	const least = 8 // shorter paths are useless
	folder, branch := m.folder(), untrusted.Line(m.status.Branch)
	if branch != "" {
		const longest = 24
		branch = " " + l.Glyphs.Branch + " " + l.Cut(branch, longest)
	}
	if room < draw.VisibleWidth(branch)+least {
		branch = "" // the folder has priority
	}
	if folder != "" && room >= least {
		left += "  " + l.Muted.Render(l.CutLeft(folder, room-draw.VisibleWidth(branch))) + l.Accent.Render(branch)
	}
	return l.Fit(l.Sides(left, right, width), width)
}

// folder returns the workspace with the home folder shortened to ~.
func (m *Model) folder() string {
	w := untrusted.Line(m.status.Workspace)
	if rest, ok := strings.CutPrefix(w, m.home); ok && m.home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return w
}

// fact is a part of the header. Facts with a lower rank stay longer as space
// shrinks.
type fact struct {
	rank int
	text string
}

// facts returns the right-hand parts of the header that fit into room cells, in
// order.
func (m *Model) facts(room int) []string {
	all := m.allFacts(room)
	const between = 3 // cells
	byRank := make([]int, len(all))
	for i := range byRank {
		byRank[i] = i
	}
	slices.SortStableFunc(byRank, func(a, b int) int { return all[a].rank - all[b].rank })
	shown := make([]bool, len(all))
	for at, i := range byRank {
		text := all[i].text
		need := draw.VisibleWidth(text) + between
		if at == 0 && need > room {
			// Truncate the first fact rather than omit it.
			text = m.look.Cut(text, max(room-between, 0))
			all[i].text, need = text, draw.VisibleWidth(text)+between
		}
		if text == "" || need > room {
			continue
		}
		shown[i] = true
		room -= need
	}
	var out []string
	for i, f := range all {
		if shown[i] {
			out = append(out, f.text)
		}
	}
	return out
}

// allFacts returns the right-hand parts of the header, given enough space. It
// truncates a long model name before it gives up the meter in room cells.
func (m *Model) allFacts(room int) []fact {
	l := m.look
	var all []fact
	add := func(rank int, text string) {
		if text != "" {
			all = append(all, fact{rank, text})
		}
	}
	state, meter := m.stateFact(), m.meter()
	add(1, state)
	narrow := m.layout.width < 60
	if name := untrusted.Line(m.modelName()); name != "" {
		const least, longest, around = 6, 40, 9 // cells; separators of three parts
		left := room - draw.VisibleWidth(state) - draw.VisibleWidth(meter) - around
		if state == "" {
			left += 3
		}
		if left < least {
			left = room - draw.VisibleWidth(state) - 6 // without the meter
		}
		add(0, l.Muted.Render(l.Cut(name, max(min(left, longest), least))))
		if t := m.status.Think; t != prompt.ThinkAuto && !narrow {
			add(6, l.Accent.Render("think "+untrusted.Line(string(t))))
		}
		if p := untrusted.Line(m.status.Profile); p != "" && !narrow {
			add(5, l.Accent.Render(l.Cut(p, 20)))
		}
		add(2, meter)
	} else if m.status.Problem != "" {
		add(0, l.Warning.Render("no model"))
	}
	budget, low := m.budgetFact()
	if low {
		add(3, budget)
	} else if !narrow {
		add(8, budget)
	}
	if m.status.Review {
		add(4, l.Accent.Render("review on"))
	}
	if k := m.status.Planner; k != "" && k != event.PlannerAuto && !narrow {
		add(7, l.Muted.Render("planner "+untrusted.Line(string(k))))
	}
	if m.status.Tools > 0 && !narrow {
		add(9, l.Muted.Render(english.Count(m.status.Tools, "tool")))
	}
	if !narrow {
		all = append(all, m.serverFacts()...)
	}
	return all
}

// serverFacts returns counts of servers that are not ready.
func (m *Model) serverFacts() []fact {
	l := m.look
	var all []fact
	add := func(rank int, text string) { all = append(all, fact{rank, text}) }
	starting, failed, waiting := 0, 0, 0
	for _, s := range m.status.Servers {
		switch s.State {
		case plan.ServerStarting:
			starting++
		case plan.ServerFailed:
			failed++
		case plan.ServerWaiting:
			waiting++
		}
	}
	if starting > 0 {
		add(10, l.Faint.Render(english.Count(starting, "server")+" starting"))
	}
	if waiting > 0 {
		add(10, l.Warning.Render(english.Count(waiting, "server")+" waiting"))
	}
	if failed > 0 {
		add(4, l.Danger.Render(l.Glyphs.Failed+" "+english.Count(failed, "server")))
	}
	return all
}

// stateFact returns the state of the run in words, "" before the first run.
func (m *Model) stateFact() string {
	l := m.look
	switch {
	case m.options.Replay && m.run == nil, m.closed && !m.options.Replay:
		return ""
	case m.stopping:
		return l.Warning.Render("stopping")
	case m.preparing:
		return l.Running.Render("getting ready")
	case m.ask.Waiting() > 0:
		return l.Warning.Render(l.Glyphs.Gate + " " + m.waiting())
	case m.review.Waits():
		return l.Warning.Render(l.Glyphs.Gate + " review")
	case m.run == nil:
		return ""
	case m.goes():
		return m.goingFact()
	case m.run.Result == nil:
		return l.Warning.Render("broken off")
	}
	switch m.run.Result.Status {
	case event.StatusCompleted:
		if m.run.Result.Reason == event.ReasonPartial {
			return l.Warning.Render(l.Glyphs.Partial + " done in part")
		}
		if m.run.Result.Reason == event.ReasonNothingFound {
			return l.Muted.Render(l.Glyphs.Separator + " nothing found")
		}
		return l.Success.Render(l.Glyphs.Done + " done")
	case event.StatusCancelled:
		return l.Warning.Render(l.Glyphs.Stopped + " stopped")
	default:
		return l.Danger.Render(l.Glyphs.Failed + " failed")
	}
}

// goingFact returns the state of a run under way.
func (m *Model) goingFact() string {
	l, r := m.look, m.run
	active, waits := 0, len(r.Gates) > 0
	for _, s := range r.Steps {
		if s.Status == agent.StepRunning {
			active++
		}
	}
	switch {
	case waits && m.options.Replay:
		return l.Warning.Render(l.Glyphs.Gate + " gate")
	case r.Replanning != nil:
		return l.Running.Render("replanning")
	case r.Synthesis.Started:
		return l.Running.Render("answering")
	case active > 0:
		return l.Running.Render(fmt.Sprintf("running %d", active))
	case r.Revision == 0:
		return l.Running.Render("planning")
	default:
		return l.Running.Render("running")
	}
}

// budgetFact returns the run's limit that is closest to exhaustion, once part
// of it is used, and whether little is left.
func (m *Model) budgetFact() (text string, low bool) {
	l := m.look
	if m.run == nil {
		return "", false
	}
	var nearest agent.Budget
	for _, b := range m.run.Budgets() {
		if b.Used > 0 && (nearest.Limit == 0 || b.Used*nearest.Limit > nearest.Used*b.Limit) {
			nearest = b
		}
	}
	if nearest.Limit == 0 {
		return "", false
	}
	words := telling.BudgetWords(nearest)
	if nearest.Low {
		return l.Warning.Render(l.Glyphs.Warning + " " + words), true
	}
	return l.Muted.Render(words), false
}

func (m *Model) modelName() string {
	if m.status.Model != "" || m.run == nil {
		return m.status.Model
	}
	return m.run.Model
}

// meter returns the used share of the model's context, with a bar if space
// permits, "" if unknown.
func (m *Model) meter() string {
	l := m.look
	used, window, estimate := m.contextUse()
	style, text := l.Muted, ""
	if used > 0 {
		if text = telling.Tokens(used); estimate {
			text = "~" + text
		}
	}
	bar := ""
	switch {
	case window > 0 && text != "":
		text += "/" + telling.WindowSize(window)
		if used*10 >= window*8 {
			style = l.Warning
		}
		if m.layout.width >= barFrom {
			bar = l.Gauge(float64(used)/float64(window), 4, style) + " "
		}
	case window > 0:
		text = telling.WindowSize(window)
	case text == "":
		return ""
	}
	if window == 0 || m.layout.width >= draw.WideFrom {
		text += " ctx"
	}
	return bar + style.Render(text)
}

// barFrom is the minimum screen width, in cells, at which meters have bars.
const barFrom = 70

// contextUse returns the context tokens of the newest request in the current
// run, else an estimate for the next request.
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

// tabRow draws the tabs of a narrow screen and stores their positions.
func (m *Model) tabRow() string {
	l := m.look
	names := [panes]string{"Chat", m.dag.Title(), m.stepTitle()}
	if m.layout.width < 60 {
		names[panePlan] = m.shortPlan()
	}
	var b strings.Builder
	b.WriteString(" ")
	x := 1
	for p, name := range names {
		if p > 0 {
			b.WriteString(l.Border.Render(" " + l.Glyphs.Guide + " "))
			x += 3
		}
		style := l.Muted
		if pane(p) == m.focus {
			style = l.Accent.Bold(true).Underline(true)
		}
		name = l.Cut(name, max(m.layout.width-x-1, 0))
		m.tabAt[p] = draw.Rect{X: x, Y: m.layout.tabs.Y, W: draw.VisibleWidth(name), H: 1}
		x += draw.VisibleWidth(name)
		b.WriteString(style.Render(name))
	}
	return l.Fit(b.String(), m.layout.width)
}

// shortPlan returns the plan's title for narrow screens.
func (m *Model) shortPlan() string {
	if m.shown.run == nil {
		return "Plan"
	}
	parts := strings.Split(m.dag.Title(), " "+m.look.Glyphs.Separator+" ")
	for _, p := range parts {
		if strings.Contains(p, "/") {
			return parts[0] + " " + p
		}
	}
	return parts[0]
}

func (m *Model) stepTitle() string {
	if r := m.dag.Chosen(); r != nil && r.Step != nil {
		return draw.StepTitle(m.look, r.Step.Step.Index)
	}
	return "Step"
}

// running reports whether there is work to stop.
func (m *Model) running() bool { return m.preparing || m.going() != "" }

// spins reports whether the screen needs animation.
func (m *Model) spins() bool {
	return !m.frozen && (m.preparing || m.grows() || m.goes() && slices.ContainsFunc(m.stages, (*stage).spins))
}
