package intent_test

import (
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

func TestCommandBehindTheMarkRunsAsItWasTyped(t *testing.T) {
	for goal, want := range map[string]string{
		"!ls":                         `{"argv":["ls"],"timeout":"15m"}`,
		"  ! go vet ./... ":           `{"argv":["go","vet","./..."],"timeout":"15m"}`,
		"!git commit -m x":            `{"argv":["git","commit","-m","x"],"timeout":"15m"}`,
		"!ls *.go | head -2":          `{"shell":"ls *.go | head -2","timeout":"15m"}`,
		`!grep "two words" a.go`:      `{"shell":"grep \"two words\" a.go","timeout":"15m"}`,
		"!CGO_ENABLED=0 go build":     `{"shell":"CGO_ENABLED=0 go build","timeout":"15m"}`,
		"!ulimit -a":                  `{"shell":"ulimit -a","timeout":"15m"}`,
		"!cd docs && ls":              `{"shell":"cd docs && ls","timeout":"15m"}`,
		"!echo a\necho b":             `{"shell":"echo a\necho b","timeout":"15m"}`,
		"!echo ${HOME} @a.go":         `{"shell":"echo $${HOME} @a.go","timeout":"15m"}`,
		"!find where Parse is used":   `{"argv":["find","where","Parse","is","used"],"timeout":"15m"}`,
		"!rename a b; run the tests.": `{"shell":"rename a b; run the tests.","timeout":"15m"}`,
	} {
		chain := intent.Facts{}.RouteWords(goal, intent.Policy{})
		if !chain.Ready() || len(chain.Nodes) != 1 || chain.Nodes[0].Tool != "proc.run" || !chain.Nodes[0].Gate {
			t.Errorf("%q: got %+v", goal, chain)
			continue
		}
		if got := plan.CanonicalJSON(chain.Nodes[0].Args); got != want {
			t.Errorf("%q: got %s, want %s", goal, got, want)
		}
	}
	if intent.IsCommandLine("find !ls") {
		t.Error("a mark within a goal begins a command")
	}
}

func TestProgramsThatWantATerminalAreRefused(t *testing.T) {
	for line, program := range map[string]string{
		"vim a.go": "vim", "nano": "nano", "/usr/bin/less a.go": "less", "top": "top", "htop": "htop", "man ls": "man", "ssh host": "ssh", "tmux": "tmux",
		"python3": "python3", "node": "node", "bash": "bash", "bash -i": "bash", "sqlite3 a.db": "sqlite3", "psql -h db": "psql",
		"sudo vim /etc/hosts": "vim", "EDITOR=x nano a": "nano", "cd docs && vim a": "vim", "echo a; less b": "less", "git rebase -i HEAD~2": "git rebase -i",
		"git add -p": "git add -p", "ls | vim -": "vim", "watch ls": "watch",
	} {
		chain := intent.Facts{}.RouteWords("!"+line, intent.Policy{})
		if !chain.Invalid || len(chain.Missing) != 1 || !strings.HasPrefix(chain.Missing[0], program+" needs a terminal of its own") || !strings.Contains(chain.Missing[0], "your own shell") {
			t.Errorf("%q: got %q", line, chain.Missing)
		}
	}
	for _, line := range []string{
		"python3 a.py", "python -c 'print(1)'", "python3 --version", "echo 1 | python3", "ls | less", "bash build.sh", "sh -c ls", "ssh host uptime", "sqlite3 a.db .tables",
		"psql -c 'select 1'", "emacs --batch a", "top -b -n1", "vim --version", "git add .", "git rebase main", "grep vim a", "echo top", "make less", "tmux ls", "node a.js", "perl -e 1",
	} {
		if chain := (intent.Facts{}).RouteWords("!"+line, intent.Policy{}); !chain.Ready() {
			t.Errorf("%q is refused: %q", line, chain.Missing)
		}
	}
}

func TestCommandThatCannotWorkSaysWhatWould(t *testing.T) {
	for goal, want := range map[string]string{"!": "as in !ls", " !  ": "as in !ls", "!cd docs": "!cd docs && ls", "!cd": "!cd docs && ls"} {
		chain := intent.Facts{}.RouteWords(goal, intent.Policy{})
		if !chain.Invalid || len(chain.Missing) != 1 || !strings.Contains(chain.Missing[0], want) {
			t.Errorf("%q: got %q", goal, chain.Missing)
		}
	}
}
