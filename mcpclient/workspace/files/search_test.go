package files_test

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

type searchResult struct {
	Matches []struct {
		Path          string
		Line          int
		Text          string
		Before, After []string
	}
	Total, Files int
	Truncated    bool
	Skipped      struct{ Binary, Large, Unreadable int }
}

func TestSearchShowsContextLines(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"f": "one\r\ntwo\r\nthree\r\nfour\r\nfive", "g": "two\n\n", "h": "\ntwo"})
	got := workspacetest.Into[searchResult](t, b.Must(t, "fs.search", args{"query": "two", "context": 2}).Data)
	want := [][][]string{{{"one"}, {"three", "four"}}, {nil, {""}}, {{""}, nil}}
	if len(got.Matches) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, m := range got.Matches {
		if !reflect.DeepEqual([][]string{m.Before, m.After}, want[i]) {
			t.Errorf("%s: got context %q and %q, want %q", m.Path, m.Before, m.After, want[i])
		}
	}
	if got := workspacetest.Into[searchResult](t, b.Must(t, "fs.search", args{"query": "five", "context": 1}).Data); !reflect.DeepEqual(got.Matches[0].Before, []string{"four"}) || got.Matches[0].After != nil {
		t.Errorf("got %+v", got)
	}
	b.Refused(t, "fs.search", args{"query": "x", "context": 21}, "from 0 to 20")
	b.Refused(t, "fs.search", args{"query": "x\ny"}, "line by line")
}

func TestSearchInAnyCase(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a": "Needle\nNEEDLE\nneedles\nÄrger\närger\n", "b": "\u212Aelvin and kelvin\nKELVIN\n"})
	for query, want := range map[string]int{"nEEdle": 3, "ärger": 2, "kelvin": 2, `^needle$`: 2} {
		got := workspacetest.Into[searchResult](t, b.Must(t, "fs.search", args{"query": query, "ignore_case": true, "regex": query[0] == '^'}).Data)
		if got.Total != want {
			t.Errorf("%q: got %d matches, want %d", query, got.Total, want)
		}
	}
}

func TestSearchCountsSkippedFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a": "needle", "b": "needle\x00", "c": "\x00", "large": strings.Repeat("needle\n", 4<<20/7+1)})
	got := workspacetest.Into[searchResult](t, b.Must(t, "fs.search", args{"query": "needle"}).Data)
	if got.Total != 1 || got.Files != 1 || got.Skipped.Binary != 2 || got.Skipped.Large != 1 || got.Skipped.Unreadable != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestSearchOrderIsStable(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/%d.txt", i%17, i)] = strings.Repeat("needle\n", i%5)
	}
	b.Write(t, files)
	for _, most := range []int{1, 7, 100, 2000} {
		first := workspacetest.Into[searchResult](t, b.Must(t, "fs.search", args{"query": "needle", "max": most}).Data)
		if len(first.Matches) != min(most, first.Total) || first.Total != 600 {
			t.Fatalf("got %d of %d matches", len(first.Matches), first.Total)
		}
		for range 5 {
			if again := workspacetest.Into[searchResult](t, b.Must(t, "fs.search", args{"query": "needle", "max": most}).Data); !reflect.DeepEqual(again, first) {
				t.Fatalf("got %+v, before it was %+v", again, first)
			}
		}
	}
}

// The reference implementation matches line by line.
func TestSearchMatchesReference(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "B", "K", "k", "\u212A", "ſ", "s", "é", "É", " ", ".", "\t", "x1", "_"})
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\n\n", "\r"})
	atom := rapid.SampledFrom([]string{"a", "b", "ab", "B", "k", "K", "s", "é", ".", `\b`, `\B`, "^", "$", `\A`, `\z`, "[ab]", "[^a]", `\s`, `\w`, "(a|b)", "(ab|k|é)", "(?i:ab)", "(?:ab)+", "a*", "b?", "x{1,2}", "a{2}", `\.`, "(?s:.)", "|"})
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			text.WriteString(strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, "line"), ""))
			text.WriteString(end.Draw(t, "end"))
		}
		text.WriteString(strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(t, "last"), ""))
		b.Write(t, map[string]string{"f": text.String()})
		call := args{"path": "f", "regex": rapid.Bool().Draw(t, "regex"), "ignore_case": rapid.Bool().Draw(t, "ignore_case")}
		var expr string
		if call["regex"] == true {
			expr = strings.Join(rapid.SliceOfN(atom, 1, 4).Draw(t, "expression"), "")
			call["query"] = expr
		} else {
			call["query"] = strings.Join(rapid.SliceOfN(piece, 1, 3).Draw(t, "text"), "")
			expr = regexp.QuoteMeta(call["query"].(string))
		}
		if call["ignore_case"] == true {
			expr = "(?i:" + expr + ")"
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			t.Skip("invalid expression")
		}
		var want []int
		n := 0
		for line := range strings.Lines(text.String()) {
			n++
			if re.MatchString(strings.TrimRight(line, "\r\n")) {
				want = append(want, n)
			}
		}
		var got []int
		for _, m := range workspacetest.Into[searchResult](t, b.Must(t, "fs.search", call).Data).Matches {
			got = append(got, m.Line)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v in %q: got lines %v, want %v", call, text.String(), got, want)
		}
	})
}

func TestSearchFollowsOrderOfFolders(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a/z": "needle", "a.go": "needle", "a-b/c": "needle", "B": "needle"})
	var got []string
	for _, m := range workspacetest.Into[searchResult](t, b.Must(t, "fs.search", args{"query": "needle"}).Data).Matches {
		got = append(got, path.Clean(m.Path))
	}
	if want := []string{"B", "a/z", "a-b/c", "a.go"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
