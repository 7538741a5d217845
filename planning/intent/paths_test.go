package intent_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning/intent"
)

// surveyedIn are the facts of a workspace for an order. A path that ends in a slash is a folder.
func surveyedIn(order string, paths ...string) intent.Facts {
	survey := intent.NewSurvey(order)
	for _, at := range paths {
		name, folder := strings.CutSuffix(at, "/")
		survey.See(name, folder)
	}
	return survey.Facts(nil)
}

func TestWordsThatNameAnExistingPathAreThatPath(t *testing.T) {
	paths := []string{"docs/", "my docs/", "docs/a.md", "my docs/a.md", "notes.txt", "my notes.txt", "docs now/", "all the things.md", "things.md"}
	for order, want := range map[string]string{
		"delete the folder my docs":             "fs.remove my docs",
		"delete folder my docs/":                "fs.remove my docs",
		"remove the my docs folder":             "fs.remove my docs",
		"rm -rf my docs":                        "fs.remove my docs",
		`delete the folder "my docs"`:           "fs.remove my docs",
		"delete the folder docs":                "fs.remove docs",
		"delete the docs folder":                "fs.remove docs",
		"delete folder docs now":                "fs.remove docs now",
		"delete my notes.txt":                   "fs.remove my notes.txt",
		"delete the file my notes.txt":          "fs.remove my notes.txt",
		"delete notes.txt":                      "fs.remove notes.txt",
		"delete all the things.md":              "fs.remove all the things.md",
		"show my docs/a.md":                     "fs.read my docs/a.md",
		"open my notes.txt":                     "fs.read my notes.txt",
		"cat my notes.txt":                      "fs.read my notes.txt",
		"explain my docs/a.md":                  "fs.read my docs/a.md",
		"what is in my docs":                    "code.symbols my docs",
		"who wrote my notes.txt":                "vcs.log my notes.txt",
		"ls my docs":                            "fs.list my docs",
		"show files in my docs":                 "fs.list my docs",
		"touch my docs/b.md":                    "fs.write my docs/b.md",
		"create a file my docs/b.md":            "fs.write my docs/b.md",
		"mkdir my docs/sub":                     "fs.mkdir my docs/sub",
		"rename my notes.txt to b.txt":          "fs.move my notes.txt b.txt",
		"move my notes.txt to my docs/b.txt":    "fs.move my notes.txt my docs/b.txt",
		"move notes.txt to my docs/notes.txt":   "fs.move notes.txt my docs/notes.txt",
		"delete my notes.txt and run the tests": "fs.remove my notes.txt",
	} {
		chain := surveyedIn(order, paths...).RouteWords(order, intent.Policy{})
		if got := firstPath(chain); got != want || !chain.Bound() {
			t.Errorf("%s: %s, want %s; missing %q", order, got, want, chain.Missing)
		}
	}
}

func TestOrderThatChangesPathsDropsNoWordToReachAnother(t *testing.T) {
	for _, order := range []string{
		"delete the folder my docs", "delete my docs folder", "rm -rf our docs", "delete my notes.txt", "delete the file my notes.txt",
		"mkdir my docs", "create a folder my docs", "touch my notes.txt", "create a file all new.txt", "rename my notes.txt to b.txt", "move notes.txt to my b.txt",
	} {
		chain := surveyedIn(order, "docs/", "notes.txt").RouteWords(order, intent.Policy{})
		if chain.Bound() || !chain.Empty() && !strings.Contains(strings.Join(chain.Missing, ";"), "Put the name in quotes") {
			t.Errorf("%s: %s, missing %q", order, firstPath(chain), chain.Missing)
		}
	}
}

// firstPath is the first tool of a chain with its paths.
func firstPath(chain intent.Chain) string {
	if chain.Empty() {
		return ""
	}
	n := chain.Nodes[0]
	text := n.Tool
	for _, name := range []string{"path", "from", "to"} {
		if at := n.Args[name]; at != nil {
			text += fmt.Sprintf(" %v", at)
		}
	}
	return text
}

func TestNewFileHasTheTextThatTheOrderGives(t *testing.T) {
	for order, want := range map[string]string{
		"create a file hello.txt":                             "",
		"create a file hello.txt with hello":                  "hello\n",
		"create a file hello.txt with Hello, world!":          "Hello, world!\n",
		`create a file hello.txt with "a list of the tests"`:  "a list of the tests\n",
		`make a new file hello.txt containing the text "a b"`: "a b\n",
		`create file hello.txt with "${x}"`:                   "$${x}\n",
		"create a file hello.txt that says hello":             "hello\n",
	} {
		chain := surveyedIn(order).RouteWords(order, intent.Policy{})
		if !chain.Bound() || !chain.Confident() || chain.Nodes[0].Tool != "fs.write" || chain.Nodes[0].Args["text"] != want {
			t.Errorf("%s: %+v, missing %q", order, chain.Nodes, chain.Missing)
		}
		if plain := want == "" || strings.Contains(order, `"`); chain.Ready() != plain {
			t.Errorf("%s: plans without asking a model: %v, want %v", order, chain.Ready(), plain)
		}
	}
	for _, order := range []string{
		"create a file a.md with a list of all functions", "create a file a_test.go with unit tests", "create a file a.go with functions Foo and Bar",
		`create a file a.txt with "a" and "b"`, "create a file a.go containing code that parses flags",
	} {
		if chain := surveyedIn(order).RouteWords(order, intent.Policy{}); chain.Bound() && !chain.NeedsModel() {
			t.Errorf("%s: %+v", order, chain.Nodes)
		}
		refusal := intent.Facts{}.Refuse(order)
		if !strings.Contains(refusal.Text, "leaves it out") || len(refusal.Near) != 1 {
			t.Errorf("%s: %+v", order, refusal)
		}
	}
}
