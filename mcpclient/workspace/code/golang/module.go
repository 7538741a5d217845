package golang

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// reach is what one run of the go command can see: a module, or the modules that
// a go.work joins.
type reach struct {
	dir     string   // where the command runs, relative to the workspace
	modules []string // folders with a go.mod
	environ []string
}

// reaches are those of the workspace. Modules below its folder are found too.
func (p *Project) reaches(ctx context.Context) ([]reach, error) {
	var mods, works []string
	err := p.walk(ctx, ".", func(at string, _ fs.FS) error {
		switch path.Base(at) {
		case "go.mod":
			mods = append(mods, dirOf(at))
		case "go.work":
			works = append(works, dirOf(at))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(mods) == 0 {
		return nil, errors.New("there is no go.mod in this workspace; only Go modules can be read by their types")
	}
	environ := goEnviron(p.environ)
	if slices.Contains(environ, "GOWORK=off") {
		works = nil
	}
	var found []reach
	joined := map[string]bool{}
	for _, dir := range works {
		uses, err := p.uses(filepath.Join(p.onDisk(dir), "go.work"))
		if err != nil {
			return nil, err
		}
		b := reach{dir: dir, environ: environ}
		for _, mod := range mods {
			if !joined[mod] && slices.Contains(uses, mod) {
				joined[mod] = true
				b.modules = append(b.modules, mod)
			}
		}
		if len(b.modules) > 0 {
			found = append(found, b)
		}
	}
	for _, mod := range mods {
		if joined[mod] {
			continue
		}
		b := reach{dir: mod, modules: []string{mod}, environ: environ}
		if !p.joinedFromAbove(mod) {
			// A go.work that does not name the module would keep it from being read.
			b.environ = append(slices.Clip(environ), "GOWORK=off")
		}
		found = append(found, b)
	}
	return found, nil
}

// uses are the folders that a go.work joins, as far as they are in the workspace.
func (p *Project) uses(file string) ([]string, error) {
	data, err := os.ReadFile(file) // #nosec G304 -- a go.work at or above the workspace
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	work, err := modfile.ParseWork(file, data, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the go.work, which has to be mended first: %w", err)
	}
	var dirs []string
	for _, use := range work.Use {
		dir := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(file), dir)
		}
		if rel, ok := p.relative(dir); ok {
			dirs = append(dirs, rel)
		}
	}
	return dirs, nil
}

// joinedFromAbove reports whether a go.work above the workspace names the module.
func (p *Project) joinedFromAbove(mod string) bool {
	for dir := filepath.Dir(p.dir); ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, "go.work")
		if _, err := os.Stat(file); err == nil {
			uses, err := p.uses(file)
			return err == nil && slices.Contains(uses, mod)
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// goEnviron is an environment in which the go command hands its work to no other
// program, and fetches neither modules nor another go command: reading asks
// nobody, so it must not reach the network.
func goEnviron(environ []string) []string {
	return append(slices.Clone(environ), "GOPACKAGESDRIVER=off", "GOPACKAGESDEBUG=false",
		"GOTOOLCHAIN=local", "GOPROXY=off", "GONOPROXY=none", "GOVCS=*:off")
}

// flags keep the go command from changing a go.mod, whatever is set elsewhere.
func (p *Project) flags(b reach) []string {
	if _, err := os.Stat(p.onDisk(path.Join(b.dir, "vendor", "modules.txt"))); err == nil {
		return []string{"-mod=vendor"}
	}
	return []string{"-mod=readonly"}
}

// moduleOf is the reach and its module that a folder belongs to.
func moduleOf(builds []reach, dir string) (reach, bool) {
	var best reach
	length := -1
	for _, b := range builds {
		for _, mod := range b.modules {
			n := len(mod)
			if mod == "." {
				n = 0
			}
			if under(dir, mod) && n > length {
				best, length = b, n
			}
		}
	}
	return best, length >= 0
}

// patterns name packages for the go command: all of the reach where dirs is nil,
// else those in the folders.
func (b reach) patterns(dirs []string) []string {
	var list []string
	name := func(dir string) string {
		rel, err := filepath.Rel(filepath.FromSlash(b.dir), filepath.FromSlash(dir))
		if err != nil {
			return "./" + dir
		}
		return "./" + filepath.ToSlash(rel)
	}
	if dirs == nil {
		for _, mod := range b.modules {
			list = append(list, path.Join(name(mod), "..."))
		}
	} else {
		for _, dir := range dirs {
			list = append(list, name(dir))
		}
	}
	for i, pattern := range list {
		if !strings.HasPrefix(pattern, "./") {
			list[i] = "./" + pattern
		}
	}
	return list
}

// missing says what to do where the go command lacks modules that goEnviron
// keeps it from fetching; anything else it says is left as it is.
func missing(said string) string {
	if strings.Contains(said, "disabled by GOPROXY=off") {
		return "modules are missing: run go mod download"
	}
	return said
}

// loadFailed says what kept the go command from answering.
func loadFailed(b reach, err error) error {
	said := err.Error()
	if strings.Contains(said, "go command required, not found") {
		return fmt.Errorf("the go command is not installed or not in PATH; install it to read Go code by its types: %w", err)
	}
	if _, text, ok := strings.Cut(said, "stderr: "); ok && strings.TrimSpace(text) != "" {
		err = errors.New(missing(strings.Join(strings.Fields(text), " ")))
	}
	where := b.dir
	if where == "." {
		where = "the workspace"
	}
	return fmt.Errorf("asking the go command about the packages in %s: %w", where, err)
}
