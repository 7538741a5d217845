package config

import (
	"fmt"

	"github.com/spf13/pflag"

	"replan/agent/session"
	"replan/planning/plan"
)

// Execution says how plans are carried out.
type Execution struct {
	DryRun          bool           // call no tool
	Review          bool           // hold plans for review before they run
	RequireVerified bool           // a run with less than verified evidence fails
	OnFailure       plan.OnFailure // after a failed step of a goal without its own setting

	onFailure string // value of --on-failure
}

// registerDryRun declares --dry-run, which commands of the chat have too.
func (e *Execution) registerDryRun(f *pflag.FlagSet, about string) {
	f.BoolVar(&e.DryRun, "dry-run", e.DryRun, about)
}

// read reads the failure mode from the flags, else from the configuration.
func (e *Execution) read(from sources) (err error) {
	if e.OnFailure, err = ParseOnFailure(e.onFailure); err != nil {
		return fmt.Errorf("--on-failure %w", err)
	}
	if e.OnFailure == plan.OnFailureDefault {
		if e.OnFailure, err = ParseOnFailure(from.file.Limits.OnFailure); err != nil {
			return from.file.unusable(fmt.Errorf("limits.on_failure %w", err))
		}
	}
	return nil
}

// ParseOnFailure parses what happens after a failed step; "" is unset.
func ParseOnFailure(text string) (plan.OnFailure, error) {
	switch f := plan.OnFailure(text); f {
	case plan.OnFailureDefault, plan.OnFailureAbort, plan.OnFailureSkip, plan.OnFailureReplan:
		return f, nil
	default:
		return "", fmt.Errorf("takes abort, skip or replan, not %q", text)
	}
}

// report returns the setting of the review.
func (e Execution) report(from sources) session.Setting {
	return unquoted("screen.review", e.Review, from.of("review", from.file.Screen.Review), "plans wait for your review before they run")
}
