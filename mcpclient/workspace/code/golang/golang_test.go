package golang_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"replan/mcpclient/workspace/code/golang"
	"replan/mcpclient/workspace/code/source"
)

// fixture is a workspace on disk, made from an archive. Its comment asks for
// something and says what is to come of it.
type fixture struct {
	dir   string
	files map[string]string // as they were
	want  map[string]string // as they are to be, of the files under want/
	lines [][]string        // of the comment: a word, and what follows
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
	return golang.New(golang.Config{Dir: f.dir, Environ: append(environ(), f.said("environ")...)})
}

// said are the rests of the comment's lines that begin with a word.
func (f fixture) said(word string) []string {
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

// rule makes a sentence of a file's name.
func rule(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".txtar"), "_", " ")
}

// Each archive of testdata/rename asks "rename SYMBOL NEW [WITHIN]" once, or
// several times where all are "refused". Where it is not refused, the files under
// want/ are what becomes of them; the others stay, and everything still builds, unless it is said to be broken.
func TestRename(t *testing.T) {
	for _, file := range archives(t, "testdata/rename/*.txtar") {
		t.Run(rule(file), func(t *testing.T) {
			t.Parallel()
			f := open(t, file)
			refusals := f.said("refused")
			for i, ask := range f.said("rename") {
				words := append(strings.Fields(ask), "")
				edits, renamed, err := f.project().Rename(t.Context(), words[0], words[1], words[2])
				if len(refusals) > 0 {
					if err == nil {
						t.Errorf("rename %s: not refused, %v", ask, edits)
					} else if !strings.Contains(err.Error(), refusals[i]) {
						t.Errorf("rename %s: refused with %q, want %q", ask, err, refusals[i])
					}
					continue
				}
				if err != nil {
					t.Fatalf("rename %s: %v", ask, err)
				}
				f.apply(t, edits)
				notes := strings.Join(renamed.Notes, "\n")
				for _, want := range f.said("note") {
					if !strings.Contains(notes, want) {
						t.Errorf("no note says %q; they say:\n%s", want, notes)
					}
				}
				if len(f.said("note")) == 0 && notes != "" {
					t.Errorf("notes that nobody expects:\n%s", notes)
				}
				var also []string
				for _, s := range renamed.Also {
					also = append(also, s.Name)
				}
				if want := strings.Join(f.said("also"), " "); strings.Join(also, " ") != want {
					t.Errorf("also renamed: %v, want %s", also, want)
				}
				f.compare(t)
				if len(f.said("broken")) == 0 {
					f.builds(t)
				}
			}
		})
	}
}

// apply makes the edits, the last of a file first.
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
			t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
		}
	}
}

// builds asks the compiler and go vet, which compiles the tests too, in each
// module.
func (f fixture) builds(t *testing.T) {
	t.Helper()
	for name := range f.files {
		if filepath.Base(name) != "go.mod" {
			continue
		}
		for _, verb := range []string{"build", "vet"} {
			cmd := exec.CommandContext(t.Context(), "go", verb, "./...")
			cmd.Dir, cmd.Env = filepath.Join(f.dir, filepath.Dir(name)), environ()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("go %s in %s: %v\n%s", verb, name, err, out)
			}
		}
	}
}

