package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/tui/untrusted"
)

// runsDialog lists the runs there are, to choose one that goes on.
type runsDialog struct {
	look  *look
	keys  *keyMap
	open  bool
	asked bool   // the list is on its way
	front string // the run on the screen behind the dialog, "" for none
	runs  []agent.Summary
	list
	word string
	live func(run string) bool // whether a run on the screen goes on, be it around that one
}

// ask opens the dialog and asks for the list. shown is the run on the screen, ""
// for none.
func (d *runsDialog) ask(shown string) runner.Command {
	d.open, d.asked, d.word, d.list = true, true, "", list{}
	d.front = shown
	return runner.List{}
}

// take takes the list: the run on the screen first where it can go on, then the
// runs that have not ended, then the others, each part newest first as it came.
func (d *runsDialog) take(runs []agent.Summary) {
	chosen := ""
	if !d.asked && d.at < len(d.runs) {
		chosen = d.runs[d.at].Run
	}
	d.asked, d.at = false, 0
	d.runs = slices.Clone(runs)
	slices.SortStableFunc(d.runs, func(a, b agent.Summary) int {
		return d.rank(a) - d.rank(b)
	})
	for i := range d.runs {
		if d.runs[i].Run == chosen {
			d.at = i
		}
	}
}

func (d *runsDialog) rank(s agent.Summary) int {
	switch {
	case s.Run == d.front && whyNoResume(s, false) == "":
		return 0
	case s.Status == agent.StatusUnfinished:
		return 1
	default:
		return 2
	}
}

// press takes a key while the dialog is open and returns what it asks for.
func (d *runsDialog) press(k tea.KeyPressMsg) wanted {
	d.word = ""
	switch {
	case key.Matches(k, d.keys.Away, d.keys.Runs):
		d.open = false
	case d.list.press(k, d.keys, false, len(d.runs)):
	case key.Matches(k, d.keys.Undo) && d.at < len(d.runs):
		s := d.runs[d.at]
		if d.word = whyNoUndo(s, d.live(s.Run)); d.word == "" {
			return wanted{send: runner.Undo{Run: s.Run, Dry: true}}
		}
	case key.Matches(k, d.keys.Send) && d.at < len(d.runs):
		s := d.runs[d.at]
		if d.word = whyNoResume(s, d.live(s.Run)); d.word == "" {
			d.open = false
			return wanted{send: runner.Resume{Run: s.Run}}
		}
	}
	return wanted{}
}

func (d *runsDialog) shown() bool { return d.open }

func (d *runsDialog) hints() []hint {
	close, choose := hint{d.keys.Away, "close"}, hint{shownAs("up/down"), "choose"}
	if len(d.runs) == 0 {
		return []hint{close, choose}
	}
	return []hint{{d.keys.Send, "resume"}, close, choose, {d.keys.Undo, "undo"}}
}

func (d *runsDialog) wheeled(lines int) { d.move(lines/wheelStep, len(d.runs)) }

// clicked chooses the run that is drawn at line y of the dialog's area.
func (d *runsDialog) clicked(y int) {
	if d.list.clicked(y, len(d.runs)) {
		d.word = ""
	}
}

// whyNoResume says why a run cannot be taken up now; "" means that it can. goes
// is whether it goes on in this session.
func whyNoResume(s agent.Summary, goes bool) string {
	switch {
	case goes:
		return "This is the run that goes on."
	case s.Status == agent.StatusRunning:
		return "Another replan is carrying it out."
	case s.Status == agent.StatusCompleted:
		return "It is completed: nothing is left to do in it."
	case !s.Resumable:
		return "Nothing is left to do in it."
	default:
		return ""
	}
}

// whyNoUndo says why a run cannot be undone now; "" means that it may be. goes
// is as in whyNoResume.
func whyNoUndo(s agent.Summary, goes bool) string {
	switch {
	case goes:
		return "The run goes on: undo it when it has ended."
	case s.Status == agent.StatusRunning:
		return "Another replan is carrying it out."
	default:
		return ""
	}
}

// draw draws the dialog in the middle of exactly height lines of screenWidth
// cells.
func (d *runsDialog) draw(screenWidth, height int) []string {
	const widest, oneLine = 110, 70 // cells
	l := d.look
	width := min(screenWidth, widest)
	inner := width - 4
	foot := d.foot(inner)
	each := 1
	if inner < oneLine {
		each = 2
	}
	room := max(height-2, each)
	if len(foot) > 0 {
		room = max(height-3-len(foot), each)
	}
	var lines []string
	note := ""
	if len(d.runs) == 0 {
		text := "There are no runs yet: type a goal in the chat, and its run will be listed here."
		if d.asked {
			text = "Looking for runs" + l.glyphs.Ellipsis
		}
		lines = paint(l.Faint, wrap(text, inner))
	} else {
		end := d.window(len(d.runs), room, each)
		for i := d.top; i < end; i++ {
			lines = append(lines, d.row(i, inner, each)...)
		}
		note = l.span(d.top, end, len(d.runs))
	}
	if len(lines) > room {
		lines = lines[:room]
	}
	for i, line := range foot {
		foot[i] = l.fit(line, inner)
	}
	sections := []section{{title: l.Strong.Render("Runs"), note: note, lines: padded(l.block(lines, inner, len(lines))), style: l.Focus}}
	if len(foot) > 0 {
		sections = append(sections, section{lines: padded(foot), style: l.Focus})
	}
	framed := l.frame(width, l.Focus, sections...)
	d.first = max((height-len(framed))/2, 0) + 1 // under the border
	return l.middle(framed, width, screenWidth, height)
}

