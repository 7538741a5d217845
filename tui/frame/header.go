package frame

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/wording"
)

// Widths of the screen, in cells, from which the header shows more.
const (
	wordsFrom = 60 // facts that are rarely needed
	barFrom   = 70 // a bar beside the meter
)

// header draws the first line.
type header struct {
	styles *draw.Styles
	replay bool   // a past run is replayed
	home   string // the user's home folder, "" if unknown
}

// Header draws the first line: the folder, the state of the run, and the model,
// context and tools.
func (h *header) Header(s State, width int) string {
	l := h.styles
	left := " " + l.Brand.Render("replan")
	if h.replay {
		left += "  " + l.Warning.Render("replay")
	}
	used := draw.VisibleWidth(left)
	folder, branch := draw.ShortPath(s.Session.Workspace.Line(), h.home), s.Session.Branch.Line()
	kept := 0 // for the folder
	if width >= wordsFrom && folder != "" {
		const most = 16
		kept = 5 + min(draw.VisibleWidth(path.Base(folder)), most)
	}
	facts := h.fitting(h.facts(s, width, width-used-kept), width-used-kept)
	right := strings.Join(facts, l.Faint.Render(" "+l.Glyphs.Separator+" "))
	if right != "" {
		right += " "
	}
	room := width - used - 3 - draw.VisibleWidth(right) - 2
	const least = 8 // shorter paths are useless
	if branch != "" {
		const longest = 24
		branch = " " + l.Glyphs.Branch + " " + l.Cut(branch, longest)
		if s.Session.Dirty {
			branch += dirtyMark
		}
	}
	if room < draw.VisibleWidth(branch)+least {
		branch = "" // the folder has priority
	}
	if folder != "" && room >= least {
		left += "  " + l.Muted.Render(l.CutLeft(folder, room-draw.VisibleWidth(branch))) + l.Accent.Render(branch)
	}
	return l.Fit(l.Sides(left, right, width), width)
}

// dirtyMark follows the branch of a workspace with uncommitted changes, as in the prompts
// of shells.
const dirtyMark = "*"

// fact is a part of the header. Facts with a lower rank stay longer as space
// shrinks.
type fact struct {
	rank int
	text string
}

// separatorWidth is the width of the separator between two facts, in cells.
const separatorWidth = 3

// fitting returns the facts that fit into room cells, in order.
func (h *header) fitting(facts []fact, room int) []string {
	byRank := make([]int, len(facts))
	for i := range byRank {
		byRank[i] = i
	}
	slices.SortStableFunc(byRank, func(a, b int) int { return facts[a].rank - facts[b].rank })
	shown := make([]bool, len(facts))
	for n, i := range byRank {
		text := facts[i].text
		need := draw.VisibleWidth(text) + separatorWidth
		if n == 0 && need > room {
			// Truncate the first fact rather than omit it.
			text = h.styles.Cut(text, max(room-separatorWidth, 0))
			facts[i].text, need = text, draw.VisibleWidth(text)+separatorWidth
		}
		if text == "" || need > room {
			continue
		}
		shown[i] = true
		room -= need
	}
	var out []string
	for i, fact := range facts {
		if shown[i] {
			out = append(out, fact.text)
		}
	}
	return out
}

// facts returns the right-hand parts of the header, given enough space. It
// truncates a long model name before it gives up the meter in room cells.
func (h *header) facts(s State, width, room int) []fact {
	l := h.styles
	var facts []fact
	add := func(rank int, text string) {
		if text != "" {
			facts = append(facts, fact{rank, text})
		}
	}
	run, meter, narrow := h.runFact(s), h.meter(s, width), width < wordsFrom
	add(1, run)
	if !narrow {
		add(2, h.timeFact(s))
	}
	if name := s.Model().Line(); name != "" {
		const least, longest = 6, 40 // cells
		left := room - draw.VisibleWidth(run) - draw.VisibleWidth(meter) - 3*separatorWidth
		if run == "" {
			left += separatorWidth
		}
		if left < least {
			left = room - draw.VisibleWidth(run) - 2*separatorWidth // without the meter
		}
		add(0, l.Muted.Render(l.Cut(name, max(min(left, longest), least))))
		if t := s.Session.Think; t != prompt.ThinkAuto && !narrow {
			add(6, l.Accent.Render("think "+untrusted.Line(string(t))))
		}
		if p := s.Session.Profile.Line(); p != "" && !narrow {
			add(5, l.Accent.Render(l.Cut(p, 20)))
		}
		if p := s.Session.PlannerModel.Line(); p != "" && !narrow {
			add(5, l.Muted.Render("plans with "+l.Cut(p, 24)))
		}
		add(2, meter)
	} else if s.Session.Problem != "" {
		add(0, l.Warning.Render("no model"))
	}
	if s.Active {
		add(3, h.budgetFact(s.Run))
	}
	if words := wording.EvidenceWords(s.Run); words != "" {
		add(3, l.Muted.Render(words))
	}
	if s.Pull.Model != "" {
		add(3, l.Running.Render(wording.Pulling(s.Pull)))
	}
	if s.Session.Review {
		add(4, l.Accent.Render("review on"))
	}
	if k := s.Session.Planner; k != "" && k != event.PlannerAuto && !narrow {
		add(7, l.Muted.Render("planner "+untrusted.Line(string(k))))
	}
	if s.Session.Tools > 0 && width >= draw.WideFrom {
		add(9, l.Muted.Render(english.Count(s.Session.Tools, "tool")))
	}
	if !narrow {
		facts = append(facts, h.serverFacts(s.Session.Servers)...)
	}
	return facts
}

