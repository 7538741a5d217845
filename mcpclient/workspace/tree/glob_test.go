package tree_test

import (
	"testing"

	"replan/mcpclient/workspace/tree"
)

func TestGlobsMatchPathsAndNames(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "in/deep/a.go", true},
		{"./*.go", "a.go", true},
		{"/in/*.go", "in/a.go", true},
		{"in/*.go", "in/deep/a.go", false},
		{"in/**/*.go", "in/a.go", true},
		{"in/**/*.go", "in/deep/er/a.go", true},
		{"**/a.go", "a.go", true},
		{"in/**", "in/deep/a.go", true},
		{"*.{ts,tsx}", "in/a.tsx", true},
		{"[!a]?.go", "bc.go", true},
		{"[!a]?.go", "ac.go", false},
		{`\*.go`, "*.go", true},
		{`\*.go`, "a.go", false},
	} {
		glob, err := tree.NewGlob(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := glob.Match(c.path); got != c.want {
			t.Errorf("%q matches %q: got %v", c.pattern, c.path, got)
		}
	}
}

func TestInvalidGlobsAreRefused(t *testing.T) {
	for _, pattern := range []string{"[z-a]", "[a", "{a,b"} {
		if _, err := tree.NewGlob(pattern); err == nil {
			t.Errorf("%q was accepted", pattern)
		}
	}
}
