package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/tui/untrusted"
)

// runsDialog lists the runs there are, to choose one that goes on.
type runsDialog struct {
	look  *look
	keys  *keyMap
	open  bool
	asked bool            // the list is on its way
	front string          // the run on the screen behind the dialog, "" for none
	all   []agent.Summary // as they came, in the order of the list
	runs  []agent.Summary // of those, the ones that are listed
	list
	word string

	folder    string // the workspace
	elsewhere bool   // those of other folders too
	searching bool   // letters go into the search
	search    string
	goOn      func(session string)      // nil: another conversation cannot be opened from here
	talks     []session.Conversation    // the conversations; nil until they came
	talking   bool                      // the conversations are listed in place of the runs
	busy      func() bool               // a run goes on
	undo      func(agent.Summary) query // opens the dialog that undoes a run
	live      func(run string) bool     // whether a run on the screen goes on, be it around that one
}

// ask opens the dialog and asks for the list. shown is the run on the screen, ""
// for none.
func (d *runsDialog) ask(shown string) query {
	d.open, d.asked, d.word, d.list = true, true, "", list{}
	d.searching, d.search, d.talking, d.talks, d.all, d.runs = false, "", false, nil, nil, nil
	d.front = shown
	return queryRuns
}

// take takes the list: the run on the screen first where it can go on, then the
// runs that have not ended, then the others, each part newest first as it came.
func (d *runsDialog) take(runs []agent.Summary) {
	chosen := ""
	if !d.asked && d.at < len(d.runs) {
		chosen = d.runs[d.at].Run
	}
	d.asked, d.at = false, 0
	d.all = slices.Clone(runs)
	slices.SortStableFunc(d.all, func(a, b agent.Summary) int {
		return d.rank(a) - d.rank(b)
	})
	d.sift()
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

func (d *runsDialog) forget() { d.word = "" }

// handlers are the actions of the dialog.
func (d *runsDialog) handlers() handlers {
	if d.searching {
		return d.searchHandlers()
	}
	hs := d.listHandlers()
	switch {
	case d.talking:
		return hs.with(handlers{"list.choose": {do: d.enter}})
	case d.at >= len(d.runs):
		return hs
	}
	s := d.runs[d.at]
	return hs.with(handlers{
		"runs.play": {do: func() wanted { return d.replay(false) }},
		"runs.show": {do: func() wanted { return d.replay(true) }},
		"plan.undo": {do: func() wanted {
			if d.word = whyNoUndo(s, d.live(s.Run)); d.word != "" {
				return wanted{}
			}
			return wanted{ask: d.undo(s)}
		}},
		"list.choose": {do: func() wanted {
			if d.word = whyNoResume(s, d.live(s.Run)); d.word != "" {
				return wanted{}
			}
			d.open = false
			return sending(runner.Resume{Run: s.Run})
		}},
	})
}

func (d *runsDialog) shown() bool { return d.open }
func (d *runsDialog) types() bool { return d.searching }

func (d *runsDialog) hints() []hint {
	close, choose := d.keys.hint("close", "dialog.leave"), d.keys.hint("choose", "move.up", "move.down")
	folders, search := d.keys.hint(d.otherFolders(), "list.folders"), d.keys.hint("search", "list.search")
	other := d.keys.hint(d.otherList(), "list.other")
	switch {
	case d.searching:
		return []hint{d.keys.hint("done", "list.choose"), d.keys.hint("show all", "dialog.leave"), d.keys.hint("choose", "list.up", "list.down")}
	case d.talking:
		return []hint{d.keys.hint("go on with it", "list.choose"), close, other, choose, folders, search}
	case len(d.runs) == 0:
		return []hint{close, choose, other, folders}
	}
	return []hint{d.keys.hint("resume", "list.choose"), close, choose, d.keys.hint("play", "runs.play"), d.keys.hint("show", "runs.show"), d.keys.hint("undo", "plan.undo"), other, folders, search}
}

func (d *runsDialog) wheeled(lines int) { d.move(lines/wheelStep, d.count()) }

// clicked chooses the run that is drawn at line y of the dialog's area.
func (d *runsDialog) clicked(y int) {
	if d.list.clicked(y, d.count()) {
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
	case s.Status == event.StatusCompleted && !s.Resumable:
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
	if d.count() == 0 {
		lines = paint(l.Faint, wrap(d.empty(), inner))
	} else {
		end := d.window(d.count(), room, each)
		for i := d.top; i < end; i++ {
			if d.talking {
				lines = append(lines, d.talkRow(i, inner, each)...)
				continue
			}
			lines = append(lines, d.row(i, inner, each)...)
		}
		note = l.span(d.top, end, d.count())
	}
	if len(lines) > room {
		lines = lines[:room]
	}
	for i, line := range foot {
		foot[i] = l.fit(line, inner)
	}
	sections := []section{{title: d.title(inner), note: note, lines: padded(l.block(lines, inner, len(lines))), style: l.Focus}}
	if len(foot) > 0 {
		sections = append(sections, section{lines: padded(foot), style: l.Focus})
	}
	framed := l.frame(width, l.Focus, sections...)
	d.first = max((height-len(framed))/2, 0) + 1 // under the border
	return l.middle(framed, width, screenWidth, height)
}

// foot is why the last key did nothing.
func (d *runsDialog) foot(width int) []string {
	var lines []string
	if d.searching || d.search != "" {
		cursor := ""
		if d.searching {
			cursor = d.look.glyphs.Cursor
		}
		lines = append(lines, d.look.Faint.Render("search ")+d.look.Strong.Render(d.look.cutLeft(d.search, width-8))+d.look.Accent.Render(cursor))
	}
	if d.word != "" {
		lines = append(lines, paint(d.look.Warning, wrap(d.word, width))...)
	}
	return lines
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
	what := runWords(l, s)
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
func runWords(l *look, s agent.Summary) string {
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
	case s.Status == event.StatusCompleted && s.Reason == event.ReasonPartial:
		return l.glyphs.Partial, "in part", l.Warning
	case s.Status == event.StatusCompleted && s.Reason == event.ReasonNothingFound:
		return l.glyphs.Separator, "nothing", l.Muted
	case s.Status == event.StatusCompleted:
		return l.glyphs.Done, "completed", l.Success
	case s.Status == event.StatusCancelled:
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
