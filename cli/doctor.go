package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"replan/cli/config"
	"replan/mcpclient/workspace/code/lsp"
)

// serverReport is doctor's report on a language server.
type serverReport struct {
	Language string `json:"language"`
	Name     string `json:"name"`
	Path     string `json:"path,omitempty"`    // where it was found
	Problem  string `json:"problem,omitempty"` // why it is not used
	Fix      string `json:"fix,omitempty"`     // how to install it
}

func newDoctor(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "List language servers, and how to install the missing ones",
		Long: "doctor lists the language servers installed outside this folder, and how to install the others.\n" +
			"Without one, names match by words, which may miss or match too much. doctor starts no server.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.doctor() },
	}
}

func (o *options) doctor() error {
	servers, err := lsp.New(lsp.Config{Dir: o.Workspace, Environ: os.Environ(), Commands: o.LSP.Commands()})
	if err != nil {
		return wrap("look for language servers", err)
	}
	var reports []serverReport
	var text strings.Builder
	for _, p := range servers.Programs() {
		report := serverReport{Language: p.Language, Name: p.Name}
		path, err := servers.Find(p)
		switch {
		case !o.LSP.On() || len(p.Argv) == 0:
			report.Problem = "disabled in [lsp]"
		case err != nil:
			report.Problem, report.Fix = "not installed", p.Install
		default:
			report.Path = path
		}
		reports = append(reports, report)
		said := report.Path
		if said == "" {
			said = report.Problem
		}
		if report.Fix != "" {
			said += "; install it: " + report.Fix
		}
		fmt.Fprintf(&text, "%-11s %-27s %s\n", p.Language, p.Name, said)
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(map[string]any{"language_servers": reports})
	}
	return o.print(text.String())
}
