package expression_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"replan/planning/expression"
)

// FuzzRename checks that a renamed variable is gone, that its new name is used
// instead, and that renaming it back restores the expression.
func FuzzRename(f *testing.F) {
	for _, source := range []string{
		`v.ok and other.v == "v"`, `all(v, .v > 0)`, `{"v": v, v: 1}[v]`, `v?.v ?? v`, `let a = v; a + v`, `"é" == v # v`, "v matches `v`", `v in v[v:v]`, `not v.not`,
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		names := expression.NamesOf(source)
		if !utf8.ValidString(source) || slices.Contains(names, "renamed_") { // plans are JSON
			return
		}
		for _, name := range names {
			renamed := expression.Rename(source, name, "renamed_")
			if len(renamed) > expression.MaxBytes {
				continue
			}
			got := expression.NamesOf(renamed)
			if slices.Contains(got, name) || !slices.Contains(got, "renamed_") || len(got) != len(names) {
				t.Fatalf("%q with another name for %s is %q, with the names %q instead of %q", source, name, renamed, got, names)
			}
			if back := expression.Rename(renamed, "renamed_", name); back != source {
				t.Fatalf("%q became %q and %q", source, renamed, back)
			}
		}
	})
}
