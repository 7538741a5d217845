package mcp

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/cancelreader"
	"github.com/spf13/cobra"

	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/oauth"
	"replan/planning/plan"
)

func (g *group) newLogin() *cobra.Command {
	var noBrowser bool
	command := &cobra.Command{
		Use:   "login SERVER",
		Short: "Log in to an HTTP server that wants it",
		Long: "login SERVER opens the server's login in your browser, shows its address, and waits for at most five minutes. If the\n" +
			"browser runs on another machine, copy the address of the page at which it ends, and paste it here. The tokens are\n" +
			"kept in the keyring of the system or, without one or with REPLAN_KEYRING=off, in a file that only you can read.",
		Example: "  replan mcp login linear\n  replan mcp login linear --no-browser",
		Args:    args.Shell(args.One("SERVER")),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.login(cmd.Context(), args[0], noBrowser)
		},
	}
	command.Flags().BoolVar(&noBrowser, "no-browser", false, "only show the address of the login")
	return command
}

// login implements replan mcp login.
func (g *group) login(ctx context.Context, name string, noBrowser bool) (err error) {
	s, err := g.named(name)
	if err != nil {
		return err
	}
	cfg, stop, err := g.pool()
	if err != nil {
		return err
	}
	defer stop()
	cfg.Servers, cfg.Later = []mcpconfig.Server{s}, true
	opened := errors.New("not asked for")
	if !noBrowser {
		cfg.Browse = func(address string) error {
			opened = app.Browser(g.app.IO().Getenv)(address)
			return opened
		}
	}
	pool, err := mcpclient.NewPool(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return failed(err)
	}
	var pasted <-chan string
	if g.app.Asks() {
		lines, stop, err := g.lines()
		if err != nil {
			return errors.Join(failed(err), pool.Close())
		}
		defer stop()
		pasted = lines
	}
	err = pool.Login(ctx, name, func(address string) { g.showLogin(name, address, opened == nil, pasted != nil) }, pasted)
	var status plan.ServerStatus
	if err == nil {
		pool.Ready(ctx)
		status = pool.Status()[0]
	}
	closed := pool.Close()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return failed(err)
	case closed != nil:
		return failed(closed)
	case g.app.Out().JSON():
		return g.app.Out().PrintJSON(status)
	case status.State == plan.ServerReady:
		return g.app.Out().Print(line("logged in to %s: %s", name, english.Count(status.Tools, "tool")))
	}
	return failed(fmt.Errorf("logged in to %s, but it is not ready: %s", name, cmp.Or(status.Error, status.Note).Line()))
}

// showLogin shows where to log in, on standard error.
func (g *group) showLogin(name, address string, opened, pasted bool) {
	t := g.app.Out().Terminal()
	if t != nil {
		// The terminal may be on another machine than this program.
		_ = g.app.Out().Print(ansi.SetSystemClipboard(address))
	}
	first := "open this address to log in to " + name
	if opened {
		first = "a browser opens to log in to " + name + "; if it does not, open this address"
	}
	if t != nil {
		first += ", which is copied"
	}
	g.warn(first + ":")
	g.warn(address)
	if pasted {
		g.warn("if the browser cannot reach replan at the end, paste the address of that page here and press enter")
	}
}

// lines returns the lines of standard input. stop ends the reading.
func (g *group) lines() (lines <-chan string, stop func(), err error) {
	input, err := cancelreader.NewReader(g.app.IO().In)
	if err != nil {
		return nil, nil, fmt.Errorf("read standard input: %w", err)
	}
	read, done := make(chan string), make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(read)
		for s := bufio.NewScanner(input); s.Scan(); {
			if strings.TrimSpace(s.Text()) == "" {
				continue
			}
			select {
			case read <- s.Text():
			case <-done:
				return
			}
		}
	})
	return read, func() {
		close(done)
		if input.Cancel() {
			reading.Wait() // else the input cannot be interrupted; it ends with the program
		}
	}, nil
}

func (g *group) newLogout() *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "logout SERVER",
		Short: "Delete the login to a server and revoke its tokens",
		Long:  "logout SERVER deletes the tokens of a login here, after it has revoked them where the authorization server takes that.",
		Example: "  replan mcp logout linear\n" +
			"  replan mcp logout --all",
		Args: func(cmd *cobra.Command, words []string) error {
			if all && len(words) > 0 {
				return exit.Usage("%s takes a server or --all, not both", cmd.CommandPath())
			}
			if all {
				return nil
			}
			return args.One("SERVER")(cmd.CommandPath(), words)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if !all {
				name = args[0]
			}
			return g.logout(cmd.Context(), name)
		},
	}
	command.Flags().BoolVar(&all, "all", false, "log out of all servers")
	return command
}

// loggedOut is a server in the output of replan mcp logout.
type loggedOut struct {
	Server string         `json:"server"`
	Error  untrusted.Text `json:"error,omitempty"` // why the tokens are not revoked
}

// logout implements replan mcp logout; no name means all servers.
func (g *group) logout(ctx context.Context, name string) error {
	out := oauth.Logout{Store: g.app.Servers().AllLogins()}
	var ended []oauth.Outcome
	var err error
	if name == "" {
		ended, err = out.All(ctx)
	} else {
		ended, err = out.Named(ctx, name)
	}
	servers := []loggedOut{}
	for _, o := range ended {
		one := loggedOut{Server: o.Server}
		if o.NotRevoked != nil {
			one.Error = untrusted.Text(o.NotRevoked.Error())
			g.warn(fmt.Sprintf("the login to %s is deleted here only: %v", o.Server, o.NotRevoked))
		}
		servers = append(servers, one)
	}
	switch {
	case err != nil:
		return failed(err)
	case g.app.Out().JSON():
		return g.app.Out().PrintJSON(servers)
	case len(servers) == 0 && name == "":
		return g.app.Out().Print("there are no logins\n")
	case len(servers) == 0:
		return g.app.Out().Print(line("there is no login to %s", name))
	}
	var names []string
	for _, s := range servers {
		names = append(names, s.Server)
	}
	return g.app.Out().Print(line("logged out of %s", english.List(names, "and")))
}
