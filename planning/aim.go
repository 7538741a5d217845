package planning

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
	"replan/internal/testfile"
	"replan/planning/intent"
)

// mostRewritten is the length in lines of the longest function that a small model is asked
// to write again.
const mostRewritten = 40

// aim says which function a patch replaces, where one can be meant. It is the one that the
// goal names, or the one that the test which it names calls. A small model writes a
// function well, and copies the text to replace from the wrong place.
func (c *completion) aim() {
	if !intent.WantsChange(c.brief.Goal) {
		return
	}
	for i, s := range c.steps {
		file := pathOf(s)
		if s.Tool != "fs.patch" || len(s.Args) != 1 || file == "" {
			continue
		}
		text := c.text(file)
		line := c.named(file)
		if line == 0 {
			line = tested(text, c.testBody())
		}
		if whole := functionText(text, line); whole != "" {
			c.steps[i].Args = map[string]any{"path": file, "old": whole}
		}
	}
}

// text returns the text of a file that was looked at whole, "" if none was.
func (c *completion) text(file string) string {
	for _, item := range c.brief.Looked {
		if item.Tool == "fs.read" && item.Args["path"] == file && item.Args["limit"] == nil {
			return fileText(item)
		}
	}
	return ""
}

// place is where a name of the goal is declared.
type place struct {
	name, file string
	line       int // from 1
}

// places returns where names of the goal are declared.
func (c *completion) places() []place {
	var found []place
	for _, named := range c.brief.Prompting.Sketch.Named { // such as "Make: function, slug.go:3"
		name, rest, _ := strings.Cut(named, ": ")
		_, at, _ := strings.Cut(rest, ", ")
		file, number, _ := strings.Cut(at, ":")
		if line, err := strconv.Atoi(number); err == nil && line > 0 {
			found = append(found, place{name, file, line})
		}
	}
	return found
}

// named returns the line of the only name of the goal that a file declares, 0 if there is
// none or several.
func (c *completion) named(file string) int {
	line := 0
	for _, p := range c.places() {
		if p.file == file {
			if line != 0 {
				return 0
			}
			line = p.line
		}
	}
	return line
}

// testBody returns the name and the text of the only test that the goal names, "" if there
// is none or several.
func (c *completion) testBody() string {
	body := ""
	for _, p := range c.places() {
		if !testfile.Is(p.file) {
			continue
		}
		lines := strings.Split(c.text(p.file), "\n")
		if body != "" || p.line > len(lines) {
			return ""
		}
		end := p.line
		for end < len(lines) && !function.MatchString(lines[end]) {
			end++
		}
		body = strings.Join(lines[p.line-1:end], "\n")
	}
	return body
}

// function matches the first line of a function, in languages that have a word for it.
var function = lazyregexp.New(`^\s*(?:(?:export|pub|async|static|default)\s+)*(?:def|func|fn|function)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)`)

// calling matches the call of a function.
var calling = lazyregexp.New(`([A-Za-z_]\w*)\(`)

// tested returns the line of the function of a file that a test calls, from 1. It is the
// one whose name is a part of the test's, else the only one. It is 0 if that is not clear.
func tested(text, test string) int {
	first, rest, _ := strings.Cut(test, "\n")
	about := function.FindStringSubmatch(first)
	if about == nil {
		return 0
	}
	title := plainWords(about[1])
	var words []string // called in the test
	for _, call := range calling.FindAllStringSubmatch(rest, -1) {
		words = append(words, call[1])
	}
	type called struct {
		line  int
		words string
	}
	var calls, named []called
	for i, line := range strings.Split(text, "\n") {
		m := function.FindStringSubmatch(line)
		if m == nil || !slices.Contains(words, m[1]) {
			continue
		}
		one := called{i + 1, plainWords(m[1])}
		if calls = append(calls, one); strings.Contains(title, one.words) {
			named = append(named, one)
		}
	}
	slices.SortStableFunc(named, func(a, b called) int { return len(b.words) - len(a.words) })
	switch {
	case len(named) > 0 && (len(named) == 1 || len(named[0].words) > len(named[1].words)):
		return named[0].line
	case len(named) == 0 && len(calls) == 1:
		return calls[0].line
	default:
		return 0
	}
}

// plainWords returns a name in lower case without underscores.
func plainWords(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// functionText returns the function at a line without its indentation, if a small model
// may write it again. It is short, and the file has it once.
func functionText(text string, line int) string {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) || !function.MatchString(lines[line-1]) {
		return ""
	}
	depth := func(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
	indent := depth(lines[line-1])
	// Lines of the function are indented more, but for its closing brackets and comments
	// between them.
	end := line
scan:
	for next := line; next < len(lines); next++ {
		trimmed := strings.TrimSpace(lines[next])
		switch {
		case trimmed == "", depth(lines[next]) <= indent && strings.HasPrefix(trimmed, "#"):
			continue
		case depth(lines[next]) > indent, depth(lines[next]) == indent && trimmed[0] == ')':
			end = next + 1
		default:
			break scan
		}
	}
	if end < len(lines) && depth(lines[end]) == indent && strings.HasPrefix(strings.TrimSpace(lines[end]), "}") {
		end++
	}
	body := slices.Clone(lines[line-1 : end])
	for i, l := range body {
		body[i] = l[min(indent, depth(l)):]
	}
	whole := strings.TrimRight(strings.Join(body, "\n"), "\r\n\t ")
	if len(body) > mostRewritten || !closed(whole) || !strings.Contains(whole, "\n") || strings.Count(text, strings.TrimSpace(lines[line-1])) != 1 {
		return ""
	}
	return whole
}

// FaultyRewrite says what is wrong with the text that a model wrote in place of another one;
// "" if nothing is known. The new text leaves a bracket open that the old one closes, or it
// lacks the function that it replaces.
func FaultyRewrite(before, after string) string {
	if closed(before) && !closed(after) {
		return "new has a bracket or a string that it does not close, or closes twice"
	}
	old := function.FindStringSubmatch(before)
	if old == nil {
		return ""
	}
	other := ""
	for line := range strings.SplitSeq(after, "\n") {
		if m := function.FindStringSubmatch(line); m != nil {
			if m[1] == old[1] || !strings.Contains(strings.TrimSpace(after), "\n") { // another name alone
				return ""
			}
			other = cmp.Or(other, m[1])
		}
	}
	if other == "" {
		return "new lacks " + old[1] + ", whose place it takes: write " + old[1] + " again, with the change"
	}
	return "new declares " + other + ", and takes the place of " + old[1] + ", which would be gone: write " + old[1] + " again, with the change"
}

// closed reports whether a text of code closes the brackets and the strings of several lines
// that it opens. It counts them, and takes those in comments and strings for real ones.
func closed(text string) bool {
	for _, pair := range []string{"()", "{}", "[]"} {
		if strings.Count(text, pair[:1]) != strings.Count(text, pair[1:]) {
			return false
		}
	}
	return strings.Count(text, `"""`)%2 == 0 && strings.Count(text, "'''")%2 == 0 && strings.Count(text, "`")%2 == 0
}
