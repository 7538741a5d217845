package mcpclient

import (
	"log/slog"
	"maps"
	"slices"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"replan/mcpclient/config"
	"replan/mcpclient/server"
	"replan/mcpclient/trust"
	"replan/planning/plan"
)

// admissions decide which servers may start: by their configuration, by the user's
// switches, and for a project's own servers by the user's consent. They make the servers.
type admissions struct {
	workspace string
	mode      trust.Mode
	builtin   map[string]func() *mcpserver.MCPServer
	settings  server.Settings
	consent   trust.Consent
	switches  *switches
	log       *slog.Logger
}

// decisions are what the user has decided about servers.
type decisions struct {
	answers  trust.Answers
	disabled []string // for good in this workspace
}

// decisions reads what the user has decided. What cannot be read is logged.
func (a *admissions) decisions() (known decisions) {
	var err error
	if known.answers, err = a.consent.Read(); err != nil {
		a.log.Warn("allowed servers", "error", err)
	}
	if known.disabled, err = a.switches.disabled(); err != nil {
		a.log.Warn("disabled servers", "error", err)
	}
	return known
}

// first returns the servers of a new pool: the built-in ones by name, then the configured ones.
func (a *admissions) first(configured []config.Server) (all []*server.Server) {
	known := a.decisions()
	for _, name := range slices.Sorted(maps.Keys(a.builtin)) {
		all = append(all, server.New(a.settings, config.Server{Name: name}, a.builtin[name], server.Admission{State: plan.ServerStarting}))
	}
	for _, s := range config.Chosen(configured) {
		all = append(all, a.newServer(s, known))
	}
	return all
}

// newServer returns a server in the state before its first start.
func (a *admissions) newServer(s config.Server, known decisions) *server.Server {
	return server.New(a.settings, s, nil, a.admit(s, known))
}

// remember stores the user's answer about servers of this workspace.
func (a *admissions) remember(answered []config.Server, yes bool) error {
	return a.consent.Remember(a.workspace, answered, yes)
}

// rememberDeclined stores which programs the user said no to.
func (a *admissions) rememberDeclined(declined []config.Server) error {
	return a.consent.RememberDeclined(declined)
}

// admit decides whether a server may start.
func (a *admissions) admit(s config.Server, known decisions) server.Admission {
	nameErr := config.CheckName(s.Name)
	if a.builtin[s.Name] != nil {
		nameErr = config.ErrNameTaken
	}
	stopped := func(problem string, by plan.DisabledBy) server.Admission {
		return server.Admission{State: plan.ServerStopped, Problem: problem, Disabled: by}
	}
	failed := func(problem string) server.Admission {
		return server.Admission{State: plan.ServerFailed, Problem: problem}
	}
	switch {
	case s.Disabled:
		return stopped("disabled in the configuration", plan.DisabledForGood)
	case slices.Contains(known.disabled, s.Name):
		return stopped("disabled by you in this folder", plan.DisabledForGood)
	case a.switches.isOffForNow(s.Name):
		return stopped("disabled by you until replan ends", plan.DisabledForNow)
	case s.Problem != "":
		return failed(s.Problem)
	case nameErr != nil:
		return failed(nameErr.Error())
	case s.Command == "" && s.URL == "":
		return failed("it has neither a command nor a url")
	case s.Source != config.SourceProject || known.answers.Allow(a.workspace, s):
		return server.Admission{State: plan.ServerStarting}
	case known.answers.Decline(a.workspace, s):
		return server.Declined()
	case a.mode == trust.None:
		return server.Admission{
			State: plan.ServerStopped, LeftOut: true,
			Problem: "left out: the project defines this server and nobody has approved it; name its file with --mcp-config, or approve it once on the screen",
		}
	}
	return server.Admission{State: plan.ServerWaiting}
}
