package input

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// mostFound is the maximum number of rows in a searched list.
const mostFound = 200

// completer lists completions at the cursor: names after an @, slash commands,
// and their arguments.
type completer struct {
	styles *draw.Styles
	draw.List
	known map[session.Completing]session.Completions
	asked map[session.Completing]bool // since the list was opened
	also  []session.Completion        // commands that the session does not know

	text   string // input text last examined
	stale  bool   // completions have arrived since then
	token  token
	closed token // token whose list the user closed
	moved  bool  // the user has moved the selection
	found  []session.Completion
	rows   []draw.PopupRow
}

// token is the part of the input to complete, starting at a byte offset.
type token struct {
	of    []session.Completing // empty for no token
	start int
	query string
	line  string // words before the argument of a command
	usage string // usage of that command
}

// none reports whether there is nothing to complete.
func (t token) none() bool { return len(t.of) == 0 }

// same reports whether both tokens are the same one, regardless of how much is
// typed.
func (t token) same(other token) bool {
	return slices.Equal(t.of, other.of) && t.start == other.start && t.line == other.line
}

// newCompleter returns a completer that lists nothing. also are commands that the session does
// not know.
func newCompleter(l *draw.Styles, also []session.Completion) completer {
	return completer{styles: l, also: also, known: map[session.Completing]session.Completions{}, asked: map[session.Completing]bool{}}
}

// dismiss closes the list until there is something else to complete.
func (c *completer) dismiss() { c.closed = c.token }

// outdated reports whether completions have arrived for a text since it was examined.
func (c *completer) outdated(text string) bool { return c.stale && c.text == text }

// hasChosen reports whether a row is selected.
func (c *completer) hasChosen() bool { return c.At < len(c.found) }

// update lists the completions at the cursor between two parts of the input. It
// returns queries for unknown ones.
func (c *completer) update(before, after string) keymap.Requests {
	c.text, c.stale = before+after, false
	t := c.tokenAt(before, after)
	chosen := ""
	if c.moved && c.At < len(c.found) && t.same(c.token) && t.query == c.token.query {
		chosen = c.found[c.At].Text
	}
	if !t.same(c.closed) {
		c.closed = token{}
	}
	if !t.same(c.token) {
		clear(c.asked)
		c.moved = false
	}
	if t.query != c.token.query {
		c.Choose(0)
		c.moved = false
	}
	c.token = t
	var queries keymap.Requests
	for _, of := range t.of {
		if !c.asked[of] {
			c.asked[of] = true
			queries = append(queries, keymap.QueryCompletions(of))
		}
	}
	c.find()
	if at := slices.IndexFunc(c.found, func(i session.Completion) bool { return i.Text == chosen }); at >= 0 {
		c.Choose(at)
	}
	return queries
}

// shown reports whether there is a list to show for a text.
func (c *completer) shown(text string) bool {
	return !c.token.none() && len(c.rows) > 0 && !c.token.same(c.closed) && text == c.text
}

// accept replaces the typed part before the cursor with the selected row. It
// adds a blank if nothing can follow the row without one.
func (c *completer) accept(before, after string) string {
	item, t := c.found[c.At], c.token
	text, ends := item.Text, !item.Folder // a folder continues without a blank
	switch {
	case t.of[0] == session.CompleteMentions:
		if text = prompt.NameOf(item.Text); item.Folder {
			text = strings.TrimSuffix(text, `"`)
		}
	case t.of[0] == session.CompleteCommands:
		ends = item.Usage != "" || c.hasSubcommands(item.Text) // a command without arguments is complete
	case strings.Contains(text, " "):
		if text = `"` + text; !item.Folder {
			text += `"`
		}
	}
	if ends && !strings.HasPrefix(after, " ") {
		text += " "
	}
	return before[:t.start] + text
}

// store keeps completions from the session.
func (c *completer) store(d session.Completions) { c.known[d.Of], c.stale = d, true }

