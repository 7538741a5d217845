package source

import "strings"

// lineReader finds declarations in languages where a declaration opens its
// line and its content is indented.
type lineReader struct {
	f     *File
	g     *grammar
	stack []indentScanner
	last  int             // last line with code
	seen  map[string]bool // variables already added, with their container
}

type indentScanner struct {
	indent, decl int
	kind, parent string
}

func (r *lineReader) read() {
	f := r.f
	r.seen = map[string]bool{}
	code := f.code()
	var open []lexeme
	for i, l := range f.lexemes {
		switch s := f.at(i); {
		case l.kind != sign:
		case s == "(" || s == "[":
			open = append(open, l)
		case (s == ")" || s == "]") && len(open) > 0:
			blank(code[open[len(open)-1].end:l.start])
			open = open[:len(open)-1]
		}
	}
	at := 0
	for line := range strings.Lines(string(code)) {
		if words := strings.TrimSpace(line); words != "" {
			start := at + strings.Index(line, words)
			n := f.lineAt(start)
			r.dedent(start-f.lines[n-1], n, words)
			r.last = f.lineAt(start + len(words) - 1)
			r.line(strings.TrimRight(line, "\r\n"), at, start)
		}
		at += len(line)
	}
	for _, in := range r.stack {
		f.outline[in.decl].EndLine = max(f.outline[in.decl].Line, r.last)
	}
}

// dedent closes the declarations that do not contain a line.
func (r *lineReader) dedent(indent, line int, words string) {
	for len(r.stack) > 0 {
		top := r.stack[len(r.stack)-1]
		if indent > top.indent {
			return
		}
		end := r.last
		if indent == top.indent && (words == "}" || strings.HasPrefix(words+" ", "end ")) {
			end = line
		}
		r.f.outline[top.decl].EndLine = max(r.f.outline[top.decl].Line, end)
		r.stack = r.stack[:len(r.stack)-1]
	}
}

// line adds the declarations of a line at an offset.
func (r *lineReader) line(code string, at, start int) {
	f := r.f
	top := indentScanner{kind: "file"}
	if len(r.stack) > 0 {
		top = r.stack[len(r.stack)-1]
	}
	for _, p := range r.g.declare {
		m := p.re.FindStringSubmatchIndex(code)
		if m == nil || !p.in.allows(top.kind) {
			continue
		}
		name, from := f.lexemeAt(at+m[len(m)-2]), f.lexemeAt(start)
		parent := ""
		if len(m) > 4 {
			parent = strings.Trim(strings.ReplaceAll(code[m[2]:m[3]], "::", "."), ".")
		}
		switch p.kind {
		case "attributes":
			for end := at + len(code); name < len(f.lexemes) && f.lexemes[name].start < end; name++ {
				if f.lexemes[name].kind == symbol {
					r.note(top, "variable", "", from, name)
				}
			}
		case "variable", "constant":
			word := f.at(name)
			if key := top.parent + "." + word; !r.seen[key] && !pythonWords[word] {
				r.seen[key] = true
				kind := "variable"
				if word == strings.ToUpper(word) && strings.ToLower(word) != word {
					kind = "constant"
				}
				r.note(top, kind, "", from, name)
			}
		default:
			r.note(top, p.kind, parent, from, name)
		}
		return
	}
}

// note adds a declaration inside another.
func (r *lineReader) note(top indentScanner, kind, parent string, from, name int) {
	f := r.f
	if container(top.kind) {
		parent = strings.TrimSuffix(top.parent+"."+parent, ".")
		switch kind {
		case "function":
			kind = "method"
		case "variable":
			kind = "field"
		}
	}
	if kind == "function" && parent != "" {
		kind = "method"
	}
	d := f.add(kind, parent, name)
	to, depth := name, 0
	for end := min(name+1000, len(f.lexemes)); to < end && (depth > 0 || f.lexemes[to].line == f.lexemes[name].line); to++ {
		switch f.at(to) {
		case "(", "[":
			depth++
		case ")", "]":
			depth = max(0, depth-1)
		}
	}
	f.outline[d].Signature = strings.TrimRight(strings.TrimSuffix(f.signature(from, to), " do"), ": {")
	if kind != "class" && kind != "module" && !callable(kind) {
		return
	}
	if to < len(f.lexemes) && f.Language.Family == "python" && (f.lexemes[to].kind == text || f.lexemes[to].kind == comment) {
		if doc := strings.TrimLeft(f.at(to), "rRuU"); strings.HasPrefix(doc, `"""`) || strings.HasPrefix(doc, "'''") {
			f.outline[d].Doc = plainComment(doc)
		}
	}
	indent := f.lexemes[from].start - f.lines[f.lexemes[from].line-1]
	r.stack = append(r.stack, indentScanner{indent, d, kind, strings.Trim(parent+"."+f.at(name), ".")})
}

// pythonWords may stand before a colon and are no names.
var pythonWords = set("else try finally except lambda")
