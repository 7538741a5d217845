package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"replan/agent/session"
)

// chatCommands are the commands of the chat with what each takes, as the trees
// have them that carry them out.
func (o *options) chatCommands() []session.Completion {
	var out []session.Completion
	for _, word := range []string{"/plan", "/runs", "/undo"} {
		out = commandsOf(out, "", o.chatTree(word))
	}
	for _, c := range sessionCommands() {
		out = append(out, session.Completion{Text: c.name, Detail: c.short, Usage: c.usage, Takes: c.takes})
		for _, word := range c.words {
			out = append(out, session.Completion{Text: c.name + " " + word})
		}
	}
	return append(out, session.Completion{Text: "/help", Detail: "What the chat takes beside goals and questions"})
}

// commandsOf adds a command and those below it, each with all its words.
func commandsOf(out []session.Completion, above string, c *cobra.Command) []session.Completion {
	name, usage, _ := strings.Cut(c.Use, " ")
	text := strings.TrimSpace(above + " " + name)
	out = append(out, session.Completion{Text: text, Detail: c.Short, Usage: usage, Takes: takes(usage)})
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			out = commandsOf(out, text, below)
		}
	}
	return out
}

// takes is what can be completed of the argument of a command, by how that is
// named in its use.
func takes(usage string) []session.Completing {
	var out []session.Completing
	for what := range strings.SplitSeq(usage, "|") {
		switch what {
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
