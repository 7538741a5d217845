package models

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"replan/agent/ollama"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/wording"
)

func (g group) newRemove() *cobra.Command {
	yes := false
	command := &cobra.Command{
		Use: "remove MODEL", Short: "Remove a model from the disk of Ollama",
		Long:    "remove deletes a model from the disk of Ollama's machine, also for other programs. On a terminal it asks first, else\nit needs --yes.",
		Example: "  replan models remove qwen3:8b\n  replan models remove qwen3:8b --yes",
		Args:    args.Shell(args.One("MODEL")),
		RunE: func(cmd *cobra.Command, words []string) error {
			return g.with(func(c *ollama.Client) error { return g.remove(cmd.Context(), c, strings.TrimSpace(words[0]), yes) })
		},
	}
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}

// remove deletes a model.
func (g group) remove(ctx context.Context, c *ollama.Client, name string, yes bool) error {
	installed, err := c.Models(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, m := range installed {
		names = append(names, m.Name)
	}
	at := slices.IndexFunc(installed, func(m prompt.ModelInfo) bool { return prompt.SameModel(m.Name, name) })
	if at < 0 {
		return exit.Usage("Ollama at %s has no model %q%s", c.Host(), name, cmp.Or(english.DidYouMean(name, names), "; replan models lists those that it has"))
	}
	m := installed[at]
	what := untrusted.Line(m.Name) + " (" + wording.DiskSize(m.Bytes) + ")"
	switch {
	case yes:
	case !g.app.Asks():
		return exit.Usage("replan models remove would delete %s: add --yes", what)
	default:
		input, err := g.app.Input("read standard input")
		if err != nil {
			return err
		}
		sure, err := input.Confirm(ctx, "remove "+what+" from the disk of Ollama at "+c.Host()+"? [y]es, [n]o: ")
		if err != nil {
			return err
		}
		if !sure {
			return g.app.Out().Print("nothing was removed\n")
		}
	}
	if err := c.Remove(ctx, m.Name); err != nil {
		return err
	}
	return g.print(outcome{Model: m.Name, Done: "removed", Bytes: m.Bytes})
}
