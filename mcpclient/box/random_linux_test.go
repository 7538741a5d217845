package box_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
)

// commandLines is how many random command lines are run; the figure of the manual is
// for 1000.
var commandLines = flag.Int("commandlines", 60, "random command lines to run in the box")

// words are the parts of random command lines. % stands for a path.
var words = []string{
	"echo x > %", "echo x >> %", "rm -rf %", "mv % %", "cp -rf % %", "ln -f % %", "ln -sfn % %", "mkdir -p %", "rmdir %", "touch %", "truncate -s 0 %",
	"dd if=/dev/zero of=% bs=10 count=1 status=none", "tee % < inside.txt", "mkfifo %", "install -m 600 inside.txt %", "tar cf % .", "tar xf % -C %",
	"find % -delete", "sed -i s/a/b/ %", "cd %", "git init -q %", "git add -A", "git commit -qm x --allow-empty", "git config user.name x", "sort -o % %", "split -n 2 inside.txt %",
}

func TestRandomCommandLinesChangeNothingOutside(t *testing.T) {
	p := newPlace(t, nil)
	p.skipGap(t, attempt{mounts: true})
	before := p.outside(t)
	const seed = 18
	random := rand.New(rand.NewPCG(seed, seed))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	path := func() string {
		base := pick(".", ".", "sub", "..", "../..", p.home, p.dir, p.private, "~", "$TMPDIR", "$GOCACHE", ".git", ".git/hooks", "../.config", "/proc/self/root"+p.home, "/proc/self/cwd/..", "link")
		name := pick("", "inside.txt", "a", "b", "config", ".bashrc", ".ssh/authorized_keys", "replan/config.toml", "hooks/pre-commit", "link", "../new", "empty", ".git")
		return base + "/" + name
	}
	for i := range *commandLines {
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
		_, _ = p.shell(t, text) // most fail
		if after := p.outside(t); after != before {
			t.Fatalf("command line %d of seed %d changed what is outside:\n%s\nbefore\n%s\nafter\n%s", i, seed, text, before, after)
		}
	}
}
