package golang_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"replan/mcpclient/workspace/code/golang"
	"replan/mcpclient/workspace/code/source"
)

// fixture is a workspace on disk, unpacked from an archive. The archive's comment
// has directives: requests and their expected results.
type fixture struct {
	dir   string
	files map[string]string // original content
	want  map[string]string // expected content, from the files under want/
	lines [][]string        // directives: a word and the rest of its line
}

func open(t testing.TB, file string) fixture {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{dir: t.TempDir(), files: map[string]string{}, want: map[string]string{}}
	for line := range strings.Lines(string(archive.Comment)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		f.lines = append(f.lines, []string{word, strings.TrimSpace(rest)})
	}
	for _, file := range archive.Files {
		if name, ok := strings.CutPrefix(file.Name, "want/"); ok {
			f.want[name] = string(file.Data)
			continue
		}
		f.files[file.Name] = string(file.Data)
		f.write(t, file.Name, file.Data)
	}
	return f
}

func (f fixture) write(t testing.TB, name string, data []byte) {
	t.Helper()
	at := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// environ keeps the go command off the network.
func environ() []string { return append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local") }

func (f fixture) project() *golang.Project {
	return golang.New(f.dir, append(environ(), f.directives("environ")...))
}

// place returns the place of a symbol: a place as file:line:column, a name that is
// declared once, or one that a file uses.
func (f fixture) place(t testing.TB, symbol, within string) source.Place {
	t.Helper()
	var at source.Place
	if parts := strings.Split(symbol, ":"); len(parts) == 3 {
		at.Path = parts[0]
		at.Line, _ = strconv.Atoi(parts[1])
		at.Column, _ = strconv.Atoi(parts[2])
		return at
	}
	name := source.ParseName(symbol)
	var declared, used []source.Place
	for _, path := range slices.Sorted(maps.Keys(f.files)) {
		if filepath.Ext(path) != ".go" || within != "" && path != within {
			continue
		}
		file, err := source.Lex(t.Context(), path, f.files[path])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range file.Declares(name) {
			declared = append(declared, s.Place)
		}
		for _, use := range file.Uses(name.Word).References {
			used = append(used, use.Place)
		}
	}
	switch {
	case len(declared) == 1:
		return declared[0]
	case len(declared) == 0 && len(used) > 0:
		return used[0]
	}
	t.Fatalf("%s is ambiguous: %v", symbol, declared)
	return at
}

// directives returns the rest of each directive that begins with a word.
func (f fixture) directives(word string) []string {
	var list []string
	for _, line := range f.lines {
		if line[0] == word {
			list = append(list, line[1])
		}
	}
	return list
}

func archives(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s: %v", pattern, err)
	}
	return files
}

// rule returns the name of a sub-test for a file.
func rule(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".txtar"), "_", " ")
}

// Each archive of testdata/rename has "rename SYMBOL NEW [WITHIN]" once, or
// several times if each has its "refused". Otherwise the files under want/ are the
// expected ones, all others stay unchanged, and everything still builds unless the
// archive has "broken".
func TestRename(t *testing.T) {
	for _, file := range archives(t, "testdata/rename/*.txtar") {
		t.Run(rule(file), func(t *testing.T) {
			t.Parallel()
			f := open(t, file)
			refusals := f.directives("refused")
			for i, request := range f.directives("rename") {
				words := append(strings.Fields(request), "")
				renamed, err := f.project().Rename(t.Context(), f.place(t, words[0], words[2]), words[1])
				edits := renamed.Edits
				if len(refusals) > 0 {
					if err == nil {
						t.Errorf("rename %s: got edits %v, want a refusal", request, edits)
					} else if !strings.Contains(err.Error(), refusals[i]) {
						t.Errorf("rename %s: got refusal %q, want %q", request, err, refusals[i])
					}
					continue
				}
				if err != nil {
					t.Fatalf("rename %s: %v", request, err)
				}
				f.apply(t, edits)
				notes := strings.Join(renamed.Notes, "\n")
				for _, want := range f.directives("note") {
					if !strings.Contains(notes, want) {
						t.Errorf("got notes without %q:\n%s", want, notes)
					}
				}
				if len(f.directives("note")) == 0 && notes != "" {
					t.Errorf("got unexpected notes:\n%s", notes)
				}
				var also []string
				for _, s := range renamed.Also {
					also = append(also, s.Name)
				}
				if want := strings.Join(f.directives("also"), " "); strings.Join(also, " ") != want {
					t.Errorf("also renamed: got %v, want %s", also, want)
				}
				f.compare(t)
				if len(f.directives("broken")) == 0 {
					f.builds(t)
				}
			}
		})
	}
}

