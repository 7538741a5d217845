package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"replan/cli/args"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/internal/untrusted"
	mcpconfig "replan/mcpclient/config"
)

func (g *group) newImport() *cobra.Command {
	var how importOptions
	command := &cobra.Command{
		Use:   "import PROGRAM|FILE",
		Short: "Add the servers of another program to your own",
		Long: "import shows the servers of another program, and adds those that you pick to your own mcp.json. PROGRAM is\n" +
			strings.Join(mcpconfig.Programs(), ", ") + "; FILE is a file of any of them.",
		Example: "  replan mcp import claude\n  replan mcp import cursor --yes\n  replan mcp import ~/project/.vscode/mcp.json",
		Args:    args.Shell(args.One("PROGRAM|FILE")),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.imports(cmd.Context(), args[0], how)
		},
	}
	command.Flags().BoolVar(&how.yes, "yes", false, "add all without asking")
	command.Flags().BoolVar(&how.replace, "replace", false, "replace servers of the same name")
	return command
}

// importOptions says how servers are imported.
type importOptions struct{ yes, replace bool }

// importedServer is a server in the output of replan mcp import.
type importedServer struct {
	Name    string         `json:"name"`
	Address string         `json:"address,omitempty"`
	File    string         `json:"file"`            // from which it was read
	Done    string         `json:"done"`            // found, added, replaced, kept (one of its name is there), skipped or invalid
	Error   untrusted.Text `json:"error,omitempty"` // why it is invalid
	Notes   []string       `json:"notes,omitempty"`
}

// keptName is the error of a server with the name of the program, as other programs call
// replan serve.
var keptName = untrusted.Text(mcpconfig.ErrNameTaken.Error())

// imports implements replan mcp import.
func (g *group) imports(ctx context.Context, from string, how importOptions) error {
	files, err := mcpconfig.Import(from, g.places())
	if err != nil {
		return exit.Usage("%w", err)
	}
	into := g.file(false)
	outcomes := []importedServer{}
	found := 0
	for _, file := range files {
		if !g.app.Out().JSON() {
			if err := g.app.Out().Print(line("%s", file.Path)); err != nil {
				return err
			}
		}
		for _, s := range file.Servers {
			s.Notes, s.Problem = slices.Clone(s.Notes), secretsOf(s).Text(s.Problem)
			for i, note := range s.Notes {
				s.Notes[i] = secretsOf(s).Text(note)
			}
			o := importedServer{Name: s.Name, Address: written(s), File: file.Path, Notes: s.Notes, Done: "found"}
			if err := g.importOne(ctx, s, into, how, &o); err != nil {
				return err
			}
			if o.Done == "found" {
				found++
			}
			outcomes = append(outcomes, o)
		}
	}
	if g.app.Out().JSON() {
		err = g.app.Out().PrintJSON(struct {
			Into    string           `json:"into"`
			Servers []importedServer `json:"servers"`
		}{into, outcomes})
	} else if found > 0 {
		err = g.app.Out().Print(line("nothing was added: add --yes to add all to %s", into))
	}
	fine := func(o importedServer) bool { return o.Done != "invalid" || o.Error == keptName }
	if err == nil && len(outcomes) > 0 && !slices.ContainsFunc(outcomes, fine) {
		return failed(nil)
	}
	return err
}

// importOne decides about one server, adds it and prints the outcome.
func (g *group) importOne(ctx context.Context, s mcpconfig.Server, into string, how importOptions, o *importedServer) error {
	wanted := how.yes
	switch {
	case s.Problem != "":
		o.Done, o.Error, wanted = "invalid", untrusted.Text(s.Problem), false
	case !how.yes && g.app.Asks():
		var err error
		if wanted, err = g.confirm(ctx, "add "+untrusted.Line(s.Name+"  "+o.Address)+"? [y]es, [n]o: "); err != nil {
			return err
		}
		o.Done = "skipped"
	}
	if wanted {
		replaced, err := put(ctx, into, s, how.replace)
		switch {
		case errors.Is(err, errThere):
			o.Done = "kept"
		case err != nil:
			o.Done, o.Error = "invalid", untrusted.Text(err.Error())
		case replaced:
			o.Done = "replaced"
		default:
			o.Done = "added"
		}
	}
	if g.app.Out().JSON() {
		return nil
	}
	state, words := doctor.OK, o.Done
	switch o.Done {
	case "found", "skipped":
		state = doctor.Off
	case "kept":
		state, words = doctor.Warning, "kept: your file has a server of this name, and --replace replaces it"
	case "invalid":
		state, words = doctor.Failed, "left out: "+o.Error.Line()
		if o.Error == keptName {
			state, words = doctor.Off, "left out: this name is kept for the program's own tools"
		}
	}
	if err := s.Unsupported(); err != nil && state != doctor.Failed {
		state, words = doctor.Warning, words+", and cannot start: "+err.Error()
	}
	text := "  " + doctor.Sign(g.app, state) + " " + line("%s  %s  %s", s.Name, o.Address, words)
	for _, note := range s.Notes {
		text += "      " + line("%s", note)
	}
	return g.app.Out().Print(text)
}
