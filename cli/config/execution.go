package config

import (
	"fmt"

	"github.com/spf13/pflag"

	"replan/agent/session"
	"replan/cli/help"
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

// register declares the flags of the execution that stand among those of goals in --help.
func (e *Execution) register(f *pflag.FlagSet) {
	f.BoolVar(&e.Review, "review", false, "review every plan before it runs; edit, move or remove steps, approve gates together, or refuse it")
	e.registerDryRun(f, "show what the steps of a plan would do; call no tool")
	f.BoolVar(&e.RequireVerified, "require-verified", false, "fail a run unless checks show that all of its work holds")
	help.Rare(f, "require-verified")
	help.Common(f, "review", "dry-run")
}

// registerFailure declares --on-failure.
func (e *Execution) registerFailure(f *pflag.FlagSet) {
	f.StringVar(&e.onFailure, "on-failure", "", "after a failed step without its own setting, `DO` abort, skip or replan (the default)")
}

// review says whether plans are held for review.
func (e *Execution) review(on bool) { e.Review = on }

// callTools lets calls happen, also in a dry run.
func (e *Execution) callTools() { e.DryRun = false }

// measured carries plans out as replan fit measures a model.
func (e *Execution) measured() { e.DryRun, e.Review, e.RequireVerified = false, false, false }

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
