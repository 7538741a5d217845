package source

import "strings"

// braceReader finds declarations in languages that nest them with braces.
type braceReader struct {
	f       *File
	g       *grammar
	stack   []scope
	pending *scope // what the next brace opens
	at      int    // depth of the stack at its declaration
	start   int    // first lexeme of the statement
}

// scope is the content of an open bracket.
type scope struct {
	kind   string // of the declaration; "" for anything else
	decl   int    // index in the outline, or -1
	parent string // parent of its members
	close  string
}

func (r *braceReader) read() {
	f := r.f
	for i := 0; i < len(f.lexemes); i++ {
		l := f.lexemes[i]
		if l.kind == word && !l.quoted {
			if next := r.word(i); next > i {
				i = next - 1
			}
			continue
		}
		if l.kind != sign {
			continue
		}
		switch s := f.at(i); s {
		case "{", "(", "[":
			r.open(i, s)
		case "}", ")", "]":
			r.close(i, s)
		case ";":
			r.end(i)
		case ",":
			if r.top().kind == "enum" {
				r.start = i + 1
			}
		}
	}
	for _, s := range r.stack {
		if s.decl >= 0 {
			f.outline[s.decl].EndLine = max(f.outline[s.decl].Line, f.LineCount())
		}
	}
}

func (r *braceReader) top() scope {
	if len(r.stack) == 0 {
		return scope{kind: "file", decl: -1}
	}
	return r.stack[len(r.stack)-1]
}

// member reports whether a declaration without a keyword can start here.
func (r *braceReader) member() bool {
	k := r.top().kind
	return k == "file" || container(k)
}

func (r *braceReader) open(i int, s string) {
	sc := scope{decl: -1, close: map[string]string{"{": "}", "(": ")", "[": "]"}[s]}
	if s == "{" && r.pending != nil && len(r.stack) == r.at {
		sc.kind, sc.decl, sc.parent = r.pending.kind, r.pending.decl, r.pending.parent
		r.pending = nil
	}
	r.stack = append(r.stack, sc)
	if s == "{" {
		r.start = i + 1
	}
}

// close closes the innermost bracket of its kind. It ignores unmatched closing
// brackets.
func (r *braceReader) close(i int, s string) {
	for k := len(r.stack) - 1; k >= 0; k-- {
		if r.stack[k].close != s {
			if s != "}" {
				return
			}
			continue
		}
		for _, sc := range r.stack[k:] {
			if sc.decl >= 0 {
				r.f.outline[sc.decl].EndLine = r.f.lexemes[i].line
			}
		}
		r.stack = r.stack[:k]
		break
	}
	if r.pending != nil && len(r.stack) < r.at {
		r.pending = nil
	}
	if s == "}" {
		r.start = i + 1
	}
}

// end handles a semicolon: the pending declaration has no body.
func (r *braceReader) end(i int) {
	if r.pending != nil && len(r.stack) == r.at {
		if d := r.pending.decl; d >= 0 {
			r.f.outline[d].EndLine = r.f.lexemes[i].line
		}
		r.pending = nil
	}
	r.start = i + 1
}

// word handles a word that may declare something, and returns where to
// continue.
func (r *braceReader) word(i int) int {
	f := r.f
	if kind, ok := r.g.declare[f.at(i)]; ok && r.plausible(i) {
		if next := r.keyword(i, kind); next > i {
			return next
		}
	}
	if r.g.untyped && f.at(i-1) == "." && f.at(i+1) == "=" && r.function(i+1) {
		return r.assigned(i)
	}
	if !r.member() {
		return i
	}
	switch top := r.top(); {
	case top.kind == "enum" && i == r.start && !r.typedBefore(i) && !reserved[f.at(i)] && strings.Contains(",}({=;", f.at(i+1)):
		r.add("constant", i, i, i+1)
		return i
	case (r.g.untyped || r.g.typed) && f.at(r.angles(i+1)) == "(":
		return r.method(i)
	case top.kind != "file" && r.field(i):
		r.add("field", r.from(i), i, r.lineEnd(i))
	}
	return i
}

