package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/untrusted"
)

// block is one entry of the chat. It is drawn once and kept until it changes or
// the width does.
type block struct {
	draw  func(width int) []string   // its lines
	lay   func(width int) []textLine // the same, where it is known what of them is text; draw is nil then
	says  func() string              // its text, to be searched; nil takes what it draws
	codes []*code                    // blocks of code that begin in it
	of    *code                      // that it is a part of, nil for none
	folds *folding                   // what a click or a key folds and unfolds; nil for nothing
	gap   bool                       // a blank line before it
	inset bool                       // belongs to a run that a call in the chat has started
	card  bool                       // draws a call
	live  bool                       // still changing: drawn again with every beat and event
	until func() bool                // of a live one: says that it changes no more; nil where the run's end does

	opened  *openCode  // of one that is still being written
	lines   []textLine // where they are fresh
	height  int        // how many there are, or were at that width
	width   int
	fresh   bool
	stale   bool
	plain   string // its text in the form that is searched
	looked  bool   // that is known
	counted int    // the query that hits is of
	hits    int    // how often its text has the query
	found   []lit  // in its lines
	foundBy int    // the query that was found
}

// typeset draws the block.
func (b *block) typeset(width int) []textLine {
	if b.lay != nil {
		return b.lay(width)
	}
	return set(b.draw(width))
}

// forget lets go of the drawn lines.
func (b *block) forget() { b.lines, b.found, b.fresh = nil, nil, false }

// guess is about how many lines the block has at a width at which it was not
// drawn yet.
func (b *block) guess(width int) int {
	n := b.height
	if n > 0 && b.width > 0 && width > 0 {
		n = max(n*b.width/width, 1)
	}
	if n == 0 && b.says != nil && width > 0 {
		text := b.says()
		n = 1 + strings.Count(text, "\n") + len(text)/width
	}
	return max(n, 1)
}

// phaseLabels name the phases of planning.
var phaseLabels = [3]string{"analysis", "review", "plan"}

// user draws what the user sent.
func (c *chatPane) user(text string) *block {
	text = untrusted.Visible(strings.TrimSpace(text))
	return &block{gap: true, says: func() string { return text }, lay: func(width int) []textLine {
		return led(c.look.Accent.Render(c.look.glyphs.Prompt)+" ", c.look.Strong, wrapped(text, width-2))
	}}
}

// prose draws finished Markdown, a block for each part of it.
func (c *chatPane) prose(text string) []*block { return c.passageBlocks(split(text), false) }

// listing draws Markdown whose code blocks are tables: their lines are cut, not
// broken.
func (c *chatPane) listing(text string) []*block { return c.passageBlocks(split(text), true) }

// passageBlocks are the blocks of a text. Where its code is cut, it is nothing
// that would be copied.
func (c *chatPane) passageBlocks(pieces []piece, cut bool) []*block {
	var out []*block
	for i, p := range pieces {
		b := c.pieceBlock(p, cut)
		if i == 0 {
			b.gap = true
		}
		if !cut && p.code != nil && (i == 0 || pieces[i-1].code != p.code) {
			b.codes = []*code{p.code}
		}
		out = append(out, b)
	}
	return out
}

// pieceBlock draws a piece of Markdown that changes no more.
func (c *chatPane) pieceBlock(p piece, cut bool) *block {
	return &block{gap: p.gap, of: p.code, says: func() string { return p.text }, lay: func(width int) []textLine {
		return c.layPiece(p, width, cut)
	}}
}

// layPiece draws a piece of Markdown. Code that was copied last is marked at its
// left.
func (c *chatPane) layPiece(p piece, width int, cut bool) []textLine {
	if p.code == nil {
		return c.markdown.lines(p.text, width)
	}
	if p.text == "" {
		return nil
	}
	lines := c.markdown.code(p.code.language, p.text, width, cut)
	if c.marked == p.code {
		sign := c.look.Accent.Render(c.look.glyphs.Cursor) + " "
		for i, line := range lines {
			lines[i].text = sign + ansi.TruncateLeft(line.text, codeMargin, "")
		}
	}
	return lines
}

