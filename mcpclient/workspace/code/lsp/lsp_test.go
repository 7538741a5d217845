package lsp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/code/source"
)

const sample = "package a\n\nfunc Apply() {}\n\nfunc use() { /* é𝄞 */ Apply() }\n"

func TestPlacesAreCountedInBytes(t *testing.T) {
	s := open(t, workspaceOf(t, map[string]string{"a.go": sample}), "plain", nil)
	use := source.Place{Path: "a.go", Line: 5, Column: strings.LastIndex(sample, "Apply") - strings.Index(sample, "func use") + 1}
	declared := source.Place{Path: "a.go", Line: 3, Column: 6, Text: "func Apply() {}"}

	found, err := s.Definition(t.Context(), use)
	if err != nil || len(found) != 1 || found[0] != declared {
		t.Errorf("definition: %+v, %v", found, err)
	}
	refs, err := s.References(t.Context(), declared, nil)
	use.Text = "func use() { /* é𝄞 */ Apply() }"
	if err != nil || len(refs) != 2 || refs[0] != (source.Reference{Place: declared, Definition: true}) || refs[1] != (source.Reference{Place: use}) {
		t.Errorf("references: %+v, %v", refs, err)
	}
	renamed, err := s.Rename(t.Context(), declared, "Fold", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := source.Apply(renamed.Read["a.go"], renamed.Edits)
	if want := strings.ReplaceAll(sample, "Apply", "Fold"); err != nil || text != want {
		t.Errorf("renamed: %q, %v, want %q", text, err, want)
	}
}

func TestRefusalKeepsServerMessage(t *testing.T) {
	s := open(t, workspaceOf(t, map[string]string{"a.go": sample}), "plain", nil)
	_, err := s.Rename(t.Context(), source.Place{Path: "a.go", Line: 3, Column: 6}, "taken", nil)
	var refused *lsp.RefusedError
	if !errors.As(err, &refused) || refused.Reason != "taken is declared already" {
		t.Errorf("got %v", err)
	}
}

func TestRenameOutsideTheWorkspaceIsRefused(t *testing.T) {
	s := open(t, workspaceOf(t, map[string]string{"a.go": sample}), "outside", nil)
	_, err := s.Rename(t.Context(), source.Place{Path: "a.go", Line: 3, Column: 6}, "Fold", nil)
	var refused *lsp.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "outside the workspace") {
		t.Errorf("got %v", err)
	}
}

func TestDiagnosticsFollowTheFileOnDisk(t *testing.T) {
	t.Parallel()
	dir := workspaceOf(t, map[string]string{"a.go": sample})
	s := open(t, dir, "plain", nil)
	for _, c := range []struct {
		text string
		want []source.Diagnostic
	}{
		{sample, nil},
		{sample + "BROKEN\n", []source.Diagnostic{{Path: "a.go", Line: 6, Column: 1, Severity: "error", Message: "broken", Source: "script"}}},
		{sample, nil},
	} {
		write(t, filepath.Join(dir, "a.go"), c.text)
		for range 2 { // the second request for unchanged files does not wait
			found, err := s.Diagnostics(t.Context(), []string{"a.go"}, 20*time.Second)
			if err != nil || len(found) != len(c.want) || len(found) == 1 && found[0] != c.want[0] {
				t.Errorf("%q: %+v, %v", c.text, found, err)
			}
		}
	}
}

func TestMalformedMessagesDoNoHarm(t *testing.T) {
	s := open(t, workspaceOf(t, map[string]string{"a.go": sample}), "hostile", nil)
	if _, err := s.Definition(t.Context(), source.Place{Path: "a.go", Line: 3, Column: 6}); err != nil {
		t.Error(err)
	}
}

