package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// The dialog also lists conversations, covers this folder or all folders, and has a
// search.

// listHandlers returns the actions on listed entries.
func (d *Runs) listHandlers() keymap.Handlers {
	leave := func() {
		if d.search == "" {
			d.Open = false
			return
		}
		d.seek("")
	}
	return keymap.Handlers{
		"dialog.leave": {Do: keymap.Just(leave)},
		"runs":         {Do: keymap.Just(func() { d.Open = false })},
		"list.search":  {Do: keymap.Just(func() { d.searching = true })},
		"list.folders": {Do: keymap.Just(func() {
			d.elsewhere = !d.elsewhere
			d.sift()
		})},
		"list.other": {Do: func() keymap.Wanted {
			d.talking, d.List = !d.talking, draw.List{}
			if d.talking && d.talks == nil {
				return keymap.Wanted{Ask: keymap.QueryConversations}
			}
			return keymap.Wanted{}
		}},
	}.With(d.Moving(false, d.count()))
}

// searchHandlers returns the actions of the search field.
func (d *Runs) searchHandlers() keymap.Handlers {
	done := func(text string) func() keymap.Wanted {
		return keymap.Just(func() {
			d.searching = false
			d.seek(text)
		})
	}
	return keymap.Handlers{
		"dialog.leave": {Do: done("")},
		"list.choose":  {Do: done(d.search)},
	}.With(d.Moving(true, d.count()), keymap.Searching(d.search, d.seek))
}

// seek sets the search text.
func (d *Runs) seek(text string) {
	d.search = text
	d.sift()
}

// Typed adds typed text to the search.
func (d *Runs) Typed(k tea.KeyPressMsg) keymap.Wanted {
	if d.searching && k.Text != "" {
		d.seek(d.search + untrusted.Line(k.Text))
	}
	return keymap.Wanted{}
}

// sift applies the search and the folder filter.
func (d *Runs) sift() {
	d.runs = d.runs[:0:0]
	for _, s := range d.all {
		if d.here(s.Workspace) && d.found(s.Title+" "+s.Goal+" "+s.Run+" "+string(s.Status)) {
			d.runs = append(d.runs, s)
		}
	}
	d.Move(0, d.count())
}

// here reports whether the folder filter admits folder.
func (d *Runs) here(folder string) bool {
	return d.elsewhere || d.Folder == "" || folder == "" || folder == d.Folder
}

// found reports whether the search matches text.
func (d *Runs) found(text string) bool {
	return d.search == "" || strings.Contains(strings.ToLower(text), strings.ToLower(d.search)) || len(fuzzy.Find(strings.ReplaceAll(d.search, " ", ""), []string{text})) > 0 && len(d.search) > 3
}

// listedTalks returns the conversations that match the search and the folder
// filter.
func (d *Runs) listedTalks() []session.Conversation {
	var out []session.Conversation
	for _, t := range d.talks {
		if d.here(t.Workspace) && d.found(t.First+" "+t.Last+" "+t.Session) {
			out = append(out, t)
		}
	}
	return out
}

// count returns the number of listed entries.
func (d *Runs) count() int {
	if d.talking {
		return len(d.listedTalks())
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
	if d.talking {
		return "runs"
	}
	return "conversations"
}

// title names both lists, underlines the one in view, and says which folders they
// cover.
func (d *Runs) title(width int) string {
	l := d.Look
	draw := func(name string, chosen bool) string {
		if chosen {
			return l.Accent.Bold(true).Underline(true).Render(name)
		}
		return l.Muted.Render(name)
	}
	between := l.Faint.Render(" " + l.Glyphs.Separator + " ")
	title := draw("Runs", !d.talking) + between + draw("Conversations", d.talking)
	where := "of this folder"
	if d.elsewhere || d.Folder == "" {
		where = "of all folders"
	}
	if width >= 50 {
		title += between + l.Faint.Render(where)
	}
	return title
}

// empty explains why the list is empty.
func (d *Runs) empty() string {
	others := !d.elsewhere && (!d.talking && len(d.all) > 0 || d.talking && len(d.talks) > 0)
	switch {
	case !d.talking && d.asked:
		return "Looking for runs" + d.Look.Glyphs.Ellipsis
	case d.talking && d.talks == nil:
		return "Looking for conversations" + d.Look.Glyphs.Ellipsis
	case d.search != "":
		return "Nothing fits " + d.search + "; " + d.Keys.Name("dialog.leave") + " shows all."
	case others:
		return "There are none of this folder yet; " + d.Keys.Folders.Help().Key + " lists those of all folders."
	case d.talking:
		return "There are no conversations yet: what you say in the chat begins one."
	default:
		return "There are no runs yet: type a goal in the chat, and its run will be listed here."
	}
}

// TakeTalks stores the conversations.
func (d *Runs) TakeTalks(talks []session.Conversation) {
	d.talks = append([]session.Conversation{}, talks...)
	d.Move(0, d.count())
}

// enter resumes the selected conversation.
func (d *Runs) enter() keymap.Wanted {
	talks := d.listedTalks()
	if d.At >= len(talks) {
		return keymap.Wanted{}
	}
	t := talks[d.At]
	switch {
	case t.Open:
		d.Word = "It is open already, here or in another replan."
	case d.Busy():
		d.Word = "A run goes on: stop it first, since this conversation is left for that one."
	case d.GoOn == nil:
		d.Word = "From here no other conversation can be opened: start replan --continue in its folder."
	case t.Workspace != "" && d.Folder != "" && t.Workspace != d.Folder:
		d.Word = "It belongs to " + untrusted.Line(t.Workspace) + ": start replan --continue there."
	default:
		d.Open = false
		d.GoOn(t.Session)
		return keymap.Wanted{Cmd: tea.Quit}
	}
	return keymap.Wanted{}
}

// talkRow draws one conversation on the given number of lines.
func (d *Runs) talkRow(i, width, lines int) []string {
	l, t := d.Look, d.listedTalks()[i]
	line := l.Line(i == d.At, true)
	when := ago(l.Since(t.Changed))
	facts := english.Count(t.Turns, "turn") + " " + l.Glyphs.Separator + " " + english.Count(t.Runs, "run")
	if t.Open {
		facts += " " + l.Glyphs.Separator + " open"
	}
	what := untrusted.FirstLine(t.First)
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
func (d *Runs) replay(show bool) keymap.Wanted {
	s := d.runs[d.At]
	d.Word = "Reading its journal" + d.Look.Glyphs.Ellipsis
	return keymap.Wanted{Play: &keymap.Recall{Run: s.Run, AtEnd: show}, Ask: keymap.QueryJournal(s.Run)}
}
