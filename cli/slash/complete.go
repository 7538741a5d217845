package slash

import (
	"strings"

	"replan/agent/session"
	"replan/internal/untrusted"
)

// Completions returns the commands of a table, including subcommands, with their
// arguments.
func Completions(table []Command) []session.Completion {
	var out []session.Completion
	for _, c := range table {
		out = complete(out, "", c)
		for _, word := range c.Words {
			out = append(out, session.Completion{Text: c.Name + " " + word})
		}
	}
	return out
}

// complete appends a command and its subcommands, each with its full path.
func complete(out []session.Completion, above string, c Command) []session.Completion {
	text := strings.TrimSpace(above + " " + c.Name)
	takes := c.Completes
	if c.Answer == nil {
		takes = completes(c.Args)
	}
	out = append(out, session.Completion{Text: text, Detail: untrusted.Text(c.Short), Usage: c.Args, Takes: takes})
	for _, below := range sorted(c.Below) {
		out = complete(out, text, below)
	}
	return out
}

// completes returns what an argument can be completed with, given its
// placeholder.
func completes(args string) []session.Completing {
	var out []session.Completing
	for name := range strings.SplitSeq(strings.Trim(args, "[]"), "|") {
		switch name {
		case "ID":
			out = append(out, session.CompletePlans)
		case "RUN":
			out = append(out, session.CompleteRuns)
		case "FILE":
			out = append(out, session.CompleteFiles)
		}
	}
	return out
}
