package wording

import (
	"fmt"
	"slices"
	"strings"
	"time"

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

// PullFigures returns how far a pull is: the share, the bytes, the speed and the time left.
// Where nothing is downloaded, it returns what the server does.
func PullFigures(p session.PullProgress) []string {
	if p.Total == 0 || !Downloads(p) {
		return slices.DeleteFunc([]string{p.Step.Line()}, func(s string) bool { return s == "" })
	}
	parts := []string{PulledShare(p), DiskSize(p.Done) + " of " + DiskSize(p.Total)}
	if p.Rate > 0 {
		parts = append(parts, DiskSize(p.Rate)+"/s")
		if left := time.Duration(float64(p.Total-p.Done) / float64(p.Rate) * float64(time.Second)); left > 0 {
			parts = append(parts, ClockTime(left+time.Second-1)+" left")
		}
	}
	return parts
}

// Downloads reports whether the server downloads a part of the model.
func Downloads(p session.PullProgress) bool {
	step := p.Step.Line()
	return strings.HasPrefix(step, "pulling ") && step != "pulling manifest"
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
