package golang

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/modfile"
)

const maxSource = 16 << 20 // bytes of a file that is looked into

// goFile is a Go file of the workspace.
type goFile struct {
	path string // relative to the workspace
	data []byte
}

// skipped are the folders that the go command passes over too, and those of
// other people's code.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		name == "vendor" || name == "testdata" || name == "node_modules"
}

// walk visits the regular files under scope, in lexical order, following no
// links. What cannot be read is passed over.
func (p *Project) walk(ctx context.Context, scope string, visit func(at string, files fs.FS) error) error {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	files := root.FS()
	return fs.WalkDir(files, scope, func(at string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist) && at == scope:
			return fmt.Errorf("there is no file or folder %q in the workspace", scope)
		case err != nil && at == scope:
			return fmt.Errorf("looking into %s: %w", scope, err)
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case d.IsDir() && at != scope && skipped(d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		return visit(at, files)
	})
}

// sources are the Go files under scope that hold word as a word of its own; an
// empty word is in every file.
func (p *Project) sources(ctx context.Context, scope, word string) ([]goFile, error) {
	var found []goFile
	err := p.walk(ctx, scope, func(at string, files fs.FS) error {
		if !strings.HasSuffix(at, ".go") {
			return nil
		}
		if info, err := fs.Stat(files, at); err != nil || info.Size() > maxSource {
			return nil
		}
		data, err := fs.ReadFile(files, at)
		if err == nil && (word == "" || indexWord(data, word) >= 0) {
			found = append(found, goFile{path: at, data: data})
		}
		return nil
	})
	return found, err
}

// indexWord is where data holds word with no letter, digit or underscore beside
// it, or -1.
func indexWord(data []byte, word string) int {
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte(word))
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRune(data[:i])
		after, _ := utf8.DecodeRune(data[i+len(word):])
		if !inWord(before) && !inWord(after) {
			return i
		}
		from = i + 1
	}
}

func inWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// modules finds the import paths of folders.
type modules struct {
	p     *Project
	known map[string]string // folder of a go.mod -> module path; "" where there is none
}

func (p *Project) modules() *modules { return &modules{p: p, known: map[string]string{}} }

// importPath is what a package in the folder at is imported as; where no go.mod
// says so, its folder.
func (m *modules) importPath(at string) string {
	for dir := at; ; dir = path.Dir(dir) {
		mod, ok := m.known[dir]
		if !ok {
			if data, err := os.ReadFile(m.p.onDisk(path.Join(dir, "go.mod"))); err == nil { // #nosec G304 -- of the workspace
				mod = modfile.ModulePath(data)
			}
			m.known[dir] = mod
		}
		switch {
		case mod != "" && dir == ".":
			return path.Join(mod, at)
		case mod != "":
			return path.Join(mod, strings.TrimPrefix(at, dir))
		case dir == ".":
			return at
		}
	}
}

// holdsIdent reports whether a file has the word as an identifier, and not only
// in its comments and strings.
func holdsIdent(src goFile, word string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), src.path, src.data, parser.SkipObjectResolution)
	if file == nil {
		return err != nil
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == word {
			found = true
		}
		return !found
	})
	return found
}

// someOf names a few of many.
func someOf(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
