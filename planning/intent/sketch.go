package intent

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"replan/internal/testfile"
)

// Sketch describes a workspace in a few lines, for whoever plans work in it.
type Sketch struct {
	Languages []string `json:"languages,omitempty"` // the most frequent first
	Tests     []string `json:"tests,omitempty"`     // the commands that run them
	Branch    string   `json:"branch,omitempty"`    // of git; "" without
	Changed   []string `json:"changed,omitempty"`   // files that differ from the last commit, at most a few
	Files     []string `json:"files,omitempty"`     // all, or the folders with their numbers of files
	Near      []string `json:"near,omitempty"`      // of a larger workspace: the files that share words with the goal
	Named     []string `json:"named,omitempty"`     // what the goal names, and where it is declared
}

// The bounds of a sketch, in bytes.
const (
	allFiles  = 900 // of the names of all files; of a larger workspace the folders are named
	nearFiles = 300
)

// languages are names of languages by the extensions of their files.
var languages = map[string]string{
	".go": "Go", ".py": "Python", ".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript", ".jsx": "JavaScript", ".mjs": "JavaScript", ".rs": "Rust",
	".java": "Java", ".kt": "Kotlin", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".rb": "Ruby", ".php": "PHP", ".swift": "Swift",
	".scala": "Scala", ".sh": "shell", ".sql": "SQL", ".lua": "Lua", ".ex": "Elixir", ".exs": "Elixir", ".dart": "Dart", ".zig": "Zig", ".hs": "Haskell", ".vue": "Vue",
}

// InRepository returns the sketch with the branch, and the files that differ from the last
// commit.
func (s Sketch) InRepository(branch string, changed []string) Sketch {
	const most = 8
	s.Branch, s.Changed = branch, slices.Clone(changed[:min(len(changed), most)])
	if more := len(changed) - most; more > 0 {
		s.Changed = append(s.Changed, fmt.Sprintf("and %d more", more))
	}
	return s
}

// Empty reports whether nothing is known.
func (s Sketch) Empty() bool { return len(s.Files) == 0 && s.Branch == "" }

// testCommands are the commands that run the tests of a project, by the file that marks it.
var testCommands = []struct{ file, command string }{
	{"go.mod", "go test ./..."},
	{"Cargo.toml", "cargo test"},
	{"package.json", "npm test"},
	{"pyproject.toml", "pytest"},
	{"setup.py", "pytest"},
	{"pytest.ini", "pytest"},
	{"pom.xml", "mvn test"},
	{"build.gradle", "gradle test"},
	{"build.gradle.kts", "gradle test"},
}

// Sketch describes the workspace that the survey saw.
func (s *Survey) Sketch() Sketch {
	var sketch Sketch
	count := map[string]int{}
	bytes := 0
	for _, at := range s.files {
		if language := languages[path.Ext(at)]; language != "" {
			count[language]++
		}
		bytes += len(at) + 2
	}
	sketch.Languages = slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	sketch.Languages = sketch.Languages[:min(len(sketch.Languages), 3)]
	for _, test := range testCommands {
		if slices.Contains(s.files, test.file) && !slices.Contains(sketch.Tests, test.command) {
			sketch.Tests = append(sketch.Tests, test.command)
		}
	}
	if bytes <= allFiles {
		sketch.Files = slices.Clone(s.files)
		return sketch
	}
	sketch.Files, sketch.Near = s.folders(), s.near()
	return sketch
}

// folders names the files at the top, and the folders with their numbers of files, down
// to the depth that has room.
func (s *Survey) folders() []string {
	var tops, dirs []string // files at the top, and folders of files
	in := map[string]int{}  // files, by folder
	for _, at := range s.files {
		end := strings.LastIndexByte(at, '/') + 1
		if end == 0 {
			tops = append(tops, at)
			continue
		}
		if in[at[:end]]++; in[at[:end]] == 1 {
			dirs = append(dirs, at[:end])
		}
	}
	var best []string
	for depth := 1; depth <= 4; depth++ {
		files, names := map[string]int{}, slices.Clone(tops)
		bytes := 0
		for _, name := range tops {
			bytes += len(name) + 12
		}
		for _, dir := range dirs { // such as a/b/, with the files in it
			name := dir
			if parts := strings.SplitN(dir, "/", depth+1); len(parts) > depth {
				name = strings.Join(parts[:depth], "/") + "/"
			}
			if files[name] == 0 {
				names = append(names, name)
				bytes += len(name) + 12
			}
			files[name] += in[dir]
		}
		if bytes > allFiles && best != nil {
			break
		}
		slices.Sort(names)
		best = best[:0:0]
		left := allFiles
		for _, name := range names {
			if strings.HasSuffix(name, "/") {
				name = fmt.Sprintf("%s (%d)", name, files[name])
			}
			if left -= len(name) + 2; left < 0 {
				best = append(best, "…")
				break
			}
			best = append(best, name)
		}
	}
	return best
}

// near names the files that share a word with the goal, those that share most first.
func (s *Survey) near() []string {
	shared := map[string]int{}
	for _, at := range s.files {
		lower := strings.ToLower(at)
		n := 0
		for from := 0; from < len(lower); from++ {
			to := from
			for to < len(lower) && isWordByte(lower[to]) {
				to++
			}
			if to-from > 2 && s.named(lower[from:to]) {
				n++
			}
			from = to
		}
		base := path.Base(lower)
		stem := strings.TrimSuffix(base, path.Ext(base))
		if tested, _ := testfile.Tested(stem); s.named(stem) || s.named(tested) {
			n += 2
		}
		if n > 0 {
			shared[at] = n
		}
	}
	names := slices.SortedFunc(maps.Keys(shared), func(a, b string) int {
		return cmp.Or(shared[b]-shared[a], len(a)-len(b), strings.Compare(a, b))
	})
	left := nearFiles
	for i, name := range names {
		if left -= len(name) + 2; left < 0 {
			return names[:i]
		}
	}
	return names
}

func isWordByte(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b > 127 }