// remark draws one thing that happened, with a glyph before it.
func (c *chatPane) remark(glyph func(*look) string, style func(*look) lipgloss.Style, text string) *block {
	text = untrusted.Visible(strings.TrimSpace(text))
	return &block{says: func() string { return text }, lay: func(width int) []textLine {
		return led(style(c.look).Render(glyph(c.look))+" ", c.look.Muted, wrapped(text, width-2))
	}}
}

// note draws something the user should know.
func (c *chatPane) note(level, text string) *block {
	switch level {
	case "error":
		return c.remark(failedGlyph, dangerStyle, text)
	case "warn":
		return c.remark(warningGlyph, warningStyle, text)
	default:
		return c.remark(separatorGlyph, faintStyle, text)
	}
}

// phases draws how far planning has come, on one line where there is room.
// Unfolded it shows the steps of the plan as they stand.
func (c *chatPane) phases(run *agent.Run) *block {
	b := &block{gap: true, live: true}
	can := func() bool { return run.Revision > 0 && len(run.Steps) > 0 }
	unfolded := b.foldsAs(foldCard, can)
	b.lay = func(width int) []textLine {
		if !slices.ContainsFunc(run.Phases[:], func(p agent.Phase) bool { return p.Status != agent.PhaseLeftOut }) {
			return nil // nothing is planned here
		}
		var parts []string
		for i := range run.Phases {
			if part := c.phase(run, i); part != "" {
				parts = append(parts, part)
			}
		}
		if n := len(parts); n > 0 && can() {
			parts[n-1] += foldSign(c.look, *unfolded)
		}
		lines := set(flow(parts, "   ", width))
		for i := range run.Phases {
			if p := &run.Phases[i]; p.Status == agent.PhaseBroken && !run.Paused {
				lines = append(lines, set(paint(c.look.Danger, indent(wrap(untrusted.Line(p.Reason), width-2))))...)
			}
		}
		if *unfolded {
			lines = append(lines, c.planSteps(run, width)...)
		}
		return lines
	}
	return b
}

func (c *chatPane) phase(run *agent.Run, i int) string {
	l, p, label := c.look, &run.Phases[i], phaseLabels[i]
	switch p.Status {
	case agent.PhaseActive:
		text := l.Running.Render(l.spinner()) + " " + label
		if i == 2 && len(run.Steps) > 0 && run.Revision == 0 {
			text += " " + plural(len(run.Steps), "step") + l.glyphs.Ellipsis
		}
		return text + " " + l.Faint.Render(ticking(l.since(p.StartedAt)))
	case agent.PhaseDone:
		text := l.Success.Render(l.glyphs.Done) + " " + label
		if i == 2 && run.Revision == 1 { // a revised plan says its own length
			text += " " + plural(len(run.Plan.Steps), "step")
		}
		text += " " + l.Faint.Render(milliseconds(p.MS))
		if p.Tokens > 0 {
			text += " " + l.Faint.Render(tokens(p.Tokens)+" tok")
		}
		return text
	case agent.PhaseLeftOut:
		return l.Faint.Render(l.glyphs.Skipped + " " + label + " skipped")
	case agent.PhaseBroken:
		if run.Paused {
			return l.Warning.Render(l.glyphs.Stopped) + " " + label + " " + l.Faint.Render(milliseconds(p.MS))
		}
		return l.Danger.Render(l.glyphs.Failed) + " " + label + " " + l.Faint.Render(milliseconds(p.MS))
	default:
		return ""
	}
}

