package slash_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"replan/cli/slash"
)

// table returns a command with two subcommands that record their calls.
func table(calls *[]string) slash.Command {
	var all bool
	note := func(_ context.Context, c slash.Call) error {
		*calls = append(*calls, strings.TrimSpace(c.Path+" "+strings.Join(c.Args, ",")))
		if all {
			*calls = append(*calls, "all")
		}
		return nil
	}
	return slash.Command{
		Name: "/thing", Short: "Things", Below: []slash.Command{
			{Name: "show", Args: "ID", Short: "Show one", Do: note, Check: func(string, []string) error { return nil }, Examples: []string{"thing show a", "thing show a --foreign"}},
			{Name: "list", Short: "List them", Do: note, Flags: func(f *pflag.FlagSet) { f.BoolVar(&all, "all", false, "all of them") }},
		},
	}
}

func TestLineRunsTheCommandItNames(t *testing.T) {
	for line, c := range map[string]struct {
		calls []string
		want  string // in the help or the error
	}{
		"show a b":             {[]string{"/thing show a,b"}, ""},
		"--output json show a": {[]string{"/thing show a"}, ""},
		"list --all":           {[]string{"/thing list", "all"}, ""},
		"list x":               {nil, `unknown command "x" for "/thing list"`},
		"fly":                  {nil, `unknown command "fly" for "/thing"; it has show and list`},
		"lsit":                 {nil, `unknown command "lsit" for "/thing"; did you mean list?`},
		"ls":                   {nil, `unknown command "ls" for "/thing"; did you mean list?`},
		"list --wrong":         {nil, "wrong: unknown flag: --wrong"},
		"":                     {[]string{"/thing list"}, ""},
		"--help":               {nil, "Things\n\nCommands:\n\n- `/thing list`: List them\n- `/thing show ID`: Show one\n\nFlags:"},
		"help":                 {nil, "- `/thing list`: List them"},
		"help show":            {nil, "Usage:\n\n- `/thing show ID`\n\nExamples:\n\n- `/thing show a`\n\nFlags:"},
		"show -h":              {nil, "\n- `--output FORM`: the FORM of it\n"},
	} {
		t.Run(line, func(t *testing.T) {
			var calls []string
			syntax := slash.Syntax{
				Flags:     func(f *pflag.FlagSet) { f.String("output", "text", "the `FORM` of it") },
				WrongFlag: func(_ *pflag.FlagSet, err error) error { return errors.New("wrong: " + err.Error()) },
				Before:    func() error { return nil },
				Foreign:   func(flag string) bool { return flag == "foreign" },
			}
			output, err := syntax.Run(t.Context(), table(&calls), strings.Fields(line))
			if err != nil {
				output = err.Error()
			}
			if !slices.Equal(calls, c.calls) || !strings.Contains(output, c.want) || c.want == "" && output != "" {
				t.Errorf("got calls %q and output %q, want %q and %q", calls, output, c.calls, c.want)
			}
		})
	}
}
