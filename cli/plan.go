package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/cli/app"
	"replan/cli/exit"
	"replan/cli/slash"
)

// newPlan returns the command replan plan, which is /plan in the chat.
func newPlan(a *app.App) slash.Command {
	return slash.Command{
		Name:  "plan",
		Short: "Create, save, check and run plans",
		Long: "A plan is a JSON file: a graph of steps, each a tool call, a task for a sub-agent or a text by\n" +
			"the model. These commands create plans with the model, save them, check them without running anything,\n" +
			"and run them; an interrupted or failed run resumes where it stopped. ID may be shortened to a unique\n" +
			"beginning. RUN is the id that the screen shows, a unique beginning or end of the whole id, or last.",
		Below: []slash.Command{
			newPlanCreate(a), newPlanList(a), newPlanShow(a), newPlanCheck(a), newPlanRun(a), newPlanResume(a),
			newPlanDelete(a), newPlanImport(a), newPlanExport(a), newPlanDiff(a),
		},
	}
}

// one requires exactly one argument and names it in the error.
func one(what string) func(path string, args []string) error {
	return func(path string, args []string) error {
		if len(args) == 1 && strings.TrimSpace(args[0]) != "" {
			return nil
		}
		if len(args) > 1 {
			return exit.Usage("%s takes one %s, got %d", path, what, len(args))
		}
		return exit.Usage("name one: %s %s", path, what)
	}
}

// atMostOne requires one argument or none.
func atMostOne(what string) func(path string, args []string) error {
	return func(path string, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return one(what)(path, args)
	}
}

// anyNumber accepts any arguments.
func anyNumber(string, []string) error { return nil }

func registerVars(f *pflag.FlagSet, vars *[]string) {
	f.StringArrayVar(vars, "var", nil, "set a variable of the plan: `NAME=VALUE`, as JSON or else as text; repeat for more")
}

func registerInDoubt(f *pflag.FlagSet, inDoubt *string) {
	f.StringVar(inDoubt, "in-doubt", "",
		"on a resume, or of a run with --on, decide about steps in doubt: `DECISION` ask (on a terminal), rerun, done (it took effect; its result is null) or abort")
}

// parseInDoubt parses --in-doubt; "" means ask. If nobody can be asked, it
// returns an error, since the run must not continue on a guess.
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
