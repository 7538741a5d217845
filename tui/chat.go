package tui

import (
	"replan/agent"
)

// chatPane is the conversation: what was said and what became of it, the newest
// at the bottom. It shows the end unless the user scrolled up.
type chatPane struct {
	look     *look
	markdown *markdown
	width    int
	height   int
	blocks   []*block
	intro    string
	problem  string                   // why there is no model, shown in full while the chat is empty
	words    bool                     // goals may be planned by their words
	notes    string                   // the file with the project's instructions, "" for none
	above    int                      // lines hidden below the view; 0 sticks to the end
	inset    bool                     // what is added belongs to a run that a call has started
	settled  int                      // blocks at the start that change no more
	activity func(width int) []string // what goes on now; none where nothing does

	view  []string
	drawn bool
}

func newChatPane(l *look, intro string, activity func(width int) []string) *chatPane {
	return &chatPane{look: l, markdown: newMarkdown(l), intro: intro, activity: activity}
}

func (c *chatPane) setSize(width, height int) {
	if width != c.width || height != c.height {
		c.width, c.height, c.drawn = width, height, false
	}
}

// retheme draws everything anew in another theme.
func (c *chatPane) retheme() {
	c.markdown.retheme()
	for _, b := range c.blocks {
		b.width = 0
	}
	c.drawn = false
}

// add puts a block at the end.
func (c *chatPane) add(b *block) {
	b.stale, b.inset = true, c.inset
	c.blocks = append(c.blocks, b)
	if c.above > 0 {
		c.above += len(c.linesOf(len(c.blocks) - 1))
	}
	c.drawn = false
}

// touch says that what live blocks and the activity show has changed.
func (c *chatPane) touch() {
	for _, b := range c.blocks[c.firstLive():] {
		if b.live {
			b.stale = true
			b.live = b.until == nil || !b.until()
		}
	}
	c.drawn = false
}

// settle draws the live blocks of a run a last time; they change no more. The
// card of the call that has started the run is not of it.
func (c *chatPane) settle() {
	for _, b := range c.blocks[c.firstLive():] {
		if b.live && (b.inset || !c.inset) {
			b.live, b.stale, c.drawn = false, true, false
		}
	}
}

// firstLive is where blocks that may be live begin. What has settled stays so:
// it is passed by once, so that a key costs the same however long the chat is.
func (c *chatPane) firstLive() int {
	for c.settled < len(c.blocks) && !c.blocks[c.settled].live {
		c.settled++
	}
	return c.settled
}

// linesOf is the lines of block i, its gap among them.
func (c *chatPane) linesOf(i int) []string {
	b := c.blocks[i]
	if b.stale || b.width != c.width {
		before := len(b.lines)
		if b.inset {
			b.lines = c.guided(b.draw(c.width - 2))
		} else {
			b.lines = b.draw(c.width)
		}
		if b.gap && !b.inset && i > 0 && len(b.lines) > 0 {
			b.lines = append([]string{""}, b.lines...)
		}
		if grown := len(b.lines) - before; c.above > 0 && b.width == c.width && before > 0 {
			c.above = max(c.above+grown, 1)
		}
		b.width, b.stale = c.width, false
	}
	return b.lines
}

// guided draws lines under the card of the call that they belong to.
func (c *chatPane) guided(lines []string) []string {
	guide := c.look.Border.Render(c.look.glyphs.Guide) + " "
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = guide + line
	}
	return out
}

// scroll moves the view by lines, up where they are positive.
func (c *chatPane) scroll(lines int) {
	c.above = max(c.above+lines, 0)
	c.drawn = false
}

// toEnd shows the end again.
func (c *chatPane) toEnd() { c.above, c.drawn = 0, false }

// lines is the pane's content: height lines of at most width cells.
func (c *chatPane) lines() []string {
	if c.drawn {
		return c.view
	}
	c.drawn = true
	if c.greets() {
		c.above = 0
		c.view = c.look.block(c.greeting(), c.width, c.height)
		return c.view
	}
	c.view = c.look.block(c.window(c.activity(c.width)), c.width, c.height)
	return c.view
}

// greeting is what stands in a chat in which nothing was said.
func (c *chatPane) greeting() []string {
	lines := c.markdown.lines(c.intro, c.width)
	add := func(level, text string) {
		if len(lines) > 0 {
			lines = append(lines[:len(lines):len(lines)], "")
		}
		lines = append(lines, c.note(level, text).draw(c.width)...)
	}
	if c.problem != "" {
		add("warn", c.problem)
		if c.words {
			add("info", agent.WithoutModel)
		}
	}
	if c.notes != "" {
		add("info", notesWords+c.notes)
	}
	return lines
}

// notesWords names the file with the project's instructions.
const notesWords = "notes of this project: "

// greets reports whether the greeting is in view.
func (c *chatPane) greets() bool { return len(c.blocks) == 0 && len(c.activity(c.width)) == 0 }

// window picks the lines in view, from the end backwards, so that only what is
// seen is drawn.
func (c *chatPane) window(activity []string) []string {
	tail := activity
	if len(tail) > 0 && len(c.blocks) > 0 {
		tail = append([]string{""}, tail...)
	}
	want := c.height + c.above
	parts, total := [][]string{tail}, len(tail)
	for i := len(c.blocks) - 1; i >= 0 && total < want; i-- {
		lines := c.linesOf(i)
		parts = append(parts, lines)
		total += len(lines)
		want = c.height + c.above
	}
	if total <= c.height {
		c.above = 0
	} else {
		c.above = min(c.above, total-c.height)
	}
	end := total - c.above
	begin := max(end-c.height, 0)
	out := make([]string, 0, c.height)
	at := 0
	for i := len(parts) - 1; i >= 0; i-- {
		for _, line := range parts[i] {
			if at >= begin && at < end {
				out = append(out, line)
			}
			at++
		}
	}
	return out
}

// moreBelow is how many lines lie below the view.
func (c *chatPane) moreBelow() int { return c.above }

// started says that a run has begun. The phases of planning come only where
// there is no plan yet.
func (c *chatPane) started(run *agent.Run, given bool) {
	c.settle()
	if !given {
		c.add(c.phases(run))
	}
}
