package source

import "strings"

// lineReader finds declarations in languages where a declaration opens its
// line and its content is indented.
type lineReader struct {
	f     *File
	g     *grammar
	stack []indented
	last  int             // last line with code
	seen  map[string]bool // variables already added, with their container
}

type indented struct {
	indent, decl int
	kind, parent string
}

func (r *lineReader) read() {
	f := r.f
	r.seen = map[string]bool{}
	depth := 0
	for i, l := range f.lexemes {
		first := i == 0 || f.lexemes[i-1].line != l.line && f.lineAt(f.lexemes[i-1].end-1) != l.line
		if first && l.kind != comment && depth == 0 {
			r.dedent(i, l)
			r.open(i)
		}
		if l.kind != comment {
			r.last = f.lineAt(l.end - 1)
		}
		if l.kind == sign {
			switch f.at(i) {
			case "(", "[":
				depth++
			case ")", "]":
				depth = max(0, depth-1)
			}
		}
	}
	for _, in := range r.stack {
		f.outline[in.decl].EndLine = max(f.outline[in.decl].Line, r.last)
	}
}

// dedent closes the declarations that do not contain a line.
func (r *lineReader) dedent(i int, l lexeme) {
	indent := l.start - r.f.lines[l.line-1]
	for len(r.stack) > 0 {
		top := r.stack[len(r.stack)-1]
		if indent > top.indent {
			return
		}
		end := r.last
		if w := r.f.at(i); indent == top.indent && (w == "end" || w == "}") {
			end = l.line
		}
		r.f.outline[top.decl].EndLine = max(r.f.outline[top.decl].Line, end)
		r.stack = r.stack[:len(r.stack)-1]
	}
}

// open adds the declaration of the line that starts with lexeme i, if any.
func (r *lineReader) open(i int) {
	from := i
	for r.g.skip[r.f.at(i)] && i+1 < len(r.f.lexemes) && r.f.lexemes[i+1].line == r.f.lexemes[i].line {
		i++
	}
	kind, ok := r.g.declare[r.f.at(i)]
	if !ok || r.f.lexemes[i].kind != word {
		r.special(from, i)
		return
	}
	name, parent := r.name(i + 1)
	if name < 0 {
		return
	}
	r.note(kind, parent, from, name, true)
}

// name finds the name after a word: self.name, M.sub:name, A::B. It returns
// the part before the last as the parent.
func (r *lineReader) name(i int) (at int, parent string) {
	f := r.f
	if i >= len(f.lexemes) || f.lexemes[i].kind != word {
		return -1, ""
	}
	var parts []string
	for i+2 < len(f.lexemes) {
		join := f.at(i + 1)
		next := i + 2
		if join == ":" && f.at(next) == ":" {
			next++
		}
		if join != "." && join != ":" || next >= len(f.lexemes) || f.lexemes[next].kind != word || f.lexemes[i+1].start != f.lexemes[i].end || f.lexemes[next].start > f.lexemes[next-1].end {
			break
		}
		parts = append(parts, f.at(i))
		i = next
	}
	if len(parts) == 1 && parts[0] == "self" {
		parts = nil
	}
	return i, strings.Join(parts, ".")
}

// note adds a declaration; opens means that lines may belong to it.
func (r *lineReader) note(kind, parent string, from, name int, opens bool) {
	f := r.f
	if len(r.stack) > 0 {
		if top := r.stack[len(r.stack)-1]; container(top.kind) {
			outer := top.parent
			if parent != "" {
				outer += "." + parent
			}
			parent = outer
			switch kind {
			case "function":
				kind = "method"
			case "variable":
				kind = "field"
			}
		}
	}
	if kind == "function" && parent != "" {
		kind = "method"
	}
	d := f.add(kind, parent, name)
	to := name
	depth := 0
	for end := min(name+1000, len(f.lexemes)); to < end; to++ {
		s := f.at(to)
		if depth == 0 && f.lexemes[to].line != f.lexemes[name].line && to > name {
			break
		}
		switch s {
		case "(", "[":
			depth++
		case ")", "]":
			depth = max(0, depth-1)
		}
	}
	f.outline[d].Signature = strings.TrimRight(strings.TrimSuffix(f.signature(from, to), " do"), ": {")
	if to < len(f.lexemes) && f.Language.Family == "python" && opens && (f.lexemes[to].kind == text || f.lexemes[to].kind == comment) {
		if doc := f.at(to); strings.HasPrefix(strings.TrimLeft(doc, "rRuU"), `"""`) || strings.HasPrefix(strings.TrimLeft(doc, "rRuU"), "'''") {
			f.outline[d].Doc = plainComment(doc)
		}
	}
	if opens {
		indent := f.lexemes[from].start - f.lines[f.lexemes[from].line-1]
		full := f.at(name)
		if parent != "" {
			full = parent + "." + full
		}
		r.stack = append(r.stack, indented{indent, d, kind, full})
	}
}

// special adds declarations without a keyword.
func (r *lineReader) special(from, i int) {
	f := r.f
	first := f.lexemes[i]
	top := ""
	if len(r.stack) > 0 {
		top = r.stack[len(r.stack)-1].kind
	}
	outer := top == "" || container(top)
	next, after := f.at(i+1), f.at(i+2)
	sameLine := i+1 < len(f.lexemes) && f.lexemes[i+1].line == first.line
	if first.kind != word || !sameLine {
		return
	}
	switch f.Language.grammar {
	case grammarOf("Python"):
		if outer && (next == "=" && after != "=" || next == ":") {
			r.variable(from, i)
		}
	case grammarOf("Ruby"):
		r.ruby(from, i, next)
	case grammarOf("Bash"):
		r.shell(from, i, outer)
	}
}

func (r *lineReader) shell(from, i int, outer bool) {
	f := r.f
	first := f.lexemes[i]
	switch {
	case f.at(i+1) == "(" && f.at(i+2) == ")":
		r.note("function", "", from, i, true)
	case outer && f.at(i+1) == "=" && f.lexemes[i+1].start == first.end && first.start == f.lines[first.line-1]:
		r.variable(from, i)
	}
}

// variable adds the first assignment to a name.
func (r *lineReader) variable(from, i int) {
	holder := ""
	if len(r.stack) > 0 {
		holder = r.stack[len(r.stack)-1].parent
	}
	name := r.f.at(i)
	if r.seen[holder+"."+name] || r.f.Language.Family == "python" && pythonWords[name] {
		return
	}
	r.seen[holder+"."+name] = true
	kind := "variable"
	if name == strings.ToUpper(name) && strings.ToLower(name) != name {
		kind = "constant"
	}
	r.note(kind, "", from, i, false)
}

var pythonWords = set("else try finally lambda if for while with return yield raise except pass import from print match case")

func (r *lineReader) ruby(from, i int, next string) {
	f := r.f
	w := f.at(i)
	switch {
	case next == "=" && f.at(i+2) != "=" && w != "" && w[0] >= 'A' && w[0] <= 'Z':
		r.variable(from, i)
	case w == "attr_reader" || w == "attr_accessor" || w == "attr_writer":
		for k := i + 1; k < len(f.lexemes) && f.lexemes[k].line == f.lexemes[i].line; k++ {
			if f.lexemes[k].kind == symbol {
				r.note("variable", "", from, k, false)
			}
		}
	}
}
