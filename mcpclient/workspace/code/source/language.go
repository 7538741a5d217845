package source

import (
	"path"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2/lexers"
)

// Sort is the purpose of a file, which determines how to interpret its words.
type Sort string

// The sorts of files.
const (
	Source Sort = "source" // a program: its words are names
	Markup Sort = "markup" // tags mixed with a program: only names marked as such are names
	Prose  Sort = "prose"  // text for people: its words are not names
	Data   Sort = "data"   // values: a program interprets its words
)

// Language describes the language of a file.
type Language struct {
	Name  string // display name: Python, TypeScript
	Sort  Sort
	lexer string // chroma's name
	// Family groups languages whose files use each other's names.
	Family  string
	grammar *grammar // nil if declarations are unknown
}

// LanguageOf returns the language of a file by its name. It returns false if
// the name is not recognized.
func LanguageOf(file string) (Language, bool) {
	base := path.Base(file)
	lexer, ok := byName()[base]
	if !ok {
		lexer, ok = byExtension(base)
	}
	if !ok {
		return Language{}, false
	}
	l := Language{Name: lexer, Sort: Source, lexer: lexer, Family: lexer}
	if name, ok := displayNames[lexer]; ok {
		l.Name = name
	}
	if s, ok := sorts[lexer]; ok {
		l.Sort = s
	}
	if f, ok := families[lexer]; ok {
		l.Family = f
	}
	l.grammar = grammarOf(lexer)
	return l, true
}

// byExtension tries the longest extension first: .d.ts before .ts.
func byExtension(base string) (string, bool) {
	lower := strings.ToLower(base)
	for i := strings.IndexByte(lower, '.'); i >= 0; {
		if lexer, ok := preferred[lower[i:]]; ok {
			return lexer, true
		}
		if lexer, ok := byName()["*"+lower[i:]]; ok {
			return lexer, true
		}
		next := strings.IndexByte(lower[i+1:], '.')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return "", false
}

// byName maps the plain names and *.ext patterns of chroma's lexers to lexer
// names. Chroma itself would try every pattern of every lexer, which takes
// milliseconds per file.
var byName = sync.OnceValue(func() map[string]string {
	names, weight := map[string]string{}, map[string]float32{}
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		c := l.Config()
		priority := c.Priority
		if priority == 0 {
			priority = 1
		}
		for _, pattern := range c.Filenames {
			plain := strings.TrimPrefix(pattern, "*.")
			if strings.ContainsAny(plain, "*?[") {
				continue
			}
			if strings.HasPrefix(pattern, "*.") {
				pattern = strings.ToLower(pattern)
			}
			before, ok := names[pattern]
			if !ok || priority > weight[pattern] || priority == weight[pattern] && c.Name < before {
				names[pattern], weight[pattern] = c.Name, priority
			}
		}
	}
	return names
})

// preferred resolves extensions of several languages to the most common one.
var preferred = map[string]string{
	".h": "C++", ".hh": "C++", ".hpp": "C++", ".inl": "C++", ".cu": "C++", ".cuh": "C++", ".ino": "C++",
	".m": "Objective-C", ".mm": "Objective-C", ".v": "verilog", ".fs": "FSharp", ".fsx": "FSharp",
	".sql": "SQL", ".pl": "Perl", ".pm": "Perl", ".r": "R", ".d": "D", ".ts": "TypeScript", ".mts": "TypeScript", ".cts": "TypeScript",
	".mod": "plaintext", ".sum": "plaintext", ".work": "plaintext", ".lock": "plaintext", ".ipynb": "JSON",
	".svg": "XML", ".inc": "plaintext", ".tmpl": "plaintext", ".golden": "plaintext", ".txtar": "plaintext",
	".jsonl": "JSON", ".ndjson": "JSON", ".adoc": "plaintext", ".cls": "TeX", ".s": "GAS", ".gradle": "Groovy",
	".cfg": "INI", ".conf": "INI", ".in": "plaintext", ".svelte": "Svelte", ".vue": "vue",
}

// displayNames maps chroma's names to the usual spelling.
var displayNames = map[string]string{
	"vue": "Vue", "react": "JavaScript (JSX)", "markdown": "Markdown", "plaintext": "plain text",
	"verilog": "Verilog", "Bash": "shell", "FSharp": "F#",
}

var sorts = map[string]Sort{
	"markdown": Prose, "plaintext": Prose, "reStructuredText": Prose, "Org Mode": Prose, "TeX": Prose, "BibTeX": Prose,
	"Groff": Prose, "scdoc": Prose, "Gemtext": Prose, "Diff": Data, "Typst": Prose, "WebVTT": Prose,
	"JSON": Data, "YAML": Data, "TOML": Data, "XML": Data, "INI": Data, "CSV": Data, "properties": Data, "DTD": Data,
	"Gemfile.lock": Data, "Desktop Entry": Data, "SYSTEMD": Data, "Protocol Buffer Text Format": Data, "Gettext": Data,
	"ApacheConf": Data, "Nginx configuration file": Data, "dns": Data, "Hexdump": Data, "Bash Session": Data, "HTTP": Data, "KDL": Data,
	"HTML": Markup, "Django/Jinja": Markup, "Handlebars": Markup, "Twig": Markup, "ERB": Markup, "Mako": Markup, "Smarty": Markup,
	"Myghty": Markup, "Genshi": Markup, "Angular2": Markup, "vue": Markup, "Svelte": Markup, "Go HTML Template": Markup, "PHTML": Markup,
}

// families groups languages whose files refer to each other's names.
var families = map[string]string{
	"JavaScript": "web", "TypeScript": "web", "react": "web", "vue": "web", "Svelte": "web", "HTML": "web", "CoffeeScript": "web", "Angular2": "web",
	"C": "c", "C++": "c", "Objective-C": "c", "GAS": "c", "Arduino": "c",
	"Java": "jvm", "Kotlin": "jvm", "Scala": "jvm", "Groovy": "jvm",
	"Python": "python", "Python 2": "python", "Cython": "python", "Django/Jinja": "python",
	"Ruby": "ruby", "ERB": "ruby", "PHP": "php", "PHTML": "php", "Twig": "php",
	"CSS": "style", "SCSS": "style", "Sass": "style", "Stylus": "style",
	"Bash": "shell", "Fish": "shell", "Makefile": "shell", "Docker": "shell",
	"C#": "dotnet", "VB.net": "dotnet", "FSharp": "dotnet",
	"Elixir": "beam", "Erlang": "beam",
}
