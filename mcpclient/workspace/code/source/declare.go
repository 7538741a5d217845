package source

import (
	"cmp"
	"slices"
	"strings"

	"replan/internal/lazyregexp"
)

// blank clears the content of a bracket, and its line ends.
func blank(code []byte) {
	for i := range code {
		code[i] = ' '
	}
}

// braceReader finds declarations in languages that nest them with braces. It
// reads statement by statement: up to the next semicolon or brace.
type braceReader struct {
	f       *File
	g       *grammar
	lexemes []lexeme // of f
	found   []declaration
	whole   string // the code
	code    []byte // the code without the content of closed brackets
	stack   []scope
	start   int // first lexeme of the statement
	seen    map[int]bool
}

// scope is the content of an open bracket.
type scope struct {
	kind   string // of the declaration; "" for anything else
	decl   int    // index in found, or -1
	parent string // parent of its members
	close  string
	at     int // offset of the bracket
	resume int // the statement that continues after it, or -1
}

var closes = map[string]string{"{": "}", "(": ")", "[": "]"}

// read returns the declarations of the file.
func (r *braceReader) read() []declaration {
	f := r.f
	r.code, r.seen = f.code(), map[int]bool{}
	r.whole = string(r.code)
	for i := 0; i < len(r.lexemes); i++ {
		l := r.lexemes[i]
		if l.kind == comment && i == r.start {
			r.start++
		}
		if l.kind != sign {
			continue
		}
		switch s := f.at(i); s {
		case "#":
			i = r.directive(i)
		case "{", "(", "[":
			r.open(i, s)
		case "}", ")", "]":
			r.close(i, s)
		case ";", ",":
			top := r.top()
			if top.close == ")" || top.close == "]" || s == "," && (top.kind == "" || !strings.Contains(r.g.commas, top.kind)) {
				continue
			}
			if d := r.statement(i, false).decl; d >= 0 && s == ";" {
				r.found[d].EndLine = l.line
			}
			r.start = i + 1
		}
	}
	r.statement(len(r.lexemes), false)
	for _, s := range r.stack {
		if s.decl >= 0 {
			r.found[s.decl].EndLine = max(r.found[s.decl].Line, f.LineCount())
		}
	}
	return r.found
}

// directive reads the line of the preprocessor that begins at i, if there is
// one, and returns its last lexeme.
func (r *braceReader) directive(i int) int {
	f := r.f
	line := r.lexemes[i].line
	if family := f.Language.Family; family != "c" && family != "dotnet" || i > 0 && r.lexemes[i-1].line == line {
		return i
	}
	if f.at(i+1) == "define" && i+2 < len(r.lexemes) {
		r.start = i
		r.add("macro", "", i+2, false, false)
	}
	line = f.lastContinued(line)
	last := i
	for last+1 < len(r.lexemes) && r.lexemes[last+1].line <= line {
		last++
	}
	blank(r.code[r.lexemes[i].start:r.lexemes[last].end])
	if r.start == i {
		r.start = last + 1
	}
	return last
}

func (r *braceReader) top() scope {
	if len(r.stack) == 0 {
		return scope{kind: "file", decl: -1}
	}
	return r.stack[len(r.stack)-1]
}

func (r *braceReader) open(i int, s string) {
	sc := scope{decl: -1}
	resume := -1
	if s == "{" {
		switch top := r.top(); {
		case top.close == ")", top.close == "]", strings.Contains("<|&:", r.f.at(i-1)): // a value, or a type
			resume = r.start
			if first := r.f.lexemeAt(top.at) + 1; r.f.at(first) == "function" {
				r.start = first
				sc = r.statement(i, true)
			}
		default:
			sc = r.statement(i, true)
			if r.f.at(r.start) == "typedef" {
				resume = r.start
			}
		}
		r.start = i + 1
	}
	sc.close, sc.at, sc.resume = closes[s], r.lexemes[i].start, resume
	r.stack = append(r.stack, sc)
}

// close closes the innermost bracket of its kind. It ignores unmatched closing
// brackets.
func (r *braceReader) close(i int, s string) {
	for k, sc := range slices.Backward(r.stack) {
		if sc.close != s {
			if s != "}" {
				return
			}
			continue
		}
		if s == "}" && k == len(r.stack)-1 {
			r.statement(i, false)
		}
		for _, inner := range r.stack[k:] {
			if inner.decl >= 0 {
				r.found[inner.decl].EndLine = r.lexemes[i].line
			}
		}
		if r.stack = r.stack[:k]; s != "}" || sc.resume >= 0 {
			blank(r.code[sc.at+1 : r.lexemes[i].start])
		}
		if s == "}" {
			if r.start = i + 1; sc.resume >= 0 {
				r.start = sc.resume
			}
		}
		return
	}
}

var (
	generics   = lazyregexp.New(`<(?:[^<>;{}=-]|=>|->|[=-])*>`)
	attributes = lazyregexp.New(`#?\[\s*\]|@[\w.:]+(?:\s*\(\s*\))?|\b(?:public|private|protected)\s*:|<\?php|'\w+|__attribute__\s*\(\s*\)`)
)

// plain blanks the arguments of types and the attributes in front of a
// statement.
func plain(statement string) string {
	blanks := func(s string) string { return strings.Repeat(" ", len(s)) }
	for range 8 { // levels of nesting
		inner := generics.ReplaceAllStringFunc(statement, blanks)
		if inner == statement {
			break
		}
		statement = inner
	}
	return attributes.ReplaceAllStringFunc(statement, func(s string) string {
		if s == "@interface" {
			return " interface"
		}
		return blanks(s)
	})
}

// maxStatement limits in bytes how much of a statement is searched.
const maxStatement = 16_000

