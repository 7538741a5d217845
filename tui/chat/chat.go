package chat

import (
	"cmp"

	"replan/agent"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/story"
	"replan/tui/wording"
)

// Pane is the conversation: messages and their outcomes, the newest at the
// bottom.
type Pane struct {
	viewport
	Styles   *draw.Styles
	Markdown *draw.Markdown
	state    State
	find     *search
	copying  *codeCopier
	prose    *prose

	ShowsThinking bool // new thinking is expanded

	narrators   map[string]*Narrator // by run
	sent        string               // the user's last message
	modelLoaded bool                 // a model has written in this conversation, so it is in memory

	sides  *SideCards
	intro  intro
	orders *orders     // that the newest refusal offers
	once   *story.Once // what the runs of the conversation are told a single time

	view   []string
	viewOf int // layout that view shows
}

// State is what the pane needs to know of the rest of the screen.
type State struct {
	Size      draw.Rect
	Activity  []string // the current activity, drawn for the pane's width; none if idle
	Welcome   []string // replaces the conversation while it is empty
	ResumeKey string   // name of the key that resumes a run; "" if only a command does
	Advice    string   // what to do if no plan could be made
	Problem   string   // why there is no model
	Notes     string   // file with the project's instructions, "" for none
	Closed    bool     // the session is over
	Typed     bool     // the input holds text
	OrderKeys []string // names of the keys that give an order of a refusal; none if no goals are taken
	RemedyKey string   // name of the key that gets a model
	Remedy    Remedy   // what that key does

	SuspendKey string // name of the key that suspends the program

	Shown  *agent.Run // the run in the plan pane, nil for none
	Opened string     // index of the step that has the keys, "" for none
	// Replayed means that a replay is shown. It asks nothing: gates and failures
	// appear as they happened.
	Replayed bool
}

// New returns an empty conversation.
func New(l *draw.Styles) *Pane {
	c := &Pane{viewport: viewport{styles: l}, Styles: l, Markdown: draw.NewMarkdown(l), once: story.NewOnce()}
	c.find, c.copying = newSearch(&c.viewport, l), newCodeCopier(&c.viewport)
	c.orders = &orders{chat: &c.viewport}
	c.prose = newProse(l, c.Markdown, c.copying)
	c.sides = &SideCards{view: &c.viewport, styles: l, prose: c.prose, sent: func(question untrusted.Text) bool {
		return c.showsSent(session.SideCommand+" ", question)
	}}
	return c
}

// SideQuestions returns the cards of side questions.
func (c *Pane) SideQuestions() *SideCards { return c.sides }

// SetState tells the pane about the rest of the screen.
func (c *Pane) SetState(s State) {
	c.surround(s.Activity, s.Welcome)
	c.setSize(s.Size.W, s.Size.H)
	c.state = s
}

// resumedBy returns the key or the command that resumes a run.
func (c *Pane) resumedBy(run string) string {
	return cmp.Or(c.state.ResumeKey, "replan plan resume "+wording.ShortID(run))
}

// advice returns a block that says what to do if no plan could be made.
func (c *Pane) advice() *Block { return c.Note("", c.state.Advice) }

// isReplay reports whether the pane shows a replay.
func (c *Pane) isReplay() bool { return c.state.Replayed }

// modelWrites notes that a model has written in this conversation, so that it is in memory.
func (c *Pane) modelWrites() { c.modelLoaded = true }

// ranByWords notes that a run of the conversation went by rules.
func (c *Pane) ranByWords() { c.intro.ranByWords() }

// hasLoadedModel reports whether a model has written in this conversation.
func (c *Pane) hasLoadedModel() bool { return c.modelLoaded }

// ShowThinking expands or collapses all thinking, also that to come.
func (c *Pane) ShowThinking(shows bool) {
	c.ShowsThinking = shows
	c.turnFolds(foldThinking, shows)
}

// Narrate returns a narrator for a run and makes it the run's narrator in the
// chat. nested means that a call in the chat started the run. The narrator of a
// run that the user started replaces all others.
func (c *Pane) Narrate(run *agent.Run, nested bool) *Narrator {
	if !nested || c.narrators == nil {
		c.narrators = map[string]*Narrator{}
	}
	n := newNarrator(c, c.prose, c.once, run, nested)
	c.narrators[run.ID] = n
	return n
}

// Narrator returns the narrator of the run with this id, nil if there is none.
func (c *Pane) Narrator(run string) *Narrator { return c.narrators[run] }

// Retheme redraws everything in a new theme.
func (c *Pane) Retheme() {
	c.forgetLines()
}

// View draws the pane: Height lines of at most width cells.
func (c *Pane) View() []string {
	layout, width := c.layOut(), c.size().W
	if c.view != nil && c.viewOf == layout {
		return c.view
	}
	c.viewOf = layout
	c.view = c.Styles.Block(c.find.highlighted(), width, c.room())
	if c.find.isOpen() {
		c.view = append(c.view, c.find.line(width))
	}
	return c.view
}

// EdgeLabels returns the labels of the edge between chat and input: that the
// session is over, and how many lines are below the view.
func (c *Pane) EdgeLabels() (title, note string) {
	l := c.Styles
	if n, exact := c.moreBelow(); n > 0 {
		note = english.Count(n, "line") + " below"
		if !exact {
			note = "about " + note
		}
		note = l.Muted.Render(note)
	}
	switch {
	case c.state.Closed && c.state.Replayed:
		title = l.Muted.Render("the replay is over")
	case c.state.Closed:
		title = l.Warning.Render("the session is closed")
	}
	return title, note
}
