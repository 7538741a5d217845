package chat

import (
	"slices"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/tui/draw"
	"replan/tui/wording"
)

// phaseBlock shows a phase of planning: what the model writes while it runs, then
// a card with its result. The card of the phase that ended last shows a few
// lines, the others one; expanded, a card shows all.
type phaseBlock struct {
	pane  *Pane
	run   *agent.Run
	phase int // from 0
	block *Block

	fold   *fold
	stream modelStream
	read   phaseCard
}

// phaseCard is what the reply of a phase says, read once.
type phaseCard struct {
	of          string // the reply
	analysis    reply.Analysis
	adjustments []string
}

// phaseBlocks returns a block for each phase of planning.
func phaseBlocks(c *Pane, run *agent.Run) []*Block {
	blocks := make([]*Block, len(run.Phases))
	for i := range run.Phases {
		p := &phaseBlock{pane: c, run: run, phase: i}
		p.fold = newFold(foldCard, false, p.opens)
		p.block = &Block{live: true, fold: p.fold, lay: p.lay}
		blocks[i] = p.block
	}
	return blocks
}

func (p *phaseBlock) state() *agent.Phase { return &p.run.Phases[p.phase] }

// shown reports whether the phase has lines of its own.
func (p *phaseBlock) shown(i int) bool {
	status := p.run.Phases[i].Status
	return status != agent.PhasePending && status != agent.PhaseSkipped
}

// leads reports whether no earlier phase has lines of its own.
func (p *phaseBlock) leads() bool {
	for i := range p.phase {
		if p.shown(i) {
			return false
		}
	}
	return true
}

// newest reports whether no later phase that satisfies is follows.
func (p *phaseBlock) newest(is func(i int) bool) bool {
	for i := p.phase + 1; i < len(p.run.Phases); i++ {
		if is(i) {
			return false
		}
	}
	return true
}

// holdsPlan reports whether the card of this phase shows the plan: no later phase
// was needed to make it.
func (p *phaseBlock) holdsPlan() bool {
	return p.run.Revision > 0 && len(p.run.Steps) > 0 && p.newest(p.shown)
}

// opens reports whether the card has more to show.
func (p *phaseBlock) opens() bool {
	if !p.shown(p.phase) || p.state().Status == agent.PhaseRunning {
		return false
	}
	if p.holdsPlan() {
		return true
	}
	return p.state().Status == agent.PhaseCompleted && p.phase < 2 && p.text() != ""
}

// text returns what an expanded card shows of the reply.
func (p *phaseBlock) text() string {
	p.learn()
	if p.phase == 0 {
		return p.read.analysis.Markdown
	}
	return strings.TrimSpace(reply.StripThinking(p.read.of))
}

// learn reads the reply of the phase if it is new.
func (p *phaseBlock) learn() {
	text := p.state().Text
	if p.read.of == text {
		return
	}
	p.read = phaseCard{of: text}
	switch p.phase {
	case 0:
		p.read.analysis = reply.ReadAnalysis(reply.Reply{Text: text})
	case 1:
		p.read.adjustments = reply.Adjustments(text)
	}
}

func (p *phaseBlock) lay(width int) []draw.TextLine {
	p.block.withGap(p.leads())
	if !p.shown(p.phase) {
		return nil
	}
	lines := draw.Set(p.head(width))
	switch status := p.state().Status; {
	case status == agent.PhaseRunning:
		return append(lines, guided(p.pane.Styles, p.stream.lines(p.writing(), width-2))...)
	case p.fold.isOpen() && p.opens():
		return append(lines, p.whole(width)...)
	case status == agent.PhaseFailed && !p.run.Paused:
		lines = append(lines, draw.Set(draw.Aside(p.pane.Styles.Danger, p.state().Reason.Line(), width))...)
	}
	return append(lines, guided(p.pane.Styles, draw.Set(p.brief(width-2)))...)
}

// head draws the first line of the phase, below a line for each skipped phase before it.
// Lines for the skipped phases after the last one stand below.
func (p *phaseBlock) head(width int) []string {
	l := p.pane.Styles
	var lines []string
	for i := range p.run.Phases {
		before, after := i < p.phase && p.follows(i), i > p.phase && p.newest(p.shown) && !p.direct()
		switch {
		case i == p.phase:
			lines = append(lines, draw.Flow([]string{p.headline(width)}, "", width)...)
		case (before || after) && p.run.Phases[i].Status == agent.PhaseSkipped:
			lines = append(lines, l.Faint.Render(l.Cut(l.Glyphs.Skipped+" "+phaseName(i+1)+" skipped", width)))
		}
	}
	return lines
}

// headline is the title of the phase, with its summary and what a click does.
func (p *phaseBlock) headline(width int) string {
	l, line := p.pane.Styles, p.title(width)
	if !p.opens() {
		return line
	}
	if room := width - draw.VisibleWidth(line) - 4; !p.fold.isOpen() && !p.roomy() && room >= 16 {
		if words := p.summary(); words != "" {
			line += "  " + l.Muted.Render(l.Cut(words, room))
		}
	}
	return line + p.fold.sign(l)
}

// direct reports whether the analysis ended the planning: the answer needs no plan.
func (p *phaseBlock) direct() bool {
	p.learn()
	return p.phase == 0 && p.read.analysis.Direct
}

// follows reports whether every phase from i to this one was skipped.
func (p *phaseBlock) follows(i int) bool {
	return !slices.ContainsFunc(p.run.Phases[i:p.phase], func(s agent.Phase) bool { return s.Status != agent.PhaseSkipped })
}

