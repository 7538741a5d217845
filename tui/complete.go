package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui/untrusted"
)

// mostFound bounds the rows of a list that is searched.
const mostFound = 200

// completer lists what can stand where the user is typing: what an @ names, the
// commands that a slash begins, and what these take.
type completer struct {
	look *look
	keys *keyMap
	list
	known map[session.Completing]session.Completions
	asked map[session.Completing]bool // since the list was opened

	text  string // of the input, that was looked at
	stale bool   // more is known since
	wants token
	left  token // that the user has closed the list of
	moved bool  // the user has chosen a row
	found []session.Completion
	rows  []popupRow
}

// token is the part of the input that is completed, from a byte of it on.
type token struct {
	of    []session.Completing // none is nothing
	start int
	query string
	line  string // of a command: the words before what it takes
	usage string // of that command
}

func (t token) none() bool { return len(t.of) == 0 }

// same reports whether two are one, however much of it is typed.
func (t token) same(other token) bool {
	return slices.Equal(t.of, other.of) && t.start == other.start && t.line == other.line
}

func newCompleter(l *look, keys *keyMap) *completer {
	return &completer{look: l, keys: keys, known: map[session.Completing]session.Completions{}, asked: map[session.Completing]bool{}}
}

// completes reports whether the list is on the screen.
func (m *Model) completes() bool {
	c := m.complete
	return m.focus == paneChat && !c.wants.none() && len(c.rows) > 0 && !c.wants.same(c.left) && m.input.area.Value() == c.text
}

// suggest looks what can be completed now that a key has changed the input, and
// asks the session for what is not known.
func (m *Model) suggest() tea.Cmd {
	c := m.complete
	before, after := m.input.split()
	c.text, c.stale = before+after, false
	t := c.tokenAt(before, after)
	chosen := ""
	if c.moved && c.at < len(c.found) && t.same(c.wants) && t.query == c.wants.query {
		chosen = c.found[c.at].Text
	}
	if !t.same(c.left) {
		c.left = token{}
	}
	if !t.same(c.wants) {
		clear(c.asked)
		c.moved = false
	}
	if t.query != c.wants.query {
		c.at, c.moved = 0, false
	}
	c.wants = t
	var cmds []tea.Cmd
	for _, of := range t.of {
		if !c.asked[of] {
			c.asked[of] = true
			cmds = append(cmds, m.outbox.ask(queryCompletions(of)))
		}
	}
	c.find()
	if at := slices.IndexFunc(c.found, func(i session.Completion) bool { return i.Text == chosen }); at >= 0 {
		c.at = at
	}
	return tea.Batch(cmds...)
}

// typeInto gives a message to the input and looks what can be completed in it then.
func (m *Model) typeInto(msg tea.Msg) tea.Cmd {
	return tea.Batch(m.input.update(msg), m.suggest())
}

// newline begins a new line in the input.
func (m *Model) newline() tea.Cmd {
	m.input.newline()
	return m.suggest()
}

// suggestAnew looks again once the session has said what there is.
func (m *Model) suggestAnew() tea.Cmd {
	if !m.complete.stale || m.input.area.Value() != m.complete.text {
		return nil
	}
	return m.suggest()
}

// take takes what the session says can be completed.
func (c *completer) take(d session.Completions) { c.known[d.Of], c.stale = d, true }

// tokenAt is what is being typed before the cursor.
func (c *completer) tokenAt(before, after string) token {
	if after != "" && !strings.ContainsAny(after[:1], " \n)]}") {
		return token{}
	}
	if t := mentionAt(before); !t.none() {
		return t
	}
	if !strings.HasPrefix(before, "/") || strings.Contains(before+after, "\n") {
		return token{}
	}
	return c.commandAt(before)
}

