package boxtest

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// words are the parts of random command lines. % stands for a path.
var words = []string{
	"echo x > %", "echo x >> %", "rm -rf %", "mv % %", "cp -rf % %", "ln -f % %", "ln -sfn % %", "mkdir -p %", "rmdir %", "touch %", "truncate -s 0 %",
	"dd if=/dev/zero of=% bs=10 count=1 status=none", "tee % < inside.txt", "mkfifo %", "install -m 600 inside.txt %", "tar cf % .", "tar xf % -C %",
	"find % -delete", "sed -i s/a/b/ %", "cd %", "git init -q %", "git add -A", "git commit -qm x --allow-empty", "git config user.name x", "sort -o % %", "split -n 2 inside.txt %",
}

// RunRandomLines runs random command lines in the box, and fails if one changes what
// is outside.
func (p Place) RunRandomLines(t *testing.T, lines int) {
	t.Helper()
	before := p.Outside(t)
	const seed = 18
	random := rand.New(rand.NewPCG(seed, seed)) // #nosec G404 -- the same lines in every run
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	path := func() string {
		base := pick(".", ".", "sub", "..", "../..", p.Home, p.Dir, p.Private, "~", "$TMPDIR", "$GOCACHE", ".git", ".git/hooks", "../.config", "/proc/self/root"+p.Home, "/proc/self/cwd/..", "link")
		name := pick("", "inside.txt", "a", "b", "config", ".bashrc", ".ssh/authorized_keys", "replan/config.toml", "hooks/pre-commit", "link", "../new", "empty", ".git")
		return base + "/" + name
	}
	for i := range lines {
		// What a command line has spoilt is there again for the next one.
		line := []string{"ln -sfn \"$HOME\" link; test -f inside.txt || { rm -rf inside.txt; echo inside > inside.txt; }"}
		for range 1 + random.IntN(4) {
			text := pick(words...)
			for strings.Contains(text, "%") {
				text = strings.Replace(text, "%", path(), 1)
			}
			line = append(line, "timeout 5 sh -c '"+text+"'")
		}
		text := strings.Join(line, pick("; ", " || ", "; "))
		_, _ = p.Shell(t, text) // most fail
		if after := p.Outside(t); after != before {
			t.Fatalf("command line %d of seed %d changed what is outside:\n%s\nbefore\n%s\nafter\n%s", i, seed, text, before, after)
		}
	}
}
