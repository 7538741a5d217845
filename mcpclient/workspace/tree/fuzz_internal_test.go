package tree

import (
	"strings"
	"testing"
	"time"
)

// FuzzIgnore checks that no ignore file and no pattern takes long or panics, and that
// a name with its wildcards escaped is matched by itself.
func FuzzIgnore(f *testing.F) {
	for _, text := range []string{
		"*.log\n!a.log\n/in/**\r\n", "#x\n\\#x\n\\!y\n", "[a-\\]]*\n[[:alpha:]]\n[[:no:]]\n[!]a]\n", "a\\ \nb  \n\\\n", strings.Repeat("a*", 40) + "b\n" + strings.Repeat("**/a*/", 40) + "b\n", "{a,b}\n{a,{b,c}}*\n", "é*\n\xff*\n",
	} {
		f.Add(text, "in/deep/a.log")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		if len(text) > 4096 || len(name) > 4096 {
			return
		}
		begun := time.Now()
		parseIgnore(text, true).decide(name, strings.HasSuffix(name, "/"), true)
		pattern, _, _ := strings.Cut(text, "\n")
		if glob, err := NewGlob(pattern); err == nil {
			glob.Match(name)
		}
		if spent := time.Since(begun); spent > 20*time.Second {
			t.Fatalf("%q took %s for %q", text, spent, name)
		}
		if name == "" || strings.ContainsAny(name, "/\n\r") {
			return
		}
		escaped := "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `).Replace(name)
		if decided, out := parseIgnore(escaped, false).decide(name, false, false); !decided || !out {
			t.Fatalf("%q does not ignore %q", escaped, name)
		}
	})
}
