package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient"
	"replan/planning/plan"
	"replan/tui/plain"
)

// acceptOptions are the options of replan tools accept.
type acceptOptions struct{ app *app.App }

func newAccept(a *app.App) *cobra.Command {
	o := acceptOptions{a}
	return &cobra.Command{
		Use:   "accept SERVER[:TOOL]",
		Short: "Show what a server has changed in its tools, and accept it",
		Long: "accept prints how the descriptions, arguments, results and hints of a server's tools, or of one tool, differ from\n" +
			"those that you used first or accepted last, and its instructions. Then it asks whether to use them from now on.\n" +
			"Until then models do not see what has changed. --approve all accepts without a question.",
		Example: "  replan tools accept github\n  replan tools accept github:search --approve all",
		Args:    args.Shell(args.One("SERVER")),
		RunE: func(cmd *cobra.Command, names []string) error {
			return withCatalog(cmd.Context(), a, names[0], func(w *app.Services, all plan.Catalog) error {
				return o.run(cmd.Context(), w.Tools(), all, names[0])
			})
		},
	}
}

// run shows the changes and accepts them.
func (o acceptOptions) run(ctx context.Context, tools *mcpclient.Pool, all plan.Catalog, name string) error {
	out := o.app.Out()
	server, tool, _ := strings.Cut(name, ":")
	servers := tools.Status()
	at := slices.IndexFunc(servers, func(s plan.ServerStatus) bool { return s.Name == server })
	isTool := func(t plan.Tool) bool { return t.Server == server && t.Name == tool }
	switch {
	case at < 0:
		return exit.Usage("there is no MCP server %q: name one as replan tools list does, or SERVER:TOOL", server)
	case servers[at].State != plan.ServerReady:
		return &exit.Error{Status: exit.Failed, Code: "failed", Err: fmt.Errorf("what the server %s says now is not known, since it is not ready", server)}
	case tool != "" && !slices.ContainsFunc(all, isTool):
		return &exit.Error{Status: exit.BadUsage, Code: plan.CodeUnknownTool, Err: fmt.Errorf("the server %s offers no tool %q", server, tool)}
	}
	changes := slices.DeleteFunc(tools.Changes(), func(c plan.ServerChange) bool { return c.Server != server || tool != "" && c.Tool != tool })
	if len(changes) == 0 && !out.JSON() {
		return out.Print("nothing has changed: " + name + " is as you accepted it\n")
	}
	if !out.JSON() {
		if err := o.print(changes); err != nil {
			return err
		}
	}
	yes := len(changes) == 0
	if !yes {
		var err error
		if yes, err = o.agrees(ctx, fmt.Sprintf("use %s as they are now? [y]es, [n]o: ", english.Count(len(changes), "changed text"))); err != nil {
			return err
		}
	}
	if !yes {
		return &exit.Error{Status: event.ReasonDenied.ExitCode(), Code: "not_accepted", Err: errors.New("nothing was accepted: answer yes on a terminal, or add --approve all")}
	}
	for _, c := range changes {
		if err := tools.Accept(ctx, c); err != nil {
			return exit.Wrap("accept what has changed", err)
		}
	}
	if out.JSON() {
		accepted := []acceptedLine{}
		for _, c := range changes {
			accepted = append(accepted, acceptedLine{Server: c.Server, Tool: c.Tool, Diff: c.Diff})
		}
		return out.PrintJSON(struct {
			Accepted []acceptedLine `json:"accepted"`
		}{accepted})
	}
	return out.Print("accepted " + english.Count(len(changes), "change") + " of " + server + "\n")
}

// acceptedLine is an accepted change in the output of replan tools accept.
type acceptedLine struct {
	Server string         `json:"server"`
	Tool   string         `json:"tool"` // bare name; empty for the server's instructions
	Diff   untrusted.Text `json:"diff"`
}

// print prints what servers have changed.
func (o acceptOptions) print(changes []plan.ServerChange) error {
	return o.app.Out().Lines(func(p *plain.Printer) {
		for _, c := range changes {
			heading := "the instructions of " + c.Server
			if c.Tool != "" {
				heading = c.Server + ":" + c.Tool
			}
			p.Heading(untrusted.Line(heading))
			p.Block("  ", strings.TrimRight(c.Diff.Visible(), "\n"), 0)
		}
	})
}

// agrees asks a question of yes or no on a terminal. Elsewhere only --approve all is
// a yes.
func (o acceptOptions) agrees(ctx context.Context, question string) (bool, error) {
	switch {
	case o.app.Gates().Decided:
		return o.app.Gates().Approve == policy.ApproveAll, nil
	case !o.app.Asks():
		return false, nil
	}
	input, err := o.app.Input("read the answer")
	if err != nil {
		return false, err
	}
	return input.Confirm(ctx, question)
}