// serverFacts returns counts of servers that are not ready.
func (h *header) serverFacts(servers []plan.ServerStatus) []fact {
	l := h.styles
	counts := map[plan.ServerState]int{}
	for _, s := range servers {
		counts[s.State]++
	}
	var facts []fact
	if n := counts[plan.ServerStarting]; n > 0 {
		facts = append(facts, fact{10, l.Faint.Render(english.Count(n, "server") + " starting")})
	}
	if n := counts[plan.ServerWaiting]; n > 0 {
		facts = append(facts, fact{10, l.Warning.Render(english.Count(n, "server") + " waiting")})
	}
	if n := counts[plan.ServerFailed]; n > 0 {
		facts = append(facts, fact{4, l.Danger.Render(l.Glyphs.Failed + " " + english.Count(n, "server"))})
	}
	return facts
}

// runFact describes the state of the run, "" before the first run.
func (h *header) runFact(s State) string {
	l := h.styles
	switch {
	case h.replay && s.Run == nil, s.Closed && !h.replay:
		return ""
	case s.Stopping:
		return l.Warning.Render("stopping")
	case s.Waiting != "":
		return l.Warning.Render(l.Glyphs.Gate + " " + s.Waiting)
	case s.Preparing:
		return l.Running.Render("getting ready")
	case s.Reviewing:
		return l.Warning.Render(l.Glyphs.Gate + " review")
	case s.Run == nil:
		return ""
	case s.Active:
		return h.progressFact(s.Run)
	case s.Run.Undone != nil:
		return l.Muted.Render(l.Glyphs.Removed + " undone")
	case s.Run.Result == nil:
		return l.Warning.Render("interrupted")
	}
	switch result := s.Run.Result; result.Status {
	case event.StatusCompleted:
		if result.Reason == event.ReasonPartial {
			return l.Warning.Render(l.Glyphs.Partial + " partial")
		}
		if result.Reason.Nothing() {
			return l.Muted.Render(l.Glyphs.Separator + " " + wording.ReasonWords(result.Reason))
		}
		return l.Success.Render(l.Glyphs.Done + " done")
	case event.StatusCanceled:
		return l.Warning.Render(l.Glyphs.Stopped + " stopped")
	default:
		if s.Run.DeclinedAt() != nil {
			return l.Text.Render(l.Glyphs.Declined + " declined")
		}
		return l.Danger.Render(l.Glyphs.Failed + " failed")
	}
}

// timeFact returns how long the run takes or took, "" before the first run.
func (h *header) timeFact(s State) string {
	if s.Run == nil || s.Closed && !h.replay {
		return ""
	}
	elapsed := s.Run.Elapsed() + h.styles.Since(s.Run.Now)
	switch result := s.Run.Result; {
	case result != nil:
		elapsed = time.Duration(result.DurationMS) * time.Millisecond
	case !s.Active:
		elapsed = s.Run.Elapsed()
	}
	return h.styles.Muted.Render(wording.ClockTime(elapsed))
}

// progressFact returns the progress of a run under way.
func (h *header) progressFact(r *agent.Run) string {
	l := h.styles
	running := 0
	for _, s := range r.Steps {
		if s.Status == agent.StepRunning || s.Status == agent.StepChecking {
			running++
		}
	}
	switch {
	case len(r.Gates) > 0 && h.replay:
		return l.Warning.Render(l.Glyphs.Gate + " gate")
	case r.Replanning != nil:
		return l.Running.Render("replanning")
	case r.Synthesis.Started:
		return l.Running.Render("answering")
	case running > 0:
		return l.Running.Render(fmt.Sprintf("running %d", running))
	case r.Revision == 0:
		return l.Running.Render("planning")
	default:
		return l.Running.Render("running")
	}
}

// budgetFact returns the run's limit that is closest to exhaustion, "" while
// enough of each is left.
func (h *header) budgetFact(r *agent.Run) string {
	l := h.styles
	var nearest agent.Budget
	for _, b := range r.Budgets() {
		if b.Low && (nearest.Limit == 0 || b.Used*nearest.Limit > nearest.Used*b.Limit) {
			nearest = b
		}
	}
	if nearest.Limit == 0 {
		return ""
	}
	return l.Warning.Render(l.Glyphs.Warning + " " + wording.BudgetWords(nearest))
}

// meter returns the used share of the model's context, with a bar if space
// permits, "" if unknown.
func (h *header) meter(s State, width int) string {
	l := h.styles
	used, window, estimated := s.contextUse()
	style, text := l.Muted, ""
	if used > 0 {
		if text = wording.Tokens(used); estimated {
			text = "~" + text
		}
	}
	bar := ""
	switch {
	case window > 0 && text != "":
		text += "/" + wording.WindowSize(window)
		if used*10 >= window*8 {
			style = l.Warning
		}
		if width >= barFrom {
			bar = l.Gauge(float64(used)/float64(window), 4, style) + " "
		}
	case text == "": // nothing of it is used yet
		return ""
	}
	if window == 0 || width >= draw.WideFrom {
		text += " ctx"
	}
	return bar + style.Render(text)
}

// contextUse returns the context tokens of the newest request in the current
// run, else an estimate for the next request.
func (s State) contextUse() (used, window int, estimated bool) {
	window = s.Session.ContextWindow
	if s.Run != nil {
		used = s.Run.ContextTokens
		if s.Run.ContextWindow > 0 {
			window = s.Run.ContextWindow
		}
	}
	if next := s.Session.ContextTokens; next > 0 && (used == 0 || !s.busy()) {
		used, estimated = next, true
		if s.Session.ContextWindow > 0 {
			window = s.Session.ContextWindow
		}
	}
	return used, window, estimated
}
