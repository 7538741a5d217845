package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/tui/untrusted"
)

// graceTime is how long no key may have been pressed before a dialog that has
// just opened takes one. Keys that were meant for the input answer nothing.
const graceTime = 400 * time.Millisecond

// graceMsg says that graceTime has passed since the key numbered count.
type graceMsg struct{ count int }

// asking is something that waits for the user's word: an open gate, or a step
// of which nobody else can say how the run goes on.
type asking interface {
	id() string // unique over all runs, and over the times it is asked
	of() string // the run it belongs to
	on() string // the step it is about, "" for none
	// name says what kind of thing asks, about what it asks about.
	name() string
	about() []string
	sign(l *look) (string, lipgloss.Style)
	choices(k *keyMap) []choice
	// write writes the whole of it: whatever an answer has to be based on.
	write(l *look, d *document)
	// with is the answer that gives other arguments, and resends says what it
	// does. It fails where they do not fit.
	with(args map[string]any) (runner.Command, error)
	resends() string
}

// choice is one answer that can be given.
type choice struct {
	key    key.Binding
	does   string         // what it does, as the dialog says it
	short  string         // the same for a narrow screen
	refuse string         // why it cannot be chosen now; "" where it can
	send   runner.Command // nil for one that opens the editor
	edit   map[string]any // the arguments to edit, where send is nil
	saves  *agent.Always  // a rule that send saves, which is shown first; nil for none
	hidden bool           // not shown, but its key says why not
}

// askDialog puts what waits for the user's word to the user, one after the
// other. It opens by itself over whatever is shown.
type askDialog struct {
	look  *look
	keys  *keyMap
	queue []asking

	open     bool
	seen     map[string]bool // asks that were put to the user
	answered map[string]bool // asks whose answer is on its way
	shown    string          // id of the one in the dialog
	grace    bool            // takes no key yet
	early    bool            // a key came too early
	count    int             // of grace times begun
	mute     bool            // another question has the keys
	top      int
	doc      *document
	body     int     // lines of the document in view
	read     int     // lines of it that were
	editor   *editor // while arguments are being edited
	saving   *choice // while the rule is shown that it would save
}

func newAskDialog(l *look, k *keyMap) *askDialog {
	return &askDialog{look: l, keys: k, seen: map[string]bool{}, answered: map[string]bool{}}
}

// set takes what waits now. What was not seen before opens the dialog and
// begins a grace time; what is in the dialog stays in it.
func (g *askDialog) set(asks []asking) tea.Cmd {
	g.queue = g.queue[:0]
	fresh := false
	for _, a := range asks {
		if g.answered[a.id()] {
			continue
		}
		g.queue = append(g.queue, a)
		if a.id() == g.shown {
			copy(g.queue[1:], g.queue[:len(g.queue)-1])
			g.queue[0] = a
		}
		if !g.seen[a.id()] {
			g.seen[a.id()], fresh = true, true
		}
	}
	if fresh {
		g.open = true
	}
	return g.front()
}

// forget has what a run asks asked anew, because the run is taken up again.
func (g *askDialog) forget(run string) {
	for _, ids := range []map[string]bool{g.seen, g.answered} {
		for id := range ids {
			if strings.HasPrefix(id, run+" ") {
				delete(ids, id)
			}
		}
	}
	if strings.HasPrefix(g.shown, run+" ") {
		g.shown = ""
	}
}

// front puts the first of the queue in the dialog. Another one than before
// begins a grace time of its own.
func (g *askDialog) front() tea.Cmd {
	if len(g.queue) == 0 {
		g.open, g.shown, g.doc, g.editor, g.saving = false, "", nil, nil, nil
		return nil
	}
	if id := g.queue[0].id(); id != g.shown {
		g.shown, g.top, g.doc, g.editor, g.saving = id, 0, nil, nil, nil
		if g.open {
			return g.wait()
		}
	}
	return nil
}

// wait begins a grace time.
func (g *askDialog) wait() tea.Cmd {
	g.grace = true
	g.count++
	count := g.count
	return tea.Tick(graceTime, func(time.Time) tea.Msg { return graceMsg{count} })
}

// rested ends the grace time, unless a key has come since.
func (g *askDialog) rested(m graceMsg) {
	if m.count == g.count {
		g.grace, g.early = false, false
	}
}

