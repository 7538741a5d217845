package source

import (
	"strings"
	"sync"

	"replan/internal/lazyregexp"
)

// grammar describes how a language declares names: by patterns for the usual
// declarations, not in full. That is enough for code in a common style.
type grammar struct {
	lines    bool            // declarations open their line and nest by indentation; otherwise by braces
	declare  []pattern       // the first that matches a name decides
	loose    bool            // a line end may end a statement
	commas   string          // the kinds whose members a comma separates
	dollar   bool            // identifiers may contain $
	dash     bool            // identifiers may contain -
	marks    bool            // identifiers may end in ? or !
	imports  map[string]bool // words that open an import
	packages map[string]bool // words that open the package name
}

// pattern finds declarations in the code of a statement or a line, in which the
// content of strings, comments and brackets is blank. Its last group is the
// name. The group before it is the parent, or the kind if kind is "".
type pattern struct {
	kind string
	in   where
	re   *lazyregexp.Regexp
	any  bool // the name may be a reserved word: its place says that it is one
}

// where restricts a pattern to declarations that stand directly in something.
type where int

const (
	anywhere where = iota
	outside        // in the file or in a declaration with members
	member         // in a type
	listed         // in an enum
)

// allows reports whether a pattern holds in something of a kind.
func (w where) allows(kind string) bool {
	switch w {
	case outside:
		return kind == "file" || container(kind)
	case member:
		return container(kind) && kind != "namespace" && kind != "module"
	case listed:
		return kind == "enum"
	default:
		return true
	}
}

func find(kind string, in where, expression string) pattern {
	words := strings.NewReplacer("NAME", `([\pL_][\pL\pM\pN_]*)`, "WORD", `([\pL_$][\pL\pM\pN_$]*)`)
	return pattern{kind: kind, in: in, re: lazyregexp.New(words.Replace(expression))}
}

// findAny is find for names that may be reserved words of other languages, or of this one.
func findAny(kind string, in where, expression string) pattern {
	p := find(kind, in, expression)
	p.any = true
	return p
}

// container reports whether declarations of a kind have members.
func container(kind string) bool {
	switch kind {
	case "class", "struct", "interface", "enum", "trait", "namespace", "module", "impl", "union", "record":
		return true
	default:
		return false
	}
}

// callable reports whether a kind is callable code.
func callable(kind string) bool {
	switch kind {
	case "function", "method", "macro", "constructor":
		return true
	default:
		return false
	}
}

func set(list string) map[string]bool {
	m := map[string]bool{}
	for f := range strings.FieldsSeq(list) {
		m[f] = true
	}
	return m
}

// reserved lists words that are no names of declarations.
var reserved = set("if for while switch return else do case throw new delete await yield catch function typeof instanceof in of " +
	"sizeof goto using try with synchronized lock fixed foreach assert default not and or import export extends implements super this " +
	"static readonly enum class struct union interface prototype")

func grammarOf(lexer string) *grammar {
	if same, ok := alike[lexer]; ok {
		lexer = same
	}
	return grammars()[lexer]
}

// alike maps languages to others with the same declarations.
var alike = map[string]string{
	"react": "TypeScript", "JavaScript": "TypeScript", "vue": "TypeScript", "Svelte": "TypeScript", "HTML": "TypeScript",
	"C": "C++", "Objective-C": "C++", "Arduino": "C++", "Python 2": "Python", "PHTML": "PHP", "SCSS": "CSS", "Sass": "CSS",
}

// The openings of statements, and what makes the value of an assignment a function.
const (
	scriptStart = `(?m)^\s*(?:(?:export|default|declare|abstract|async|return)\s+)*`
	scriptMods  = `(?m)^[ \t]*(?:(?:static|public|private|protected|async|readonly|override|abstract|get|set|declare|accessor)\s+)*[*#]?\s*`
	scriptValue = `\s*=\s*(?:async\b\s*)?(?:function\b|\(\s*\)[^;{}=]*=>|[\w$]+\s*=>)`
	rustStart   = `\A\s*(?:(?:pub(?:\s*\(\s*\))?|async|unsafe|const|extern|default|"+)\s+)*`
	phpStart    = `(?m)^\s*(?:(?:abstract|final|readonly|public|protected|private|static|var)\s+)*`
	rubyStart   = `^\s*(?:(?:private|public|protected|private_class_method|module_function)\s+)*`
)

// typed are the methods, constructors and fields of Type name(…) and Type name;
// in Java, C# and C++.
var typed = []pattern{
	find("function", outside, `\A\s*(?:[\w:.,?*&]+\s+[*&]*)+?((?:\w+\s*::\s*)*)NAME\s*\(`),
	find("function", outside, `\A\s*[\w:]+[*&]+NAME\s*\(`),
	find("constructor", outside, `\A\s*(?:\w+\s+)*?((?:\w+\s*::\s*)*)NAME\s*\(`),
	find("field", member, `\A\s*(?:[\w:.?*&]+\s+)+[*&]*NAME\s*(?:=[^=]|=\z|,|\z)`),
	find("constant", listed, `\A\s*NAME\s*(?:=|\(|\z)`),
}

