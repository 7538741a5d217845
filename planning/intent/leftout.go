package intent

import (
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/testfile"
)

// LeftOut are tests that a run of all tests does not run: those of another language, or of
// another module of Go.
type LeftOut struct {
	Language string `json:"language"`
	Folder   string `json:"folder"`          // "." is the workspace
	Order    string `json:"order,omitempty"` // runs them; "" if no order does
}

// testKind is a kind of project whose tests are run by one command.
type testKind struct {
	language  string
	manifests []string
	tests     func(at string) bool // reports whether a file holds tests
	order     string               // runs the tests of the whole workspace
}

// testKinds are in the order in which test.run looks for them.
var testKinds = []testKind{
	{"Go", goManifests, func(at string) bool { return strings.HasSuffix(at, "_test.go") }, "go test ./..."},
	{"Rust", rustManifests, func(at string) bool { return path.Ext(at) == ".rs" }, "cargo test"},
	{"JavaScript", nodeManifests, func(at string) bool {
		return testfile.Is(at) && slices.Contains([]string{".js", ".jsx", ".ts", ".tsx", ".mjs"}, path.Ext(at))
	}, "npm test"},
	{"Python", pythonManifests, func(at string) bool { return testfile.Is(at) && path.Ext(at) == ".py" }, "pytest"},
}

// foreignFolders hold projects of others, or for tests.
var foreignFolders = []string{"testdata", "vendor", "node_modules", "third_party", "fixtures"}

// leftOut lists the tests that test.run leaves out when it runs all, at most some of them, and
// names the language of those that it runs.
func leftOut(files []string) (left []LeftOut, tested string) {
	root := slices.IndexFunc(testKinds, func(k testKind) bool {
		return slices.ContainsFunc(k.manifests, func(name string) bool { return slices.Contains(files, name) })
	})
	if root < 0 {
		return nil, "" // test.run says what there is
	}
	for i, k := range testKinds {
		if i == root && k.language != "Go" { // its command runs what lies below, too
			continue
		}
		for _, folder := range k.folders(files) {
			switch {
			case i == root && folder == ".":
			case folder == ".":
				left = append(left, LeftOut{k.language, folder, k.order})
			default:
				left = append(left, LeftOut{k.language, folder, "run the tests in " + folder})
			}
		}
		if loose := k.loose(files); loose != "" && i != root {
			left = append(left, LeftOut{Language: k.language, Folder: loose})
		}
	}
	return left[:min(len(left), maxRows)], testKinds[root].language
}

// folders are those of the projects of the kind with tests, without those that lie in another.
func (k testKind) folders(files []string) (folders []string) {
	for _, at := range files {
		if !slices.Contains(k.manifests, path.Base(at)) || foreign(at) {
			continue
		}
		if folder := path.Dir(at); !slices.Contains(folders, folder) && slices.ContainsFunc(files, func(at string) bool { return k.tests(at) && within(folder, at) && !foreign(at) }) {
			folders = append(folders, folder)
		}
	}
	if k.language == "Go" { // a module does not test those in it
		return folders
	}
	return slices.DeleteFunc(slices.Clone(folders), func(inner string) bool {
		return slices.ContainsFunc(folders, func(outer string) bool { return outer != inner && within(outer, inner) })
	})
}

// loose is a folder with tests of the kind where no project of it is; "" if there is none.
func (k testKind) loose(files []string) string {
	if k.language != "Python" || len(k.folders(files)) > 0 {
		return ""
	}
	if at := slices.IndexFunc(files, func(at string) bool { return k.tests(at) && !foreign(at) }); at >= 0 {
		return path.Dir(files[at])
	}
	return ""
}

// within reports whether a path lies in a folder.
func within(folder, at string) bool { return folder == "." || strings.HasPrefix(at, folder+"/") }

// foreign reports whether a path lies in a folder of others.
func foreign(at string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(at), "/"), func(name string) bool { return slices.Contains(foreignFolders, name) })
}

// what names the tests.
func (l LeftOut) what() string {
	if l.Folder != "." {
		return "the " + l.Language + " tests in " + code(l.Folder)
	}
	return "the " + l.Language + " tests"
}

// say names the tests, and the order that runs them.
func (l LeftOut) say() string {
	what := l.what()
	if l.Order == "" {
		return what + ", where no file says how they are run"
	}
	return what + " (" + code(l.Order) + " runs them)"
}

// ranOnly names the tests that ran where others of the workspace did not: "Go tests".
func (f Facts) ranOnly() string {
	name := f.Tested + " tests"
	if slices.ContainsFunc(f.LeftOut, func(l LeftOut) bool { return l.Language == f.Tested }) {
		name += " at the root"
	}
	return name
}

// notRun says which tests were left out; "" if none were.
func notRun(left []LeftOut) string {
	if len(left) == 0 {
		return ""
	}
	if only := left[0]; len(left) == 1 && only.Order != "" {
		return "Not run: " + only.what() + "; " + code(only.Order) + " runs them."
	}
	said := make([]string, len(left))
	for i, l := range left {
		said[i] = l.say()
	}
	return "Not run: " + english.Some(said, maxRows, "") + "."
}
