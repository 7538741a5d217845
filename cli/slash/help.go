package slash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// help returns the text of --help for a command, as Markdown: the chat wraps it.
func (s Syntax) help(c Command, path string, flags *pflag.FlagSet) string {
	var b strings.Builder
	item := func(code, words string) {
		fmt.Fprintf(&b, "- `%s`", code)
		if words != "" {
			b.WriteString(": " + words)
		}
		b.WriteString("\n")
	}
	section := func(title string) { b.WriteString("\n" + title + ":\n\n") }
	b.WriteString(cmp.Or(c.Long, c.Short) + "\n")
	if len(c.Below) > 0 {
		section("Commands")
		for _, sub := range sorted(c.Below) {
			item(strings.TrimSpace(path+" "+sub.Name+" "+sub.Args), sub.Short)
		}
	} else {
		section("Usage")
		item(strings.TrimSpace(path+" "+c.Args), "")
	}
	if examples := s.examples(c); len(examples) > 0 {
		section("Examples")
		for _, e := range examples {
			item("/"+e, "")
		}
	}
	section("Flags")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			value, usage := pflag.UnquoteUsage(f)
			item(strings.TrimSpace("--"+f.Name+" "+value), usage)
		}
	})
	if len(c.Below) > 0 {
		b.WriteString("\nAdd `--help` to one of them for more about it.\n")
	}
	return b.String()
}

// examples returns the examples without flags that only the shell takes.
func (s Syntax) examples(c Command) []string {
	return slices.DeleteFunc(slices.Clone(c.Examples), func(example string) bool {
		return slices.ContainsFunc(strings.Fields(example), func(word string) bool {
			name, isFlag := strings.CutPrefix(word, "--")
			return isFlag && s.Foreign(name)
		})
	})
}

// sorted returns commands sorted by name.
func sorted(commands []Command) []Command {
	return slices.SortedFunc(slices.Values(commands), func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
}
