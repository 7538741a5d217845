package dialog

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/answerguard"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// Changes shows what runs changed in a copy of the workspace. The user chooses files
// and hunks to take; the others are dropped.
type Changes struct {
	document
	guard    *answerguard.Guard // against keys that were not meant for it
	fresh    bool               // the guard has not been turned on
	changes  event.Changes
	parts    []changePart
	at       int  // the part with the cursor
	sent     bool // an answer was sent
	dropping bool // the next press of the key drops all
}

// changePart is a file of the changes, or one of several hunks of a file.
type changePart struct {
	file  int // index in the changes
	hunk  int // counted from 0; -1 is the whole file
	taken bool
	line  int // of the document
}

// NewChanges returns the dialog, closed.
func NewChanges(l *draw.Styles, k *keymap.Map, p draw.Pauses) *Changes {
	return &Changes{document: newDocument(l, k), guard: answerguard.New(p.Grace, p.Answer)}
}

// Open shows changes. All that can be taken is chosen.
func (d *Changes) Open(c event.Changes) {
	why := ""
	if d.Shown() {
		why = d.lastMessage() // of a refusal
	}
	*d = Changes{document: newDocument(d.Styles, d.Keys), guard: d.guard, fresh: true, changes: c}
	d.appear()
	d.say(why)
	for i, f := range c.Files {
		d.parts = append(d.parts, changePart{file: i, hunk: -1, taken: !f.Conflict})
		for hunk := 0; f.Hunks > 1 && hunk < f.Hunks; hunk++ {
			d.parts = append(d.parts, changePart{file: i, hunk: hunk, taken: !f.Conflict})
		}
	}
}

// Guard returns what protects the dialog against keys that were not meant for it.
func (d *Changes) Guard() *answerguard.Guard { return d.guard }

// Begin turns the guard on for changes that were just offered.
func (d *Changes) Begin() tea.Cmd {
	if !d.fresh {
		return nil
	}
	d.fresh = false
	return d.guard.Start()
}

// Settled closes the dialog, or says why nothing was done.
func (d *Changes) Settled(s event.SettledChanges) {
	d.sent = false
	if s.Refused != "" {
		d.say(s.Refused)
		return
	}
	d.Close()
}

// Update handles the mouse.
func (d *Changes) Update(msg tea.Msg) keymap.Requests {
	if click, ok := msg.(tea.MouseClickMsg); ok && d.isDrawn() {
		for i, p := range d.parts {
			if p.line == d.first()+click.Y-1 {
				d.at = i
				d.toggle()
			}
		}
	}
	return d.document.Update(msg)
}

// move moves the cursor to another part.
func (d *Changes) move(by int) {
	d.forgetPress()
	if len(d.parts) == 0 {
		d.by(by)
		return
	}
	d.at = min(max(d.at+by, 0), len(d.parts)-1)
	d.keepInView(d.parts[d.at].line)
	d.redraw()
}

// toggle takes the part with the cursor, or leaves it out; with a file all its hunks.
func (d *Changes) toggle() {
	d.forgetPress()
	p := &d.parts[d.at]
	if d.changes.Files[p.file].Conflict {
		d.say("This file changed in the folder too: take your version of it by hand.")
		return
	}
	p.taken = !p.taken
	whole, some := d.at, false
	for i := range d.parts {
		other := &d.parts[i]
		switch {
		case other.file != p.file:
		case other.hunk < 0:
			whole = i
		case p.hunk < 0:
			other.taken = p.taken
		default:
			some = some || other.taken
		}
	}
	if p.hunk >= 0 {
		d.parts[whole].taken = some
	}
	d.redraw()
}

// forgetPress forgets the first press of a key that asks for a second.
func (d *Changes) forgetPress() { d.dropping = false; d.forget() }

// choice returns what is chosen, and whether that is anything.
func (d *Changes) choice() (c event.ChangesChoice, some bool) {
	c = event.ChangesChoice{Offer: d.changes.Offer, All: true, Files: map[string]event.FileChoice{}}
	some = len(d.parts) == 0 // only branches
	for _, p := range d.parts {
		f := d.changes.Files[p.file]
		file := c.Files[f.Path]
		switch {
		case f.Conflict:
			continue
		case !p.taken:
			c.All, file.All = false, false
		case p.hunk >= 0:
			file.Hunks = append(file.Hunks, p.hunk)
		default:
			file.All, some = true, true
		}
		if p.taken || len(file.Hunks) > 0 {
			c.Files[f.Path] = file
		}
	}
	return c, some
}

// changesActions are the actions of the dialog.
func changesActions() keymap.Table[*Changes] {
	return keymap.Table[*Changes]{
		{ID: "changes.choose", Keys: "space", Does: "take the change, or leave it out", When: func(d *Changes) bool { return len(d.parts) > 0 && d.idle() }, Do: intended(keymap.Calls((*Changes).toggle))},
		{ID: "changes.take", Keys: "y", Does: "take the chosen changes, drop the others", When: (*Changes).idle, Do: intended((*Changes).take)},
		{ID: "changes.drop", Keys: "D", Does: "drop all changes; press twice", When: (*Changes).idle, Do: intended((*Changes).drop)},
		{ID: "move.up", Do: keymap.Calls(func(d *Changes) { d.move(-1) })},
		{ID: "move.down", Do: keymap.Calls(func(d *Changes) { d.move(1) })},
		{ID: "diff.sides", When: (*Changes).diffs, Do: keymap.Calls((*Changes).turnDiffs)},
		closing[*Changes]("dialog.leave"),
		closing[*Changes]("gate.deny"),
	}
}

