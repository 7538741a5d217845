package host

import (
	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/check"
	"replan/cli/exit"
	"replan/planning/plan"
)

// Opening is what replan does without a command.
type Opening struct {
	Goal    string // "" is none yet
	GoOn    bool   // --continue
	InDoubt string // value of --in-doubt
}

// Terms are the terms on which a plan runs.
type Terms struct {
	Vars       check.Variables
	OnFailure  plan.OnFailure
	Synthesize bool
	InDoubt    string // value of --in-doubt, of a run of workers
}

// Command returns the command that runs a plan on these terms.
func (t Terms) Command(p plan.Plan, strict bool) session.Execute {
	return session.Execute{Plan: p, OnFailure: t.OnFailure, Synthesize: t.Synthesize, Strict: strict}
}

// RegisterInDoubt declares --in-doubt.
func RegisterInDoubt(f *pflag.FlagSet, inDoubt *string) {
	f.StringVar(inDoubt, "in-doubt", "",
		"on a resume, or of a run with --on, decide about steps in doubt: `DECISION` ask (on a terminal), rerun, done (it took effect; its result is null) or abort")
}

// parseInDoubt parses --in-doubt; "" means ask. If no user can be asked,
// it returns an error, since the run must not continue on a guess.
func parseInDoubt(a *app.App, text string) (event.DoubtDecision, error) {
	switch text {
	case "":
		if a.Chat() != nil || a.Asks() {
			return "", nil
		}
		return event.DoubtAbort, nil
	case "ask":
		if a.Chat() == nil && !a.Asks() {
			return "", exit.Usage("there is no terminal to ask on: use --in-doubt rerun, done or abort")
		}
		return "", nil
	case string(event.DoubtRerun), string(event.DoubtDone), string(event.DoubtAbort):
		if a.Chat() != nil {
			return "", exit.Usage("the chat asks about steps in doubt: omit --in-doubt")
		}
		return event.DoubtDecision(text), nil
	default:
		return "", exit.Usage("--in-doubt takes ask, rerun, done or abort, not %q", text)
	}
}
