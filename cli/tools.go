package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"replan/agent/policy"
	"replan/agent/rule"
	"replan/cli/config"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/telling"
)

// How long a command waits for servers to start: toolsSoon silently, then
// toolsWithin.
const (
	toolsSoon   = 2 * time.Second
	toolsWithin = 20 * time.Second
)

func newTools(o *options) *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return o.listTools(cmd.Context()) }
	command := &cobra.Command{
		Use: "tools", Short: "List the tools that plans may use", Args: noArgs, RunE: list,
	}
	command.AddCommand(&cobra.Command{Use: "list", Short: "List the tools that plans may use", Args: noArgs, RunE: list})
	command.AddCommand(newToolsCall(o))
	return command
}

// toolLine is a tool in the output of replan tools.
type toolLine struct {
	Name        string `json:"name"`
	Server      string `json:"server"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"`
	Gate        bool   `json:"gate"`    // a call asks, or may ask
	Verdict     string `json:"verdict"` // run, ask or block; depends if it depends on the arguments
}

// verdictDepends is the verdict for tools whose rules look at arguments.
const verdictDepends = "depends"

// listTools starts the servers, lists their tools and stops them.
func (o *options) listTools(ctx context.Context) (err error) {
	w := &services{}
	defer func() { err = errors.Join(err, wrap("end in order", w.close())) }()
	logger, err := w.openLog(o.store.Dirs.Logs())
	if err != nil {
		return err
	}
	if err := w.openTools(ctx, o, false, logger); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, toolsWithin)
	defer cancel()
	rules := slices.Concat(o.Rules, policy.BuiltIn(policy.Trust{Workspace: o.Trusted}))
	lines := []toolLine{}
	var catalogue plan.Catalogue
	catalogue, w.awaited = w.tools.ReadyFor(within, []string{"*:*"})
	for _, t := range catalogue {
		line := toolLine{Name: t.Name, Server: t.Server, Description: t.Description, ReadOnly: t.ReadOnly}
		for _, r := range rule.Matching(rules, t) {
			if line.Gate = line.Gate || r.Verdict == rule.VerdictAsk; line.Verdict != "" && line.Verdict != string(r.Verdict) {
				line.Verdict = verdictDepends
				continue
			}
			line.Verdict = string(r.Verdict)
		}
		lines = append(lines, line)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	o.plans().tellTroubles(w)
	if o.Output == config.OutputJSON {
		enc := json.NewEncoder(o.io.Out)
		enc.SetEscapeHTML(false)
		return wrap(writing, enc.Encode(lines))
	}
	table := tabwriter.NewWriter(o.io.Out, 0, 4, 2, ' ', 0)
	for _, l := range lines {
		mark := map[string]string{string(rule.VerdictAsk): "asks", string(rule.VerdictBlock): "denied", verdictDepends: "depends"}[l.Verdict]
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", l.Name, l.Server, mark, telling.Excerpt(untrusted.Text(l.Description), 80))
	}
	return wrap(writing, table.Flush())
}
