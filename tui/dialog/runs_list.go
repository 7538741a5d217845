package dialog

import (
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// The dialog also lists conversations, covers this folder or all folders, and has a
// search.

// listActions are the actions that choose what is listed.
func listActions() keymap.Table[*Runs] {
	return keymap.Table[*Runs]{
		{ID: "runs.status", Keys: "s", Does: "list all runs, or those unfinished, done or failed", Do: keymap.Calls((*Runs).nextStatus)},
		{ID: "list.folders", Keys: "f", Does: "this folder only, or all folders", Do: keymap.Calls((*Runs).turnFolders)},
		{ID: "list.search", Do: keymap.Calls(func(d *Runs) { d.searching = true })},
		{ID: "list.other", When: func(d *Runs) bool { return d.live.Can.NoConversations == "" }, Do: (*Runs).turnList},
		{ID: "dialog.leave", Do: keymap.Calls((*Runs).leave)},
		closing[*Runs]("runs"),
	}
}

// leave closes the dialog, or first lists all entries again.
func (d *Runs) leave() {
	if !d.filtered() {
		d.Close()
	}
	d.status = allRuns
	d.seek("")
}

// turnList lists the conversations, or the runs again.
func (d *Runs) turnList() keymap.Requests {
	d.listsConversations = !d.listsConversations
	d.toFirst()
	if d.listsConversations && d.conversations == nil {
		return keymap.Requests{keymap.Query(keymap.QueryConversations)}
	}
	return nil
}

// nextStatus lists the next part of the runs.
func (d *Runs) nextStatus() {
	if d.listsConversations {
		return
	}
	d.status = d.status.next()
	d.toFirst()
	d.sift()
}

// turnFolders lists this folder only, or all folders.
func (d *Runs) turnFolders() {
	d.elsewhere = !d.elsewhere
	d.sift()
}

// runsSearchActions are the actions while letters go to the search.
func runsSearchActions() keymap.Table[*Runs] {
	return keymap.Table[*Runs]{
		{ID: "list.choose", Do: keymap.Calls(func(d *Runs) { d.endSearch(d.query()) })},
		{ID: "dialog.leave", Do: keymap.Calls(func(d *Runs) { d.endSearch("") })},
	}
}

// endSearch ends the search, and lists what matches a text.
func (d *Runs) endSearch(text string) {
	d.searching = false
	d.seek(text)
}

// runStatus is a part of the runs that the status key shows.
type runStatus int

// The parts, in the order in which the key shows them.
const (
	allRuns runStatus = iota
	unfinishedRuns
	doneRuns
	failedRuns
	runStatuses
)

// next returns the part that the key shows next.
func (r runStatus) next() runStatus { return (r + 1) % runStatuses }

// String names the part.
func (r runStatus) String() string { return [...]string{"all", "unfinished", "done", "failed"}[r] }

// holds reports whether a run belongs to the part.
func (r runStatus) holds(s agent.Summary) bool {
	if s.Undone {
		return r == allRuns
	}
	switch s.Status {
	case event.StatusCompleted:
		return r == allRuns || r == doneRuns
	case event.StatusFailed:
		return r == allRuns || r == failedRuns
	default:
		return r == allRuns || r == unfinishedRuns
	}
}

// filtered reports whether a search or a status hides entries of the list in view.
func (d *Runs) filtered() bool {
	return d.query() != "" || d.status != allRuns && !d.listsConversations
}

// seek sets the search text.
func (d *Runs) seek(text string) {
	d.setQuery(text)
	d.sift()
}

// sift applies the search and the filters.
func (d *Runs) sift() {
	d.runs = d.runs[:0:0]
	for _, s := range d.all {
		if d.status.holds(s) && d.here(s.Workspace) && d.found(s.Title.Visible()+" "+s.Goal.Visible()+" "+s.Run+" "+string(s.Status)+" "+wording.RunWords(s)) {
			d.runs = append(d.runs, s)
		}
	}
	d.Move(0, d.count())
}

// here reports whether the folder filter admits folder.
func (d *Runs) here(folder string) bool {
	return d.elsewhere || d.folder == "" || folder == "" || untrusted.Text(folder) == d.folder
}

// found reports whether text contains every word of the search.
func (d *Runs) found(text string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(d.query())), func(word string) bool { return !strings.Contains(text, word) })
}

// listedConversations returns the conversations that match the search and the folder
// filter.
func (d *Runs) listedConversations() []session.Conversation {
	var out []session.Conversation
	for _, t := range d.conversations {
		if d.here(t.Workspace) && d.found(t.First.Visible()+" "+t.Last.Visible()+" "+t.Session) {
			out = append(out, t)
		}
	}
	return out
}