// title draws the name of the phase and its figures.
func (p *phaseBlock) title(width int) string {
	l, s, label := p.pane.Styles, p.state(), phaseName(p.phase+1)
	duration := " " + l.Faint.Render(wording.Milliseconds(s.MS))
	switch s.Status {
	case agent.PhaseRunning:
		return p.stream.title(p.writing(), width)
	case agent.PhaseCompleted:
		text := l.Success.Render(l.Glyphs.Done) + " " + label
		if p.phase == 2 && p.run.Revision == 1 { // a revised plan shows its own length
			text += " " + english.Count(len(p.run.Plan.Steps), "step")
		}
		text += duration
		if s.Tokens > 0 {
			text += " " + l.Faint.Render(wording.Tokens(s.Tokens)+" tok")
		}
		return text
	}
	if p.run.Paused {
		return l.Warning.Render(l.Glyphs.Stopped) + " " + label + duration
	}
	return l.Danger.Render(l.Glyphs.Failed) + " " + label + duration
}

// roomy reports whether the collapsed card shows a few lines: that of the phase
// that ended last, if the pane is not small.
func (p *phaseBlock) roomy() bool {
	const low = 14
	ended := func(i int) bool { return p.run.Phases[i].Status == agent.PhaseCompleted }
	return ended(p.phase) && p.newest(ended) && p.pane.size().H >= low
}

// summary returns the result of the phase in a line.
func (p *phaseBlock) summary() string {
	p.learn()
	switch {
	case p.state().Status != agent.PhaseCompleted:
		return ""
	case p.phase == 0:
		return draw.Unmarked(untrusted.Line(p.read.analysis.Task))
	case p.phase == 1 && len(p.read.adjustments) > 0:
		return english.Count(len(p.read.adjustments), "adjustment") + ": " + draw.Unmarked(untrusted.Line(p.read.adjustments[0]))
	default:
		return ""
	}
}

// brief draws the lines of a collapsed card.
func (p *phaseBlock) brief(width int) []string {
	const most = 3 // lines of a list
	l := p.pane.Styles
	var lines []string
	switch a := &p.read.analysis; {
	case !p.roomy() || p.text() == "" && p.phase < 2:
	case p.phase == 0 && !a.Direct:
		lines = append(lines, l.AtMost(draw.Wrap(draw.Unmarked(untrusted.Line(a.Task)), width), 2, width)...)
		if words := draw.Unmarked(untrusted.Line(unknowns(a.Unknowns))); words != "" {
			lines = append(lines, l.AtMost(draw.Wrap("unknowns: "+words, width), 2, width)...)
		}
		if a.Complexity != "" {
			lines = append(lines, l.Cut("complexity: "+a.Complexity, width))
		}
		lines = draw.Paint(l.Muted, lines)
	case p.phase == 1:
		points := p.read.adjustments
		shown := len(points)
		if shown > most+1 {
			shown = most
		}
		for _, point := range points[:shown] {
			rows := l.AtMost(draw.Wrap(draw.Unmarked(untrusted.Line(point)), width-2), 2, width-2)
			lines = append(lines, draw.Hang(l.Warning.Render(l.Glyphs.Revised)+" ", draw.Paint(l.Muted, rows))...)
		}
		if more := len(points) - shown; more > 0 {
			lines = append(lines, l.Faint.Render(l.Cut(english.Count(more, "more adjustment"), width)))
		}
	}
	if p.holdsPlan() {
		lines = append(lines, l.Shorten(l.PlanNotes(p.run.Plan, width, true), most, width)...)
	}
	return lines
}

// unknowns joins what an analysis does not know: questions and sentences end by
// themselves, and a semicolon parts the others.
func unknowns(list []string) string {
	var b strings.Builder
	for i, unknown := range list {
		unknown = strings.TrimSpace(unknown)
		b.WriteString(unknown)
		if i < len(list)-1 {
			if !strings.HasSuffix(unknown, "?") && !strings.HasSuffix(unknown, ".") {
				b.WriteByte(';')
			}
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// whole draws the expanded card: the reply of a phase, or the plan with its
// current steps.
func (p *phaseBlock) whole(width int) []draw.TextLine {
	c := p.pane
	if p.holdsPlan() {
		notes := guided(c.Styles, draw.Set(c.Styles.PlanNotes(p.run.Plan, width-2, false)))
		return append(notes, planSteps(c.Styles, p.run, width)...)
	}
	lines := draw.Texts(c.Markdown.Lines(p.text(), max(width-2, 1)))
	return guided(c.Styles, draw.Set(c.Styles.Shorten(lines, mostOfPlan, width-2)))
}

// writing returns what the model writes in the phase.
func (p *phaseBlock) writing() openReply {
	state := p.state()
	w := openReply{pane: p.pane, run: p.run, name: phaseName(p.phase + 1), since: state.StartedAt, text: state.Text, thinking: state.Thinking}
	if p.drafting() {
		w.drafted = len(p.run.Steps)
	}
	return w
}

// drafting reports whether the plan has steps already.
func (p *phaseBlock) drafting() bool {
	return p.phase == 2 && len(p.run.Steps) > 0 && p.run.Revision == 0
}

// phaseName returns the name of the planning phase with this number, counted
// from 1.
func phaseName(phase int) string {
	return string(prompt.Phases[min(max(phase, 1), len(prompt.Phases))-1])
}
