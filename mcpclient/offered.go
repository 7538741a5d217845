package mcpclient

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"replan/mcpclient/box"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

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

// maxDescription is how many bytes of the description of a tool are kept. Its pin
// covers all of it.
const maxDescription = 8 << 10

// cutDescription returns a description with its end left out if it is long.
func cutDescription(text string) string {
	if len(text) <= maxDescription {
		return text
	}
	kept := strings.ToValidUTF8(text[:maxDescription], "")
	return fmt.Sprintf("%s (cut here: the description has %d KB)", kept, len(text)>>10)
}

// containment returns what a box means for a call.
func containment(b *box.Box) plan.Containment {
	switch {
	case b == nil:
		return plan.NotContained
	case b.Network():
		return plan.ContainedFiles
	default:
		return plan.ContainedOffline
	}
}