// Each archive of testdata/ask has questions and the answers to them:
//
//	definition SYMBOL [WITHIN]
//	references SYMBOL [WITHIN]
//	outline PATH
//	symbols PATH [QUERY]
//
// Every other line but "environ NAME=VALUE" is one of the answer, in order.
func TestAsk(t *testing.T) {
	for _, file := range archives(t, "testdata/ask/*.txtar") {
		t.Run(rule(file), func(t *testing.T) {
			t.Parallel()
			f := open(t, file)
			p := f.project()
			var got, want []string
			for _, line := range f.lines {
				if line[0] == "environ" {
					continue
				}
				want = append(want, strings.TrimSpace(line[0]+" "+line[1]))
				words := append(strings.Fields(line[1]), "", "")
				switch line[0] {
				case "definition", "references", "outline", "symbols":
					got = append(got, want[len(want)-1])
					got = append(got, answer(t, p, line[0], words[0], words[1])...)
				}
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func answer(t *testing.T, p *golang.Project, ask, what, more string) (lines []string) {
	t.Helper()
	var symbols []source.Symbol
	var err error
	switch ask {
	case "definition":
		symbols, err = p.Definition(t.Context(), what, more)
	case "symbols":
		symbols, err = p.Symbols(t.Context(), what, more)
	case "outline":
		var out golang.Outline
		if out, err = p.Outline(t.Context(), what); err == nil {
			lines = append(lines, "package "+out.Package, "imports "+strings.Join(out.Imports, " "))
			symbols = out.Symbols
			for _, n := range out.Notes {
				lines = append(lines, "note "+n)
			}
		}
	case "references":
		var found golang.References
		if found, err = p.References(t.Context(), what, more); err == nil {
			lines = append(lines, "to "+found.Symbol.Kind+" "+found.Symbol.Qualified)
			for _, use := range found.Uses {
				kind := "use"
				if use.Definition {
					kind = "declared"
				}
				lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s:%d:%d %s", kind, use.Path, use.Line, use.Column, use.In)))
			}
			for _, n := range found.Notes {
				lines = append(lines, "note "+n)
			}
		}
	}
	if err != nil {
		return append(lines, "error "+err.Error())
	}
	for _, s := range symbols {
		lines = append(lines, fmt.Sprintf("is %s:%d:%d %s %s | %s", s.Path, s.Line, s.Column, s.Kind, s.Qualified, s.Signature))
	}
	return lines
}

func TestGoverns(t *testing.T) {
	dir := t.TempDir()
	f := fixture{dir: dir}
	f.write(t, "tools/go.mod", []byte("module tools\n"))
	f.write(t, "tools/cmd/x.go", []byte("package main\n"))
	f.write(t, "web/app.js", nil)
	p := f.project()
	for name, want := range map[string]bool{
		"tools": true, "tools/cmd/x.go": true, "tools/not/there.go": true,
		filepath.Join(dir, "tools", "cmd"): true,
		"":                                 false, "web/app.js": false, "../x": false, "/": false,
	} {
		if got := p.Governs(name); got != want {
			t.Errorf("Governs(%q) is %v", name, got)
		}
	}
}

func TestAnAskedNameThatMeansSeveralThingsSaysWhich(t *testing.T) {
	f := open(t, "testdata/ask/names_as_people_write_them.txtar")
	_, err := f.project().References(t.Context(), "Start", "")
	ambiguous := new(golang.AmbiguousError)
	if !errors.As(err, &ambiguous) || len(ambiguous.Candidates) != 2 {
		t.Errorf("got %v", err)
	}
}

func TestSeveralMayAskAtOnce(t *testing.T) {
	f := open(t, "testdata/ask/uses_are_found_by_what_they_denote.txtar")
	p := f.project()
	var asking sync.WaitGroup
	for range 3 {
		asking.Go(func() {
			found, err := p.References(t.Context(), "Engine.Start", "")
			if err != nil || len(found.Uses) != 4 {
				t.Errorf("got %v, %v", found, err)
			}
		})
	}
	asking.Wait()
}

func TestTheWorkspaceMayBeReachedThroughALink(t *testing.T) {
	f := open(t, "testdata/ask/uses_are_found_by_what_they_denote.txtar")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.dir, link); err != nil {
		t.Skip(err)
	}
	f.dir = link
	edits, _, err := f.project().Rename(t.Context(), "Engine", "Motor", "")
	if err != nil || len(edits) == 0 {
		t.Fatal(edits, err)
	}
	for _, e := range edits {
		if !filepath.IsLocal(e.Path) {
			t.Errorf("an edit of %s", e.Path)
		}
	}
}

func TestACancelledQuestionEnds(t *testing.T) {
	f := open(t, "testdata/ask/names_as_people_write_them.txtar")
	ctx, cancel := contextWithCause(t)
	cancel(errStop)
	if _, err := f.project().References(ctx, "Engine.Start", ""); !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
}
