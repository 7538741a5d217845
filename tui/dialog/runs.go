package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/wording"
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
	status             runStatus              // the listed part of the runs
	searching          bool                   // keys edit the search
	conversations      []session.Conversation // conversations; nil until they arrive
	listsConversations bool                   // list conversations instead of runs

	past    PastRun // last read for the preview
	reading string  // run being read for the preview; "" for none
	roomy   bool    // the last view had room for the preview

	live      *live.Runs // runs on the screen
	continues bool       // a conversation can be continued here
}

// NewRuns returns the dialog, closed. continues tells whether a conversation can be
// continued here.
func NewRuns(l *draw.Styles, k *keymap.Map, live *live.Runs, continues bool) *Runs {
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
	d.status, d.past, d.reading = allRuns, PastRun{}, ""
	return keymap.QueryRuns
}

// ShowMessage shows a message about the last key.
func (d *Runs) ShowMessage(message string) { d.say(message) }

// Update handles letters of the search, the mouse and the lists.
func (d *Runs) Update(msg tea.Msg) keymap.Requests {
	switch msg := msg.(type) {
	case keymap.AnswerMsg[[]agent.Summary]:
		d.store(msg.Value)
	case keymap.AnswerMsg[[]session.Conversation]:
		d.conversations = append([]session.Conversation{}, msg.Value...)
		d.Move(0, d.count())
	case keymap.AnswerMsg[PastRun]:
		if d.reading == msg.Value.ID {
			d.past, d.reading = msg.Value, ""
		}
	}
	if text := typed(msg); text != "" && d.searching {
		d.seek(d.query() + text)
	}
	w := d.update(msg, d)
	return d.reads(w)
}

// store keeps the list: a resumable run on the screen first, then unfinished runs,
// then the rest. Each part keeps its newest-first order.
func (d *Runs) store(runs []agent.Summary) {
	chosen := ""
	if !d.asked && d.At < len(d.runs) {
		chosen = d.runs[d.At].Run
	}
	d.asked, d.past = false, PastRun{}
	d.Choose(0)
	d.all = slices.Clone(runs)
	slices.SortStableFunc(d.all, func(a, b agent.Summary) int {
		return d.rank(a) - d.rank(b)
	})
	d.sift()
	for i := range d.runs {
		if d.runs[i].Run == chosen {
			d.Choose(i)
		}
	}
}

func (d *Runs) rank(s agent.Summary) int {
	switch {
	case s.Run == d.front && CanResume(s, false):
		return 0
	case s.Status == agent.StatusUnfinished && !s.Undone:
		return 1
	default:
		return 2
	}
}

// Actions returns the actions of the dialog.
func (d *Runs) Actions() keymap.Handlers {
	if d.searching {
		return d.previewing(runsSearchActions().For(d).With(d.Moving(true, d.count()), keymap.Searching(d.query(), d.seek)))
	}
	hs := listActions().For(d).With(d.Moving(false, d.count()))
	switch {
	case d.listsConversations:
		hs = hs.With(conversationActions().For(d))
	case d.At < len(d.runs):
		hs = hs.With(runActions().For(d))
	}
	return d.previewing(hs)
}

// conversationActions are the actions on the chosen conversation.
func conversationActions() keymap.Table[*Runs] {
	return keymap.Table[*Runs]{
		{ID: "list.choose", Do: (*Runs).enter},
	}
}

// runActions are the actions on the chosen run.
func runActions() keymap.Table[*Runs] {
	return keymap.Table[*Runs]{
		{ID: "runs.play", Keys: "p", Does: "replay the chosen run", Do: func(d *Runs) keymap.Requests { return d.replay(false) }},
		{ID: "runs.show", Keys: "o", Does: "open the chosen run at its end", Do: func(d *Runs) keymap.Requests { return d.replay(true) }},
		{ID: "plan.undo", Do: func(d *Runs) keymap.Requests { return d.undo(false) }},
		{ID: "plan.redo", Do: func(d *Runs) keymap.Requests { return d.undo(true) }},
		{ID: "list.choose", Do: (*Runs).resume},
	}
}

// undo asks for the preview of an undo or redo of the chosen run.
func (d *Runs) undo(redo bool) keymap.Requests {
	s := d.runs[d.At]
	if d.live.Can.NoUndo != "" {
		d.say(d.live.Can.NoUndo)
		return nil
	}
	if d.say(d.whyBusy(s, "The run is active: undo it when it has ended.")); d.lastMessage() != "" {
		return nil
	}
	return keymap.Requests{keymap.PreviewUndo{Run: s, Redo: redo}}
}

