package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"replan/cli/args"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/internal/wholefile"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/connection"
	"replan/tui/draw"
)

func (g *group) newAdd() *cobra.Command {
	var how addition
	command := &cobra.Command{
		Use:   "add NAME [URL | -- COMMAND [ARG]...]",
		Short: "Add a server: a program to start, or the URL of one",
		Long: "add writes a server into your own mcp.json, or with --project into the project's .mcp.json. Comments and layout\n" +
			"of the file stay. Variables such as ${TOKEN} are written as they are, and read at each start.",
		Example: "  replan mcp add files -- npx -y @modelcontextprotocol/server-filesystem .\n  replan mcp add linear https://mcp.linear.app/mcp\n" +
			"  replan mcp add gh https://api.githubcopilot.com/mcp --header 'Authorization: Bearer ${GITHUB_TOKEN}'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exit.Usage("name the server, and its URL or its command: %s NAME URL, or %s NAME -- COMMAND ARGS", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			server, err := how.server(args[0], args[1:], cmd.ArgsLenAtDash() == 1)
			if err != nil {
				return err
			}
			return g.add(cmd.Context(), server, how)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&how.env, "env", nil, "set the environment variable `NAME=VALUE` of the program; repeatable")
	flags.StringArrayVar(&how.headers, "header", nil, "send the header `'NAME: VALUE'` with each request; repeatable")
	flags.StringVar(&how.kind, "type", "", "set the transport `TYPE` of a URL: http or sse")
	flags.BoolVar(&how.project, "project", false, "write into the project's .mcp.json")
	flags.BoolVar(&how.replace, "replace", false, "replace a server of this name")
	return command
}

// addition says what replan mcp add writes, and where.
type addition struct {
	env, headers     []string
	kind             string
	project, replace bool
}

// server returns the server to add. words are its URL, or a command and arguments.
func (a addition) server(name string, words []string, command bool) (mcpconfig.Server, error) {
	s := mcpconfig.Server{Name: name}
	if err := mcpconfig.CheckName(name); err != nil {
		return s, exit.Usage("the name %q cannot be used: %w", name, err)
	}
	remote := !command && (strings.HasPrefix(words[0], "http://") || strings.HasPrefix(words[0], "https://"))
	switch {
	case !remote && !command && strings.Contains(words[0], "://"):
		return s, exit.Usage("%q is no URL of a server; it begins with http:// or https://", written(mcpconfig.Server{URL: words[0]}))
	case remote && len(words) > 1:
		return s, exit.Usage("a URL takes no arguments, got %q", written(mcpconfig.Server{Command: words[1], Args: words[2:]}))
	case remote && len(a.env) > 0:
		return s, exit.Usage("--env is for a program; a URL takes --header")
	case !remote && (len(a.headers) > 0 || a.kind == "http" || a.kind == "sse"):
		return s, exit.Usage("%q is a program, which takes neither --header nor --type; a URL begins with http:// or https://", words[0])
	case a.kind != "" && a.kind != "http" && a.kind != "sse" && (remote || a.kind != "stdio"):
		return s, exit.Usage("--type must be http or sse, not %q", a.kind)
	case remote:
		s.URL, s.SSE = words[0], a.kind == "sse"
	default:
		s.Command, s.Args = words[0], words[1:]
	}
	var err error
	if s.Env, err = pairs("--env", a.env, "="); err != nil {
		return s, err
	}
	s.Headers, err = pairs("--header", a.headers, ":")
	return s, err
}

// pairs reads the values of a flag: names and values with a separator between.
func pairs(flag string, values []string, separator string) (map[string]string, error) {
	var all map[string]string
	for _, value := range values {
		name, of, ok := strings.Cut(value, separator)
		if name = strings.TrimSpace(name); !ok || name == "" { // which may be a secret without its name
			return nil, exit.Usage("%s takes NAME%sVALUE", flag, separator)
		}
		if all == nil {
			all = map[string]string{}
		}
		if separator == ":" {
			of = strings.TrimSpace(of)
		}
		all[name] = of
	}
	return all, nil
}

// errThere refuses to replace a server.
var errThere = errors.New("there already")

// put writes a server into a file.
func put(ctx context.Context, path string, s mcpconfig.Server, replace bool) (replaced bool, err error) {
	err = wholefile.Edit(ctx, path, func(before []byte) ([]byte, error) {
		after, again, err := mcpconfig.Set(before, s)
		if err == nil && again && !replace {
			err = errThere
		}
		replaced = again
		return after, err
	})
	return replaced, err
}

