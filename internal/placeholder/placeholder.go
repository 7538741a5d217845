package placeholder

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"replan/internal/lazyregexp"
)

// Find returns what stands in a text for content that was not written, and whether
// there is anything. The text is for a file of this path, which decides what is code
// and what is a template. Without a path, such as in a message, only a text that is a
// placeholder as a whole counts. What also stands in one of the known texts, such as the
// file as it is, is none.
func Find(text, file string, known ...string) (found string, ok bool) {
	s := search{sort: sortOf(file), known: known}
	s.template = s.sort == anyTemplate || slices.ContainsFunc(append([]string{text}, known...), templated) ||
		slices.ContainsFunc(known, func(k string) bool { return strings.Contains(k, "{{") })
	looks := []func(string) string{func(text string) string { return s.only(text, file) }, s.leftOut}
	if file != "" {
		looks = append(looks, s.variable, s.instruction)
	}
	for _, look := range looks {
		if found := look(text); found != "" {
			return clipped(found), true
		}
	}
	return "", false
}

// textSort is what a file holds, as far as placeholders differ by it.
type textSort int

const (
	prose       textSort = iota // for people
	data                        // values
	program                     // code, in which blanks in braces may be code
	python                      // code, in which … may be a body
	anyTemplate                 // text with variables in braces, or unknown
)

// sorts are those of files, by the end of their name.
var sorts = map[string]textSort{
	"": prose, ".md": prose, ".markdown": prose, ".txt": prose, ".rst": prose, ".adoc": prose, ".org": prose,
	".json": data, ".jsonc": data, ".toml": data, ".ini": data, ".cfg": data, ".conf": data, ".env": data, ".properties": data, ".csv": data,
	".py": python, ".pyi": python,
	".go": program, ".js": program, ".mjs": program, ".cjs": program, ".jsx": program, ".ts": program, ".tsx": program, ".java": program, ".kt": program,
	".scala": program, ".cs": program, ".c": program, ".h": program, ".cc": program, ".cpp": program, ".hpp": program, ".rs": program, ".rb": program,
	".php": program, ".swift": program, ".sh": program, ".bash": program, ".lua": program, ".sql": program, ".css": program, ".scss": program, ".dart": program,
	".ex": program, ".exs": program, ".pl": program, ".r": program, ".zig": program,
}

func sortOf(file string) textSort {
	base := strings.ToLower(path.Base(file))
	if strings.Contains(file, "{{") || strings.Contains(file, "templates/") || base == "justfile" || base == "makefile" || base == "dockerfile" {
		return anyTemplate
	}
	end := path.Ext(base)
	if file == "" {
		end = ""
	}
	if sort, ok := sorts[end]; ok {
		return sort
	}
	return anyTemplate
}

// templated reports whether a text is about templates, so that its {{…}} are meant.
func templated(text string) bool {
	lower := strings.ToLower(text)
	for _, word := range []string{"{%", "{{<", "{{-", "{{#", "template", "jinja", "mustache", "handlebars", "tmpl", "cookiecutter"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return strings.HasPrefix(text, "---\n") && strings.Contains(text[3:], "\n---")
}

// search looks for placeholders in texts of one sort.
type search struct {
	sort     textSort
	template bool
	known    []string
}

// isKnown reports whether one of the known texts has this, too.
func (s search) isKnown(found string) bool {
	return slices.ContainsFunc(s.known, func(k string) bool { return strings.Contains(k, found) })
}

var (
	bracketed = lazyregexp.New(`^(?:\{+\s*\.?[A-Za-z_][\w .-]*\}+|<[A-Za-z][\w-]*(?: [\w,'-]+)+>|\[[A-Za-z][\w-]*(?: [\w,'-]+)+\]|\.{3,}|…)$`)
	toDo      = lazyregexp.New(`^(?i:todo|tbd|fixme)\b`)
	stands    = lazyregexp.New(`^(?i:(?:the |your |file |add |insert )*(?:content|contents|text|code)(?: goes)? here|(?:add|insert) (?:the |your )?(?:content|text|code)|placeholder)[.!]*$`)
	marker    = lazyregexp.New(`^(?://+|#+|--|/\*+|<!--|;|%|\*(?: |$))\s*`)
)

// only returns a placeholder that is all of a text, but for its headings.
func (s search) only(text, file string) string {
	if strings.Contains(strings.ToLower(path.Base(file)), "todo") {
		return ""
	}
	first := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || s.sort == prose && strings.HasPrefix(line, "#") {
			continue
		}
		bare := bareLine(line)
		switch {
		case toDo.MatchString(bare), stands.MatchString(bare):
		case s.sort != program && s.sort != python && bracketed.MatchString(line) && (s.sort != anyTemplate || !s.template):
		default:
			return ""
		}
		if first == "" {
			first = line
		}
	}
	if s.isKnown(first) {
		return ""
	}
	return first
}

// bareLine returns a line without the marks of a comment or a list.
func bareLine(line string) string {
	line = marker.ReplaceAllString(strings.TrimSpace(line), "")
	line = strings.TrimSuffix(strings.TrimSuffix(line, "*/"), "-->")
	return strings.TrimSpace(strings.TrimPrefix(line, "- "))
}