// apply makes the edits, the last one in a file first.
func (f fixture) apply(t *testing.T, edits []source.Edit) {
	t.Helper()
	for _, e := range slices.Backward(edits) {
		at := filepath.Join(f.dir, filepath.FromSlash(e.Path))
		data, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		f.write(t, e.Path, []byte(string(data[:e.Start])+e.New+string(data[e.End:])))
	}
}

func (f fixture) compare(t *testing.T) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		want, ok := f.want[name]
		if !ok {
			want = f.files[name]
		}
		got, err := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// builds runs go vet in each module. It type-checks every package as the compiler
// does, with its tests and without.
func (f fixture) builds(t *testing.T) {
	t.Helper()
	for name := range f.files {
		if filepath.Base(name) != "go.mod" {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "go", "vet", "./...")
		cmd.Dir, cmd.Env = filepath.Join(f.dir, filepath.Dir(name)), environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go vet in %s: %v\n%s", name, err, out)
		}
	}
}

// Each archive of testdata/references has "references SYMBOL", followed by its
// results in order: "declared PLACE" or "use PLACE".
func TestReferences(t *testing.T) {
	for _, file := range archives(t, "testdata/references/*.txtar") {
		t.Run(rule(file), func(t *testing.T) {
			t.Parallel()
			f := open(t, file)
			var got, want []string
			for _, line := range f.lines {
				want = append(want, strings.Join(line, " "))
				if line[0] != "references" {
					continue
				}
				got = append(got, want[len(want)-1])
				found, err := f.project().References(t.Context(), f.place(t, line[1], ""))
				if err != nil {
					got = append(got, "error "+err.Error())
				}
				for _, use := range found.Uses {
					kind := "use"
					if use.Definition {
						kind = "declared"
					}
					got = append(got, fmt.Sprintf("%s %s:%d:%d", kind, use.Path, use.Line, use.Column))
				}
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestFilesBelowAGoModAreGoverned(t *testing.T) {
	f := fixture{dir: t.TempDir()}
	f.write(t, "tools/go.mod", []byte("module tools\n"))
	f.write(t, "tools/cmd/x.go", []byte("package main\n"))
	f.write(t, "web/app.js", nil)
	p := f.project()
	for name, want := range map[string]bool{"tools/cmd/x.go": true, "tools/not/there.go": true, "web/app.js": false, "x.go": false} {
		if got := p.Governs(name); got != want {
			t.Errorf("Governs(%q): got %v", name, got)
		}
	}
}

const engine = "testdata/references/references_are_resolved_by_type.txtar"

func TestRenameInLinkedWorkspace(t *testing.T) {
	f := open(t, engine)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.dir, link); err != nil {
		t.Skip(err)
	}
	f.dir = link
	renamed, err := f.project().Rename(t.Context(), f.place(t, "Engine", ""), "Motor")
	if err != nil || len(renamed.Edits) == 0 {
		t.Fatal(renamed.Edits, err)
	}
	for _, e := range renamed.Edits {
		if !filepath.IsLocal(e.Path) {
			t.Errorf("got an edit of %s", e.Path)
		}
	}
}

func TestCancelEndsReferences(t *testing.T) {
	f := open(t, engine)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if _, err := f.project().References(ctx, f.place(t, "Engine.Start", "")); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}