// count returns the number of listed entries.
func (d *Runs) count() int {
	if d.listsConversations {
		return len(d.listedConversations())
	}
	return len(d.runs)
}

// otherFolders names what the folder key switches to; otherList does so for the
// list key.
func (d *Runs) otherFolders() string {
	if d.elsewhere {
		return "this folder"
	}
	return "all folders"
}

func (d *Runs) otherList() string {
	if d.listsConversations {
		return "runs"
	}
	return "conversations"
}

// title names both lists, underlines the one in view, and says which folders they
// cover.
func (d *Runs) title(width int) string {
	l := d.Styles
	lists := []string{"Runs", "Conversations"}
	if d.live.Can.NoConversations != "" {
		lists = lists[:1]
	}
	title := d.tabs(second(d.listsConversations), lists...)
	where := "of this folder"
	if d.elsewhere || d.folder == "" {
		where = "of all folders"
	}
	if width >= 50 {
		title += l.Faint.Render(" "+l.Glyphs.Separator+" ") + l.Faint.Render(where)
	}
	if width >= 90 && !d.listsConversations {
		title += l.Faint.Render(" "+l.Glyphs.Separator+" ") + l.Key.Render(d.Keys.Name("runs.play")) + l.Faint.Render(" plays one")
	}
	return title
}

// empty explains why the list is empty.
func (d *Runs) empty() string {
	others := !d.elsewhere && (!d.listsConversations && len(d.all) > 0 || d.listsConversations && len(d.conversations) > 0)
	switch {
	case !d.listsConversations && d.asked:
		return "Looking for runs" + d.Styles.Glyphs.Ellipsis
	case d.listsConversations && d.conversations == nil:
		return "Looking for conversations" + d.Styles.Glyphs.Ellipsis
	case d.query() != "":
		return "No match for " + d.query() + "; " + d.Keys.Name("dialog.leave") + " shows all."
	case d.status != allRuns && !d.listsConversations && len(d.all) > 0:
		return "No " + d.status.String() + " runs; " + d.Keys.Name("dialog.leave") + " shows all."
	case others:
		return "There are none in this folder yet; " + d.Keys.Shown("list.folders") + " lists those of all folders."
	case d.listsConversations:
		return "There are no conversations yet: a message in the chat starts one."
	default:
		return "There are no runs yet: type a goal in the chat to start one."
	}
}

// enter resumes the selected conversation.
func (d *Runs) enter() keymap.Requests {
	listed := d.listedConversations()
	if d.At >= len(listed) {
		return nil
	}
	t := listed[d.At]
	switch {
	case t.Open:
		d.say("It is already open, here or in another replan.")
	case d.live.Busy():
		d.say("A run is active: stop it before you switch conversations.")
	case !d.continues:
		d.say("You cannot open it here: start replan --continue in its folder.")
	case t.Workspace != "" && d.folder != "" && untrusted.Text(t.Workspace) != d.folder:
		d.say("It belongs to " + untrusted.Line(t.Workspace) + ": start replan --continue there.")
	default:
		d.Close()
		return keymap.Requests{keymap.Continue(t.Session)}
	}
	return nil
}

// conversationRow draws one conversation on the given number of lines.
func (d *Runs) conversationRow(i, width, lines int) []string {
	l, t := d.Styles, d.listedConversations()[i]
	line := l.Line(i == d.At, true)
	when := wording.Ago(l.Since(t.Changed))
	facts := english.Count(t.Turns, "turn") + " " + l.Glyphs.Separator + " " + english.Count(t.Runs, "run")
	if t.Open {
		facts += " " + l.Glyphs.Separator + " open"
	}
	what := t.First.FirstLine()
	if lines > 1 {
		return []string{
			line.Fill(line.Cursor+line.Draw(l.Muted, strings.TrimSuffix(when, " ago")+"  "+facts), width),
			line.Fill(line.Cursor+line.Draw(l.Text, "  "+what), width),
		}
	}
	const wide = 16 // cells
	tail := line.Draw(l.Faint, "  "+facts+" ")
	drawn := line.Cursor + line.Fill(line.Draw(l.Muted, when), wide)
	room := width - draw.VisibleWidth(drawn) - draw.VisibleWidth(tail)
	return []string{drawn + line.Fill(line.Draw(l.Text, l.Cut(what, room)), room) + tail}
}

// replay requests the events of the selected run, to play them back or to show its
// final state.
func (d *Runs) replay(show bool) keymap.Requests {
	s := d.runs[d.At]
	d.say("Reading its journal" + d.Styles.Glyphs.Ellipsis)
	return keymap.Requests{keymap.Recall{Run: s.Run, AtEnd: show}, keymap.QueryJournal(s.Run)}
}