// resume resumes the chosen run, or opens it at its end.
func (d *Runs) resume() keymap.Requests {
	s := d.runs[d.At]
	if d.say(d.whyBusy(s, "This is the active run.")); d.lastMessage() != "" {
		return nil
	}
	if !d.canResume(s) {
		return d.replay(true)
	}
	d.Close()
	return keymap.SendCommands(session.Resume{Run: s.Run})
}

// Typing reports whether letters go to the search.
func (d *Runs) Typing() bool { return d.searching }

// Hints lists the keys that are active now.
func (d *Runs) Hints() []keymap.Hint {
	close, choose := d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("choose", "move.up", "move.down")
	if d.filtered() {
		close.Does = "show all"
	}
	folders, search := d.Keys.Hint(d.otherFolders(), "list.folders"), d.Keys.Hint("search", "list.search")
	other, status := d.Keys.Hint(d.otherList(), "list.other"), d.Keys.Hint(d.status.next().String(), "runs.status")
	switch {
	case d.searching:
		return []keymap.Hint{d.Keys.Hint("done", "list.choose"), d.Keys.Hint("show all", "dialog.leave"), d.Keys.Hint("choose", "list.up", "list.down")}
	case d.listsConversations:
		return []keymap.Hint{d.Keys.Hint("resume", "list.choose"), close, other, choose, folders, search}
	case len(d.runs) == 0:
		return []keymap.Hint{close, choose, status, other, folders}
	}
	hints := []keymap.Hint{d.Keys.Hint("open", "list.choose"), close, choose, d.Keys.Hint("play", "runs.play")}
	if d.whyBusy(d.runs[d.At], "active") != "" {
		hints = []keymap.Hint{close, choose}
	} else if d.canResume(d.runs[d.At]) {
		hints[0].Does = "resume"
		hints = append(hints, d.Keys.Hint("open", "runs.show"))
	}
	switch {
	case d.live.Can.NoUndo != "":
	case d.runs[d.At].Undone:
		hints = append(hints, d.Keys.Hint("redo", "plan.redo"))
	default:
		hints = append(hints, d.Keys.Hint("undo", "plan.undo"))
	}
	return append(hints, status, search, other, folders)
}

// CanResume reports whether a run can be resumed now. active reports whether it is
// active in this session.
func CanResume(s agent.Summary, active bool) bool {
	return s.Resumable && !active && s.Status != agent.StatusRunning
}

// canResume reports whether the dialog can resume a run.
func (d *Runs) canResume(s agent.Summary) bool {
	return d.live.Can.NoResume == "" && CanResume(s, d.active(s))
}

// active reports whether a run is on the screen and under way.
func (d *Runs) active(s agent.Summary) bool { return d.live.Live(s.Run) }

// whyBusy says why nothing can be done with a run now, or "" if it neither runs
// nor waits. active says so of a run of this session.
func (d *Runs) whyBusy(s agent.Summary, active string) string {
	others, why := d.live.Can.OtherRuns(), ""
	switch {
	case d.active(s):
		return active
	case s.Status == agent.StatusWaiting:
		why = others.Waits
	case s.Status == agent.StatusRunning:
		why = others.Advice
	}
	if why != "" && others.Follow != "" {
		why += " To follow it: " + others.Follow + " " + wording.ShortID(s.Run)
	}
	return why
}

// View draws the dialog in the middle of the screen.
func (d *Runs) View(size draw.Rect) []string {
	const widest, oneLine, low = 110, 70, 20 // cells, lines
	width, inner := d.width(size, widest)
	v := listView{title: d.title(inner), width: width, count: d.count(), each: 1, foot: d.foot(inner)}
	if inner < oneLine {
		v.each = 2
	}
	d.roomy = inner >= oneLine && size.H >= low
	v.row = func(i int) []string { return d.row(i, inner, v.each) }
	switch {
	case d.listsConversations:
		v.row = func(i int) []string { return d.conversationRow(i, inner, v.each) }
	case v.count > 0 && v.each == 1:
		v.head = []string{d.heads(inner)}
		if d.roomy {
			const share, most = 3, 14 // of the lines
			v.below = d.preview(d.runs[d.At], inner, min(size.H/share+1, most))
		}
	}
	v.empty = draw.Paint(d.Styles.Faint, draw.Wrap(d.empty(), inner))
	return d.view(size, v)
}

