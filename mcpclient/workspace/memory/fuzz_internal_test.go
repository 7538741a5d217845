package memory

import (
	"strings"
	"testing"
)

// FuzzFacts checks that a fact added to any file is read back, that the file is
// otherwise as it was, and that removing the fact restores it.
func FuzzFacts(f *testing.F) {
	for _, text := range []string{"", "- a\n* b (added 2024-01-01)\n", "\ufeff- a\r\n  wrapped\r\n", "# T\n\n```\n- x\n```\n", "- \n+ \x1b[2J\n", "-\ta\n\n   b", "- (added 2024-01-01)\n- a (added 9999-99-99)", "\u2028- a\n\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before := readFacts(text)
		at := 0
		for _, fact := range before.facts {
			if fact.from < at || fact.to <= fact.from || fact.to > len(before.lines) || fact.text == "" {
				t.Fatalf("%q has the fact %+v", text, fact)
			}
			at = fact.to
		}
		written := before.write(nil, "a new fact", "2026-01-02")
		if !strings.HasPrefix(written, text) {
			t.Fatalf("%q became %q", text, written)
		}
		after := readFacts(written)
		n := len(after.facts)
		if n != len(before.facts)+1 || after.facts[n-1].text != "a new fact" || after.facts[n-1].added != "2026-01-02" {
			t.Fatalf("%q holds %d facts instead of %d: %+v", written, n, len(before.facts)+1, after.facts)
		}
		if restored := after.write(after.facts[n-1:], "", ""); strings.TrimRight(restored, "\r\n") != strings.TrimRight(text, "\r\n") {
			t.Fatalf("%q became %q, and without the fact %q", text, written, restored)
		}
	})
}