// foot is why the last key did nothing.
func (d *runsDialog) foot(width int) []string {
	if d.word == "" {
		return nil
	}
	return paint(d.look.Warning, wrap(d.word, width))
}

// row draws one run on that many lines.
func (d *runsDialog) row(i, width, lines int) []string {
	l, s := d.look, d.runs[i]
	line := l.line(i == d.at, true)
	glyph, word, style := d.state(s)
	facts := []string{ago(l.since(s.Started)), shareOf(s)}
	if lines > 1 {
		facts[0] = strings.TrimSuffix(facts[0], " ago")
		slices.Reverse(facts) // the shorter is not cut
	}
	if s.Replans > 0 {
		facts = append(facts, plural(s.Replans, "replan"))
	}
	what := l.runWords(s)
	here := ""
	if s.Run == d.front && !d.live(s.Run) {
		here = "on screen " + l.glyphs.Separator + " "
	}
	between := " " + l.glyphs.Separator + " "
	head := line.cursor + line.draw(style, glyph+" "+word)
	if lines > 1 {
		facts = slices.DeleteFunc(facts, func(fact string) bool { return fact == "" })
		head += line.draw(l.Muted, "  "+strings.Join(facts, between))
		id := line.draw(l.Faint, " "+shortID(s.Run))
		room := width - visibleWidth(id)
		return []string{line.fill(head, room) + id, line.fill(line.cursor+line.draw(l.Accent, "  "+here)+line.draw(l.Text, what), width)}
	}
	const state, when, done = 15, 16, 8
	drawn := line.fill(head, state) + line.fill(line.draw(l.Muted, facts[0]), when) + line.fill(line.draw(l.Muted, facts[1]), done)
	tail := "  " + strings.Join(append(facts[2:], shortID(s.Run)), between)
	drawn += line.draw(l.Accent, here)
	room := width - visibleWidth(drawn) - visibleWidth(tail)
	drawn += line.fill(line.draw(l.Text, l.cut(what, room)), room)
	return []string{drawn + line.draw(l.Faint, tail)}
}

// shareOf is how much of a run's plan is done, "" where it has no plan.
func shareOf(s agent.Summary) string {
	if s.Steps == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Done, s.Steps)
}

// runWords says what a run is about: its plan's title, and the goal where that
// says more.
func (l *look) runWords(s agent.Summary) string {
	title, goal := untrusted.Line(s.Title), untrusted.FirstLine(s.Goal)
	switch {
	case goal == "" || strings.EqualFold(title, goal):
		return title
	case title == "":
		return goal
	default:
		return title + " " + l.glyphs.Separator + " " + goal
	}
}

// shortID is the part of a run's id behind its date, which tells it from runs of
// the same day.
func shortID(run string) string {
	run = untrusted.Line(run)
	if i := strings.LastIndexByte(run, '-'); i >= 0 && strings.Count(run, "-") > 1 {
		return run[i+1:]
	}
	return run
}

// state is how a run stands, in a sign and a word.
func (d *runsDialog) state(s agent.Summary) (glyph, word string, style lipgloss.Style) {
	l := d.look
	switch {
	case d.live(s.Run):
		return l.glyphs.Folded, "goes on", l.Running
	case s.Status == agent.StatusRunning:
		return l.glyphs.Folded, "elsewhere", l.Running
	case s.Status == agent.StatusUnfinished:
		return l.glyphs.Warning, "unfinished", l.Warning
	case s.Status == agent.StatusCompleted:
		return l.glyphs.Done, "completed", l.Success
	case s.Status == agent.StatusCancelled:
		return l.glyphs.Stopped, "stopped", l.Warning
	default:
		return l.glyphs.Failed, untrusted.Line(string(s.Status)), l.Danger
	}
}

// ago says in few words how long something is past.
func ago(d time.Duration) string {
	const day, few = 24 * time.Hour, 10
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < day:
		return fmt.Sprintf("%d h %d min ago", int(d.Hours()), int(d.Minutes())%60)
	case d < few*day:
		return fmt.Sprintf("%d d %d h ago", int(d/day), int(d.Hours())%24)
	default:
		return plural(int(d/day), "day") + " ago"
	}
}

// middle puts lines of width cells in the middle of exactly height lines of
// screenWidth cells.
func (l *look) middle(lines []string, width, screenWidth, height int) []string {
	out := make([]string, 0, height)
	for range max((height-len(lines))/2, 0) {
		out = append(out, "")
	}
	for _, line := range lines {
		out = append(out, strings.Repeat(" ", max((screenWidth-width)/2, 0))+line)
	}
	return l.block(out, screenWidth, height)
}
