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

// Project is the Go code of a workspace. It caches nothing between calls, so
// its answers are never outdated. It is safe for concurrent use.
type Project struct {
	folder  source.Folder
	environ []string
}

// New returns a project without reading anything yet. dir is the folder of the
// workspace, environ the environment of the go command.
func New(dir string, environ []string) *Project {
	return &Project{folder: source.NewFolder(dir), environ: environ}
}

// Found holds the uses of a name.
type Found struct {
	Uses  []source.Reference // including the declaration, by file and place
	Read  map[string][]byte  // contents of the type-checked files, by path
	Notes []string           // possible gaps in the answer, in sentences
}

// Renamed is the result of a rename.
type Renamed struct {
	Edits []source.Edit
	Also  []source.Symbol   // methods and fields that are renamed too
	Read  map[string][]byte // contents of the type-checked files, by path
	Notes []string          // places to review, in sentences
}

// RefusedError says why a name cannot be changed.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &RefusedError{Reason: fmt.Sprintf(format, args...)}
}

// module is the code that one run of the go command covers.
type module struct {
	dir      string   // folder to run the command in, on disk
	patterns []string // the packages of the workspace that it contains
	environ  []string
}

// moduleOf returns the module of a file: the one of the nearest go.mod, plus
// those that a go.work above it joins. It returns false if the workspace has
// no go.mod above the file.
func (p *Project) moduleOf(file string) (module, bool) {
	m := module{environ: append(slices.Clone(p.environ), "GOPACKAGESDRIVER=off", "CGO_ENABLED=0", "GOTOOLCHAIN=local", "GOPROXY=off", "GONOPROXY=none", "GOVCS=*:off")}
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
	// A go.work that does not list the module would keep it from being read.
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

// joined returns the folders on disk that a folder's go.work joins, if they
// are in the workspace.
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

// relative converts an absolute path to one relative to the workspace. It reports whether
// the path is in the workspace.
func (p *Project) relative(name string) (string, bool) { return p.folder.Relative(name) }

// onDisk converts a path relative to the workspace to an absolute one.
func (p *Project) onDisk(at string) string { return p.folder.OnDisk(at) }
