package dialog

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/telling"
)

// Runs lists the runs so that the user can resume one.
type Runs struct {
	list
	asked bool            // waiting for the list
	front string          // run on the screen behind the dialog; "" for none
	all   []agent.Summary // all runs, in list order
	runs  []agent.Summary // runs that match the filters

	folder             untrusted.Text         // workspace
	elsewhere          bool                   // include other folders
	searching          bool                   // keys edit the search
	conversations      []session.Conversation // conversations; nil until they arrive
	listsConversations bool                   // list conversations instead of runs

	live      *live.Runs // runs on the screen
	continues bool       // a conversation can be continued here
}

// NewRuns returns the dialog, closed. continues tells whether a conversation can be
// continued here.
func NewRuns(l *draw.Look, k *keymap.Map, live *live.Runs, continues bool) *Runs {
	return &Runs{list: newList(l, k), live: live, continues: continues}
}

// Open opens the dialog on a folder and requests the list.
func (d *Runs) Open(folder untrusted.Text) keymap.Query {
	d.open()
	d.asked, d.front, d.folder = true, "", folder
	if run := d.live.Current().State; run != nil {
		d.front = run.ID
	}
	d.searching, d.listsConversations, d.conversations, d.all, d.runs = false, false, nil, nil, nil
	return keymap.QueryRuns
}

// ShowMessage shows a message about the last key.
func (d *Runs) ShowMessage(message string) { d.message = message }

// Update handles letters of the search, the mouse and the lists.
func (d *Runs) Update(msg tea.Msg) keymap.Request {
	switch msg := msg.(type) {
	case keymap.AnswerMsg[[]agent.Summary]:
		d.store(msg.Value)
	case keymap.AnswerMsg[[]session.Conversation]:
		d.conversations = append([]session.Conversation{}, msg.Value...)
		d.Move(0, d.count())
	}
	if text := typed(msg); text != "" && d.searching {
		d.seek(d.search + text)
	}
	return d.update(msg, d)
}

// store keeps the list: a resumable run on the screen first, then unfinished runs,
// then the rest. Each part keeps its newest-first order.
func (d *Runs) store(runs []agent.Summary) {
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

// Actions returns the actions of the dialog.
func (d *Runs) Actions() keymap.Handlers {
	if d.searching {
		return d.searchActions().First(d.nextKey)
	}
	hs := d.listActions()
	switch {
	case d.listsConversations:
		hs["list.choose"] = keymap.Handler{Do: d.enter}
	case d.At < len(d.runs):
		hs = hs.With(d.runActions(d.runs[d.At]))
	}
	return hs.First(d.nextKey)
}

// runActions returns the actions on a run.
func (d *Runs) runActions(s agent.Summary) keymap.Handlers {
	return keymap.Handlers{
		"runs.play": {Do: func() keymap.Request { return d.replay(false) }},
		"runs.show": {Do: func() keymap.Request { return d.replay(true) }},
		"plan.undo": {Do: func() keymap.Request {
			if d.message = whyNoUndo(s, d.live.Live(s.Run)); d.message != "" {
				return keymap.Request{}
			}
			return keymap.Request{Undo: &s}
		}},
		"list.choose": {Do: func() keymap.Request {
			if d.message = WhyNoResume(s, d.live.Live(s.Run)); d.message != "" {
				return keymap.Request{}
			}
			d.shown = false
			return keymap.SendCommands(runner.Resume{Run: s.Run})
		}},
	}
}

// Typing reports whether letters go to the search.
func (d *Runs) Typing() bool { return d.searching }

// Hints lists the keys that are active now.
func (d *Runs) Hints() []keymap.Hint {
	close, choose := d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("choose", "move.up", "move.down")
	folders, search := d.Keys.Hint(d.otherFolders(), "list.folders"), d.Keys.Hint("search", "list.search")
	other := d.Keys.Hint(d.otherList(), "list.other")
	switch {
	case d.searching:
		return []keymap.Hint{d.Keys.Hint("done", "list.choose"), d.Keys.Hint("show all", "dialog.leave"), d.Keys.Hint("choose", "list.up", "list.down")}
	case d.listsConversations:
		return []keymap.Hint{d.Keys.Hint("resume", "list.choose"), close, other, choose, folders, search}
	case len(d.runs) == 0:
		return []keymap.Hint{close, choose, other, folders}
	}
	return []keymap.Hint{d.Keys.Hint("resume", "list.choose"), close, choose, d.Keys.Hint("play", "runs.play"), d.Keys.Hint("show", "runs.show"), d.Keys.Hint("undo", "plan.undo"), other, folders, search}
}

// WhyNoResume says why a run cannot be resumed now, or "" if it can. active reports
// whether the run is active in this session.
func WhyNoResume(s agent.Summary, active bool) string {
	switch {
	case active:
		return "This is the active run."
	case s.Status == agent.StatusRunning:
		return "Another replan is running it."
	case s.Status == event.StatusCompleted && !s.Resumable:
		return "It is completed; there is nothing left to do."
	case !s.Resumable:
		return "There is nothing left to do in it."
	default:
		return ""
	}
}

// whyNoUndo says why a run cannot be undone now, or "" if it can. active has the same
// meaning as in WhyNoResume.
func whyNoUndo(s agent.Summary, active bool) string {
	switch {
	case active:
		return "The run is active: undo it when it has ended."
	case s.Status == agent.StatusRunning:
		return "Another replan is running it."
	default:
		return ""
	}
}

// View draws the dialog in the middle of the screen.
func (d *Runs) View(size draw.Rect) []string {
	const widest, oneLine = 110, 70 // cells
	width, inner := d.width(size, widest)
	v := listView{title: d.title(inner), width: width, count: d.count(), each: 1, foot: d.foot(inner)}
	if inner < oneLine {
		v.each = 2
	}
	v.row = func(i int) []string { return d.row(i, inner, v.each) }
	if d.listsConversations {
		v.row = func(i int) []string { return d.conversationRow(i, inner, v.each) }
	}
	v.empty = draw.Paint(d.Look.Faint, draw.Wrap(d.empty(), inner))
	return d.view(size, v)
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
	if d.message != "" {
		lines = append(lines, draw.Paint(d.Look.Warning, draw.Wrap(d.message, width))...)
	}
	return lines
}

// row draws one run on the given number of lines.
func (d *Runs) row(i, width, lines int) []string {
	l, s := d.Look, d.runs[i]
	line := l.Line(i == d.At, true)
	glyph, word, style := d.State(s)
	facts := []string{telling.Ago(l.Since(s.Started)), shareOf(s)}
	if lines > 1 {
		facts[0] = strings.TrimSuffix(facts[0], " ago")
		slices.Reverse(facts) // keeps the shorter text uncut
	}
	if s.Replans > 0 {
		facts = append(facts, english.Count(s.Replans, "replan"))
	}
	what := runWords(l, s)
	here := ""
	if s.Run == d.front && !d.live.Live(s.Run) {
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

// runWords describes a run: the title of its plan, plus the goal if it says more.
func runWords(l *draw.Look, s agent.Summary) string {
	title, goal := s.Title.Line(), s.Goal.FirstLine()
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
	case d.live.Live(s.Run):
		return l.Glyphs.Folded, "running", l.Running
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
