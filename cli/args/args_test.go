package args_test

import (
	"testing"

	"github.com/spf13/pflag"

	"replan/cli/args"
)

func TestArgumentsAreCountedAndNamed(t *testing.T) {
	for name, c := range map[string]struct {
		check func(path string, args []string) error
		given []string
		want  string // "" is no error
	}{
		"one":               {args.One("ID"), []string{"a"}, ""},
		"one, none given":   {args.One("ID"), nil, "name one: replan show ID"},
		"one, blank":        {args.One("ID"), []string{" "}, "name one: replan show ID"},
		"one, two given":    {args.One("ID"), []string{"a", "b"}, "replan show takes one ID, got 2"},
		"at most one, none": {args.AtMostOne("RUN"), nil, ""},
		"at most one, two":  {args.AtMostOne("RUN"), []string{"a", "b"}, "replan show takes one RUN, got 2"},
		"any number":        {args.Any, []string{"a", "b"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := c.check("replan show", c.given); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWrongFlagsSayWhatWasMeant(t *testing.T) {
	for given, want := range map[string]string{
		"--stepps=3": "unknown flag --stepps; did you mean --steps?",
		"--steps=x":  `--steps takes a whole number, not "x"; see replan --help`,
		"-x":         "unknown flag -x; see replan --help",
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.Int("steps", 0, "")
		err := flags.Parse([]string{given})
		if got := args.WrongFlag(flags, err, "see replan --help").Error(); got != want {
			t.Errorf("%s: got %q, want %q", given, got, want)
		}
	}
}

func TestUnknownCommandsSayWhatWasMeant(t *testing.T) {
	known := []string{"list", "show", "prune"}
	for word, want := range map[string]string{
		"lits":   `unknown command "lits" for "runs"; did you mean list?`,
		"rm":     `unknown command "rm" for "runs"; did you mean prune?`,
		"sing":   `unknown command "sing" for "runs"; it has list, show and prune`,
		"delete": `unknown command "delete" for "runs"; did you mean prune?`,
	} {
		if got := args.Unknown(word, "runs", known).Error(); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}