// mentionAt is the name behind an @ that is being typed at the end of a text.
func mentionAt(text string) token {
	at := strings.LastIndexByte(text, '@')
	for at >= 0 {
		name := text[at+1:]
		opens := at == 0 || strings.ContainsAny(text[at-1:at], " \t\n([{")
		inner, quoted := strings.CutPrefix(name, `"`)
		switch {
		case !opens || strings.Contains(name, "\n"):
		case quoted && !strings.Contains(inner, `"`):
			return token{of: []session.Completing{session.CompleteMentions}, start: at, query: inner}
		case !quoted && !strings.ContainsAny(name, " \t"):
			return token{of: []session.Completing{session.CompleteMentions}, start: at, query: name}
		}
		at = strings.LastIndexByte(text[:at], '@')
	}
	return token{}
}

// commandAt is what of a line that begins with a slash is being typed: the command,
// or what it takes.
func (c *completer) commandAt(line string) token {
	commands := token{of: []session.Completing{session.CompleteCommands}, query: line}
	var longest session.Completion
	below := false // another command goes on where the line is
	for _, item := range c.known[session.CompleteCommands].Items {
		if strings.HasPrefix(line, item.Text+" ") && len(item.Text) > len(longest.Text) {
			longest = item
		}
		below = below || strings.HasPrefix(item.Text, line)
	}
	if below || longest.Text == "" {
		return commands
	}
	start := strings.LastIndexByte(line, ' ') + 1
	rest := line[len(longest.Text)+1:]
	if len(longest.Takes) == 0 || strings.ContainsRune(strings.TrimLeft(rest, " "), ' ') {
		return token{}
	}
	return token{of: longest.Takes, start: start, query: strings.TrimPrefix(line[start:], `"`), line: longest.Text, usage: longest.Usage}
}

// find lists what fits what is typed.
func (c *completer) find() {
	c.found, c.rows = nil, nil
	t := c.wants
	if t.none() {
		return
	}
	var items []session.Completion
	for _, of := range t.of {
		items = append(items, c.known[of].Items...)
	}
	switch {
	case t.of[0] == session.CompleteCommands:
		c.findCommands(items)
	case t.of[0] == session.CompleteMentions, len(t.of) == 1 && t.of[0] == session.CompleteFiles:
		c.findNames(items)
	default:
		c.search(items, t.query)
	}
	c.move(0, len(c.found))
}

// add adds a row for something, of which the search has found some bytes.
func (c *completer) add(item session.Completion, lit []int) {
	row := popupRow{text: untrusted.Line(item.Text), detail: untrusted.Line(item.Detail), folder: item.Folder, path: strings.ContainsRune(item.Text, '/') && item.Text[0] != '/'}
	if row.text == item.Text {
		row.lit = lit
	}
	if item.Usage != "" {
		row.text += " " + item.Usage
	}
	c.found, c.rows = append(c.found, item), append(c.rows, row)
}

// completions are searched by what is to be typed.
type completions []session.Completion

func (c completions) String(i int) string { return c[i].Text }
func (c completions) Len() int            { return len(c) }

// search adds what a query finds, the best first, all of it where there is none.
func (c *completer) search(items []session.Completion, query string) {
	if query == "" {
		for _, item := range items[:min(len(items), mostFound)] {
			c.add(item, nil)
		}
		return
	}
	found := fuzzy.FindFrom(query, completions(items))
	// Of what is found as well, a whole word at the end of a path says more.
	slices.SortStableFunc(found, func(a, b fuzzy.Match) int {
		return cmp.Compare(nearness(items[a.Index].Text, query), nearness(items[b.Index].Text, query))
	})
	for _, match := range found[:min(len(found), mostFound)] {
		c.add(items[match.Index], match.MatchedIndexes)
	}
}

// nearness is how well a name fits a query, lower is better: it begins with it, its
// last part does, it holds it, or only its letters.
func nearness(name, query string) int {
	name, query = strings.ToLower(strings.TrimSuffix(name, "/")), strings.ToLower(query)
	switch {
	case strings.HasPrefix(name, query):
		return 0
	case strings.HasPrefix(name[strings.LastIndexByte(name, '/')+1:], query):
		return 1
	case strings.Contains(name, query):
		return 2
	default:
		return 3
	}
}

