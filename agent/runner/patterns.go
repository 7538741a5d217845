package runner

import (
	"fmt"
	"slices"
	"strings"

	"replan/planning/plan"
	"replan/planning/prompt"
)

// misses reports, once, which patterns of the profiles match no tool. It stays
// silent while a server is missing, since its tools are unknown.
func (s *Session) misses(all plan.Catalogue) {
	if slices.ContainsFunc(s.status.Servers, func(server plan.ServerStatus) bool {
		return server.State != plan.ServerReady && server.State != plan.ServerStopped // a stopped server is not wanted
	}) {
		return
	}
	for _, p := range s.cfg.Profiles {
		none := slices.DeleteFunc(slices.Clone(p.Tools), func(pattern string) bool {
			only := prompt.Profile{Tools: []string{pattern}}
			return slices.ContainsFunc(all, only.May)
		})
		if len(none) == 0 || p.BuiltIn {
			continue
		}
		key, what := "profile "+p.Name, strings.Join(none, ", ")
		if s.troubles[key] != what {
			s.troubles[key] = what
			s.publishNote("warn", fmt.Sprintf("the profile %q: no tool is called %s (replan tools lists what there is)", p.Name, what))
		}
	}
}
