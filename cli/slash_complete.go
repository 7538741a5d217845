package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"replan/agent"
)

// chatCommands are the commands of the chat with what each takes, as the trees
// have them that carry them out.
func (o *options) chatCommands() []agent.Completion {
	var out []agent.Completion
	for _, word := range []string{"/plan", "/runs", "/undo"} {
		out = commandsOf(out, "", o.chatTree(word))
	}
	for _, c := range sessionCommands() {
		out = append(out, agent.Completion{Text: c.name, Detail: c.short, Usage: c.usage, Takes: c.takes})
		for _, word := range c.words {
			out = append(out, agent.Completion{Text: c.name + " " + word})
		}
	}
	return append(out, agent.Completion{Text: "/help", Detail: "What the chat takes beside goals and questions"})
}

// commandsOf adds a command and those below it, each with all its words.
func commandsOf(out []agent.Completion, above string, c *cobra.Command) []agent.Completion {
	name, usage, _ := strings.Cut(c.Use, " ")
	text := strings.TrimSpace(above + " " + name)
	out = append(out, agent.Completion{Text: text, Detail: c.Short, Usage: usage, Takes: takes(usage)})
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			out = commandsOf(out, text, below)
		}
	}
	return out
}

// takes is what can be completed of the argument of a command, by how that is
// named in its use.
func takes(usage string) []agent.Completing {
	var out []agent.Completing
	for what := range strings.SplitSeq(usage, "|") {
		switch what {
		case "ID":
			out = append(out, agent.CompletePlans)
		case "RUN":
			out = append(out, agent.CompleteRuns)
		case "FILE":
			out = append(out, agent.CompleteFiles)
		}
	}
	return out
}
