package doctor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient"
	"replan/mcpclient/workspace/code/lsp"
	"replan/planning/plan"
	"replan/tui/wording"
)

// serverTimeout bounds the start of all tool servers.
const serverTimeout = 15 * time.Second

// ToolServers starts the configured MCP servers that the user trusts, and reports
// which of them answer.
func ToolServers(cfg mcpclient.Config) func(context.Context) []Check {
	return func(ctx context.Context) []Check {
		const subject = "MCP servers"
		if len(cfg.Servers) == 0 {
			return []Check{{Subject: subject, Name: "servers", State: OK, Detail: "none configured"}}
		}
		pool, err := mcpclient.NewPool(context.WithoutCancel(ctx), cfg)
		if err != nil {
			return []Check{{subject, "servers", Failed, sentence(err), ""}}
		}
		waiting, cancel := context.WithTimeout(ctx, serverTimeout)
		defer cancel()
		pool.Ready(waiting)
		left := map[string]bool{}
		for _, name := range pool.LeftOut() {
			left[name] = true
		}
		var checks []Check
		for _, s := range pool.Status() {
			checks = append(checks, serverCheck(subject, s, left[s.Name]))
		}
		for _, s := range cfg.Servers {
			for _, note := range s.Notes {
				checks = append(checks, Check{subject, untrusted.Text(s.Name), Warning, untrusted.Text(note), ""})
			}
		}
		if err := pool.Close(); err != nil {
			checks = append(checks, Check{subject, "servers", Warning, sentence(fmt.Errorf("stop the servers: %w", err)), ""})
		}
		return checks
	}
}

func serverCheck(subject string, s plan.ServerStatus, leftOut bool) Check {
	check := Check{Subject: subject, Name: untrusted.Text(s.Name), State: Failed, Detail: cmp.Or(s.Error, s.Note)}
	switch {
	case leftOut:
		check.State, check.Detail = Warning, "not started: it belongs to this project, and you have not allowed it yet"
		check.Fix = "start replan here and answer the question, or use --mcp-config .mcp.json"
	case s.NeedsLogin:
		check.State, check.Detail = Warning, "needs a login"
		check.Fix = untrusted.Text("replan mcp login " + s.Name)
	case s.State == plan.ServerReady:
		check.State = OK
		check.Detail = untrusted.Text(fmt.Sprintf("%s, ready in %d ms", english.Count(s.Tools, "tool"), s.StartMS))
	case s.State == plan.ServerStarting:
		check.Detail = untrusted.Text(fmt.Sprintf("no answer within %v", serverTimeout))
	}
	if check.State == Failed {
		check.Fix = untrusted.Text("check its entry (" + s.Source + "): " + wording.ServerAddress(s))
	}
	return check
}

// LanguageServers looks for the language servers on PATH and asks each for its
// version. Without one, matches are by name only, in Go by its type checker.
func LanguageServers(servers *lsp.Servers, on bool) func(context.Context) []Check {
	return func(ctx context.Context) []Check {
		var checks []Check
		for _, p := range servers.Programs() {
			check := Check{Subject: "Language servers", Name: untrusted.Text(p.Language), State: OK}
			path, err := servers.Find(p)
			switch {
			case !on || len(p.Argv) == 0:
				check.State = Off
				check.Detail = untrusted.Text(p.Name + " is disabled in [lsp]")
			case err != nil:
				instead := "matches are by name only"
				if p.Language == "go" {
					instead = "Go's type checker takes its place, for code that compiles"
				}
				check.State = Warning
				check.Detail, check.Fix = untrusted.Text(p.Name+" is not installed; "+instead), untrusted.Text(p.Install)
			default:
				check.Detail = untrusted.Text(p.Name + ", " + path)
				if err := servers.Try(ctx, p, path); err != nil {
					check.State, check.Fix = Warning, untrusted.Text(p.Install)
					check.Detail += " does not start: " + sentence(err)
				}
			}
			checks = append(checks, check)
		}
		return checks
	}
}