// statement finds the declarations in the statement that ends before a lexeme.
// It returns the scope of the last one, to which a body belongs.
func (r *braceReader) statement(end int, body bool) scope {
	f, top := r.f, r.top()
	last := scope{decl: -1}
	if r.start >= end {
		return last
	}
	from, to := r.lexemes[r.start].start, len(f.Text)
	if end < len(r.lexemes) {
		to = r.lexemes[end].start
	}
	if to-from > maxStatement {
		return last
	}
	code := plain(string(r.code[from:to]))
	at := -1
	for _, p := range r.g.declare {
		if !p.in.allows(top.kind) {
			continue
		}
		kind, src := p.kind, code
		if kind == "callback" { // its name is in brackets
			kind, src = "type", r.whole[from:to]
		}
		if at >= 0 && !r.g.loose {
			break
		}
		for _, m := range p.re.FindAllStringSubmatchIndex(src, -1) {
			name, before := m[len(m)-2], ""
			if len(m) > 4 {
				before = src[m[2]:m[3]]
			}
			if sc, ok := r.add(kind, before, f.lexemeAt(from+name), body, p.any); ok && name > at {
				at, last = name, sc
			}
		}
	}
	return last
}

// add adds the declaration of the name at a lexeme, unless it turns out to be
// none. A reserved word is a name only if any word is. It returns the scope of its body.
func (r *braceReader) add(kind, before string, name int, body, anyWord bool) (scope, bool) {
	f, top, word := r.f, r.top(), r.f.at(name)
	parent := ""
	if kind == "" {
		kind = before
	} else {
		parts := strings.FieldsFunc(before, func(r rune) bool { return strings.ContainsRune(".: \n", r) })
		parent = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "prototype" || s == "exports" || s == "module" }), ".")
	}
	named := lastPart(cmp.Or(parent, top.parent)) == word // like its class
	switch {
	case r.seen[name], reserved[word] && !anyWord, kind == "method" && word == "new", kind == "constructor" && !named && word != kind:
		return scope{}, false
	case kind == "field" && afterKeyword[f.at(name-1)]: // a type is declared
		return scope{}, false
	case kind == "function" && named && slices.Contains([]string{"c", "jvm", "dotnet"}, f.Language.Family):
		kind = "constructor"
	}
	if f.Language.Family == "c" && r.onlyNamed(kind, name, body) {
		return scope{}, false
	}
	r.seen[name] = true
	if kind == "impl" {
		return scope{kind: kind, decl: -1, parent: word}, true
	}
	from, to := r.from(name), r.lineEnd(name)
	switch {
	case kind == "constant" && top.kind == "enum":
		from, to = name, name+1
	case f.at(r.start) == "typedef":
		from, to = r.start, r.lineEnd(r.start)
	}
	d := r.addTo(kind, parent, from, name, to)
	if declared := r.found[d]; declared.Kind != "field" && top.kind != "enum" {
		return scope{kind: declared.Kind, decl: d, parent: strings.Trim(declared.Parent+"."+declared.Name, ".")}, true
	}
	return scope{decl: -1}, true
}

// onlyNamed reports whether a statement of C names something but does not
// declare it.
func (r *braceReader) onlyNamed(kind string, name int, body bool) bool {
	switch kind {
	case "function":
		pointer := r.f.at(name+1) == "(" && r.f.at(name+2) == "*" // void (*name)(int)
		return pointer || !body && r.top().kind == "file" && !header(r.f.Path)
	case "type":
		return body
	default:
		return container(kind) && !body
	}
}

var afterKeyword = set("class struct typename")

// from returns the first lexeme of the declaration at i: the first of its
// statement on its line.
func (r *braceReader) from(i int) int {
	k := i
	for k > r.start && k > 0 && r.lexemes[k-1].line == r.lexemes[i].line && r.lexemes[k-1].kind != comment {
		k--
	}
	return k
}

// lineEnd returns the index after the signature of the name at i: before its
// body or at the end of its line.
func (r *braceReader) lineEnd(i int) int {
	const most = 1000 // unclosed brackets would be read once a declaration
	f, depth := r.f, 0
	for k := i + 1; k < min(i+most, len(r.lexemes)); k++ {
		s := f.at(k)
		if r.lexemes[k].kind != sign {
			s = ""
		}
		if depth == 0 && (s == "{" || s == ";" || s == "}" || r.lexemes[k].line != r.lexemes[k-1].line && !strings.Contains("{:", f.at(k))) {
			return k
		}
		switch s {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		}
		if depth < 0 {
			return k
		}
	}
	return min(i+most, len(r.lexemes))
}

// addTo appends a declaration, and returns its index. An explicit parent takes precedence over the
// enclosing one.
func (r *braceReader) addTo(kind, parent string, from, name, to int) int {
	own := parent != ""
	if top := r.top(); container(top.kind) {
		module := top.kind == "namespace" || top.kind == "module"
		if parent == "" || module {
			parent = strings.Trim(top.parent+"."+parent, ".")
		}
		switch {
		case module && kind == "field", !module && kind == "variable":
			kind = map[bool]string{true: "variable", false: "field"}[module]
		case !module && kind == "function":
			kind = "method"
		}
	}
	if own && kind == "function" {
		kind = "method"
	}
	d := r.f.declaration(kind, parent, name)
	d.Signature = strings.TrimSuffix(r.f.signature(from, to), ",")
	r.found = append(r.found, d)
	return len(r.found) - 1
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// header reports whether a file is a header file.
func header(file string) bool {
	return slices.ContainsFunc([]string{".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl"}, func(end string) bool { return strings.HasSuffix(file, end) })
}
