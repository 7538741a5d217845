package slash

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// help returns the text of --help for a command.
func (s Syntax) help(c Command, path string, own *pflag.FlagSet, top bool) string {
	var b strings.Builder
	long := c.Long
	if long == "" {
		long = c.Short
	}
	b.WriteString(long + "\n\nUsage:\n  " + strings.TrimSpace(path+" "+c.Args) + " [flags]\n")
	if len(c.Below) > 0 {
		b.WriteString("  " + path + " [command]\n")
	}
	if examples := s.examples(c); len(examples) > 0 {
		b.WriteString("\nExamples:\n  /" + strings.Join(examples, "\n  /") + "\n")
	}
	if len(c.Below) > 0 {
		b.WriteString("\nAvailable Commands:\n")
		for _, sub := range sorted(slices.Concat(c.Below, []Command{{Name: "help", Short: "Help about any command"}})) {
			fmt.Fprintf(&b, "  %-11s %s\n", sub.Name, sub.Short)
		}
	}
	b.WriteString("\nFlags:\n" + own.FlagUsages())
	if !top {
		shared := pflag.NewFlagSet("", pflag.ContinueOnError)
		s.Flags(shared)
		b.WriteString("\nGlobal Flags:\n" + shared.FlagUsages())
	}
	if len(c.Below) > 0 {
		b.WriteString("\nUse \"" + path + " [command] --help\" for more information about a command.\n")
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