// revision draws what a replan changed. The failure that led to it stands
// before it already, where the run told of it.
func (c *chatPane) revision(d event.PlanDiff, told bool) *block {
	l := c.look
	reason := untrusted.FirstLine(d.Reason)
	return &block{gap: !told, draw: func(width int) []string {
		parts := []string{l.Accent.Render(fmt.Sprintf("%s rev %d", l.glyphs.Revised, d.Revision))}
		if n := len(d.Removed); n > 0 {
			parts = append(parts, l.Removed.Render(fmt.Sprintf("%s%d removed", l.glyphs.Removed, n)))
		}
		if n := len(d.Added); n > 0 {
			parts = append(parts, l.Added.Render(fmt.Sprintf("%s%d added", l.glyphs.Added, n)))
		}
		if n := len(d.Revised); n > 0 {
			parts = append(parts, l.Warning.Render(fmt.Sprintf("%s%d revised", l.glyphs.Revised, n)))
		}
		lines := flow(parts, "  ", width)
		if reason != "" && !told {
			lines = append(lines, paint(l.Muted, indent(wrap("because "+reason, width-2)))...)
		}
		return lines
	}}
}

// outcome draws how a run ended; word says it of one that completed, again how
// one that was stopped goes on, "" where it does so with another.
func (c *chatPane) outcome(r *event.Result, word, again string) *block {
	l := c.look
	return &block{gap: r.Status != event.StatusCompleted || r.Answer != "", draw: func(width int) []string {
		took := clockTime(time.Duration(r.DurationMS) * time.Millisecond)
		facts := []string{took}
		if r.Usage.Steps > 0 {
			facts = append(facts, plural(r.Usage.Steps, "step"))
		}
		if r.Usage.Replans > 0 {
			facts = append(facts, plural(r.Usage.Replans, "replan"))
		}
		if n := r.Usage.PromptTokens + r.Usage.CompletionTokens; n > 0 {
			facts = append(facts, tokens(n)+" tok")
		}
		tail := l.Faint.Render(strings.Join(facts, " "+l.glyphs.Separator+" "))
		switch r.Status {
		case event.StatusCompleted:
			sign := l.Success.Render(l.glyphs.Done)
			if r.Reason == event.ReasonPartial {
				sign = l.Warning.Render(l.glyphs.Partial)
			}
			if r.Reason == event.ReasonNothingFound {
				sign = l.Muted.Render(l.glyphs.Separator)
			}
			lines := flow([]string{sign + " " + word, tail}, "  ", width)
			if r.Unanswered == "" {
				return lines
			}
			why := "The answer is missing: " + untrusted.Line(r.Unanswered) + "."
			if again != "" {
				why += " " + strings.Replace(again, "up again.", "up again and asks for it.", 1)
			}
			return append(lines, paint(l.Muted, indent(wrap(why, width-2)))...)
		case event.StatusCancelled:
			lines := flow([]string{l.Warning.Render(l.glyphs.Stopped) + " stopped", tail}, "  ", width)
			if again == "" {
				return lines
			}
			return append(lines, paint(l.Muted, indent(wrap("What was done stays; "+again, width-2)))...)
		default:
			head := l.Danger.Render(l.glyphs.Failed) + " failed: " + reasonWords(r.Reason)
			lines := flow([]string{head, tail}, "  ", width)
			if r.Error != "" {
				lines = append(lines, paint(l.Muted, indent(wrap(untrusted.Visible(r.Error), width-2)))...)
			}
			return lines
		}
	}}
}

// reasonWords says why a run ended without success.
func reasonWords(r event.Reason) string {
	switch r {
	case event.ReasonStepFailed:
		return "a step did not succeed"
	case event.ReasonDenied:
		return "a call was denied"
	default:
		return strings.ReplaceAll(untrusted.Line(string(r)), "_", " ")
	}
}

func doneGlyph(l *look) string      { return l.glyphs.Done }
func failedGlyph(l *look) string    { return l.glyphs.Failed }
func warningGlyph(l *look) string   { return l.glyphs.Warning }
func separatorGlyph(l *look) string { return l.glyphs.Separator }
func gateGlyph(l *look) string      { return l.glyphs.Gate }

func successStyle(l *look) lipgloss.Style { return l.Success }
func dangerStyle(l *look) lipgloss.Style  { return l.Danger }
func warningStyle(l *look) lipgloss.Style { return l.Warning }
func faintStyle(l *look) lipgloss.Style   { return l.Faint }
