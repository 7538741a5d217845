package chat

import (
	"slices"
	"strings"
	"time"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

// thought is what a model thought before it wrote, collapsed to a line unless
// the user expands it.
type thought struct {
	parts    []thinkingPart
	began    time.Time     // zero if not measured
	duration time.Duration // 0 if not measured
	live     bool          // still in progress
	fold     *fold
}

// newThought returns a thought without words, expanded if open.
func newThought(open bool) *thought {
	t := &thought{}
	t.fold = newFold(foldThinking, open, func() bool { return len(t.parts) > 0 })
	return t
}

// begin measures the time from now on. It reports whether the model did not think before.
func (t *thought) begin(at time.Time) bool {
	if t.live {
		return false
	}
	t.live, t.began = true, at
	return true
}

// thinkingPart is the thinking of one planning phase, or before an answer.
type thinkingPart struct {
	phase string // "" for an answer
	text  string
}

// add appends text to the thinking of a phase.
func (t *thought) add(phase, text string) {
	if last := len(t.parts) - 1; last >= 0 && t.parts[last].phase == phase {
		t.parts[last].text += text
		return
	}
	t.parts = append(t.parts, thinkingPart{phase, text})
}

// end records that the model started to write, or that no more thinking
// follows.
func (t *thought) end(at time.Time) {
	if !t.live {
		return
	}
	t.live = false
	t.duration += max(at.Sub(t.began), 0)
}

// endUnmeasured ends the thinking without a duration, which is unknown.
func (t *thought) endUnmeasured() { t.live = false }

// in reports whether the model thought in that phase.
func (t *thought) in(phase string) bool {
	return slices.ContainsFunc(t.parts, func(p thinkingPart) bool { return p.phase == phase })
}

// words returns the number of words of the thinking.
func (t *thought) words() int {
	n := 0
	for _, p := range t.parts {
		n += len(strings.Fields(p.text))
	}
	return n
}

// block returns a block with the thinking: its end while in progress,
// then its duration and length. Expanded, it shows all of it.
func (t *thought) block(l *draw.Styles) *Block {
	count := -1
	var counted int
	words := func() int {
		size := 0
		for _, p := range t.parts {
			size += len(p.text)
		}
		if size != counted || count < 0 {
			count, counted = t.words(), size
		}
		return count
	}
	text := func() string {
		if !t.fold.isOpen() {
			return "thinking"
		}
		var all []string
		for _, p := range t.parts {
			all = append(all, strings.TrimSpace(p.text))
		}
		return untrusted.Visible(strings.Join(all, "\n"))
	}
	lay := func(width int) []draw.TextLine {
		if len(t.parts) == 0 {
			return nil
		}
		if t.live && !t.fold.isOpen() && t.parts[0].phase == "" { // the block of a phase shows its own
			return []draw.TextLine{{Text: thoughtTail(l, t.parts[len(t.parts)-1].text, width)}}
		}
		between := " " + l.Glyphs.Separator + " "
		head := t.fold.glyph(l) + " thinking"
		if t.duration > 0 {
			head += between + wording.Seconds(t.duration)
		}
		head += between + english.Count(words(), "word")
		lines := []draw.TextLine{{Text: l.Faint.Render(l.Cut(head, width)), Lead: 2}}
		if t.fold.isOpen() {
			lines = append(lines, t.lines(l, width)...)
		}
		return lines
	}
	return &Block{Gap: true, live: t.live, until: func() bool { return !t.live }, fold: t.fold, text: text, lay: lay}
}

// lines draws the complete thinking behind a guide.
func (t *thought) lines(l *draw.Styles, width int) []draw.TextLine {
	guide := l.Border.Render(l.Glyphs.Guide) + " "
	var lines []draw.TextLine
	for _, p := range t.parts {
		if p.phase != "" && len(t.parts) > 1 {
			lines = append(lines, draw.TextLine{Text: guide + l.Muted.Render(p.phase), Lead: 2})
		}
		for _, line := range draw.Wrapped(untrusted.Visible(strings.TrimSpace(p.text)), max(width-2, 1)) {
			lines = append(lines, draw.TextLine{Text: guide + l.Faint.Render(line.Text), Lead: 2, Join: line.Join})
		}
	}
	return lines
}

// thoughtTail draws the end of the current thinking on one line.
func thoughtTail(l *draw.Styles, text string, width int) string {
	const lead = "  thinking: "
	const tail = 400 // bytes; more than fits on any line
	if len(text) > tail {
		text = strings.ToValidUTF8(text[len(text)-tail:], "")
	}
	return l.Faint.Render(lead + l.CutLeft(untrusted.Line(text), width-len(lead)))
}
