package dialog

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
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/telling"
)

// Runs lists the runs so that the user can resume one.
type Runs struct {
	Look  *draw.Look
	Keys  *keymap.Map
	Open  bool
	asked bool            // waiting for the list
	front string          // run on the screen behind the dialog; "" for none
	all   []agent.Summary // all runs, in list order
	runs  []agent.Summary // runs that match the filters
	draw.List
	Word string

	Folder    string // workspace
	elsewhere bool   // include other folders
	searching bool   // keys edit the search
	search    string
	GoOn      func(session string)             // resumes a conversation; nil if that is impossible here
	talks     []session.Conversation           // conversations; nil until they arrive
	talking   bool                             // list conversations instead of runs
	Busy      func() bool                      // reports whether a run is active
	Undo      func(agent.Summary) keymap.Query // opens the undo dialog for a run
	Live      func(run string) bool            // reports whether a run on the screen, or one around it, is active
}

// Ask opens the dialog and requests the list. shown is the run on the screen, or ""
// for none.
func (d *Runs) Ask(shown string) keymap.Query {
	d.Open, d.asked, d.Word, d.List = true, true, "", draw.List{}
	d.searching, d.search, d.talking, d.talks, d.all, d.runs = false, "", false, nil, nil, nil
	d.front = shown
	return keymap.QueryRuns
}

// Take stores the list: a resumable run on the screen first, then unfinished runs,
// then the rest. Each part keeps its newest-first order.
func (d *Runs) Take(runs []agent.Summary) {
	chosen := ""
	if !d.asked && d.At < len(d.runs) {
		chosen = d.runs[d.At].Run
	}
	d.asked, d.At = false, 0
	d.all = slices.Clone(runs)
	slices.SortStableFunc(d.all, func(a, b agent.Summary) int {
		return d.rank(a) - d.rank(b)
	})
	d.sift()
	for i := range d.runs {
		if d.runs[i].Run == chosen {
			d.At = i
		}
	}
}

func (d *Runs) rank(s agent.Summary) int {
	switch {
	case s.Run == d.front && WhyNoResume(s, false) == "":
		return 0
	case s.Status == agent.StatusUnfinished:
		return 1
	default:
		return 2
	}
}

// Forget clears messages from the session.
func (d *Runs) Forget() { d.Word = "" }

// Handlers returns the actions of the dialog.
func (d *Runs) Handlers() keymap.Handlers {
	if d.searching {
		return d.searchHandlers()
	}
	hs := d.listHandlers()
	switch {
	case d.talking:
		return hs.With(keymap.Handlers{"list.choose": {Do: d.enter}})
	case d.At >= len(d.runs):
		return hs
	}
	s := d.runs[d.At]
	return hs.With(keymap.Handlers{
		"runs.play": {Do: func() keymap.Wanted { return d.replay(false) }},
		"runs.show": {Do: func() keymap.Wanted { return d.replay(true) }},
		"plan.undo": {Do: func() keymap.Wanted {
			if d.Word = whyNoUndo(s, d.Live(s.Run)); d.Word != "" {
				return keymap.Wanted{}
			}
			return keymap.Wanted{Ask: d.Undo(s)}
		}},
		"list.choose": {Do: func() keymap.Wanted {
			if d.Word = WhyNoResume(s, d.Live(s.Run)); d.Word != "" {
				return keymap.Wanted{}
			}
			d.Open = false
			return keymap.Sending(runner.Resume{Run: s.Run})
		}},
	})
}

// Shown reports whether the dialog is open.
func (d *Runs) Shown() bool { return d.Open }

// Types reports whether keys go to a text field.
func (d *Runs) Types() bool { return d.searching }

// Hints lists the keys that are active now.
func (d *Runs) Hints() []keymap.Hint {
	close, choose := d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("choose", "move.up", "move.down")
	folders, search := d.Keys.Hint(d.otherFolders(), "list.folders"), d.Keys.Hint("search", "list.search")
	other := d.Keys.Hint(d.otherList(), "list.other")
	switch {
	case d.searching:
		return []keymap.Hint{d.Keys.Hint("done", "list.choose"), d.Keys.Hint("show all", "dialog.leave"), d.Keys.Hint("choose", "list.up", "list.down")}
	case d.talking:
		return []keymap.Hint{d.Keys.Hint("go on with it", "list.choose"), close, other, choose, folders, search}
	case len(d.runs) == 0:
		return []keymap.Hint{close, choose, other, folders}
	}
	return []keymap.Hint{d.Keys.Hint("resume", "list.choose"), close, choose, d.Keys.Hint("play", "runs.play"), d.Keys.Hint("show", "runs.show"), d.Keys.Hint("undo", "plan.undo"), other, folders, search}
}

// Wheeled handles a turn of the mouse wheel.
func (d *Runs) Wheeled(lines int) { d.Move(lines/draw.WheelStep, d.count()) }

// Clicked selects the run drawn at line y of the dialog's area.
func (d *Runs) Clicked(y int) {
	if d.List.Clicked(y, d.count()) {
		d.Word = ""
	}
}

