package app_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"replan/cli/app"
)

func TestOpeningAPageDoesNotWaitForTheBrowser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program that opens pages is that of Linux")
	}
	for name, c := range map[string]struct {
		script string
		fails  bool
	}{
		"the browser is its child":          {"sleep 60 & echo $! > pid", false},
		"the browser is the program itself": {"echo $$ > pid; exec sleep 60", false},
		"there is no browser":               {"exit 3", true},
		"the browser is running already":    {"exit 0", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\ncd "+dir+"\necho \"$1\" > opened\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			t.Cleanup(func() { end(t, filepath.Join(dir, "pid")) })
			begun := time.Now()
			err := app.Browser(func(name string) string { return map[string]string{"DISPLAY": ":0"}[name] })("https://example.com/login")
			if (err != nil) != c.fails || time.Since(begun) > 30*time.Second {
				t.Errorf("got %v after %s", err, time.Since(begun))
			}
			if opened, err := os.ReadFile(filepath.Join(dir, "opened")); err != nil || string(opened) != "https://example.com/login\n" {
				t.Errorf("opened %q, %v", opened, err)
			}
		})
	}
}

// end ends the process whose id is in a file, if there is one.
func end(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(id); err == nil {
		_ = p.Kill()
	}
}