// plausible reports whether a keyword can open a declaration where it is: not
// x.class, ::class or <class T>.
func (r *braceReader) plausible(i int) bool {
	f := r.f
	if i+1 >= len(f.lexemes) || f.lexemes[i+1].kind == text {
		return false
	}
	switch f.at(i - 1) {
	case ".", "<", ">", "$", "&", "|":
		return f.at(i-1) == ">" && f.lexemes[i-1].line != f.lexemes[i].line || f.at(i-1) == ">" && r.g.typed // template <…> class
	case ",", "=":
		return false
	case "(":
		return f.at(i) == "function"
	case ":":
		return f.at(i-2) != ":"
	case "#":
		return f.at(i) == "define"
	}
	return f.at(i) != "define"
}

// keyword parses a declaration that starts with a keyword.
func (r *braceReader) keyword(i int, kind string) int {
	f := r.f
	if _, again := r.g.declare[f.at(i+1)]; again && f.at(i) != "typedef" && f.lexemes[i+1].kind == word && f.at(i+2) != "=" && f.at(i+2) != "(" {
		return i // const fn, enum class, class func: the second word opens the declaration
	}
	switch before := f.at(i - 1); {
	case before == "enum" && kind != "enum", before == "enum" && kind == "class":
		kind = "enum"
	case before == "record":
		kind = "record"
	case before == "@" && kind == "interface":
		kind = "annotation"
	}
	name, parent := r.name(i, kind)
	if name < 0 {
		return i
	}
	if f.at(i) == "typedef" { // the named type may have its own body
		r.add(kind, r.from(i), name, r.statementEnd(i))
		return i
	}
	if value := kind == "constant" || kind == "variable"; value && !r.member() {
		return i
	}
	kind = r.refine(kind, name)
	if kind == "impl" {
		r.pending, r.at = &scope{kind: kind, decl: -1, parent: parent}, len(r.stack)
		return name + 1
	}
	d := r.addTo(kind, parent, r.from(i), name, r.lineEnd(name))
	full := f.at(name)
	if p := f.outline[d].Parent; p != "" {
		full = p + "." + full
	}
	r.pending, r.at = &scope{kind: f.outline[d].Kind, decl: d, parent: full}, len(r.stack)
	return name + 1
}

// refine returns the kind of a declaration, using the lexemes after its name.
func (r *braceReader) refine(kind string, name int) string {
	f := r.f
	if r.g.untyped && (kind == "constant" || kind == "variable") && r.function(name+1) {
		return "function"
	}
	if container(r.top().kind) && (kind == "variable" || kind == "constant" && !r.g.untyped && f.Language.lexer != "Rust" && f.Language.lexer != "PHP") {
		return "field"
	}
	return kind
}

// function reports whether an assignment's value is a function: = function, =
// (…) =>, = async x =>. A type may stand between the name and the sign.
func (r *braceReader) function(i int) bool {
	f := r.f
	const near = 40
	for end := i + near; f.at(i) != "=" || f.at(i+1) == ">"; i++ {
		if s := f.at(i); i >= end || s == ";" || s == "" || i > 0 && f.lexemes[i].line != f.lexemes[i-1].line {
			return false
		}
	}
	if i++; f.at(i) == "async" {
		i++
	}
	switch f.at(i) {
	case "function":
		return true
	case "(":
		after := r.matching(i)
		for k := after; k < min(after+near, len(f.lexemes)); k++ {
			switch f.at(k) {
			case "=":
				return f.at(k+1) == ">"
			case ";", "{", "}":
				return false
			}
		}
		return false
	default:
		return f.at(i+1) == "=" && f.at(i+2) == ">"
	}
}

