package source

import "strings"

// name finds the name declared by the word at i. An impl has only a parent.
func (r *braceReader) name(i int, kind string) (at int, parent string) {
	if at, parent, ok := r.oddName(i, kind); ok {
		return at, parent
	}
	f := r.f
	j := r.beforeName(i)
	if j < 0 || j >= len(f.lexemes) || f.lexemes[j].kind != word || reserved[f.at(j)] {
		return -1, ""
	}
	// C#'s namespace A.B: the last part is the name.
	for f.at(j+1) == "." && j+2 < len(f.lexemes) && f.lexemes[j+2].kind == word && f.lexemes[j+2].start == f.lexemes[j+1].end {
		parent = strings.TrimPrefix(parent+"."+f.at(j), ".")
		j += 2
	}
	switch {
	case kind == "type" && f.Language.Family == "web" && f.at(j+1) != "=" && f.at(j+1) != "<":
		return -1, ""
	case f.Language.lexer == "PHP" && kind == "constant" && j+1 < len(f.lexemes) && f.lexemes[j+1].kind == word:
		j++ // const int NAME
	}
	return j, parent
}

// oddName finds a name that does not directly follow the word. ok reports
// whether the word is of that kind.
func (r *braceReader) oddName(i int, kind string) (at int, parent string, ok bool) {
	f := r.f
	switch {
	case f.at(i) == "typedef":
		return r.typedef(i), "", true
	case f.at(i) == "using" && f.at(i+2) != "=":
		return -1, "", true
	case kind == "impl":
		at, parent = r.implemented(i + 1)
		return at, parent, true
	case kind == "constructor":
		return i, "", true
	case r.g.body && (kind == "class" || kind == "struct" || kind == "union" || kind == "enum" || kind == "namespace"):
		return r.bodied(i + 1), "", true
	default:
		return 0, "", false
	}
}

// beforeName skips lexemes that may stand between the keyword of a declaration
// and its name.
func (r *braceReader) beforeName(i int) int {
	switch j := i + 1; r.f.at(j) {
	case "*", "!", "mut":
		return j + 1
	case "<":
		return r.angles(j)
	case "(":
		return -1
	default:
		return j
	}
}

// typedef finds the last word before the semicolon, or the one in (*name).
func (r *braceReader) typedef(i int) int {
	f := r.f
	last := -1
	for k := i + 1; k < r.near(i); k++ {
		switch s := f.at(k); {
		case s == "{":
			k = r.matching(k) - 1
		case s == "(" && f.at(k+1) == "*" && k+2 < len(f.lexemes):
			return k + 2
		case s == ";" || s == "(":
			return last
		case f.lexemes[k].kind == word:
			last = k
		}
	}
	return -1
}

// implemented finds the type that an impl extends: the one after for, or else
// the first one.
func (r *braceReader) implemented(j int) (at int, parent string) {
	f := r.f
	j = r.angles(j)
	for k := j; k < r.near(j); k++ {
		switch s := f.at(k); {
		case s == "<":
			if next := r.angles(k); next > k {
				k = next - 1
			}
		case s == "for":
			parent = ""
		case s == "{" || s == "where" || s == ";" || (s == ":" && f.at(k+1) != ":" && f.at(k-1) != ":"):
			return k - 1, parent
		case f.lexemes[k].kind == word:
			parent = s
		}
	}
	return -1, ""
}

// bodied finds the name of a C type that has a body.
func (r *braceReader) bodied(j int) int {
	f := r.f
	last := -1
	for k := j; k < r.near(j); k++ {
		switch s := f.at(k); {
		case s == "{", s == ":" && f.at(k+1) != ":" && f.at(k-1) != ":":
			return last
		case s == "<":
			next := r.angles(k)
			if next == k {
				return -1
			}
			k = next - 1
		case s == "(" && f.at(k-1) == "__attribute__":
			k = r.matching(k) - 1
		case s == "[" || s == ":":
			if s == "[" {
				k = r.matching(k) - 1
			}
		case f.lexemes[k].kind == comment:
		case f.lexemes[k].kind != word:
			return -1
		case s != "final" && s != "__attribute__" && s != "alignas":
			last = k
		}
	}
	return -1
}

