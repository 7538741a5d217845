package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/cli/app"
	"replan/internal/english"
	"replan/mcpclient"
	"replan/planning/plan"
)

// toolsSoon is how long a command waits for servers to start before it says so.
const toolsSoon = 2 * time.Second

// ToolsWithin returns how long a command waits for these servers to start, nil for all.
func ToolsWithin(tools *mcpclient.Pool, servers []string) time.Duration {
	return plan.ServerWait(plan.MaxServerWait, tools.Status(), servers)
}

// ServerOf returns the server that a name of a tool or server means, "" if none does.
func ServerOf(tools *mcpclient.Pool, name string, all plan.Catalog) string {
	server, _, _ := strings.Cut(name, ":")
	if slices.ContainsFunc(tools.Status(), func(s plan.ServerStatus) bool { return s.Name == server }) {
		return server
	}
	t, _ := all.Find(name) // an unknown tool has no server
	return t.Server
}

// FailureOf returns why a server failed, "" if it did not.
func FailureOf(tools *mcpclient.Pool, server string) string {
	for _, s := range tools.Status() {
		if s.Name == server && s.State == plan.ServerFailed {
			return s.Error.Line()
		}
	}
	return ""
}

// NoServer returns the error for a qualified name of an unknown server, "" for any other
// name.
func NoServer(tools *mcpclient.Pool, name string) string {
	server, _, qualified := strings.Cut(name, ":")
	var known []string
	for _, s := range tools.Status() {
		known = append(known, s.Name)
	}
	if !qualified || len(known) == 0 || slices.Contains(known, server) {
		return ""
	}
	if hint := english.DidYouMean(server, known); hint != "" {
		return fmt.Sprintf("there is no server %s%s", server, hint)
	}
	return fmt.Sprintf("there is no server %s; there %s %s", server, english.Agree(len(known), "is", "are"), english.Some(known, 10, ""))
}

// PrintTroubles reports problems with a server on standard error, or with all servers
// for "". The awaited servers did not start in time.
func PrintTroubles(out *app.Output, tools *mcpclient.Pool, server string, awaited []string) {
	for _, s := range tools.Status() {
		if server != "" && s.Name != server {
			continue
		}
		if s.Declined || slices.Contains(tools.LeftOut(), s.Name) {
			continue // the user knows, or a note has said it
		}
		if server == "" && s.Disabled != "" {
			continue // it is meant to be so
		}
		if what := cmp.Or(s.Error, s.Note); what != "" {
			out.Note("the MCP server %q: %s", s.Name, what.Line())
		}
		if s.State == plan.ServerStarting && slices.Contains(awaited, s.Name) {
			out.Note("the MCP server %q has not started in time", s.Name)
		}
	}
}
