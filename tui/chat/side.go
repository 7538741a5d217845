package chat

import (
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

// SideCards are the cards of side questions, which are no part of a run.
type SideCards struct {
	view   *viewport
	styles *draw.Styles
	prose  *prose
	sent   func(question untrusted.Text) bool // the message before it shows the question

	open []*sideCard // without an end yet, in the order they were asked
}

// sideCard shows a side question with its answer.
type sideCard struct {
	of     *SideCards
	block  *Block
	now    session.SideProgress
	asks   bool      // the card names the question, which the message before it does not
	since  time.Time // when its turn came
	colors draw.OpenCode
}

// Progress shows how far the answer to a side question is.
func (c *SideCards) Progress(d session.SideProgress) {
	card := c.card(d.ChatSide)
	if card.since.IsZero() && !d.Waits {
		card.since = c.styles.Now
	}
	card.show(d)
}

// End shows the end of a side question.
func (c *SideCards) End(d event.ChatSide) {
	card := c.card(d)
	c.open = slices.DeleteFunc(c.open, func(s *sideCard) bool { return s == card })
	card.show(session.SideProgress{ChatSide: d})
}

// Asked reports whether a side question is being answered, or waits.
func (c *SideCards) Asked() bool { return len(c.open) > 0 }

// card returns the card of a side question that has not ended. The first time it adds the card.
func (c *SideCards) card(d event.ChatSide) *sideCard {
	if at := slices.IndexFunc(c.open, func(s *sideCard) bool { return s.now.ID == d.ID }); at >= 0 {
		return c.open[at]
	}
	card := &sideCard{of: c, asks: !c.sent(d.Question)}
	card.block = &Block{Gap: card.asks, live: true, card: true, until: card.ended, text: card.text, lay: card.lines}
	card.now.ChatSide = d
	c.open = append(c.open, card)
	c.view.Add(card.block)
	return card
}

// show shows what is known of the answer now.
func (s *sideCard) show(d session.SideProgress) {
	s.now = d
	var codes []*draw.Code
	parts := pieces(d.Text)
	for _, part := range parts {
		if part.code != nil && !slices.Contains(codes, part.code) {
			codes = append(codes, part.code)
		}
	}
	s.of.view.revive(s.block)
	s.of.view.rewrite(s.block, s.asks, codes, func(width int) []draw.TextLine { return s.draw(parts, width) })
}

// ended reports whether nothing more comes.
func (s *sideCard) ended() bool { return s.now.Status != "" }

// text returns the question and the answer, for the search.
func (s *sideCard) text() string {
	return s.now.Question.Visible() + "\n" + s.now.Text.Visible()
}

// lines draws the card before anything is known of the answer.
func (s *sideCard) lines(width int) []draw.TextLine { return s.draw(nil, width) }

// draw draws the title, and the calls and the pieces of the answer below it.
func (s *sideCard) draw(parts []piece, width int) []draw.TextLine {
	l, room := s.of.styles, max(width-2, 1)
	lines := []draw.TextLine{{Text: s.title(width), Lead: 2}}
	var body []draw.TextLine
	if s.asks {
		body = append(body, draw.Led("", l.Strong, draw.Wrapped(strings.TrimSpace(s.now.Question.Visible()), room))...)
	}
	for _, call := range s.now.Calls {
		body = append(body, s.call(call, room)...)
	}
	if len(parts) > 0 {
		if len(body) > 0 {
			body = append(body, draw.TextLine{})
		}
		body = append(body, s.of.prose.open(parts, &s.colors, room)...)
	}
	if words := s.state(); words != "" {
		if len(parts) > 0 {
			body = append(body, draw.TextLine{})
		}
		style := l.Faint
		if s.now.Status == event.StatusFailed {
			style = l.Danger
		}
		body = append(body, draw.Led("", style, draw.Wrapped(words, room))...)
	}
	return append(lines, guided(l, body)...)
}

// title draws what the card is, and what the answer took.
func (s *sideCard) title(width int) string {
	l := s.of.styles
	sign := map[event.Status]string{
		event.StatusCompleted: l.Success.Render(l.Glyphs.Done), event.StatusFailed: l.Danger.Render(l.Glyphs.Failed),
		event.StatusCanceled: l.Muted.Render(l.Glyphs.Stopped),
	}[s.now.Status]
	facts := wording.SideFacts(s.now.ChatSide)
	switch {
	case s.ended():
	case s.now.Waits:
		sign, facts = l.Muted.Render(l.Glyphs.Pending), nil
	default:
		sign, facts = l.Running.Render(l.Spinner()), []string{wording.Ticking(l.Since(s.since))}
	}
	title := sign + " " + l.Strong.Render(wording.SideTitle) + "  " + l.Faint.Render(wording.SideNotInRun)
	took := func() string { return strings.Join(facts, " "+l.Glyphs.Separator+" ") }
	for len(facts) > 1 && draw.VisibleWidth(title)+2+draw.VisibleWidth(took()) > width {
		facts = facts[1:] // the calls are below
	}
	return l.Cut(l.Sides(l.Cut(title, width), l.Faint.Render(took()), width), width)
}

// call draws a call for the answer, and why it failed or was denied.
func (s *sideCard) call(c event.SideCall, width int) []draw.TextLine {
	l := s.of.styles
	sign, style := l.Glyphs.Done, l.Success
	switch {
	case c.Error != "":
		sign, style = l.Glyphs.Failed, l.Danger
	case !c.Done:
		sign, style = l.Spinner(), l.Running
	}
	lines := draw.Set([]string{l.Cut(style.Render(sign)+" "+l.Muted.Render(wording.SideCallWords(c)), width)})
	if c.Error != "" {
		lines = append(lines, draw.Led("  ", lipgloss.Style(l.Danger), draw.Wrapped(c.Error.FirstLine(), max(width-2, 1)))...)
	}
	return lines
}

// state says what the answer waits for, or why there is none; "" if neither.
func (s *sideCard) state() string {
	model := "The model"
	if name := s.now.Model.Line(); name != "" {
		model = untrusted.Line(name)
	}
	ellipsis := s.of.styles.Glyphs.Ellipsis
	working := slices.ContainsFunc(s.now.Calls, func(c event.SideCall) bool { return !c.Done })
	switch {
	case s.ended():
		return wording.SideEnding(s.now.ChatSide)
	case s.now.Waits:
		return "waits for the side question before it" + ellipsis
	case s.now.Text != "" || working:
		return ""
	case s.now.Thinking:
		return model + " is thinking" + ellipsis
	case s.now.Model == "":
		return "getting ready" + ellipsis
	default:
		return model + " is reading the prompt" + ellipsis
	}
}
