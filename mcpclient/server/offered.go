package server

import (
	"slices"
	"strconv"

	"github.com/bmatcuk/doublestar/v4"

	"replan/mcpclient/config"
	"replan/planning/plan"
)

// Offers reports whether the configuration of the server offers a tool.
func (s *Server) Offers(tool string) bool { return offers(s.config, tool) }

// offers reports whether the configuration of a server offers a tool. A name that
// matches a pattern of ExcludeTools is left out, even if one of IncludeTools
// matches too.
func offers(s config.Server, tool string) bool {
	matches := func(pattern string) bool {
		ok, err := doublestar.Match(pattern, tool)
		return ok && err == nil
	}
	return (len(s.IncludeTools) == 0 || slices.ContainsFunc(s.IncludeTools, matches)) && !slices.ContainsFunc(s.ExcludeTools, matches)
}

// offered returns the tools that the configuration of their server offers, and a
// note if it leaves out all of them.
func offered(s config.Server, tools []plan.Tool) ([]plan.Tool, string) {
	var kept []plan.Tool
	for _, t := range tools {
		if offers(s, t.Name) {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 && len(tools) > 0 {
		return nil, "its configuration leaves out all of its " + strconv.Itoa(len(tools)) + " tools"
	}
	return kept, ""
}
