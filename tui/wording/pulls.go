package wording

import (
	"fmt"
	"strings"

	"replan/agent/session"
	"replan/internal/untrusted"
)

// SuggestedModel is a model that plans well on an ordinary machine.
const SuggestedModel = "qwen3:8b"

// PulledShare returns how much of a model is downloaded, in percent.
func PulledShare(p session.PullProgress) string {
	if p.Total <= 0 {
		return ""
	}
	return fmt.Sprintf("%d%%", p.Done*100/p.Total)
}

// Pulling names the model that is pulled and the share that is downloaded.
func Pulling(p session.PullProgress) string {
	return strings.TrimSpace("pulling " + untrusted.Line(p.Model) + " " + PulledShare(p))
}

// PullEnd says in a few words how a pull has ended.
func PullEnd(p session.PullProgress) string {
	name := untrusted.Line(p.Model)
	switch {
	case p.Problem.Line() != "":
		return name + " was not pulled"
	case p.Canceled:
		return "pull of " + name + " canceled; the next one continues it"
	default:
		return name + " is pulled"
	}
}