// assigned parses A.prototype.name = function, exports.name = x => …
func (r *braceReader) assigned(i int) int {
	f := r.f
	parent := ""
	k := i
	for k >= 2 && f.at(k-1) == "." && f.lexemes[k-2].kind == word {
		k -= 2
		if w := f.at(k); w != "prototype" && w != "exports" && w != "module" {
			parent = joinParent(w, parent)
		}
	}
	if before := f.at(k - 1); k > 0 && f.lexemes[k-1].line == f.lexemes[k].line && before != "{" && before != ";" && before != "}" {
		return i
	}
	kind := "function"
	if parent != "" {
		kind = "method"
	}
	d := r.addTo(kind, parent, r.from(k), i, r.lineEnd(i))
	r.pending, r.at = &scope{kind: kind, decl: d}, len(r.stack)
	return i + 1
}

// near limits how far to follow a declaration that starts at i. Otherwise a
// file with unclosed brackets would be scanned once per word.
func (r *braceReader) near(i int) int {
	const most = 1000
	return min(i+most, len(r.f.lexemes))
}

// matching returns the index after the bracket that closes the one at i.
func (r *braceReader) matching(i int) int {
	depth := 0
	const most = 20_000
	for end := min(i+most, len(r.f.lexemes)); i < end; i++ {
		if r.f.lexemes[i].kind != sign {
			continue
		}
		switch r.f.at(i) {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// angles returns the index after <…>, or i if there is none.
func (r *braceReader) angles(i int) int {
	if r.f.at(i) != "<" {
		return i
	}
	depth := 0
	const near = 200
	for k := i; k < min(i+near, len(r.f.lexemes)); k++ {
		switch r.f.at(k) {
		case "<":
			depth++
		case ">":
			if r.f.at(k-1) == "-" || r.f.at(k-1) == "=" {
				continue
			}
			if depth--; depth == 0 {
				return k + 1
			}
		case ";", "{":
			return i
		}
	}
	return i
}

// from returns the first lexeme of the declaration at i: the first of its
// statement on its line.
func (r *braceReader) from(i int) int {
	f := r.f
	k := i
	for k > r.start && k > 0 && f.lexemes[k-1].line == f.lexemes[i].line && f.lexemes[k-1].kind != comment {
		k--
	}
	return k
}

// lineEnd returns the index after the signature of the name at i: before its
// body or at the end of its line.
func (r *braceReader) lineEnd(i int) int {
	f := r.f
	depth := 0
	for k := i + 1; k < r.near(i); k++ {
		s := f.at(k)
		if f.lexemes[k].kind != sign {
			s = ""
		}
		if depth == 0 && (s == "{" || s == ";" || s == "}" || f.lexemes[k].line != f.lexemes[k-1].line && !strings.Contains("{:", f.at(k))) {
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
	return r.near(i)
}

// statementEnd returns the next semicolon outside brackets, or the body before
// it.
func (r *braceReader) statementEnd(i int) int {
	for end := r.near(i); i < end; i++ {
		switch r.f.at(i) {
		case ";", "{":
			return i
		case "(":
			i = r.matching(i) - 1
		}
	}
	return i
}

func (r *braceReader) add(kind string, from, name, to int) int {
	return r.addTo(kind, "", from, name, to)
}

// addTo appends a declaration. An explicit parent takes precedence over the
// enclosing one.
func (r *braceReader) addTo(kind, parent string, from, name, to int) int {
	own := parent != ""
	if top := r.top(); container(top.kind) {
		if parent == "" || top.kind == "namespace" || top.kind == "module" {
			parent = strings.Trim(top.parent+"."+parent, ".")
		}
		if top.kind == "namespace" || top.kind == "module" {
			if kind == "field" {
				kind = "variable"
			}
		} else if kind == "function" {
			kind = "method"
		}
	}
	if own && kind == "function" {
		kind = "method"
	}
	d := r.f.add(kind, parent, name)
	r.f.outline[d].Signature = strings.TrimSuffix(r.f.signature(from, to), ",")
	return d
}
