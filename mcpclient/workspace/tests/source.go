package tests

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"replan/internal/testfile"
	"replan/mcpclient/workspace/tree"
)

// Limits of the source files that test.run returns.
const (
	maxSourceFiles = 12
	maxSourceBytes = 96 << 10
)

// sourceFile is a file that helps to fix a failed test.
type sourceFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// sources are the files that help to fix failed tests.
type sources struct{ tree *tree.Tree }

// of reads the files of failed tests and the files under test: the file
// with the matching name or, for Go, the whole package.
func (o *sources) of(ctx context.Context, failures []testFailure) ([]sourceFile, error) {
	var tests []string
	for _, f := range failures {
		if f.File != "" && !slices.Contains(tests, f.File) {
			tests = append(tests, f.File)
		}
	}
	if len(tests) == 0 {
		return nil, nil
	}
	var all []string
	err := o.tree.Walk(ctx, ".", func(at string, d fs.DirEntry) error {
		if d.Type().IsRegular() {
			all = append(all, at)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for what the tests test: %w", err)
	}
	wanted := slices.Clone(tests)
	for _, test := range tests {
		wanted = append(wanted, tested(test, all)...)
	}
	var out []sourceFile
	room := maxSourceBytes
	for _, at := range slices.Compact(wanted) {
		if len(out) == maxSourceFiles || slices.ContainsFunc(out, func(f sourceFile) bool { return f.Path == at }) {
			continue
		}
		f, err := o.tree.LoadEntry(at)
		if err != nil || !f.Exists || f.Dir || !tree.IsText(f.Data) || len(f.Data) > room {
			continue // skip a file that is gone or too long
		}
		room -= len(f.Data)
		out = append(out, sourceFile{Path: at, Text: string(f.Data)})
	}
	return out, nil
}

// tested returns the files in all that a test file tests.
func tested(test string, all []string) []string {
	if !testfile.Is(test) {
		return nil
	}
	var named, beside []string
	for _, at := range all {
		switch {
		case at == test || testfile.Is(at):
		case testfile.Tests(test, at):
			named = append(named, at)
		case path.Dir(at) == path.Dir(test) && strings.HasSuffix(at, ".go") && strings.HasSuffix(test, ".go"):
			beside = append(beside, at)
		}
	}
	slices.SortStableFunc(named, func(a, b string) int { return nearness(test, a) - nearness(test, b) })
	if len(named) > 0 {
		return named[:1]
	}
	return beside
}

// nearness is 0 for a file in the same folder, and grows with the depth of
// others.
func nearness(test, at string) int {
	if path.Dir(test) == path.Dir(at) {
		return 0
	}
	return 1 + strings.Count(at, "/")
}
