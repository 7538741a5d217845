package retrieval_test

import (
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/retrieval"
)

// neededTools returns the goals of a file with what each needs: of each group one tool
// is enough.
func neededTools(t testing.TB, name string) (goals []string, needed map[string][][]string) {
	t.Helper()
	needed = map[string][][]string{}
	for _, line := range plantest.Lines(t, name) {
		goal, tools, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("a goal without tools: %q", line)
		}
		goals = append(goals, goal)
		for group := range strings.SplitSeq(tools, ", ") {
			needed[goal] = append(needed[goal], strings.Split(group, "|"))
		}
	}
	return goals, needed
}

// places returns the places of needed tools among those of the same origin: the own
// operators, which are listed apart, or the tools of other servers. The first is 0.
func places(ranked []retrieval.Match, needed [][]string) []int {
	var found []int
	own, foreign := 0, 0
	left := slices.Clone(needed)
	for _, m := range ranked {
		at := &foreign
		if m.Tool.Trusted && plan.IsOperator(m.Tool.Name) {
			at = &own
		}
		for i, group := range left {
			if slices.Contains(group, m.Tool.Name) {
				found = append(found, *at)
				left[i] = nil
			}
		}
		*at++
	}
	return found
}

// TestNeededToolsRankFirst holds the share of needed tools that are among the first five
// and the first ten.
func TestNeededToolsRankFirst(t *testing.T) {
	for _, c := range []struct {
		file      string
		foreign   int
		five, ten float64 // the least share
	}{
		{"local.txt", 0, 0.93, 0.95},
		{"local.txt", 200, 0.93, 0.95},
		{"own.txt", 0, 0.92, 0.98},
		{"own.txt", 200, 0.90, 0.98},
		{"goals.txt", 20, 0.93, 0.95},
		{"goals.txt", 200, 0.78, 0.95},
	} {
		goals, needed := neededTools(t, c.file)
		five, ten, all := 0, 0, 0
		for _, goal := range goals {
			ranked := retrieval.Rank(plantest.Beside(t, c.foreign, slices.Concat(needed[goal]...)), retrieval.Query{Goal: goal})
			for _, at := range places(ranked, needed[goal]) {
				if all++; at < 5 {
					five++
				}
				if at < 10 {
					ten++
				} else {
					t.Logf("%s beside %d: %s: place %d", c.file, c.foreign, goal, at+1)
				}
			}
		}
		atFive, atTen := float64(five)/float64(all), float64(ten)/float64(all)
		t.Logf("%s beside %d foreign tools: of %d needed tools %.3f are among the first five, %.3f among the first ten", c.file, c.foreign, all, atFive, atTen)
		if atFive < c.five || atTen < c.ten {
			t.Errorf("%s: that is less than %.3f and %.3f", c.file, c.five, c.ten)
		}
	}
}

func TestQuestionsAreNotForToolsThatShareAWordByAccident(t *testing.T) {
	ranked := retrieval.Rank(plantest.Operators(t), retrieval.Query{Goal: "Which environment variable sets the port of the server, and what is the default port?"})
	if first := ranked[0].Name; first != "fs.search" && first != "fs.read" {
		t.Errorf("%s is first", first)
	}
	at := slices.IndexFunc(ranked, func(m retrieval.Match) bool { return m.Name == "vcs.push" })
	if at < 10 {
		t.Errorf("vcs.push is at place %d of %d", at+1, len(ranked))
	}
}