// editOutput is the outcome of an edit in the output.
type editOutput struct {
	Server string `json:"server"`
	File   string `json:"file"`
	Done   string `json:"done"` // added, replaced or removed

	Problem untrusted.Text `json:"problem,omitempty"` // why it cannot be started
}

// add implements replan mcp add.
func (g *group) add(ctx context.Context, s mcpconfig.Server, how addition) error {
	path := g.file(how.project)
	replaced, err := put(ctx, path, s, how.replace)
	switch {
	case errors.Is(err, errThere):
		return exit.Usage("%s has a server %q already; add --replace to replace it", path, s.Name)
	case err != nil:
		return exit.Usage("the server %q cannot be written into %s: %w", s.Name, path, err)
	}
	done := "added"
	if replaced {
		done = "replaced"
	}
	return g.printEdit(editOutput{Server: s.Name, File: path, Done: done, Problem: g.problem(path, s.Name)}, "to")
}

// problem says why a server in a file cannot be started, "" if its program is there.
func (g *group) problem(path, name string) untrusted.Text {
	servers, _ := mcpconfig.Read(path, mcpconfig.SourceUser, g.app.Folders().Workspace) // it was just written
	at := slices.IndexFunc(servers, func(s mcpconfig.Server) bool { return s.Name == name })
	if at < 0 {
		return ""
	}
	err := connection.CheckProgram(connection.Settings{Environ: os.Environ(), WorkDir: g.app.Folders().Workspace}, servers[at])
	if err == nil {
		return ""
	}
	return untrusted.Text(err.Error())
}

// printEdit prints the outcome of an edit.
func (g *group) printEdit(e editOutput, where string) error {
	if g.app.Out().JSON() {
		return g.app.Out().PrintJSON(e)
	}
	if e.Done == "replaced" {
		where = "in"
	}
	if e.Problem != "" {
		text := untrusted.Line(fmt.Sprintf("%s %s %s %s, but it cannot be started: %s; replan mcp add %s --replace changes it",
			e.Done, e.Server, where, e.File, e.Problem, e.Server))
		lines := []string{text}
		if t := g.app.Out().Terminal(); t != nil {
			lines = draw.Wrap(text, max(t.Width()-2, 20)) // behind the sign
		}
		return g.app.Out().Print(strings.Join(draw.Hang(doctor.Sign(g.app, doctor.Warning)+" ", lines), "\n") + "\n")
	}
	return g.app.Out().Print(doctor.Sign(g.app, doctor.OK) + " " + line("%s %s %s %s", e.Done, e.Server, where, e.File))
}

func (g *group) newRemove() *cobra.Command {
	var project bool
	command := &cobra.Command{
		Use:     "remove SERVER",
		Short:   "Remove a server from your own file, or from the project's",
		Example: "  replan mcp remove files\n  replan mcp remove files --project",
		Args:    args.Shell(args.One("SERVER")),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.remove(cmd.Context(), args[0], project)
		},
	}
	command.Flags().BoolVar(&project, "project", false, "remove it from the project's .mcp.json")
	return command
}

// remove implements replan mcp remove.
func (g *group) remove(ctx context.Context, name string, project bool) error {
	path := g.file(project)
	err := mcpconfig.ErrNoEntry
	if _, missing := os.Stat(path); missing == nil {
		err = wholefile.Edit(ctx, path, func(before []byte) ([]byte, error) { return mcpconfig.Remove(before, name) })
	}
	if errors.Is(err, mcpconfig.ErrNoEntry) {
		return exit.Usage("there is no MCP server %q in %s%s", name, path, g.elsewhere(name, path))
	}
	if err != nil {
		return exit.Usage("the server %q cannot be removed from %s: %w", name, path, err)
	}
	return g.printEdit(editOutput{Server: name, File: path, Done: "removed"}, "from")
}

// elsewhere says where a server is that is not in a file, or which is meant.
func (g *group) elsewhere(name, path string) string {
	own, project := g.file(false), g.file(true)
	other, hint := own, "; it is in your own file: leave out --project"
	if path == own {
		other, hint = project, "; it is in the project's file: add --project"
	}
	if slices.Contains(g.namesIn(other), name) {
		return hint
	}
	return english.DidYouMean(name, g.namesIn(path))
}

// namesIn returns the names of the servers in a file.
func (g *group) namesIn(path string) []string {
	servers, _ := mcpconfig.Read(path, mcpconfig.SourceUser, g.app.Folders().Workspace) // invalid ones count, too
	var names []string
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}
