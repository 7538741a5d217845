package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRulesJudgeWhereLinksLead(t *testing.T) {
	dir := t.TempDir()
	run := commandsIn(t, t.TempDir(), dir)
	for _, folder := range []string{"docs", "src"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("KEY=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"docs/out": "../src", "docs/in": ".", "config": ".env"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("cannot create links")
		}
	}
	for name, c := range map[string]struct {
		rule       [2]string
		tool, args string
		runs       bool
	}{
		"allowed there":        {[2]string{"--allow", "fs.write path=docs/**"}, "fs.write", `{"path":"docs/in/a.md","text":"x"}`, true},
		"allowed elsewhere":    {[2]string{"--allow", "fs.write path=docs/**"}, "fs.write", `{"path":"docs/out/a.go","text":"x"}`, false},
		"folder of a program":  {[2]string{"--allow", `proc.run argv=["true"] dir=docs/**`}, "proc.run", `{"argv":["true"],"dir":"docs/out"}`, false},
		"denied there":         {[2]string{"--deny", "fs.read path=**/.env"}, "fs.read", `{"path":"config"}`, false},
		"denied, but not this": {[2]string{"--deny", "fs.read path=src/**"}, "fs.read", `{"path":"config"}`, true},
		"denied, and approved": {[2]string{"--deny", "fs.write path=src/**"}, "fs.write", `{"path":"docs/out/a.go","text":"x"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			words := []string{"tools", "call", c.tool, "--args", c.args, c.rule[0], c.rule[1]}
			if name == "denied, and approved" {
				words = append(words, "--approve", "all")
			}
			code, output := run(false, "", words...)
			if (code == 0) != c.runs || code != 0 && code != 3 {
				t.Errorf("got exit code %d: %s", code, output)
			}
			if _, err := os.Stat(filepath.Join(dir, "src", "a.go")); err == nil || strings.Contains(output, "KEY=1") != (name == "denied, but not this") {
				t.Errorf("the file was written or read: %s", output)
			}
		})
	}
}
