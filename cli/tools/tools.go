package tools

import (
	"context"
	"errors"
	"slices"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"replan/agent/policy"
	"replan/agent/rule"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/check"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/tty"
	"replan/planning/plan"
)

// New returns the command replan tools.
func New(a *app.App) *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return withCatalog(cmd.Context(), a, "", listOptions{a}.run)
	}
	command := &cobra.Command{
		Use: "tools", Short: "List the tools that plans may use", Args: args.None, RunE: list,
	}
	command.AddCommand(&cobra.Command{Use: "list", Short: "List the tools that plans may use", Args: args.None, RunE: list})
	command.AddCommand(newShow(a), newCall(a), newAccept(a))
	return command
}

// withCatalog starts the servers, calls a function with their tools and stops
// them. It tells the troubles of the server of a name, of all for "".
func withCatalog(ctx context.Context, a *app.App, name string, do func(*app.Services, plan.Catalog) error) (err error) {
	out := a.Out()
	w, err := a.OpenTools(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", w.Close())) }()
	within, cancel := context.WithTimeout(ctx, check.ToolsWithin(w.Tools(), nil))
	defer cancel()
	catalog, awaited := w.Tools().ReadyFor(within, []string{"*:*"})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	server := check.ServerOf(w.Tools(), name, catalog)
	out.Notes(w.Ignored(server))
	check.PrintTroubles(out, w.Tools(), server, awaited)
	out.Notes(w.Tools().NotesOn(server))
	return do(w, catalog)
}

// listOptions are the options of replan tools list.
type listOptions struct{ app *app.App }

// run lists tools.
func (o listOptions) run(_ *app.Services, catalog plan.Catalog) error {
	out := o.app.Out()
	rows := []toolLine{}
	for _, t := range catalog {
		rows = append(rows, lineOf(o.app.Gates(), t))
	}
	if out.JSON() {
		return out.PrintJSON(rows)
	}
	return out.Print(toolsText(out.Terminal(), rows))
}

// toolsText lists tools: as a table for people, and as whole values for programs.
func toolsText(t *tty.Terminal, lines []toolLine) string {
	var rows [][]string
	list := tty.Listing{Heads: []string{"tool", "server", "calls", "description"}, Wide: 3}
	for _, l := range lines {
		mark := map[string]string{string(rule.VerdictAsk): "asks", string(rule.VerdictBlock): "denied", verdictDepends: "depends"}[l.Verdict]
		if !l.Pinned {
			mark = "changed"
		}
		if t == nil {
			rows = append(rows, []string{l.Name, l.Server, mark, l.Description})
			continue
		}
		style := map[string]lipgloss.Style{string(rule.VerdictAsk): t.Styles.Warning, string(rule.VerdictBlock): t.Styles.Danger}[l.Verdict]
		list.Rows = append(list.Rows, []tty.Cell{
			{Text: l.Name, Style: t.Styles.Accent}, {Text: l.Server, Style: t.Styles.Muted}, {Text: mark, Style: style}, {Text: l.Description, Style: t.Styles.Text},
		})
	}
	if t == nil {
		return tty.Tabs(rows)
	}
	return t.List(list)
}

// toolLine is a tool in the output of replan tools.
type toolLine struct {
	Name        string `json:"name"`
	Server      string `json:"server"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"`
	Gate        bool   `json:"gate"`    // a call asks, or may ask
	Verdict     string `json:"verdict"` // run, ask or block; depends if it depends on the arguments
	Pinned      bool   `json:"pinned"`  // its server says what it said when the user accepted it, or it is built in
	Result      string `json:"result"`  // structured if its server describes the result, else content
}

// verdictDepends is the verdict for tools whose rules look at arguments.
const verdictDepends = "depends"

// rulesHere returns the rules that decide about calls of tools here.
func rulesHere(gates config.Gates) []rule.Rule {
	return slices.Concat(gates.Rules, policy.BuiltIn(policy.Trust{Workspace: gates.Trusted}))
}

// lineOf describes a tool in a line.
func lineOf(gates config.Gates, t plan.Tool) toolLine {
	line := toolLine{Name: t.Name, Server: t.Server, Description: t.Description, ReadOnly: t.ReadOnly, Pinned: t.Changed == "", Result: "content"}
	if len(t.OutputSchema) > 0 {
		line.Result = "structured"
	}
	for _, r := range rule.Matching(rulesHere(gates), t) {
		if line.Gate = line.Gate || r.Verdict == rule.VerdictAsk; line.Verdict != "" && line.Verdict != string(r.Verdict) {
			line.Verdict = verdictDepends
			continue
		}
		line.Verdict = string(r.Verdict)
	}
	if !line.Pinned && line.Verdict != string(rule.VerdictBlock) {
		line.Verdict = string(rule.ChangedTool(t).Verdict)
		line.Gate = line.Verdict == string(rule.VerdictAsk)
	}
	return line
}