func TestProgramInTheWorkspaceIsNeverStarted(t *testing.T) {
	dir := workspaceOf(t, map[string]string{"a.go": sample, "bin/.keep": ""})
	inside := binary(t, filepath.Join(dir, "bin"), "gopls")
	if err := os.Remove(inside); err != nil { // a file instead of the link, which leads outside
		t.Fatal(err)
	}
	write(t, inside, "#!/bin/sh\n")
	if err := os.Chmod(inside, 0o700); err != nil { // #nosec G302 -- it is to be a program
		t.Fatal(err)
	}
	linked := t.TempDir()
	if err := os.Symlink(inside, filepath.Join(linked, "gopls")); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*lsp.Config){
		"on PATH":           func(c *lsp.Config) { c.Environ = []string{"PATH=" + filepath.Join(dir, "bin")} },
		"relative PATH":     func(c *lsp.Config) { c.Environ = []string{"PATH=bin"} },
		"linked from PATH":  func(c *lsp.Config) { c.Environ = []string{"PATH=" + linked} },
		"configured":        func(c *lsp.Config) { c.Commands = map[string][]string{"go": {inside}} },
		"configured, local": func(c *lsp.Config) { c.Commands = map[string][]string{"go": {"bin/gopls"}} },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, dir, "plain", change)
			_, err := s.Definition(t.Context(), source.Place{Path: "a.go", Line: 3, Column: 6})
			var unavailable *lsp.UnavailableError
			if !errors.As(err, &unavailable) || !unavailable.Missing() {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestServerIsStartedOnlyWhenAllowed(t *testing.T) {
	dir := workspaceOf(t, map[string]string{"a.go": sample})
	asked, answer := 0, errors.New("not allowed")
	s := open(t, dir, "plain", func(c *lsp.Config) {
		c.Allow = func(_ context.Context, p lsp.Program, path string) error {
			asked++
			if p.Name != "gopls" || filepath.Base(path) != "gopls" {
				t.Errorf("asked for %s at %s", p.Name, path)
			}
			return answer
		}
	})
	at := source.Place{Path: "a.go", Line: 3, Column: 6}
	for range 5 {
		if _, err := s.Definition(t.Context(), at); !errors.Is(err, answer) {
			t.Errorf("got %v", err)
		}
	}
	answer = nil
	if _, err := s.Definition(t.Context(), at); err != nil {
		t.Error(err)
	}
	if _, err := s.Definition(t.Context(), at); err != nil || asked != 6 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

func TestLanguageCanBeSwitchedOff(t *testing.T) {
	s := open(t, workspaceOf(t, map[string]string{"a.go": sample}), "plain", func(c *lsp.Config) {
		c.Commands = map[string][]string{"go": {}}
	})
	if _, err := s.Symbols(t.Context(), "a.go"); err == nil || !strings.Contains(err.Error(), "no language server is set") {
		t.Errorf("got %v", err)
	}
}

func TestServerGetsNoSecretsAndNoTerminal(t *testing.T) {
	dir := workspaceOf(t, map[string]string{"a.go": sample})
	s := open(t, dir, "plain", func(c *lsp.Config) {
		c.Environ = append(c.Environ, "GITHUB_TOKEN=x", "GOFLAGS=-mod=mod", "PATH="+filepath.Join(dir, "bin")+string(filepath.ListSeparator)+variable(c.Environ, "PATH"))
	})
	found, err := s.Symbols(t.Context(), "a.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, symbol := range found {
		seen[symbol.Name] = true
		if strings.HasPrefix(symbol.Name, "GITHUB_TOKEN") || strings.HasPrefix(symbol.Name, "PATH="+dir) {
			t.Errorf("the server gets variable %s", symbol.Name)
		}
	}
	for _, want := range []string{"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOTOOLCHAIN=local", "session=true"} {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
}

func variable(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

func TestCloseEndsTheServerAndItsChildren(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	s := open(t, workspaceOf(t, map[string]string{"a.go": sample}), "children", func(c *lsp.Config) {
		c.Environ = append(c.Environ, "PID_FILE="+pidFile)
	})
	if _, err := s.Definition(t.Context(), source.Place{Path: "a.go", Line: 3, Column: 6}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Skip("sleep is not available: ", err)
	}
	pid, _ := strconv.Atoi(string(text))
	if !runs(pid) {
		t.Fatal("the child of the server does not run")
	}
	s.Close()
	for end := time.Now().Add(10 * time.Second); runs(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the child of the server still runs")
		}
	}
	if _, err := s.Definition(t.Context(), source.Place{Path: "a.go", Line: 3, Column: 6}); err == nil {
		t.Error("a closed server answers")
	}
}

func TestServerThatEndsIsStartedAgain(t *testing.T) {
	dir := workspaceOf(t, map[string]string{"a.go": sample})
	s := open(t, dir, "crash", nil)
	at := source.Place{Path: "a.go", Line: 3, Column: 6}
	for range 2 {
		if _, err := s.Definition(t.Context(), at); err == nil {
			t.Error("a crashed server answered")
		}
		if _, err := s.References(t.Context(), at, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestCanceledRequestIsCanceledAtTheServer(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	s := open(t, workspaceOf(t, map[string]string{"a.go": sample}), "cancel", func(c *lsp.Config) {
		c.Environ = append(c.Environ, "ASKED_FILE="+asked)
	})
	at := source.Place{Path: "a.go", Line: 3, Column: 6}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	go func() { // cancels once the server has the request
		for t.Context().Err() == nil {
			if _, err := os.Stat(asked); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel(stopped)
	}()
	if _, err := s.Definition(ctx, at); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Definition(t.Context(), at); err != nil { // answers after the cancellation
		t.Error(err)
	}
}