// tokenAt returns the token being typed before the cursor.
func (c *completer) tokenAt(before, after string) token {
	if strings.HasPrefix(before, intent.CommandMark) {
		return token{} // an @ in a command is the shell's
	}
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

// mentionAt returns the name after an @ that is being typed at the end of a text.
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

// commandAt returns the token being typed in a line that starts with a slash: a
// command or its argument.
func (c *completer) commandAt(line string) token {
	commands := token{of: []session.Completing{session.CompleteCommands}, query: line}
	var longest session.Completion
	below := false // another command extends this line
	for _, item := range c.commands() {
		if strings.HasPrefix(line, item.Text+" ") && len(item.Text) > len(longest.Text) {
			longest = item
		}
		below = below || strings.HasPrefix(item.Text, line)
	}
	if below || longest.Text == "" {
		return commands
	}
	words, start := wordsOf(line, len(longest.Text)+1)
	of := longest.Takes
	switch n := len(words); {
	case n > len(longest.Then):
		return token{}
	case n > 0:
		of = []session.Completing{longest.Then[n-1].After(words)}
	}
	if len(of) == 0 {
		return token{}
	}
	return token{of: of, start: start, query: strings.TrimPrefix(line[start:], `"`), line: longest.Text, usage: longest.Usage}
}

// commands returns the commands of the session, and those of the screen.
func (c *completer) commands() []session.Completion {
	known := c.known[session.CompleteCommands].Items
	if len(known) == 0 {
		return nil // not yet
	}
	return append(slices.Clip(known), c.also...)
}

// command returns the command with arguments that a line begins with; ok is false for none.
func (c *completer) command(line string) (longest session.Completion, ok bool) {
	for _, item := range c.commands() {
		if item.Usage != "" && strings.HasPrefix(line, item.Text+" ") && len(item.Text) > len(longest.Text) {
			longest, ok = item, true
		}
	}
	return longest, ok
}

// form draws the command of a line with the form of its arguments, for one that has no list of
// values; none for other texts.
func (c *completer) form(text string, width int) []string {
	command, ok := c.command(text)
	if !ok || text != c.text || strings.Contains(text, "\n") {
		return nil
	}
	l := c.styles
	line := l.Muted.Render(untrusted.Line(command.Text)+" ") + l.Accent.Render(untrusted.Line(command.Usage)) + l.Faint.Render("  "+command.Detail.Line())
	return []string{l.Fit(" "+l.Cut(line, width-2), width)}
}

// previewed returns the file selected in a list of names, "" for none.
func (c *completer) previewed() string {
	kinds := c.token.of
	if len(kinds) == 0 || kinds[0] != session.CompleteMentions && kinds[0] != session.CompleteFiles || !c.hasChosen() {
		return ""
	}
	if chosen := c.found[c.At]; !chosen.Folder && !strings.Contains(chosen.Text, ":") {
		return chosen.Text
	}
	return ""
}

// wordsOf returns the words of a line from a place on that are followed by a blank, and
// where the last word starts. Quotes keep blanks within a word.
func wordsOf(line string, from int) (words []string, start int) {
	start = from
	quoted := false
	for i := from; i < len(line); i++ {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ' ' && !quoted:
			if word := strings.ReplaceAll(line[start:i], `"`, ""); word != "" {
				words = append(words, word)
			}
			start = i + 1
		}
	}
	return words, start
}

// find lists the completions that match the typed text.
func (c *completer) find() {
	c.found, c.rows = nil, nil
	t := c.token
	if t.none() {
		return
	}
	var items []session.Completion
	for _, of := range t.of {
		items = append(items, c.known[of].Items...)
	}
	if t.of[0] == session.CompleteCommands {
		items = c.commands()
	}
	switch {
	case t.of[0] == session.CompleteCommands:
		c.findCommands(items)
	case t.of[0] == session.CompleteMentions, len(t.of) == 1 && t.of[0] == session.CompleteFiles:
		c.findNames(items)
	default:
		c.search(items, t.query)
	}
	c.Move(0, len(c.found))
}

// add adds a row for a completion. lit holds the byte offsets of the match.
func (c *completer) add(item session.Completion, lit []int) {
	row := draw.PopupRow{Text: untrusted.Line(item.Text), Detail: item.Detail.Line(), Folder: item.Folder, Path: strings.ContainsRune(item.Text, '/') && item.Text[0] != '/'}
	if row.Text == item.Text {
		row.Lit = lit
	}
	row.Usage = untrusted.Line(item.Usage)
	c.found, c.rows = append(c.found, item), append(c.rows, row)
}