// reserved lists words that cannot be the name or the type of a declaration
// without a keyword.
var reserved = set("if for while switch return else do case throw new delete await yield catch function typeof instanceof in of " +
	"sizeof goto using try with synchronized lock fixed foreach assert default not and or import export extends implements super this")

// modifiers lists words before a member that are not its type.
var modifiers = set("static public private protected async readonly override abstract get set declare accessor internal final virtual " +
	"inline extern explicit constexpr unsafe sealed partial synchronized native default const friend mutable volatile")

// method parses name(…) if it is a declaration, and returns where to continue.
func (r *braceReader) method(i int) int {
	f := r.f
	name := f.at(i)
	if reserved[name] || i == 0 && !r.g.untyped || f.at(r.from(i)) == "typedef" {
		return i
	}
	top := r.top()
	first, parent := r.qualified(i)
	if f.at(first-1) == "~" {
		return i
	}
	constructs := name == lastPart(top.parent) && container(top.kind) || parent != "" && name == lastPart(parent)
	ok := constructs || r.g.typed && r.typedBefore(first)
	if r.g.untyped {
		ok = top.kind != "file" && r.memberStart(i)
	}
	if !ok {
		return i
	}
	after := r.matching(r.angles(i + 1))
	body := r.body(after)
	if body == none || body == later && top.kind == "file" && !header(f.Path) {
		return i
	}
	kind := "function"
	if constructs || name == "constructor" && r.g.untyped {
		kind = "constructor"
	}
	d := r.addTo(kind, parent, r.from(i), i, r.lineEnd(i))
	if body == now {
		r.pending, r.at = &scope{kind: f.outline[d].Kind, decl: d, parent: f.outline[d].Parent}, len(r.stack)
	}
	return after
}

// qualified returns where A::B<T>::name starts, and the part before the name.
func (r *braceReader) qualified(i int) (first int, parent string) {
	f := r.f
	prev := i - 1
	for r.g.body && prev >= 2 && f.at(prev) == ":" && f.at(prev-1) == ":" {
		class := r.anglesBack(prev - 2)
		if class < 0 || f.lexemes[class].kind != word {
			break
		}
		parent = joinParent(f.at(class), parent)
		prev = class - 1
	}
	return prev + 1, parent
}

// anglesBack returns the index before the <…> that ends at i, or i if there is
// none.
func (r *braceReader) anglesBack(i int) int {
	if r.f.at(i) != ">" {
		return i
	}
	for depth := 0; i >= 0; i-- {
		switch r.f.at(i) {
		case ">":
			depth++
		case "<":
			if depth--; depth == 0 {
				return i - 1
			}
		}
	}
	return -1
}

func joinParent(a, b string) string {
	if b == "" {
		return a
	}
	return a + "." + b
}