// reopen shows what waits again after the user looked around.
func (g *askDialog) reopen() tea.Cmd {
	g.open, g.shown = true, ""
	g.early = false
	return g.front()
}

// step is the step of the run that the first of what waits is about, "" for none.
func (g *askDialog) step(run string) string {
	if len(g.queue) == 0 || g.queue[0].of() != run {
		return ""
	}
	return g.queue[0].on()
}

// waiting is how many wait for an answer.
func (g *askDialog) waiting() int { return len(g.queue) }

// showing reports whether the dialog is on the screen.
func (g *askDialog) showing() bool { return g.open && len(g.queue) > 0 }

// editing reports whether keys write text into the dialog.
func (g *askDialog) editing() bool { return g.showing() && g.editor != nil }

// press takes a key while the dialog is open. It returns the answer, where the
// key was one, and a word where the key did nothing.
func (g *askDialog) press(k tea.KeyPressMsg) (answer runner.Command, word string, cmd tea.Cmd) {
	if g.grace {
		g.early = true
		return nil, "", g.wait()
	}
	switch {
	case g.editor != nil:
		return g.pressEditor(k)
	case g.saving != nil:
		return g.pressSaving(k)
	}
	ask := g.queue[0]
	for _, c := range ask.choices(g.keys) {
		switch {
		case !key.Matches(k, c.key):
		case c.refuse != "":
			return nil, c.refuse, nil
		case c.send == nil:
			if g.editor = newEditor(g.look, c.edit); g.editor == nil {
				word = "These arguments are too long to be edited here."
			}
			return nil, word, nil
		case c.saves != nil:
			g.turn(&c)
			return nil, "", nil
		default:
			cmd = g.answer(ask)
			return c.send, "", cmd
		}
	}
	if key.Matches(k, g.keys.Sides) && g.doc != nil && g.doc.diffs {
		word = g.look.turnDiffs(g.doc.width)
		g.doc = nil
		return nil, word, nil
	}
	g.pressView(k)
	return nil, "", nil
}

// pressEditor gives a key to the arguments that are being edited.
func (g *askDialog) pressEditor(k tea.KeyPressMsg) (answer runner.Command, word string, cmd tea.Cmd) {
	switch {
	case key.Matches(k, g.keys.Away):
		g.editor = nil
		return nil, "", nil
	case key.Matches(k, g.keys.SendArgs):
		args := g.editor.args()
		if args == nil {
			return nil, "", nil
		}
		ask := g.queue[0]
		answer, err := ask.with(args)
		if err != nil {
			g.editor.fault = untrusted.Line("Not sent: " + err.Error())
			return nil, "", nil
		}
		return answer, "", g.answer(ask)
	default:
		return nil, "", g.editor.update(k)
	}
}

// turn shows the rule that a choice would save, or with nil the question again.
func (g *askDialog) turn(saving *choice) {
	g.saving, g.doc, g.top = saving, nil, 0
}

// pressSaving gives a key to the rule that is about to be saved.
func (g *askDialog) pressSaving(k tea.KeyPressMsg) (answer runner.Command, word string, cmd tea.Cmd) {
	switch {
	case key.Matches(k, g.keys.Once) && (g.doc == nil || g.read < g.doc.must):
		return nil, "Read the rule to its end first: down shows the rest of it.", nil
	case key.Matches(k, g.keys.Once):
		answer = g.saving.send
		return answer, "", g.answer(g.queue[0])
	case key.Matches(k, g.keys.Away, g.keys.Deny):
		g.turn(nil)
	default:
		g.pressView(k)
	}
	return nil, "", nil
}

// pressView moves what the dialog shows, or leaves it.
func (g *askDialog) pressView(k tea.KeyPressMsg) {
	switch {
	case key.Matches(k, g.keys.Away):
		g.open = false
	default:
		g.top = g.keys.scrolled(k, g.top, g.body)
	}
}

// scroll moves what the dialog shows by lines.
func (g *askDialog) scroll(lines int) {
	if g.editor == nil {
		g.top += lines
	}
}

// answer takes what was answered from the queue.
func (g *askDialog) answer(ask asking) tea.Cmd {
	g.answered[ask.id()] = true
	g.queue, g.editor, g.saving = g.queue[1:], nil, nil
	return g.front()
}