// Actions returns the actions of the dialog.
func (d *Changes) Actions() keymap.Handlers {
	return d.keys().With(changesActions().For(d))
}

// intended makes an action that does nothing while the guard ignores keys.
func intended(do func(*Changes) keymap.Requests) func(*Changes) keymap.Requests {
	return func(d *Changes) keymap.Requests {
		if d.guard.Ignores() {
			return keymap.Requests{d.guard.Prolong()}
		}
		return do(d)
	}
}

// idle reports whether nothing was sent yet.
func (d *Changes) idle() bool { return !d.sent }

// take sends which changes are taken.
func (d *Changes) take() keymap.Requests {
	choice, some := d.choice()
	if !some {
		d.say("Nothing is chosen.")
		return nil
	}
	d.sent = true
	return keymap.SendCommands(session.SettleChanges{Choice: choice})
}

// drop drops all changes at the second press.
func (d *Changes) drop() keymap.Requests {
	if !d.dropping {
		d.dropping = true
		d.say("Press it again to drop all of them.")
		return nil
	}
	d.sent = true
	return keymap.SendCommands(session.SettleChanges{Choice: event.ChangesChoice{Offer: d.changes.Offer}})
}

// Hints lists the keys that are active now.
func (d *Changes) Hints() []keymap.Hint {
	return []keymap.Hint{
		d.Keys.Hint("take", "changes.take"), d.Keys.Hint("choose", "changes.choose"), d.Keys.Hint("drop all", "changes.drop"),
		d.Keys.Hint("later", "dialog.leave"), d.Keys.Hint("next", "move.up", "move.down"),
	}
}

// View draws the dialog in the middle of the screen.
func (d *Changes) View(size draw.Rect) []string {
	const widest = 200
	l := d.Styles
	width, inner := d.width(size, widest)
	d.render(l, inner, d.write)
	lines, note := d.visible(size.H - 4)
	return d.middle(size, width,
		d.section(l.Strong.Render("Changes")+l.Muted.Render(" of the run, in a copy of this folder"), note, lines),
		d.section("", "", []string{d.bar(inner)}))
}

// bar says what a confirmation would do.
func (d *Changes) bar(width int) string {
	l := d.Styles
	if d.sent {
		return l.Faint.Render("Working" + l.Glyphs.Ellipsis)
	}
	if d.lastMessage() != "" {
		return l.Cut(l.Warning.Render(d.lastMessage()), width)
	}
	choice, some := d.choice()
	words := "take all"
	switch {
	case !some:
		words = "nothing chosen"
	case !choice.All:
		words = "take " + english.Count(len(choice.Files), "file") + ", drop the rest"
	}
	key := func(h keymap.Hint) string { return l.Key.Bold(true).Render(h.Label) + " " + l.Text.Render(h.Does) }
	return l.Cut(key(d.Keys.Hint(words, "changes.take"))+"   "+key(d.Keys.Hint("drop all", "changes.drop"))+"   "+key(d.Keys.Hint("later", "dialog.leave")), width)
}

// write writes all changes.
func (d *Changes) write(doc *draw.Document) {
	l := d.Styles
	doc.Prose(l.Text, english.Capital(wording.Changed(d.changes))+".")
	for _, m := range d.changes.Moves {
		doc.Field("git", l.Text, m)
	}
	for _, note := range d.changes.Notes {
		doc.Field("note", l.Warning, note)
	}
	for i := range d.parts {
		p := &d.parts[i]
		f := d.changes.Files[p.file]
		if p.hunk < 0 {
			doc.Blank()
		}
		p.line = len(doc.Lines)
		doc.Add(d.row(i, f, doc.Width))
		switch {
		case p.hunk >= 0:
			doc.Hunks(hunkOf(f.Diff, p.hunk))
		case f.Hunks < 2 && !f.Folder:
			doc.Hunks(f.Diff)
		}
	}
}

// row draws the line of a part with its box.
func (d *Changes) row(i int, f event.ChangedFile, width int) string {
	l, p := d.Styles, d.parts[i]
	box, style := "[ ]", l.Muted
	if p.taken {
		box, style = "[x]", l.Added
	}
	if f.Conflict {
		box, style = " ! ", l.Danger
	}
	words := l.Strong.Render(untrusted.Line(f.Path)) + "  " + l.Faint.Render(untrusted.Line(wording.ChangeOf(f)))
	switch {
	case p.hunk >= 0:
		words = "  " + l.Muted.Render("hunk "+strconv.Itoa(p.hunk+1))
	case f.Conflict:
		words += l.Danger.Render("  changed in the folder too: cannot be taken")
	}
	cursor := " "
	if i == d.at {
		cursor = l.Accent.Render(l.Glyphs.Cursor)
	}
	return l.Cut(cursor+" "+style.Render(box)+" "+words, width)
}

// hunkOf returns a hunk of a diff with the names of the files.
func hunkOf(diff string, hunk int) string {
	head, rest, _ := strings.Cut(diff, "\n@@ ")
	for ; hunk > 0; hunk-- {
		_, rest, _ = strings.Cut(rest, "\n@@ ")
	}
	one, _, _ := strings.Cut(rest, "\n@@ ")
	return head + "\n@@ " + one + "\n"
}
