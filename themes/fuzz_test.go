package themes

import (
	"strings"
	"testing"
)

// FuzzTheme checks that the file of a theme is taken or refused with a reason on one
// line, and that colors in code add nothing to it and take nothing from it.
func FuzzTheme(f *testing.F) {
	for _, c := range [][2]string{
		{"about = \"x\"\nbase = \"light\"\n[colours]\ntext = \"#ff0000\"\nmuted = 8\n", "func a() {}"}, {"[colours]\ntext = \"muted\"\nmuted = \"text\"\n", "/* \x1b[2J"}, {"dark = false\n[basic]\ntext = \"default\"\n", "'''\r\n\t"}, {"[colors]\ntext = \"#zz\"\n\x1b", "#!/bin/sh\n<<EOF"}, {"base = \"\u202e\"", "`${"},
	} {
		f.Add([]byte(c[0]), c[1], "go")
	}
	f.Add([]byte("[colours]\nnosuch = 1\n"), "👩\u200d🚀 = \"é\"", "python")
	f.Fuzz(func(t *testing.T, file []byte, code, language string) {
		var set Set
		if err := set.Add("mine", file); err != nil {
			if strings.TrimSpace(err.Error()) == "" || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q is refused with %q", file, err)
			}
		} else {
			set.New("mine", true, Mode{})
		}
		if len(code) > 4096 {
			return
		}
		lines := strings.Split(code, "\n")
		got := Code(code, language)
		if len(got) != len(lines) {
			t.Fatalf("%q in %q has %d lines", code, language, len(got))
		}
		for i, spans := range got {
			text := ""
			for _, s := range spans {
				text += s.Text
			}
			if text != lines[i] {
				t.Fatalf("%q in %q: line %d is %q", code, language, i, text)
			}
		}
	})
}
