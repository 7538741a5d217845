package editor

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestEditorOpensAtTheLineIfItIsKnown(t *testing.T) {
	for editor, want := range map[string][]string{
		filepath.FromSlash("/usr/bin/vim"): {"+7", "a.go"},
		"nano":                             {"+7", "a.go"},
		"code":                             {"--goto", "a.go:7"},
		"my-vim":                           {"a.go"},
	} {
		if got := at(editor, "a.go", 7); !slices.Equal(got, want) {
			t.Errorf("%s %q, want %q", editor, got, want)
		}
		if got := at(editor, "a.go", 1); !slices.Equal(got, []string{"a.go"}) {
			t.Errorf("%s %q at the first line", editor, got)
		}
	}
}
