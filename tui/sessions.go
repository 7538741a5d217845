package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"replan/agent/session"
	"replan/tui/untrusted"
)

// The list of runs is also that of conversations, of this folder or of all, and
// can be searched.

// listHandlers are the actions on what is listed.
func (d *runsDialog) listHandlers() handlers {
	leave := func() {
		if d.search == "" {
			d.open = false
			return
		}
		d.seek("")
	}
	return handlers{
		"dialog.leave": {do: just(leave)},
		"runs":         {do: just(func() { d.open = false })},
		"list.search":  {do: just(func() { d.searching = true })},
		"list.folders": {do: just(func() {
			d.elsewhere = !d.elsewhere
			d.sift()
		})},
		"list.other": {do: func() wanted {
			d.talking, d.list = !d.talking, list{}
			if d.talking && d.talks == nil {
				return wanted{ask: queryConversations}
			}
			return wanted{}
		}},
	}.with(d.moving(false, d.count()))
}

// searchHandlers are the actions while letters go into the search.
func (d *runsDialog) searchHandlers() handlers {
	done := func(text string) func() wanted {
		return just(func() {
			d.searching = false
			d.seek(text)
		})
	}
	return handlers{
		"dialog.leave": {do: done("")},
		"list.choose":  {do: done(d.search)},
	}.with(d.moving(true, d.count()), searching(d.search, d.seek))
}

// seek searches what is listed for a text.
func (d *runsDialog) seek(text string) {
	d.search = text
	d.sift()
}

// typed adds a letter to the search.
func (d *runsDialog) typed(k tea.KeyPressMsg) wanted {
	if d.searching && k.Text != "" {
		d.seek(d.search + untrusted.Line(k.Text))
	}
	return wanted{}
}

// sift lists what the search and the folder leave.
func (d *runsDialog) sift() {
	d.runs = d.runs[:0:0]
	for _, s := range d.all {
		if d.here(s.Workspace) && d.found(s.Title+" "+s.Goal+" "+s.Run+" "+string(s.Status)) {
			d.runs = append(d.runs, s)
		}
	}
	d.move(0, d.count())
}

// here reports whether what belongs to a folder is listed.
func (d *runsDialog) here(folder string) bool {
	return d.elsewhere || d.folder == "" || folder == "" || folder == d.folder
}

// found reports whether the search finds a text.
func (d *runsDialog) found(text string) bool {
	return d.search == "" || strings.Contains(strings.ToLower(text), strings.ToLower(d.search)) || len(fuzzy.Find(strings.ReplaceAll(d.search, " ", ""), []string{text})) > 0 && len(d.search) > 3
}

// listedTalks are the conversations that the search and the folder leave.
func (d *runsDialog) listedTalks() []session.Conversation {
	var out []session.Conversation
	for _, t := range d.talks {
		if d.here(t.Workspace) && d.found(t.First+" "+t.Last+" "+t.Session) {
			out = append(out, t)
		}
	}
	return out
}

// count is how many are listed.
func (d *runsDialog) count() int {
	if d.talking {
		return len(d.listedTalks())
	}
	return len(d.runs)
}

// otherFolders is what the key of the folders shows, otherList that of the lists.
func (d *runsDialog) otherFolders() string {
	if d.elsewhere {
		return "this folder"
	}
	return "all folders"
}

func (d *runsDialog) otherList() string {
	if d.talking {
		return "runs"
	}
	return "conversations"
}

// title is both lists, the one in view underlined, and of which folders they are.
func (d *runsDialog) title(width int) string {
	l := d.look
	draw := func(name string, chosen bool) string {
		if chosen {
			return l.Accent.Bold(true).Underline(true).Render(name)
		}
		return l.Muted.Render(name)
	}
	between := l.Faint.Render(" " + l.glyphs.Separator + " ")
	title := draw("Runs", !d.talking) + between + draw("Conversations", d.talking)
	where := "of this folder"
	if d.elsewhere || d.folder == "" {
		where = "of all folders"
	}
	if width >= 50 {
		title += between + l.Faint.Render(where)
	}
	return title
}

// empty says why nothing is listed.
func (d *runsDialog) empty() string {
	others := !d.elsewhere && (!d.talking && len(d.all) > 0 || d.talking && len(d.talks) > 0)
	switch {
	case !d.talking && d.asked:
		return "Looking for runs" + d.look.glyphs.Ellipsis
	case d.talking && d.talks == nil:
		return "Looking for conversations" + d.look.glyphs.Ellipsis
	case d.search != "":
		return "Nothing fits " + d.search + "; esc shows all."
	case others:
		return "There are none of this folder yet; " + d.keys.Folders.Help().Key + " lists those of all folders."
	case d.talking:
		return "There are no conversations yet: what you say in the chat begins one."
	default:
		return "There are no runs yet: type a goal in the chat, and its run will be listed here."
	}
}

// takeTalks takes the conversations.
func (d *runsDialog) takeTalks(talks []session.Conversation) {
	d.talks = append([]session.Conversation{}, talks...)
	d.move(0, d.count())
}

// enter goes on with the chosen conversation.
func (d *runsDialog) enter() wanted {
	talks := d.listedTalks()
	if d.at >= len(talks) {
		return wanted{}
	}
	t := talks[d.at]
	switch {
	case t.Open:
		d.word = "It is open already, here or in another replan."
	case d.busy():
		d.word = "A run goes on: stop it first, since this conversation is left for that one."
	case d.goOn == nil:
		d.word = "From here no other conversation can be opened: start replan --continue in its folder."
	case t.Workspace != "" && d.folder != "" && t.Workspace != d.folder:
		d.word = "It belongs to " + untrusted.Line(t.Workspace) + ": start replan --continue there."
	default:
		d.open = false
		d.goOn(t.Session)
		return wanted{cmd: tea.Quit}
	}
	return wanted{}
}

// talkRow draws one conversation on that many lines.
func (d *runsDialog) talkRow(i, width, lines int) []string {
	l, t := d.look, d.listedTalks()[i]
	line := l.line(i == d.at, true)
	when := ago(l.since(t.Changed))
	facts := plural(t.Turns, "turn") + " " + l.glyphs.Separator + " " + plural(t.Runs, "run")
	if t.Open {
		facts += " " + l.glyphs.Separator + " open"
	}
	what := untrusted.FirstLine(t.First)
	if lines > 1 {
		return []string{
			line.fill(line.cursor+line.draw(l.Muted, strings.TrimSuffix(when, " ago")+"  "+facts), width),
			line.fill(line.cursor+line.draw(l.Text, "  "+what), width),
		}
	}
	const wide = 16 // cells
	tail := line.draw(l.Faint, "  "+facts+" ")
	drawn := line.cursor + line.fill(line.draw(l.Muted, when), wide)
	room := width - visibleWidth(drawn) - visibleWidth(tail)
	return []string{drawn + line.fill(line.draw(l.Text, l.cut(what, room)), room) + tail}
}

// replay asks for the events of the chosen run, to play them or to show how it
// ended.
func (d *runsDialog) replay(show bool) wanted {
	s := d.runs[d.at]
	d.word = "Reading its journal" + d.look.glyphs.Ellipsis
	return wanted{play: &recall{run: s.Run, atEnd: show}, ask: queryJournal(s.Run)}
}
