package retrieval

import (
	"slices"
	"testing"
)

func TestWordsOfOneStemMeet(t *testing.T) {
	for _, forms := range [][]string{
		{"issue", "issues"},
		{"query", "queries"},
		{"branch", "branches"},
		{"box", "boxes"},
		{"class", "classes"},
		{"message", "messages"},
		{"create", "creates", "created", "creating"},
		{"run", "runs", "running"},
		{"list", "lists", "listed", "listing"},
		{"copy", "copies", "copied", "copying"},
		{"call", "called", "calling"},
		{"price", "prices", "pricing"},
		{"setting", "settings"},
		{"rename", "renamed", "renaming"},
	} {
		want := string(stem([]byte(forms[0])))
		for _, form := range forms {
			if got := string(stem([]byte(form))); got != want {
				t.Errorf("%s becomes %q, and %s %q", form, got, forms[0], want)
			}
		}
	}
}

func TestWordsOfDifferentStemsStayApart(t *testing.T) {
	for _, pair := range [][2]string{
		{"string", "str"},
		{"thing", "th"},
		{"status", "statu"},
		{"analysis", "analysi"},
		{"speed", "spe"},
		{"need", "ne"},
		{"bus", "bu"},
		{"ping", "p"},
		{"process", "proces"},
		{"access", "acces"},
	} {
		if a, b := string(stem([]byte(pair[0]))), string(stem([]byte(pair[1]))); a == b {
			t.Errorf("%s and %s both become %q", pair[0], pair[1], a)
		}
	}
}

func TestNamesAreSplitIntoTheirWords(t *testing.T) {
	for name, want := range map[string][]string{
		"fs.read":           {"fs", "read"},
		"list_pull-request": {"list", "pull", "request"},
		"getHTTPServer":     {"get", "http", "server", "gethttpserver"},
		"GitHub":            {"git", "hub", "github"},
		"Über-Ärger":        {"über", "ärger"},
		"在github查看":         {"在", "github", "查看"},
		"k8s v2":            {"k8s", "v2"},
		"":                  nil,
	} {
		var got []string
		newSplitter(func(term []byte) { got = append(got, string(term)) }).split(name)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
