package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/tui/untrusted"
)

// block is one entry of the chat. It is drawn once and kept until it changes or
// the width does.
type block struct {
	draw  func(width int) []string
	gap   bool        // a blank line before it
	inset bool        // belongs to a run that a call in the chat has started
	card  bool        // draws a call
	live  bool        // still changing: drawn again with every beat and event
	until func() bool // of a live one: says that it changes no more; nil where the run's end does
	lines []string
	width int
	stale bool
}

// phaseLabels name the phases of planning.
var phaseLabels = [3]string{"analysis", "review", "plan"}

// user draws what the user sent.
func (c *chatPane) user(text string) *block {
	text = untrusted.Visible(strings.TrimSpace(text))
	return &block{gap: true, draw: func(width int) []string {
		lines := wrap(text, width-2)
		for i, line := range lines {
			lead := "  "
			if i == 0 {
				lead = c.look.Accent.Render(c.look.glyphs.Prompt) + " "
			}
			lines[i] = lead + c.look.Strong.Render(line)
		}
		return lines
	}}
}

// prose draws finished Markdown.
func (c *chatPane) prose(text string) *block {
	return &block{gap: true, draw: func(width int) []string { return c.markdown.lines(text, width) }}
}

// listing draws Markdown whose code blocks are tables: their lines are cut, not
// broken.
func (c *chatPane) listing(text string) *block {
	return &block{gap: true, draw: func(width int) []string { return c.markdown.lines(c.look.cutCode(text, width), width) }}
}

// remark draws one thing that happened, with a glyph before it.
func (c *chatPane) remark(glyph func(*look) string, style func(*look) lipgloss.Style, text string) *block {
	text = untrusted.Visible(strings.TrimSpace(text))
	return &block{draw: func(width int) []string {
		lines := wrap(text, width-2)
		for i, line := range lines {
			lead := "  "
			if i == 0 {
				lead = style(c.look).Render(glyph(c.look)) + " "
			}
			lines[i] = lead + c.look.Muted.Render(line)
		}
		return lines
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
func (c *chatPane) phases(run *agent.Run) *block {
	return &block{gap: true, live: true, draw: func(width int) []string {
		var parts []string
		if !slices.ContainsFunc(run.Phases[:], func(p agent.Phase) bool { return p.Status != agent.PhaseLeftOut }) {
			return nil // nothing is planned here
		}
		for i := range run.Phases {
			if part := c.phase(run, i); part != "" {
				parts = append(parts, part)
			}
		}
		lines := flow(parts, "   ", width)
		for i := range run.Phases {
			p := &run.Phases[i]
			if p.Status == agent.PhaseBroken && !run.Paused || (p.Status == agent.PhaseActive && p.Thinking != "" && p.Text == "") {
				lines = append(lines, c.phaseDetail(p, width)...)
			}
		}
		return lines
	}}
}

func (c *chatPane) phase(run *agent.Run, i int) string {
	l, p, label := c.look, &run.Phases[i], phaseLabels[i]
	switch p.Status {
	case agent.PhaseActive:
		text := l.Running.Render(l.spinner()) + " " + label
		if i == 2 && len(run.Steps) > 0 && run.Revision == 0 {
			text += " " + plural(len(run.Steps), "step") + l.glyphs.Ellipsis
		}
		return text + " " + l.Faint.Render(seconds(l.since(p.StartedAt)))
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

// phaseDetail is why a phase failed, or the newest of what the model thinks,
// folded to one line.
func (c *chatPane) phaseDetail(p *agent.Phase, width int) []string {
	if p.Status == agent.PhaseBroken {
		return paint(c.look.Danger, indent(wrap(untrusted.Line(p.Reason), width-2)))
	}
	return []string{c.thought(p.Thinking, width)}
}

// thought is the end of what the model thinks aloud, on one line.
func (c *chatPane) thought(text string, width int) string {
	const lead = "  thinking: "
	const tail = 400 // bytes; more than fits on any line
	if len(text) > tail {
		text = strings.ToValidUTF8(text[len(text)-tail:], "")
	}
	return c.look.Faint.Render(lead + c.look.cutLeft(untrusted.Line(text), width-len(lead)))
}

// revision draws what a replan changed. The failure that led to it stands
// before it already, where the run told of it.
func (c *chatPane) revision(d agent.PlanDiff, told bool) *block {
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
func (c *chatPane) outcome(r *agent.Result, word, again string) *block {
	l := c.look
	return &block{gap: r.Status != agent.StatusCompleted || r.Answer != "", draw: func(width int) []string {
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
		case agent.StatusCompleted:
			return flow([]string{l.Success.Render(l.glyphs.Done) + " " + word, tail}, "  ", width)
		case agent.StatusCancelled:
			lines := flow([]string{l.Warning.Render(l.glyphs.Stopped) + " stopped", tail}, "  ", width)
			if again == "" {
				return lines
			}
			return append(lines, paint(l.Muted, indent(wrap("What was done stays; "+again, width-2)))...)
		default:
			head := l.Danger.Render(l.glyphs.Failed) + " failed: " + strings.ReplaceAll(untrusted.Line(string(r.Reason)), "_", " ")
			lines := flow([]string{head, tail}, "  ", width)
			if r.Error != "" {
				lines = append(lines, paint(l.Muted, indent(wrap(untrusted.Visible(r.Error), width-2)))...)
			}
			return lines
		}
	}}
}

// flow puts parts on lines of at most width cells, breaking between parts.
func flow(parts []string, between string, width int) []string {
	var lines []string
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			line = part
		case ansi.StringWidth(line)+len(between)+ansi.StringWidth(part) <= width:
			line += between + part
		default:
			lines = append(lines, line)
			line = part
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// indent moves lines two cells to the right.
func indent(lines []string) []string {
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
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