var grammars = sync.OnceValue(func() map[string]*grammar {
	return map[string]*grammar{
		"Go": {}, // parsed by Go's own parser
		"TypeScript": {
			declare: []pattern{
				find("", anywhere, scriptStart+`(?:const\s+)?(class|interface|enum|namespace|module)\s+WORD`),
				find("function", anywhere, scriptStart+`function\b\s*\*?\s*WORD`),
				find("type", anywhere, scriptStart+`type\s+WORD\s*=`),
				find("function", outside, scriptStart+`(?:const|let|var)\s+WORD(?:\s*:(?:[^=;]|=>)*)?`+scriptValue),
				find("constant", outside, scriptStart+`const\s+WORD`),
				find("variable", outside, scriptStart+`(?:let|var)\s+WORD`),
				find("function", anywhere, `(?m)^\s*((?:[\w$]+\s*\.\s*)+)WORD`+scriptValue),
				find("constructor", member, scriptMods+`(constructor)\s*\(`),
				findAny("method", member, scriptMods+`WORD\s*\??\s*\(`),
				find("constant", listed, `\A\s*WORD\s*(?:=|\z)`),
				find("field", member, scriptMods+`WORD\s*[?!]?\s*(?::|=[^>]|=\z|\z)`),
			},
			loose: true, commas: "enum", dollar: true, imports: set("import require"),
		},
		"Java": {
			declare: append([]pattern{find("", anywhere, `\A\s*(?:\w+\s+)*?(class|interface|enum|record)\s+NAME`)}, typed...),
			commas:  "enum", dollar: true, imports: set("import"), packages: set("package"),
		},
		"C#": {
			declare: append([]pattern{
				find("namespace", anywhere, `\A\s*namespace\s+((?:\w+\.)*)NAME`),
				find("", anywhere, `\A\s*(?:\w+\s+)*?(class|struct|interface|enum|record)\s+(?:(?:struct|class)\s+)?NAME`),
			}, typed...),
			commas: "enum", imports: set("using"), packages: set("namespace"),
		},
		"C++": {
			declare: append([]pattern{
				find("callback", anywhere, `\A\s*typedef\b[^;{]*\(\s*\*\s*NAME\s*\)`),
				find("type", anywhere, `\A\s*typedef\b[^()]*?NAME\s*(?:\(\s*\)\s*)?\z`),
				find("type", anywhere, `\A\s*(?:template\s+)?using\s+NAME\s*=`),
				find("", anywhere, `(?s)\A\s*(?:\w+\s+)*?(class|struct|union|enum|namespace)\s+(?:(?:class|struct)\s+)?(?:\w+\s+(?:\(\s*\)\s*)?|\w+::)*?NAME(?:\s+final)?\s*(?::[^:].*)?\z`),
			}, typed...),
			commas: "enum", imports: set("include import"),
		},
		"Rust": {
			declare: []pattern{
				findAny("function", anywhere, rustStart+`fn\s+NAME`),
				find("", anywhere, rustStart+`(struct|enum|trait|union|type)\s+NAME`),
				find("module", anywhere, rustStart+`mod\s+NAME`),
				find("constant", outside, rustStart+`const\s+NAME`),
				find("variable", outside, rustStart+`static\s+(?:mut\s+)?NAME`),
				find("macro", anywhere, rustStart+`macro_rules!\s*NAME`),
				find("impl", anywhere, rustStart+`impl\b(?:[^{]*\bfor\b)?[&$\w\s]*?(?:\w+::)*NAME\s*(?:\bwhere\b[^{]*)?\z`),
				find("constant", listed, `\A\s*NAME\s*(?:=|\(|\z)`),
				find("field", member, rustStart+`NAME\s*:(?:[^:]|\z)`),
			},
			commas: "enum struct union", imports: set("use"),
		},
		"PHP": {
			declare: []pattern{
				find("", anywhere, phpStart+`(class|interface|trait|enum)\s+NAME`),
				findAny("function", anywhere, phpStart+`function\s+&?\s*NAME`),
				find("constant", outside, phpStart+`const\s+(?:\w+\s+)?NAME\s*=`),
				find("field", member, `\A\s*(?:[\w?|\\]+\s+)+\$NAME`),
			},
			imports: set("use require require_once include"), packages: set("namespace"),
		},
		"CSS": {dash: true, imports: set("import use")},
		"Python": {
			lines: true, imports: set("import from"),
			declare: []pattern{
				find("function", anywhere, `^\s*(?:async\s+)?def\s+NAME`),
				find("class", anywhere, `^\s*class\s+NAME`),
				find("variable", outside, `^\s*NAME\s*(?:=[^=]|=\s*$|:)`),
			},
		},
		"Ruby": {
			lines: true, marks: true, imports: set("require require_relative"),
			declare: []pattern{
				find("function", anywhere, rubyStart+`def\s+(?:self\.)?((?:\w+\.)*)NAME`),
				find("class", anywhere, rubyStart+`class\s+((?:\w+::)*)NAME`),
				find("module", anywhere, rubyStart+`module\s+((?:\w+::)*)NAME`),
				find("constant", anywhere, `^\s*([A-Z]\w*)\s*(?:=[^=~>]|=\s*$)`),
				find("attributes", anywhere, `^\s*attr_(?:reader|accessor|writer)\s+NAME`),
			},
		},
		"Bash": {
			lines: true, imports: set("source"),
			declare: []pattern{
				find("function", anywhere, `^\s*NAME\s*\(\s*\)`),
				find("function", anywhere, `^\s*(?:(?:export|readonly|local|declare)\s+)*function\s+NAME`),
				find("variable", outside, `^NAME=`),
			},
		},
		"markdown": {lines: true, dash: true},
	}
})