// retheme draws the dialog anew.
func (g *askDialog) retheme() {
	g.doc = nil
	if g.editor != nil {
		g.editor.retheme()
	}
}

// prepare writes what is asked for a dialog of that width, its border included.
func (g *askDialog) prepare(width int) {
	if g.doc == nil || g.doc.width != width-4 {
		g.doc = &document{look: g.look, width: width - 4}
		if g.saving != nil {
			g.doc.saving(g.saving.saves)
			return
		}
		g.queue[0].write(g.look, g.doc)
	}
}

// height is how many lines the dialog would like, its border included.
func (g *askDialog) height(width int) int {
	if !g.showing() {
		return 0
	}
	g.prepare(width)
	lines := len(g.doc.lines)
	if g.editor != nil {
		lines = max(lines, g.editor.wishes(width-4))
	}
	return lines + len(g.bar(width-4)) + 3
}

// setSize gives the dialog its place, its border included.
func (g *askDialog) setSize(width, height int) {
	if !g.showing() || height == 0 {
		return
	}
	g.body = max(height-3-len(g.bar(width-4)), 1)
	if g.editor != nil {
		g.editor.setSize(width-4, g.body)
	}
}

// draw draws the dialog in exactly height lines of exactly width cells.
func (g *askDialog) draw(width, height int) []string {
	l := g.look
	g.prepare(width)
	bar := g.bar(width - 4)
	g.body = max(height-3-len(bar), 1)
	note := ""
	var content []string
	if g.editor != nil {
		content = l.block(g.editor.lines(), width-4, g.body)
	} else {
		content = g.doc.rows(&g.top, g.body)
		g.read = max(g.read, g.top+g.body)
		note = g.doc.place(g.top, g.body)
	}
	for i, line := range bar {
		bar[i] = l.fit(line, width-4)
	}
	title, style := g.title()
	return l.frame(width, style,
		section{title: title, note: note, lines: padded(content), style: style},
		section{lines: padded(bar), style: style},
	)
}

func (g *askDialog) title() (string, lipgloss.Style) {
	ask := g.queue[0]
	glyph, style := ask.sign(g.look)
	title := ask.name()
	if g.editor != nil {
		title = "Edit arguments"
	} else if g.saving != nil {
		title = "Allow always"
	} else if n := len(g.queue); n > 1 {
		title += fmt.Sprintf(" 1 of %d", n)
	}
	parts := append([]string{title}, ask.about()...)
	return style.Bold(true).Render(glyph + " " + strings.Join(parts, " "+g.look.glyphs.Separator+" ")), style
}

// bar is the keys of the dialog, faint while they do nothing yet.
func (g *askDialog) bar(width int) []string {
	l := g.look
	if g.grace && g.early {
		return []string{l.Warning.Render(l.cut("That key came too early to be an answer. Press it again.", width))}
	}
	var lines []string
	choices := g.queue[0].choices(g.keys)
	leave := choice{key: g.keys.Away, does: "look around", short: "back"}
	if g.editor != nil {
		if g.editor.fault != "" {
			lines = paint(l.Warning, wrap(g.editor.fault, width))
			lines = lines[:min(len(lines), 3)]
		}
		choices = []choice{{key: g.keys.SendArgs, does: g.queue[0].resends(), short: "send"}}
		leave.does = "leave them as they were"
	}
	if g.saving != nil {
		choices = []choice{{key: g.keys.Once, does: "save it, and allow", short: "save"}}
		leave.does = "back"
	}
	choices = append(choices, leave)
	keys := flow(g.draws(choices, false), "   ", width)
	if len(keys) > 2 {
		keys = flow(g.draws(choices, true), "  ", width)
	}
	return append(lines, keys...)
}

// draws draws choices, in few words or in fewer.
func (g *askDialog) draws(choices []choice, short bool) []string {
	l := g.look
	var parts []string
	for _, c := range choices {
		keyStyle, textStyle := l.Key.Bold(true), l.Text
		if g.grace || g.mute || c.refuse != "" {
			keyStyle, textStyle = l.Faint, l.Faint
		}
		does := c.does
		if short {
			does = c.short
		}
		if !c.hidden {
			parts = append(parts, keyStyle.Render(c.key.Help().Key)+" "+textStyle.Render(does))
		}
	}
	return parts
}