// completions are searched by the text they insert.
type completions []session.Completion

func (c completions) String(i int) string { return c[i].Text }
func (c completions) Len() int            { return len(c) }

// search adds the matches of a query, best first. An empty query matches
// everything.
func (c *completer) search(items []session.Completion, query string) {
	if query == "" {
		for _, item := range items[:min(len(items), mostFound)] {
			c.add(item, nil)
		}
		return
	}
	found := fuzzy.FindFrom(query, completions(items))
	// Among equally good matches, a whole word at the end of a path ranks first.
	slices.SortStableFunc(found, func(a, b fuzzy.Match) int {
		return cmp.Compare(nearness(items[a.Index].Text, query), nearness(items[b.Index].Text, query))
	})
	for _, match := range found[:min(len(found), mostFound)] {
		c.add(items[match.Index], match.MatchedIndexes)
	}
}

// nearness ranks how well a name matches a query; lower is better. The ranks are:
// prefix of the name, prefix of its last part, substring, scattered letters.
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

// findNames adds the entries of the typed folder and the query's matches in all
// folders.
func (c *completer) findNames(items []session.Completion) {
	query := c.token.query
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

// findCommands adds the commands that start with the typed line and have as many
// words. If there are none for a first word, it searches for the word.
func (c *completer) findCommands(items []session.Completion) {
	line := c.token.query
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

// span returns the numbers from one up to another.
func span(from, to int) []int {
	out := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// step moves the selection by n.
func (c *completer) step(n int) {
	c.Move(n, len(c.found))
	c.moved = true
}

// takesEnter reports whether enter accepts the selected row. Otherwise the text is
// already complete, and enter sends it.
func (c *completer) takesEnter() bool {
	t := c.token
	switch {
	case c.moved:
		return true
	case t.line != "": // part of a command's argument is enough
		return t.query == "" && !strings.HasPrefix(t.usage, "[")
	}
	whole := slices.ContainsFunc(c.found, func(i session.Completion) bool { return i.Text == t.query })
	return !whole
}

// hasSubcommands reports whether a command has subcommands.
func (c *completer) hasSubcommands(text string) bool {
	return slices.ContainsFunc(c.commands(), func(i session.Completion) bool {
		return strings.HasPrefix(i.Text, text+" ")
	})
}

// titles holds the titles of the lists.
var titles = map[session.Completing]string{
	session.CompleteMentions: "files and resources", session.CompleteFiles: "files", session.CompleteCommands: "commands",
	session.CompletePlans: "plans", session.CompleteRuns: "runs", session.CompleteModels: "models", session.CompleteProfiles: "profiles",
}

// width returns the width that the rows need, between a least and a most.
func (c *completer) width(least, most int) int {
	const around = 7 // cursor, blanks and edges
	names, details := 0, 0
	for _, row := range c.rows {
		names, details = max(names, row.Width()), max(details, draw.VisibleWidth(row.Detail))
	}
	return max(min(names+details+around, most), least)
}

// draw draws the list in at most the given number of lines. Its title is the form of the
// command whose argument is typed.
func (c *completer) draw(width, maxRows int) []string {
	l := c.styles
	title, note := titlesOf(c.token.of), ""
	for _, of := range c.token.of {
		if known := c.known[of]; known.More {
			note = l.Faint.Render("of the first " + english.Count(len(known.Items), "name"))
		}
	}
	title = l.Strong.Render(title)
	if command, ok := c.command(c.text); ok && c.token.of[0] != session.CompleteMentions {
		form := l.Strong.Render(untrusted.Line(command.Text)+" ") + l.Accent.Render(untrusted.Line(command.Usage))
		if title = form; c.token.of[0] != session.CompleteCommands {
			title += l.Faint.Render(" " + l.Glyphs.Separator + " " + titlesOf(c.token.of))
		}
	}
	return c.Popup(l, title, note, c.rows, width, maxRows)
}

// titlesOf names what a list offers.
func titlesOf(all []session.Completing) string {
	names := make([]string, len(all))
	for i, of := range all {
		names[i] = cmp.Or(titles[of], "values")
	}
	return strings.Join(names, " and ")
}