var (
	elided = lazyregexp.New(`^[(\[{]?(?:\.{3,}|…)\s*[(\[]?(?i:the |all |your |and |with )*(?i:rest|existing|remaining|other|unchanged|previous|same|more|omitted|implementation|code|content|contents|file|function|functions|method|methods|imports|lines)\b`)
	rest   = lazyregexp.New(`^(?i:(?:the |keep |and |all |of )*(?:rest|remainder|remaining part) of (?:the |your |this |its )?(?:\w+ )?(?:code|file|function|class|content|contents|document|implementation|method|module|program|script|text|body)s?` +
		`|(?:the |your |keep |and |all )*(?:existing|previous|unchanged|remaining|original|other) (?:code|content|contents|text|implementation|functions|methods)` +
		`|(?:the )?same as (?:before|above)` +
		`|(?:the )?(?:code|content|contents|file) (?:omitted|unchanged))` +
		`(?i:(?: (?:is|are|remains?|stays?|goes|left|here|the|same|unchanged|as|before|above|below|it|omitted|for|brevity))*)[.!)\]]*$`)
)

// leftOut returns a line of code that stands for lines that are left out.
func (s search) leftOut(text string) string {
	if s.sort != program && s.sort != python && s.sort != data && strings.Count(strings.TrimSpace(text), "\n") > 0 {
		return "" // people write … in text
	}
	lines := strings.Split(text, "\n")
	comment := func(i int) bool {
		line := ""
		if i >= 0 && i < len(lines) {
			line = strings.TrimSpace(lines[i])
		}
		return line != "" && bareLine(line) != line
	}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		bare := bareLine(line)
		dots := bare != "" && len(bare) < 7 && strings.Trim(bare, ". …") == "" && (strings.Contains(bare, "...") || strings.Contains(bare, "…"))
		switch {
		case line == "" || comment(i) && (comment(i-1) || comment(i+1)): // a part of a longer comment
		case dots && !comment(i) && s.sort != program && s.sort != data:
		case dots || elided.MatchString(bare), rest.MatchString(strings.Trim(bare, ".…()[] ")):
			if !s.isKnown(line) {
				return line
			}
		}
	}
	return ""
}

var variable = lazyregexp.New(`\{\{\s*(?:(?:range|if|with|end)\b[^{}\n]*|[.$]?[A-Za-z_][\w. ]*)\}\}`)

// isValue reports whether what stands between two texts is all of a quoted text that is
// the value of something.
func isValue(before, after string) bool {
	open := strings.TrimRight(before, "\"'`")
	quote := before[len(open):]
	open = strings.TrimRight(open, " \t")
	return quote != "" && strings.HasPrefix(after, quote) && (strings.HasSuffix(open, "=") || strings.HasSuffix(open, ":"))
}

// variable returns a variable in the notation of a template that is not filled in.
func (s search) variable(text string) string {
	if s.template {
		return ""
	}
	if s.sort == prose {
		text = withoutCode(text)
	}
	for _, at := range variable.FindAllStringIndex(text, -1) {
		found := text[at[0]:at[1]]
		inCode := s.sort == program || s.sort == python
		if inCode && !isValue(text[:at[0]], text[at[1]:]) || s.isKnown(found) {
			continue
		}
		return found
	}
	return ""
}

var insert = lazyregexp.New(`(?i)(?:\[(?:insert|fill in|enter|list of|add|describe|your|text of|content of)\s[^\]\[\n]+\]|<(?:insert|fill in|list of|add|description of|text of|contents? of|names? of)\s[^<>\n]+>)`)

var item = lazyregexp.New(`^(?:[-*+]|\d+[.)])?\s*(\{+\s*[A-Za-z_][\w .-]*\}+)$`)

// instruction returns words in brackets that tell a writer what to write there.
func (s search) instruction(text string) string {
	if s.sort != prose && s.sort != data {
		return ""
	}
	text = withoutCode(text)
	for _, at := range insert.FindAllStringIndex(text, -1) {
		found, next := text[at[0]:at[1]], text[at[1]:]
		link := strings.HasPrefix(next, "(") || strings.HasPrefix(next, "[") || strings.HasPrefix(next, ":")
		if !link && !s.isKnown(found) {
			return found
		}
	}
	for line := range strings.Lines(text) {
		if m := item.FindStringSubmatch(strings.TrimSpace(line)); m != nil && s.sort == prose && !s.template && !s.isKnown(m[1]) {
			return m[1]
		}
	}
	return ""
}

// withoutCode returns Markdown without its blocks and spans of code.
func withoutCode(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"), strings.HasPrefix(strings.TrimSpace(line), "~~~"):
			fenced = !fenced
		case fenced, strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"):
		default:
			for i, part := range strings.Split(line, "`") {
				if i%2 == 0 {
					b.WriteString(part)
				}
			}
			if strings.Count(line, "`") > 0 && !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// clipped shortens a placeholder for an error.
func clipped(found string) string {
	const most = 80 // characters
	if utf8.RuneCountInString(found) <= most {
		return found
	}
	return string([]rune(found)[:most]) + "…"
}
