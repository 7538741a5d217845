package chat

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/reply"
	"replan/tui/draw"
	"replan/tui/wording"
)

// openReply is a reply to a planning request that still streams.
type openReply struct {
	pane           *Pane
	run            *agent.Run
	name           string    // of the request
	since          time.Time // when it was made
	text, thinking string
	drafted        int // number of steps read from the reply
}

// modelStream is what the chat has read of a reply that still streams.
type modelStream struct {
	since    time.Time // of the request that it belongs to
	name     string    // of that request
	text     growingText
	thinking growingText
	first    time.Time // when the first words came
	before   int       // bytes that came with them
	rate     int       // tokens a second
	ratedAt  int       // second for which the rate was measured
}

// growingText is a text that grows, and the lines read from it.
type growingText struct {
	readout reply.Readout
	size    int // bytes read
}

// take reads the new part of a text.
func (s *growingText) take(text string) {
	s.readout.Feed(text[s.size:])
	s.size = len(text)
}

// take reads what came since the last call.
func (s *modelStream) take(w openReply) {
	if !s.since.Equal(w.since) || s.name != w.name || s.text.size > len(w.text) || s.thinking.size > len(w.thinking) {
		*s = modelStream{since: w.since, name: w.name}
	}
	s.thinking.readout.ReadVerbatim()
	s.text.take(w.text)
	s.thinking.take(w.thinking)
	if s.first.IsZero() && s.bytes() > 0 {
		s.first, s.before = w.pane.Styles.Now, s.bytes()
		w.pane.modelWrites()
	}
}

func (s *modelStream) bytes() int { return s.text.size + s.thinking.size }

// title draws the name of the request, its time and, where there is room, the
// number of tokens and their rate. The rate is measured again each second.
func (s *modelStream) title(w openReply, width int) string {
	s.take(w)
	l := w.pane.Styles
	line := l.Running.Render(l.Spinner()) + " " + w.name
	if w.drafted > 0 {
		line += " " + english.Count(w.drafted, "step") + l.Glyphs.Ellipsis
	}
	var figures []string
	if s.thinking.size > 0 && s.text.size == 0 {
		figures = append(figures, "thinking")
	}
	figures = append(figures, wording.Ticking(l.Since(s.since)))
	if s.bytes() > 0 {
		figures = append(figures, "~"+wording.Tokens(w.tokens(s.bytes()))+" tok")
		if second := int(l.Since(s.first).Seconds()); second > s.ratedAt {
			s.ratedAt, s.rate = second, w.tokens(s.bytes()-s.before)*int(time.Second)/int(l.Since(s.first))
		}
		if s.rate > 0 {
			figures = append(figures, fmt.Sprintf("~%d tok/s", s.rate))
		}
	}
	for _, figure := range figures {
		if draw.VisibleWidth(line)+1+draw.VisibleWidth(figure) > width {
			break
		}
		line += " " + l.Faint.Render(figure)
	}
	return line
}

// tokens estimates the number of tokens of so many bytes.
func (w openReply) tokens(bytes int) int {
	each := w.run.BytesPerToken(w.model())
	if each <= 0 {
		each = 4
	}
	return int(float64(bytes)/each + 0.5)
}

// lines draws the end of the reply on a fixed number of lines, so that nothing
// below moves while it grows. With reduced motion only finished lines appear.
func (s *modelStream) lines(w openReply, width int) []draw.TextLine {
	s.take(w)
	l, height := w.pane.Styles, 6
	switch {
	case w.pane.isReplay() && s.bytes() == 0:
		return nil // a journal keeps whole replies only
	case w.pane.size().H < 14:
		height = 2
	case w.pane.size().H < 24:
		height = 4
	}
	from, style := &s.text, l.Muted
	if s.text.size == 0 {
		from, style = &s.thinking, l.Faint
	}
	var lines []string
	if s.bytes() == 0 && w.drafted == 0 {
		lines = draw.Wrap(w.waiting(), max(width, 1))
	}
	for _, line := range from.readout.Lines(height, l.Theme.Mode.Still) {
		lines = append(lines, draw.Wrap(draw.Unmarked(line), max(width, 1))...)
	}
	lines = draw.Paint(style, lines[max(len(lines)-height, 0):])
	return draw.Set(append(lines, make([]string, height-len(lines))...))
}

// model returns the model that writes now.
func (w openReply) model() string {
	if x := wording.Open(w.run); x != nil {
		return cmp.Or(x.Request.Model, w.run.Model)
	}
	return w.run.Model
}

// waiting says what the model does before its first word. Before a report
// that it reads, it may still be loaded, so the first request of a conversation
// names both.
func (w openReply) waiting() string {
	model := untrusted.Line(w.model())
	if model == "" {
		model = "the model"
	}
	if far := wording.Reading(wording.Open(w.run), w.pane.Styles.Now); far != "" {
		return model + " is reading the prompt, " + far + w.pane.Styles.Glyphs.Ellipsis
	}
	answered := func(s agent.Phase) bool { return s.Status == agent.PhaseCompleted }
	if w.pane.hasLoadedModel() || slices.ContainsFunc(w.run.Phases[:], answered) {
		return model + " is reading the prompt" + w.pane.Styles.Glyphs.Ellipsis
	}
	return "loading " + model + " or reading the prompt" + w.pane.Styles.Glyphs.Ellipsis
}

// replanBlock returns a block that shows what the model writes as the current
// replan of a run. It is empty once the replan has ended.
func replanBlock(c *Pane, run *agent.Run) *Block {
	asked := run.Replanning
	var stream modelStream
	ended := func() bool { return run.Replanning != asked }
	return &Block{live: true, until: ended, lay: func(width int) []draw.TextLine {
		if ended() {
			return nil
		}
		w := openReply{pane: c, run: run, name: "replanning", since: asked.StartedAt, text: asked.Text, thinking: asked.Thinking}
		return append(draw.Set([]string{stream.title(w, width)}), guided(c.Styles, stream.lines(w, width-2))...)
	}}
}