// foot shows the filter, the search, and why the last key had no effect.
func (d *Runs) foot(width int) []string {
	l := d.Styles
	var parts, lines []string
	if d.status != allRuns && !d.listsConversations {
		parts = append(parts, l.Faint.Render("status ")+l.Strong.Render(d.status.String()))
	}
	if d.searching || d.query() != "" {
		cursor := ""
		if d.searching {
			cursor = l.Glyphs.Cursor
		}
		parts = append(parts, l.Faint.Render("search ")+l.Strong.Render(l.CutLeft(d.query(), width-8))+l.Accent.Render(cursor))
	}
	lines = draw.Flow(parts, "  ", width)
	if d.lastMessage() != "" {
		lines = append(lines, draw.Paint(l.Warning, draw.Wrap(d.lastMessage(), width))...)
	}
	return lines
}

// The columns of a row on one line, in cells.
const (
	whenColumn = 16
	doneColumn = 8
)

// stateColumn returns the width of the first column: a wide list has room for
// "nothing to commit".
func stateColumn(width int) int {
	if width < 90 {
		return 17
	}
	return 21
}

// heads names the columns of the rows.
func (d *Runs) heads(width int) string {
	l := d.Styles
	pad := func(name string, cells int) string { return name + strings.Repeat(" ", max(cells-len(name), 0)) }
	return l.Faint.Render(l.Sides("   "+pad("state", stateColumn(width)-3)+pad("started", whenColumn)+pad("steps", doneColumn)+"goal", "run", width))
}

// row draws one run on the given number of lines.
func (d *Runs) row(i, width, lines int) []string {
	l, s := d.Styles, d.runs[i]
	line := l.Line(i == d.At, true)
	glyph, word, style := d.State(s)
	facts := []string{wording.Ago(l.Since(s.Started)), shareOf(s)}
	if lines > 1 {
		facts[0] = strings.TrimSuffix(facts[0], " ago")
		slices.Reverse(facts) // keeps the shorter text uncut
	}
	if s.Replans > 0 {
		facts = append(facts, english.Count(s.Replans, "replan"))
	}
	what := runWords(l, s)
	here := ""
	if s.Run == d.front && !d.active(s) {
		here = "on screen " + l.Glyphs.Separator + " "
	}
	between := " " + l.Glyphs.Separator + " "
	head := line.Cursor + line.Draw(style, glyph+" "+word)
	if lines > 1 {
		facts = slices.DeleteFunc(facts, func(fact string) bool { return fact == "" })
		head += line.Draw(l.Muted, "  "+strings.Join(facts, between))
		id := line.Draw(l.Faint, " "+wording.ShortID(s.Run))
		room := width - draw.VisibleWidth(id)
		return []string{line.Fill(head, room) + id, line.Fill(line.Cursor+line.Draw(l.Accent, "  "+here)+line.Draw(l.Text, what), width)}
	}
	// A blank keeps a long state apart from the next column.
	drawn := line.Fill(head, stateColumn(width)-1) + line.Fill("", 1) + line.Fill(line.Draw(l.Muted, facts[0]), whenColumn) + line.Fill(line.Draw(l.Muted, facts[1]), doneColumn)
	tail := "  " + strings.Join(append(facts[2:], wording.ShortID(s.Run)), between)
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

// runWords describes a run: the title of its plan and the goal, or one of them if it
// contains the other.
func runWords(l *draw.Styles, s agent.Summary) string {
	title, goal := s.Title.Line(), s.Goal.FirstLine()
	switch {
	case contains(title, goal):
		return cmp.Or(title, goal)
	case contains(goal, title):
		return goal
	default:
		return title + " " + l.Glyphs.Separator + " " + goal
	}
}

// contains reports whether text contains the words of part in their order, ignoring
// case and punctuation.
func contains(text, part string) bool {
	words := func(s string) string {
		return " " + strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
	}
	return strings.Contains(words(text)+" ", strings.TrimRight(words(part), " ")+" ")
}

// State returns the glyph, word and style for the state of a run.
func (d *Runs) State(s agent.Summary) (glyph, word string, style lipgloss.Style) {
	glyph, style = draw.RunGlyph(d.Styles, s)
	switch {
	case d.active(s):
		return d.Styles.Glyphs.Folded, "running", d.Styles.Running
	case s.Status == agent.StatusRunning:
		return glyph, d.live.Can.OtherRuns().Place, style
	default:
		return glyph, wording.RunWords(s), style
	}
}