// findNames adds what lies in the folder that is typed, and what a query finds in
// any.
func (c *completer) findNames(items []session.Completion) {
	query := c.wants.query
	if query != "" && !strings.HasSuffix(query, "/") {
		c.search(items, query)
		return
	}
	for _, item := range items {
		rest, inside := strings.CutPrefix(item.Text, query)
		path := item.Folder || !strings.Contains(item.Text, ":")
		if inside && rest != "" && (!path || !strings.Contains(strings.TrimSuffix(rest, "/"), "/")) && len(c.found) < mostFound {
			c.add(item, nil)
		}
	}
}

// findCommands adds the commands that a line may become: of those that go on
// alike, as many words as are typed.
func (c *completer) findCommands(items []session.Completion) {
	line := c.wants.query
	words := strings.Count(line, " ")
	for _, item := range items {
		if strings.HasPrefix(item.Text, line) && strings.Count(item.Text, " ") == words {
			c.add(item, span(0, len(line)))
		}
	}
	if len(c.found) == 0 && words == 0 {
		c.search(items, line)
	}
}

// span is the numbers from one up to another.
func span(from, to int) []int {
	out := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// completeHandlers are the actions of the list over the input.
func (m *Model) completeHandlers() handlers {
	c := m.complete
	by := func(n int) handler { return handler{do: just(func() { c.step(n) })} }
	return handlers{
		"list.take":    {do: command(m.takeChosen)},
		"chat.send":    {when: c.takesEnter, do: command(m.takeChosen)},
		"dialog.leave": {do: just(func() { c.left = c.wants })},
		"list.up":      by(-1), "list.down": by(1),
		"move.page_up": by(1 - popupRows), "move.page_down": by(popupRows - 1),
	}
}

func (c *completer) step(n int) {
	c.move(n, len(c.found))
	c.moved = true
}

// takesEnter reports whether enter takes the chosen row, rather than sends what
// stands there whole already.
func (c *completer) takesEnter() bool {
	t := c.wants
	switch {
	case c.moved:
		return true
	case t.line != "": // of what a command takes, a part is enough
		return t.query == "" && !strings.HasPrefix(t.usage, "[")
	}
	whole := slices.ContainsFunc(c.found, func(i session.Completion) bool { return i.Text == t.query })
	return !whole
}

// takeChosen puts the chosen row in the place of what was typed of it. A folder and
// a command that takes something go on.
func (m *Model) takeChosen() tea.Cmd {
	c := m.complete
	if c.at >= len(c.found) {
		return nil
	}
	item, t := c.found[c.at], c.wants
	before, after := m.input.split()
	text, ends := item.Text, !item.Folder // else it goes on where it stands
	switch {
	case t.of[0] == session.CompleteMentions:
		if text = prompt.NameOf(item.Text); item.Folder {
			text = strings.TrimSuffix(text, `"`)
		}
	case t.of[0] == session.CompleteCommands:
		ends = item.Usage != "" || c.hasBelow(item.Text) // else that is all
	case strings.Contains(text, " "):
		if text = `"` + text; !item.Folder {
			text += `"`
		}
	}
	if ends && !strings.HasPrefix(after, " ") {
		text += " "
	}
	m.input.setSplit(before[:t.start]+text, after)
	return m.suggest()
}

// hasBelow reports whether a command has others below it.
func (c *completer) hasBelow(text string) bool {
	return slices.ContainsFunc(c.known[session.CompleteCommands].Items, func(i session.Completion) bool {
		return strings.HasPrefix(i.Text, text+" ")
	})
}

// titles say what a list is of.
var titles = map[session.Completing]string{
	session.CompleteMentions: "files and resources", session.CompleteFiles: "files", session.CompleteCommands: "commands",
	session.CompletePlans: "plans", session.CompleteRuns: "runs", session.CompleteModels: "models", session.CompleteProfiles: "profiles",
}

// draw draws the list in at most so many lines.
func (c *completer) draw(width, most int) []string {
	l := c.look
	title, note := "", ""
	for i, of := range c.wants.of {
		if i > 0 {
			title += " and "
		}
		title += titles[of]
		if known := c.known[of]; known.More {
			note = l.Faint.Render("of the first " + plural(len(known.Items), "name"))
		}
	}
	return c.popup(l, l.Strong.Render(title), note, c.rows, width, most)
}
