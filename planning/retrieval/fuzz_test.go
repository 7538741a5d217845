package retrieval_test

import (
	"testing"

	"replan/planning/plan"
	"replan/planning/retrieval"
)

// FuzzRank checks that no description of a tool, and no goal, breaks the ranking: each
// tool is at most once in it, by falling score.
func FuzzRank(f *testing.F) {
	for _, c := range [][2]string{{"read a file", "reads files"}, {"getHTTPServer 在github查看", "\xff\u202e"}, {"", ""}, {"ing ed s", "ies es"}, {"Über-Ärger İ", "ßß"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, goal, description string) {
		c := plan.Catalog{{Name: "fs.read", Server: "workspace", Description: "Read a file."}, {Name: description, Server: "it", Description: description}}
		seen := map[string]bool{}
		last := 0.0
		for i, m := range retrieval.Rank(c, retrieval.Query{Goal: goal}) {
			name := m.Tool.Server + ":" + m.Tool.Name
			if seen[name] || i > 0 && m.Score > last {
				t.Fatalf("%q: %s twice, or out of order", goal, name)
			}
			seen[name], last = true, m.Score
		}
		retrieval.Spelled(c, goal)
	})
}
