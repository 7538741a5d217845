package golang

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"replan/mcpclient/workspace/code/source"
)

// Project is the Go code of a workspace. It keeps nothing between two calls, so
// it never answers from what a file held before, and several goroutines may use
// it.
type Project struct {
	dir     string // absolute
	real    string // dir with its links resolved
	environ []string
}

// New is cheap: nothing is read before the first question. dir is the folder of
// the workspace, environ what the go command gets.
func New(dir string, environ []string) *Project {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	return &Project{dir: filepath.Clean(dir), real: real, environ: environ}
}

// Found is where a name is used.
type Found struct {
	Uses  []source.Reference // the declaration among them, by file and place
	Read  map[string][]byte  // what the files that were type-checked hold, by path
	Notes []string           // what the answer may lack, in sentences
}

// Renamed is what a rename comes to.
type Renamed struct {
	Edits []source.Edit
	Also  []source.Symbol   // methods and fields that are renamed with it
	Read  map[string][]byte // what the files that were type-checked hold, by path
	Notes []string          // what a reader should look at, in sentences
}

// RefusedError says why a name is not changed.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &RefusedError{Reason: fmt.Sprintf(format, args...)}
}

// module is what one run of the go command can see.
type module struct {
	dir      string   // where the command runs, on disk
	patterns []string // the packages of the workspace in it
	environ  []string
}

// moduleOf returns the module of a file: that of the nearest go.mod, with those
// that a go.work above it joins. It is false where the workspace has no go.mod
// above the file.
func (p *Project) moduleOf(file string) (module, bool) {
	m := module{environ: append(slices.Clone(p.environ), "GOPACKAGESDRIVER=off", "GOTOOLCHAIN=local", "GOPROXY=off", "GONOPROXY=none", "GOVCS=*:off")}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if m.dir == "" && isFile(p.onDisk(path.Join(dir, "go.mod"))) {
			m.dir, m.patterns = p.onDisk(dir), []string{"./..."}
		}
		if m.dir != "" && isFile(p.onDisk(path.Join(dir, "go.work"))) {
			if joined := p.joined(dir); slices.Contains(joined, m.dir) {
				m.dir, m.patterns = p.onDisk(dir), nil
				for _, mod := range joined {
					m.patterns = append(m.patterns, filepath.Join(mod, "..."))
				}
				return m, true
			}
		}
		if dir == "." {
			break
		}
	}
	// A go.work that does not name the module would keep it from being read.
	m.environ = append(m.environ, "GOWORK=off")
	return m, m.dir != ""
}

// Governs reports whether a file lies in a Go module of the workspace.
func (p *Project) Governs(file string) bool {
	_, ok := p.moduleOf(file)
	return ok
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// joined are the folders on disk that the go.work of a folder joins, as far as
// they lie in the workspace.
func (p *Project) joined(dir string) []string {
	data, err := fs.ReadFile(os.DirFS(p.onDisk(dir)), "go.work")
	if err != nil {
		return nil
	}
	work, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return nil
	}
	var dirs []string
	for _, use := range work.Use {
		at := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(at) {
			at = filepath.Join(p.onDisk(dir), at)
		}
		if _, inside := p.relative(at); inside {
			dirs = append(dirs, at)
		}
	}
	return dirs
}

// relative makes an absolute path relative to the workspace, where it is in it.
func (p *Project) relative(name string) (string, bool) {
	for _, base := range []string{p.real, p.dir} {
		if rel, err := filepath.Rel(base, name); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

func (p *Project) onDisk(at string) string { return filepath.Join(p.real, filepath.FromSlash(at)) }
