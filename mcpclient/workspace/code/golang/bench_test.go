package golang_test

import (
	"path/filepath"
	"testing"

	"replan/mcpclient/workspace/code/golang"
)

// own is this repository, which has tests, several packages and generics enough.
func own(b *testing.B) *golang.Project {
	b.Helper()
	dir, err := filepath.Abs("../../../..")
	if err != nil {
		b.Fatal(err)
	}
	return golang.New(golang.Config{Dir: dir})
}

func BenchmarkDefinition(b *testing.B) {
	p := own(b)
	for b.Loop() {
		found, err := p.Definition(b.Context(), "replan/agent.Run.Apply", "")
		if err != nil || len(found) != 1 {
			b.Fatal(found, err)
		}
	}
}

func BenchmarkReferences(b *testing.B) {
	p := own(b)
	for b.Loop() {
		found, err := p.References(b.Context(), "replan/agent.Run.Apply", "")
		if err != nil || len(found.Uses) < 10 {
			b.Fatal(found, err)
		}
		b.ReportMetric(float64(len(found.Uses)), "uses")
	}
}
