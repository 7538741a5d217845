package source

import (
	"strings"
	"sync"
)

// grammar describes how a language declares names. It is not a full grammar:
// it lists the words that open a declaration and where its name is. That is
// enough for code in a common style.
type grammar struct {
	lines   bool              // declarations open their line and nest by indentation; otherwise by braces
	declare map[string]string // the word that opens a declaration → the declared kind
	skip    map[string]bool   // words that may precede it: public, export, async
	untyped bool              // name(…) { in a class is a method
	typed   bool              // Type name(…) { is a function, Type name; in a class a field
	body    bool              // a type is declared only if its body follows
	colon   bool              // name: Type in a class is a field
	dollar  bool              // identifiers may contain $
	dash    bool              // identifiers may contain -
	marks   bool              // identifiers may end in ? or !
	imports map[string]bool   // words that open an import
	pack    map[string]bool   // words that open the package name
}

// container reports whether declarations of a kind have members.
func container(kind string) bool {
	switch kind {
	case "class", "struct", "interface", "enum", "trait", "namespace", "module", "impl", "union", "record", "annotation":
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

// pairs parses "word:kind word" into a map; a word without a kind is its own
// kind.
func pairs(list string) map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(list) {
		name, kind, ok := strings.Cut(f, ":")
		if !ok {
			kind = name
		}
		m[name] = kind
	}
	return m
}

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(list) {
		m[f] = true
	}
	return m
}

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

const visibility = "public private protected internal static final abstract override export default async extern inline "

var grammars = sync.OnceValue(func() map[string]*grammar {
	return map[string]*grammar{
		"Go": {}, // parsed by Go's own parser
		"TypeScript": {
			declare: pairs("class function interface enum type namespace module const:constant let:variable var:variable"),
			untyped: true, colon: true, dollar: true, imports: set("import require"),
		},
		"Java": {
			declare: pairs("class interface enum record"), typed: true, dollar: true,
			imports: set("import"), pack: set("package"),
		},
		"C#": {
			declare: pairs("class struct interface enum record namespace"), typed: true,
			imports: set("using"), pack: set("namespace"),
		},
		"C++": {
			declare: pairs("class struct union enum namespace define:macro typedef:type using:type @interface:class"), typed: true, body: true,
			imports: set("include import"),
		},
		"Rust": {
			declare: pairs("fn:function struct enum trait union type const:constant static:variable mod:module macro_rules:macro impl"),
			colon:   true, imports: set("use"),
		},
		"PHP": {
			declare: pairs("class interface trait enum function const:constant"), imports: set("use require require_once include"), pack: set("namespace"),
		},
		"CSS": {dash: true, imports: set("import use")},
		"Python": {
			lines: true, declare: pairs("def:function class"), skip: set("async"),
			imports: set("import from"),
		},
		"Ruby": {
			lines: true, declare: pairs("def:function class module"), skip: set(visibility + "private_class_method module_function"),
			marks: true, imports: set("require require_relative"),
		},
		"Bash":     {lines: true, declare: pairs("function"), skip: set("export readonly local declare"), imports: set("source")},
		"markdown": {lines: true, dash: true},
	}
})
