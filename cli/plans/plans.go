package plans

import (
	"github.com/spf13/pflag"

	"replan/cli/app"
	"replan/cli/slash"
)

// New returns the command replan plan, which is /plan in the chat.
func New(a *app.App) slash.Command {
	return slash.Command{
		Name:  "plan",
		Short: "Create, save, check and run plans",
		Long: "A plan is a JSON file: a graph of steps, each a tool call, a task for a sub-agent or a text by\n" +
			"the model. These commands create plans with the model, save them, check them without running anything,\n" +
			"and run them; an interrupted or failed run resumes where it stopped. ID may be shortened to a unique\n" +
			"beginning. RUN is the id that the screen shows, a unique beginning or end of the whole id, or last.",
		Below: []slash.Command{
			newCreate(a), newList(a), newShow(a), newCheck(a), newRun(a), newResume(a),
			newDelete(a), newImport(a), newExport(a), newDiff(a),
		},
	}
}

func registerVars(f *pflag.FlagSet, vars *[]string) {
	f.StringArrayVar(vars, "var", nil, "set a variable of the plan: `NAME=VALUE`, as JSON or else as text; repeat for more")
}
