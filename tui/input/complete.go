package input

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// mostFound is the maximum number of rows in a searched list.
const mostFound = 200

// Completer lists completions at the cursor: names after an @, slash commands, and
// their arguments.
type Completer struct {
	look *draw.Look
	keys *keymap.Map
	draw.List
	known map[session.Completing]session.Completions
	Asked map[session.Completing]bool // since the list was opened

	Text  string // input text last examined
	Stale bool   // new completions have arrived since
	Wants Token
	Left  Token // token whose list the user closed
	Moved bool  // the user has moved the selection
	Found []session.Completion
	Rows  []draw.PopupRow
}

// Token is the part of the input to complete, starting at a byte offset.
type Token struct {
	Of    []session.Completing // empty for no token
	Start int
	Query string
	line  string // words before the argument of a command
	usage string // usage of that command
}

// None reports whether there is nothing to complete.
func (t Token) None() bool { return len(t.Of) == 0 }

// Same reports whether both tokens are the same one, regardless of how much is
// typed.
func (t Token) Same(other Token) bool {
	return slices.Equal(t.Of, other.Of) && t.Start == other.Start && t.line == other.line
}

// NewCompleter returns a closed completer.
func NewCompleter(l *draw.Look, keys *keymap.Map) *Completer {
	return &Completer{look: l, keys: keys, known: map[session.Completing]session.Completions{}, Asked: map[session.Completing]bool{}}
}

// Take stores completions from the session.
func (c *Completer) Take(d session.Completions) { c.known[d.Of], c.Stale = d, true }

// TokenAt returns the token being typed before the cursor.
func (c *Completer) TokenAt(before, after string) Token {
	if after != "" && !strings.ContainsAny(after[:1], " \n)]}") {
		return Token{}
	}
	if t := mentionAt(before); !t.None() {
		return t
	}
	if !strings.HasPrefix(before, "/") || strings.Contains(before+after, "\n") {
		return Token{}
	}
	return c.commandAt(before)
}

// mentionAt returns the name after an @ that is being typed at the end of a text.
func mentionAt(text string) Token {
	at := strings.LastIndexByte(text, '@')
	for at >= 0 {
		name := text[at+1:]
		opens := at == 0 || strings.ContainsAny(text[at-1:at], " \t\n([{")
		inner, quoted := strings.CutPrefix(name, `"`)
		switch {
		case !opens || strings.Contains(name, "\n"):
		case quoted && !strings.Contains(inner, `"`):
			return Token{Of: []session.Completing{session.CompleteMentions}, Start: at, Query: inner}
		case !quoted && !strings.ContainsAny(name, " \t"):
			return Token{Of: []session.Completing{session.CompleteMentions}, Start: at, Query: name}
		}
		at = strings.LastIndexByte(text[:at], '@')
	}
	return Token{}
}

// commandAt returns the token being typed in a line that starts with a slash: a
// command or its argument.
func (c *Completer) commandAt(line string) Token {
	commands := Token{Of: []session.Completing{session.CompleteCommands}, Query: line}
	var longest session.Completion
	below := false // another command extends this line
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
		return Token{}
	}
	return Token{Of: longest.Takes, Start: start, Query: strings.TrimPrefix(line[start:], `"`), line: longest.Text, usage: longest.Usage}
}

// Find lists the completions that match the typed text.
func (c *Completer) Find() {
	c.Found, c.Rows = nil, nil
	t := c.Wants
	if t.None() {
		return
	}
	var items []session.Completion
	for _, of := range t.Of {
		items = append(items, c.known[of].Items...)
	}
	switch {
	case t.Of[0] == session.CompleteCommands:
		c.findCommands(items)
	case t.Of[0] == session.CompleteMentions, len(t.Of) == 1 && t.Of[0] == session.CompleteFiles:
		c.findNames(items)
	default:
		c.search(items, t.Query)
	}
	c.Move(0, len(c.Found))
}

// add adds a row for a completion. lit holds the byte offsets of the match.
func (c *Completer) add(item session.Completion, lit []int) {
	row := draw.PopupRow{Text: untrusted.Line(item.Text), Detail: untrusted.Line(item.Detail), Folder: item.Folder, Path: strings.ContainsRune(item.Text, '/') && item.Text[0] != '/'}
	if row.Text == item.Text {
		row.Lit = lit
	}
	if item.Usage != "" {
		row.Text += " " + item.Usage
	}
	c.Found, c.Rows = append(c.Found, item), append(c.Rows, row)
}

// completions are searched by the text they insert.
type completions []session.Completion

func (c completions) String(i int) string { return c[i].Text }
func (c completions) Len() int            { return len(c) }

// search adds the matches of a query, best first. An empty query matches
// everything.
func (c *Completer) search(items []session.Completion, query string) {
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
func (c *Completer) findNames(items []session.Completion) {
	query := c.Wants.Query
	if query != "" && !strings.HasSuffix(query, "/") {
		c.search(items, query)
		return
	}
	for _, item := range items {
		rest, inside := strings.CutPrefix(item.Text, query)
		path := item.Folder || !strings.Contains(item.Text, ":")
		if inside && rest != "" && (!path || !strings.Contains(strings.TrimSuffix(rest, "/"), "/")) && len(c.Found) < mostFound {
			c.add(item, nil)
		}
	}
}

// findCommands adds the commands that start with the typed line and have as many
// words. If there are none for a first word, it searches for the word.
func (c *Completer) findCommands(items []session.Completion) {
	line := c.Wants.Query
	words := strings.Count(line, " ")
	for _, item := range items {
		if strings.HasPrefix(item.Text, line) && strings.Count(item.Text, " ") == words {
			c.add(item, span(0, len(line)))
		}
	}
	if len(c.Found) == 0 && words == 0 {
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

// Step moves the selection by n.
func (c *Completer) Step(n int) {
	c.Move(n, len(c.Found))
	c.Moved = true
}

// TakesEnter reports whether enter accepts the selected row. Otherwise the text is
// already complete, and enter sends it.
func (c *Completer) TakesEnter() bool {
	t := c.Wants
	switch {
	case c.Moved:
		return true
	case t.line != "": // part of a command's argument is enough
		return t.Query == "" && !strings.HasPrefix(t.usage, "[")
	}
	whole := slices.ContainsFunc(c.Found, func(i session.Completion) bool { return i.Text == t.Query })
	return !whole
}

// HasBelow reports whether a command has subcommands.
func (c *Completer) HasBelow(text string) bool {
	return slices.ContainsFunc(c.known[session.CompleteCommands].Items, func(i session.Completion) bool {
		return strings.HasPrefix(i.Text, text+" ")
	})
}

// titles holds the titles of the lists.
var titles = map[session.Completing]string{
	session.CompleteMentions: "files and resources", session.CompleteFiles: "files", session.CompleteCommands: "commands",
	session.CompletePlans: "plans", session.CompleteRuns: "runs", session.CompleteModels: "models", session.CompleteProfiles: "profiles",
}

// Draw draws the list in at most the given number of lines.
func (c *Completer) Draw(width, most int) []string {
	l := c.look
	title, note := "", ""
	for i, of := range c.Wants.Of {
		if i > 0 {
			title += " and "
		}
		title += titles[of]
		if known := c.known[of]; known.More {
			note = l.Faint.Render("of the first " + english.Count(len(known.Items), "name"))
		}
	}
	return c.Popup(l, l.Strong.Render(title), note, c.Rows, width, most)
}
