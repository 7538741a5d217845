package dialog

import (
	"slices"
	"strings"

	planlayout "replan/planning/plan/layout"
	"replan/tui/draw"
	"replan/tui/keymap"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// Help lists every key, generated from the actions. Keys for the place it was
// opened from come first. A search leaves the lines that contain its words.
type Help struct {
	document
	version   string
	search    string
	searching bool  // keys edit the search
	reached   int   // the section that a key leads to, counted from 1; 0 for none
	sections  []int // first line of each
	HelpPage
}

// HelpPage is what help lists, as it stands when help opens.
type HelpPage struct {
	Groups   []keymap.Group
	Here     keymap.Place  // where help was opened from
	Now      []keymap.Hint // keys of the dialog below it
	Replay   bool          // opened from a replay
	Commands keymap.Group  // chat commands
}

// NewHelp returns help on a version of the program, closed.
func NewHelp(l *draw.Styles, k *keymap.Map, version string) *Help {
	return &Help{document: newDocument(l, k), version: version}
}

// Open opens help.
func (h *Help) Open(page HelpPage) {
	h.HelpPage = page
	h.appear()
	h.seek("")
	h.searching = false
}

// seek sets the search text.
func (h *Help) seek(text string) {
	h.search, h.reached = text, 0
	h.reset()
}

// Actions returns the actions of the help dialog.
func (h *Help) Actions() keymap.Handlers {
	if !h.searching {
		return h.keys().With(helpActions().For(h))
	}
	return h.pageKeys().With(keymap.Searching(h.search, h.seek), helpSearchActions().For(h))
}

// helpActions are the actions of help.
func helpActions() keymap.Table[*Help] {
	return keymap.Table[*Help]{
		{ID: "dialog.leave", Do: keymap.Calls((*Help).leave)},
		{ID: "list.search", Do: keymap.Calls(func(h *Help) { h.searching = true })},
		{ID: "pane.next", Do: keymap.Calls(func(h *Help) { h.toSection(1) })},
		{ID: "pane.previous", Do: keymap.Calls(func(h *Help) { h.toSection(-1) })},
	}
}

// toSection scrolls to the next section or the previous one, and around.
func (h *Help) toSection(by int) {
	n := len(h.sections)
	if n == 0 {
		return
	}
	if h.reached == 0 && by < 0 {
		h.reached = n + 1
	}
	h.reached = (h.reached-1+by+n)%n + 1
	h.by(h.sections[h.reached-1] - h.first())
}

// helpSearchActions are the actions while letters go to the search.
func helpSearchActions() keymap.Table[*Help] {
	return keymap.Table[*Help]{
		{ID: "dialog.leave", Do: keymap.Calls((*Help).leave)},
		{ID: "list.up", Do: keymap.Calls(func(h *Help) { h.by(-1) })},
		{ID: "list.down", Do: keymap.Calls(func(h *Help) { h.by(1) })},
		{ID: "list.choose", Do: keymap.Calls(func(h *Help) { h.searching = false })},
	}
}

// leave closes help, or first clears its search.
func (h *Help) leave() {
	if h.search == "" && !h.searching {
		h.Close()
	}
	h.searching = false
	h.seek("")
}

// Typing reports whether letters go to the search.
func (h *Help) Typing() bool { return h.searching }

// Update handles letters of the search and scrolls by the wheel. Outside a search,
// any other key closes help.
func (h *Help) Update(msg tea.Msg) keymap.Requests {
	text := typed(msg)
	switch _, pressed := msg.(tea.KeyPressMsg); {
	case h.searching && text != "":
		h.seek(strings.TrimLeft(h.search+text, " "))
	case pressed && !h.searching:
		h.Close()
	}
	return h.document.Update(msg)
}

// Hints lists the keys that are active now.
func (h *Help) Hints() []keymap.Hint {
	leave := h.Keys.Hint("close", "dialog.leave")
	if h.search != "" || h.searching {
		leave = h.Keys.Hint("show all", "dialog.leave")
	}
	if h.searching {
		return []keymap.Hint{h.Keys.Hint("done", "list.choose"), leave, h.Keys.Hint("scroll", "list.up", "list.down")}
	}
	return []keymap.Hint{leave, h.Keys.Hint("search", "list.search"), h.Keys.Hint("scroll", "move.up", "move.down"), h.Keys.Hint("next section", "pane.next"), h.Keys.Hint("top, end", "move.first", "move.last")}
}

// matching returns the groups with the actions whose line contains every word of the
// search. The title of a group matches all its actions.
func (h *Help) matching(groups []keymap.Group) []keymap.Group {
	query := strings.Fields(strings.ToLower(h.search))
	var found []keymap.Group
	for _, g := range groups {
		g.Actions = slices.DeleteFunc(slices.Clone(g.Actions), func(a keymap.Action) bool {
			line := strings.ToLower(g.Title + " " + a.Key.Help().Key + " " + a.Key.Help().Desc)
			return slices.ContainsFunc(query, func(word string) bool { return !strings.Contains(line, word) })
		})
		if len(g.Actions) > 0 {
			found = append(found, g)
		}
	}
	return found
}

// ordered returns the groups with those for the current place first. In a replay,
// groups that need a live session come last.
func (h *Help) ordered() []keymap.Group {
	var here, first, rest, idle []keymap.Group
	for _, g := range h.Groups {
		switch g.Place {
		case h.Here:
			here = append(here, g)
		case keymap.PlaceReplay:
			if h.Replay {
				first = append(first, g)
			} else {
				rest = append(rest, g)
			}
		case keymap.PlaceChat, keymap.PlaceWriting, keymap.PlaceGate, keymap.PlaceQuestion, keymap.PlaceReview, keymap.PlaceQuit:
			if h.Replay {
				idle = append(idle, g)
			} else {
				rest = append(rest, g)
			}
		default:
			rest = append(rest, g)
		}
	}
	return slices.Concat(first, here, rest, idle)
}

// View draws help in the middle of the screen.
func (h *Help) View(size draw.Rect) []string {
	const oneColumn, twoColumns = 64, 100 // cells
	width := min(size.W, oneColumn)
	if size.W >= twoColumns {
		width = twoColumns
	}
	h.redraw() // the signs may have changed
	h.render(h.Styles, width-4, func(doc *draw.Document) { h.write(doc, width == twoColumns) })
	l := h.Styles
	title := l.Strong.Render(strings.TrimSpace("replan " + h.version))
	if h.search == "" && !h.searching {
		lines, note := h.visible(size.H - 2)
		return h.middle(size, width, h.section(title, note, lines))
	}
	cursor := ""
	if h.searching {
		cursor = l.Glyphs.Cursor
	}
	foot := []string{l.Faint.Render("search ") + l.Strong.Render(l.CutLeft(h.search, width-12)) + l.Accent.Render(cursor)}
	height := max(size.H-4, 1)
	lines, note := h.visible(height)
	return h.middle(size, width, h.section(title, note, l.Block(lines, width-4, height)), h.section("", "", l.Block(foot, width-4, 1)))
}

// needed returns the ten keys that a reader of the page needs first, none in a dialog or in
// a pane with keys of its own.
func (h *Help) needed() []keymap.Hint {
	k := h.Keys
	switch {
	case len(h.Now) > 0:
		return nil
	case h.Here == keymap.PlaceReplay:
		return []keymap.Hint{
			k.Hint("pause or continue", "replay.pause"), k.Hint("next moment", "replay.forth"), k.Hint("previous moment", "replay.back"),
			k.Hint("faster", "replay.faster"), k.Hint("slower", "replay.slower"), k.Hint("to the end", "replay.end"), k.Hint("next pane", "pane.next"),
			k.Hint("in the plan: open a step", "plan.open"), k.Hint("search everything you can do", "palette"), k.Hint("quit", "replay.quit"),
		}
	case h.Here != keymap.PlaceChat:
		return nil
	}
	return []keymap.Hint{
		k.Hint("send your goal", "chat.send"), k.Hint("at a gate: allow once", "gate.once"), k.Hint("at a gate: deny", "gate.deny"),
		k.Hint("stop the run", "run.stop"), k.Hint("quit", "quit"), k.Hint("next pane", "pane.next"), k.Hint("in the plan: open a step", "plan.open"),
		k.Hint("in the plan: undo the run", "plan.undo"), k.Hint("search everything you can do", "palette"), k.Hint("past runs and conversations", "runs"),
	}
}

// helpColumn is the width of a column of keys, in cells, where there are two.
const helpColumn = 46

// write writes the keys that are needed first, the signs, the sections, all keys and the
// chat commands.
func (h *Help) write(doc *draw.Document, columns bool) {
	l, groups := h.Styles, h.matching(h.ordered())
	commands := h.matching([]keymap.Group{h.Commands})
	if h.search == "" {
		h.writeNeeded(doc, columns)
		doc.Heading("Symbols")
		doc.Add(draw.Flow(h.signs(), "   ", doc.Width)...)
		if len(h.Now) > 0 {
			doc.Heading("In the dialog below")
			for _, k := range h.Now {
				doc.Add("  " + l.Key.Render(k.Label) + "  " + k.Does)
			}
		}
		h.writeContents(doc, slices.Concat(groups, commands))
	}
	if len(groups)+len(commands) == 0 {
		doc.Prose(l.Faint, "No key matches; "+h.Keys.Name("dialog.leave")+" shows all.")
	}
	if h.search == "" {
		doc.Blank()
	}
	top := len(doc.Lines)
	h.sections = nil
	if columns {
		n := half(groups)
		left, right := h.column(helpColumn, groups[:n], top), h.column(helpColumn, groups[n:], top)
		for i := range max(len(left), len(right)) {
			doc.Add(l.Fit(draw.At(left, i), helpColumn+2) + draw.At(right, i))
		}
	} else {
		doc.Add(h.column(doc.Width, groups, top)...)
	}
	if len(commands) > 0 {
		doc.Blank()
		doc.Add(h.commandLines(commands[0], doc.Width, len(doc.Lines))...)
	}
}

// writeNeeded writes the keys that the reader needs first.
func (h *Help) writeNeeded(doc *draw.Document, columns bool) {
	l, keys, names := h.Styles, h.needed(), 0
	if len(keys) == 0 {
		return
	}
	doc.Heading("The keys you need first")
	for _, k := range keys {
		names = max(names, draw.VisibleWidth(k.Label))
	}
	line := func(k keymap.Hint) string { return "  " + l.Key.Render(l.Fit(k.Label, names)) + "  " + k.Does }
	if !columns {
		for _, k := range keys {
			doc.Add(l.Cut(line(k), doc.Width))
		}
		return
	}
	half := (len(keys) + 1) / 2
	for i, k := range keys[:half] {
		right := ""
		if half+i < len(keys) {
			right = line(keys[half+i])
		}
		doc.Add(l.Fit(line(k), helpColumn+2) + right)
	}
}

// writeContents names the sections, and the key that leads through them.
func (h *Help) writeContents(doc *draw.Document, groups []keymap.Group) {
	l := h.Styles
	doc.Heading("Sections: " + h.Keys.Name("pane.next") + " leads through them")
	var titles []string
	for i, g := range groups {
		style := l.Text
		if i+1 == h.reached {
			style = l.Selected(l.Strong)
		}
		if g.Title == "" {
			g.Title = commandsTitle
		}
		titles = append(titles, style.Render(g.Title))
	}
	doc.Add(draw.Flow(titles, " "+l.Glyphs.Separator+" ", doc.Width)...)
}

// half returns how many of the groups, in order, fill the left one of two columns of
// similar length.
func half(groups []keymap.Group) (n int) {
	all := 0
	for _, g := range groups {
		all += len(g.Actions) + 2
	}
	for i, lines := 0, 0; i < len(groups) && lines < all/2; i++ {
		lines += len(groups[i].Actions) + 2
		n = i + 1
	}
	return n
}

// column draws groups of keys in one column that begins at a line of the document.
func (h *Help) column(width int, groups []keymap.Group, top int) []string {
	doc := &draw.Document{Styles: h.Styles, Width: width}
	names := 0
	for _, g := range h.Groups {
		names = max(names, keyWidth(g))
	}
	for _, g := range groups {
		h.writeSection(doc, g, names, top)
	}
	return doc.Lines
}

// writeSection draws a section, and notes where it begins.
func (h *Help) writeSection(doc *draw.Document, g keymap.Group, names, top int) {
	doc.Blank()
	h.sections = append(h.sections, top+len(doc.Lines))
	writeKeys(doc, g, names, len(h.sections) == h.reached)
}

// commandsTitle is the title of the section of the chat commands.
const commandsTitle = "Commands of the chat"

// commandLines lists the chat commands, from a line of the document on.
func (h *Help) commandLines(commands keymap.Group, width, top int) []string {
	doc := &draw.Document{Styles: h.Styles, Width: width}
	commands.Title = commandsTitle
	h.writeSection(doc, commands, min(keyWidth(commands), width/2), top)
	return doc.Lines
}

// keyWidth returns the width of the widest key name of a group.
func keyWidth(g keymap.Group) int {
	width := 0
	for _, a := range g.Actions {
		width = max(width, draw.VisibleWidth(a.Key.Help().Key))
	}
	return width
}

// writeKeys writes a group of keys with their names in a column.
func writeKeys(doc *draw.Document, g keymap.Group, column int, chosen bool) {
	if chosen {
		doc.Blank()
		doc.Add(doc.Styles.Selected(doc.Styles.Strong).Render(g.Title))
	} else {
		doc.Heading(g.Title)
	}
	writeActions(doc, g.Actions, column)
}

// writeActions writes keys with their names in a column.
func writeActions(doc *draw.Document, actions []keymap.Action, column int) {
	l := doc.Styles
	for _, a := range actions {
		name := l.Cut(a.Key.Help().Key, column)
		doc.Item("  "+l.Key.Render(l.Fit(name, column))+"  ", lipgloss.NewStyle(), a.Key.Help().Desc)
	}
}

// signs explains the glyphs.
func (h *Help) signs() []string {
	l, g := h.Styles, h.Styles.Glyphs
	lane := func(sides uint8) string { return l.Muted.Render(g.Lanes.Cell(sides)) }
	step, line := l.Text.Render(g.Ready), lane(planlayout.SideLeft|planlayout.SideRight)
	return []string{
		l.Muted.Render(g.Draft) + " drafting",
		l.Muted.Render(g.Pending) + " waits",
		l.Text.Render(g.Ready) + " ready",
		l.Running.Render(g.Spinner[0]) + " runs",
		l.Warning.Render(g.Gate) + " asks you",
		l.Success.Render(g.Done) + " done",
		l.Success.Render(g.Done) + " verified: a check or tests show it",
		l.Muted.Render(g.Claimed) + " claimed: nothing checks it",
		l.Warning.Render(g.Unchecked) + " not checked",
		l.Danger.Render(g.Failed) + " refuted: a check failed",
		l.Danger.Render(g.Failed) + " failed",
		l.Warning.Render(g.Retry) + " retry",
		l.Faint.Render(g.Skipped) + " skipped",
		l.Text.Render(g.Declined) + " declined",
		l.Warning.Render(g.Doubt) + " in doubt",
		l.Warning.Render(g.Stopped) + " stopped",
		l.Added.Render(g.Added) + " added",
		l.Removed.Render(g.Removed) + " removed",
		l.Warning.Render(g.Revised) + " revised",
		l.Faint.Render(g.Blocker+"5") + " waits for 5",
		lane(planlayout.SideUp|planlayout.SideDown|planlayout.SideRight) + line + step + " fork",
		step + line + lane(planlayout.SideUp|planlayout.SideLeft) + " join",
		l.Muted.Render(g.Folded) + " collapsed",
	}
}