// WhyNoResume says why a run cannot be resumed now, or "" if it can. goes reports
// whether the run is active in this session.
func WhyNoResume(s agent.Summary, goes bool) string {
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

// whyNoUndo says why a run cannot be undone now, or "" if it can. goes has the same
// meaning as in WhyNoResume.
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

// Draw draws the dialog centered in exactly height lines of screenWidth cells.
func (d *Runs) Draw(screenWidth, height int) []string {
	const widest, oneLine = 110, 70 // cells
	l := d.Look
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
		lines = draw.Paint(l.Faint, draw.Wrap(d.empty(), inner))
	} else {
		end := d.Window(d.count(), room, each)
		for i := d.Top; i < end; i++ {
			if d.talking {
				lines = append(lines, d.talkRow(i, inner, each)...)
				continue
			}
			lines = append(lines, d.row(i, inner, each)...)
		}
		note = l.Span(d.Top, end, d.count())
	}
	if len(lines) > room {
		lines = lines[:room]
	}
	for i, line := range foot {
		foot[i] = l.Fit(line, inner)
	}
	sections := []draw.Section{{Title: d.title(inner), Note: note, Lines: draw.Padded(l.Block(lines, inner, len(lines))), Style: l.Focus}}
	if len(foot) > 0 {
		sections = append(sections, draw.Section{Lines: draw.Padded(foot), Style: l.Focus})
	}
	framed := l.Frame(width, l.Focus, sections...)
	d.First = max((height-len(framed))/2, 0) + 1 // below the border
	return l.Middle(framed, width, screenWidth, height)
}

// foot shows why the last key had no effect.
func (d *Runs) foot(width int) []string {
	var lines []string
	if d.searching || d.search != "" {
		cursor := ""
		if d.searching {
			cursor = d.Look.Glyphs.Cursor
		}
		lines = append(lines, d.Look.Faint.Render("search ")+d.Look.Strong.Render(d.Look.CutLeft(d.search, width-8))+d.Look.Accent.Render(cursor))
	}
	if d.Word != "" {
		lines = append(lines, draw.Paint(d.Look.Warning, draw.Wrap(d.Word, width))...)
	}
	return lines
}

// row draws one run on the given number of lines.
func (d *Runs) row(i, width, lines int) []string {
	l, s := d.Look, d.runs[i]
	line := l.Line(i == d.At, true)
	glyph, word, style := d.State(s)
	facts := []string{ago(l.Since(s.Started)), shareOf(s)}
	if lines > 1 {
		facts[0] = strings.TrimSuffix(facts[0], " ago")
		slices.Reverse(facts) // keeps the shorter text uncut
	}
	if s.Replans > 0 {
		facts = append(facts, english.Count(s.Replans, "replan"))
	}
	what := RunWords(l, s)
	here := ""
	if s.Run == d.front && !d.Live(s.Run) {
		here = "on screen " + l.Glyphs.Separator + " "
	}
	between := " " + l.Glyphs.Separator + " "
	head := line.Cursor + line.Draw(style, glyph+" "+word)
	if lines > 1 {
		facts = slices.DeleteFunc(facts, func(fact string) bool { return fact == "" })
		head += line.Draw(l.Muted, "  "+strings.Join(facts, between))
		id := line.Draw(l.Faint, " "+telling.ShortID(s.Run))
		room := width - draw.VisibleWidth(id)
		return []string{line.Fill(head, room) + id, line.Fill(line.Cursor+line.Draw(l.Accent, "  "+here)+line.Draw(l.Text, what), width)}
	}
	const state, when, done = 15, 16, 8
	drawn := line.Fill(head, state) + line.Fill(line.Draw(l.Muted, facts[0]), when) + line.Fill(line.Draw(l.Muted, facts[1]), done)
	tail := "  " + strings.Join(append(facts[2:], telling.ShortID(s.Run)), between)
	drawn += line.Draw(l.Accent, here)
	room := width - draw.VisibleWidth(drawn) - draw.VisibleWidth(tail)
	drawn += line.Fill(line.Draw(l.Text, l.Cut(what, room)), room)
	return []string{drawn + line.Draw(l.Faint, tail)}
}

// shareOf describes how much of a run's plan is done, or "" if it has no plan.
func shareOf(s agent.Summary) string {
	if s.Steps == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Done, s.Steps)
}

// RunWords describes a run: the title of its plan, plus the goal if it says more.
func RunWords(l *draw.Look, s agent.Summary) string {
	title, goal := untrusted.Line(s.Title), untrusted.FirstLine(s.Goal)
	switch {
	case goal == "" || strings.EqualFold(title, goal):
		return title
	case title == "":
		return goal
	default:
		return title + " " + l.Glyphs.Separator + " " + goal
	}
}

// State returns the glyph, word and style for the state of a run.
func (d *Runs) State(s agent.Summary) (glyph, word string, style lipgloss.Style) {
	l := d.Look
	switch {
	case d.Live(s.Run):
		return l.Glyphs.Folded, "goes on", l.Running
	case s.Status == agent.StatusRunning:
		return l.Glyphs.Folded, "elsewhere", l.Running
	case s.Status == agent.StatusUnfinished:
		return l.Glyphs.Warning, "unfinished", l.Warning
	case s.Status == event.StatusCompleted && s.Reason == event.ReasonPartial:
		return l.Glyphs.Partial, "in part", l.Warning
	case s.Status == event.StatusCompleted && s.Reason == event.ReasonNothingFound:
		return l.Glyphs.Separator, "nothing", l.Muted
	case s.Status == event.StatusCompleted:
		return l.Glyphs.Done, "completed", l.Success
	case s.Status == event.StatusCancelled:
		return l.Glyphs.Stopped, "stopped", l.Warning
	default:
		return l.Glyphs.Failed, untrusted.Line(string(s.Status)), l.Danger
	}
}

// ago formats an elapsed time in a few words.
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
		return english.Count(int(d/day), "day") + " ago"
	}
}