func lastPart(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

// header reports whether a file is a header file.
func header(file string) bool {
	for _, end := range []string{".h", ".hpp", ".hh", ".hxx", ".d.ts", ".cuh", ".inl"} {
		if len(file) > len(end) && file[len(file)-len(end):] == end {
			return true
		}
	}
	return false
}

// typedBefore reports whether the lexemes before i can be a type.
func (r *braceReader) typedBefore(i int) bool {
	f := r.f
	if i <= r.start || i == 0 {
		return false
	}
	l := f.lexemes[i-1]
	if l.kind == word {
		return !reserved[f.at(i-1)]
	}
	switch f.at(i - 1) {
	case "*", "&", "]", "?":
		return i-1 > r.start
	case ">":
		return f.at(i-2) != "-" && f.at(i-2) != "="
	default:
		return false
	}
}

// memberStart reports whether the name at i can begin a member of a class.
func (r *braceReader) memberStart(i int) bool {
	f := r.f
	if i == r.start || i == 0 {
		return true
	}
	switch before := f.at(i - 1); before {
	case "{", "}", ";", "*", "#", ",":
		return true
	case ")", "]": // a decorator
		return f.lexemes[i-1].line != f.lexemes[i].line
	default:
		return modifiers[before] || f.lexemes[i-1].line != f.lexemes[i].line && f.lexemes[i-1].kind != sign
	}
}

type hasBody int

const (
	none  hasBody = iota // not a declaration
	now                  // its body follows
	later                // declared without a body
)

// body examines the lexemes after the arguments of a possible function.
func (r *braceReader) body(i int) hasBody {
	f := r.f
	const near = 60
	for k := i; k < min(i+near, len(f.lexemes)); k++ {
		switch s := f.at(k); s {
		case "{":
			return now
		case ";":
			return later
		case "}":
			if r.g.untyped && k == i {
				return later
			}
			return none
		case "=":
			switch f.at(k + 1) {
			case ">":
				return now
			case "0", "default", "delete":
				return later
			}
			return none
		case "(":
			k = r.matching(k) - 1
		case ".", ")", "+", "?", "|":
			if !r.g.untyped && !r.g.typed || k == i {
				return none
			}
		case ":":
			if r.g.untyped && k == i && container(r.top().kind) { // a return type
				return r.typed(k + 1)
			}
		default:
			if r.g.untyped && k == i && f.lexemes[k].line != f.lexemes[k-1].line {
				return later // the next member of an interface
			}
			if reserved[s] {
				return none
			}
		}
	}
	return none
}

// typed skips a return type, which may contain braces itself.
func (r *braceReader) typed(i int) hasBody {
	f := r.f
	for k := i; k < r.near(i); k++ {
		switch s := f.at(k); {
		case s == "{" && k == i:
			k = r.matching(k) - 1
		case s == "{":
			if before := f.at(k - 1); before == "|" || before == "&" || before == "<" {
				k = r.matching(k) - 1
				continue
			}
			return now
		case s == "(" || s == "[":
			k = r.matching(k) - 1
		case s == ";" || s == "}" || s == ",":
			return later
		case k > i && f.lexemes[k].line != f.lexemes[k-1].line && f.lexemes[k].kind == word && f.at(k-1) != "|" && f.at(k-1) != "&":
			return later
		}
	}
	return later
}

// field reports whether the word at i declares a field of a class.
func (r *braceReader) field(i int) bool {
	f := r.f
	if reserved[f.at(i)] || modifiers[f.at(i)] {
		return false
	}
	next := f.at(i + 1)
	switch {
	case f.Language.lexer == "PHP":
		return f.at(i-1) == "$" && r.from(i) < i-1
	case r.g.untyped:
		return r.scriptField(i)
	case r.g.colon:
		before := f.at(i - 1)
		return next == ":" && f.at(i+2) != ":" && (i == r.start || before == "{" || before == "," || before == "pub" || before == ")" || before == "]")
	case r.g.typed:
		return r.typedField(i)
	default:
		return false
	}
}

// typedField reports whether i is the name in Type name; in a class.
func (r *braceReader) typedField(i int) bool {
	f := r.f
	before, next := f.at(i-1), f.at(i+1)
	if !r.typedBefore(i) || modifiers[before] || before == "class" || before == "typename" {
		return false
	}
	switch next {
	case ";", ",":
		return true
	case "=":
		return f.at(i+2) != "="
	case "[":
		return r.g.body
	case "{":
		return f.Language.lexer == "C#"
	default:
		return false
	}
}

// scriptField reports whether i is the name in name: Type, name?: Type, name =
// value; or name; in a class.
func (r *braceReader) scriptField(i int) bool {
	f := r.f
	next := f.at(i + 1)
	if next == "?" || next == "!" {
		next = f.at(i + 2)
	}
	if !r.memberStart(i) || f.at(i-1) == "*" {
		return false
	}
	return next == ":" || next == ";" || next == "=" && f.at(i+2) != ">"
}
