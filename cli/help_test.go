package cli_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/cli"
)

// output runs a command line in this process, in an empty folder and home, and
// returns its exit code and what it wrote.
func output(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	var stdout, stderr bytes.Buffer
	code = cli.Main(t.Context(), args, cli.IO{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr,
		Getenv: func(name string) string {
			return map[string]string{"REPLAN_HOME": home, "OLLAMA_HOST": "127.0.0.1:1"}[name]
		},
		Getwd: func() (string, error) { return dir, nil },
	})
	return code, stdout.String(), stderr.String()
}

// commandPaths lists all commands, from what --help lists.
func commandPaths(t *testing.T, above ...string) [][]string {
	t.Helper()
	_, out, _ := output(t, append(above, "--help-all")...)
	paths := [][]string{above}
	listing := false
	for line := range strings.SplitSeq(out, "\n") {
		switch line {
		case "Run", "Look back", "For developers", "Set up", "Commands":
			listing = true
		case "":
			listing = false
		default:
			if name, _, _ := strings.Cut(strings.TrimPrefix(line, "  "), " "); listing && name != "" {
				paths = append(paths, commandPaths(t, append(append([]string{}, above...), name)...)...)
			}
		}
	}
	return paths
}

func TestHelpOfEveryCommandFitsAnOrdinaryTerminal(t *testing.T) {
	paths := commandPaths(t)
	if len(paths) < 30 {
		t.Fatalf("only %d commands are listed: %q", len(paths), paths)
	}
	unnamed := regexp.MustCompile(`(?m)^  (-\w, )?--\S+ TEXT\b.*`)
	for _, path := range paths {
		code, out, _ := output(t, append(path, "--help-all")...)
		if code != 0 || !strings.Contains(out, "Usage") {
			t.Errorf("%q: got exit code %d and %q", path, code, out)
		}
		for line := range strings.SplitSeq(out, "\n") {
			if wide := ansi.StringWidth(line); wide > 80 && !strings.HasPrefix(line, "  replan") && !strings.HasPrefix(line, "  {") {
				t.Errorf("%q: a line has %d cells: %s", path, wide, line)
			}
		}
		if flag := unnamed.FindString(out); flag != "" {
			t.Errorf("%q: the value of a flag has no name: %s", path, flag)
		}
		if strings.Contains(out, "`") {
			t.Errorf("%q: there is a backquote in %s", path, out)
		}
	}
	_, out, _ := output(t, "--help")
	if lines := strings.Count(out, "\n"); lines > 41 {
		t.Errorf("the help of the program has %d lines, at most 41 are allowed:\n%s", lines, out)
	}
}

func TestHelpShowsFlagsWhereTheyMeanSomething(t *testing.T) {
	for line, c := range map[string]struct{ shown, hidden []string }{
		"--help":              {[]string{"--model NAME", "--approve GATES", "--help-all shows all flags"}, []string{"--max-steps", "--server", "--in-doubt"}},
		"--help-all":          {[]string{"--max-steps N", "--step-timeout TIME", "--server NAME", "--in-doubt DECISION", "\nLimits\n", "\nGates\n", "\nWorkers\n", "--repository URL"}, nil},
		"run -h":              {[]string{"--host URL", "--planner PLANNER", "\nModel\n"}, []string{"--max-steps", "--continue", "--keep"}},
		"runs show --help":    {[]string{"--output FORMAT", "--on ADDRESS"}, []string{"--model", "--approve", "--theme", "--max-steps"}},
		"help runs prune":     {[]string{"--keep N", "--older-than AGE", "--dry-run"}, []string{"--model"}},
		"plan run --help":     {[]string{"--var NAME=VALUE", "--approve GATES", "--on ADDRESS", "--detach"}, []string{"--theme", "--max-steps", "--planner"}},
		"plan run --help-all": {[]string{"--max-steps N"}, []string{"--theme"}},
		"replay --help":       {[]string{"--speed N", "--theme NAME"}, []string{"--approve"}},
		"undo --help":         {[]string{"--dry-run        show the diff; restore nothing", "replan undo --yes"}, []string{"call no tool"}},
		"completion --help":   {[]string{"replan completion SHELL [flags]", "fish"}, []string{"--model", "sub-command"}},
		"help":                {[]string{"  completion  Print the completion script of a shell"}, nil},
		"plan":                {[]string{"replan plan COMMAND", "resume [RUN]"}, []string{"--model"}},
	} {
		code, out, errs := output(t, strings.Fields(line)...)
		if code != 0 {
			t.Errorf("%s: got exit code %d: %s", line, code, errs)
		}
		for _, want := range c.shown {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing in\n%s", line, want, out)
			}
		}
		for _, not := range c.hidden {
			if strings.Contains(out, not) {
				t.Errorf("%s: %q is shown in\n%s", line, not, out)
			}
		}
	}
}

func TestEmptyGoalIsRefused(t *testing.T) {
	for _, args := range [][]string{{""}, {"  "}, {"", " "}, {"--", ""}, {"--output", "text", ""}, {"run", ""}} {
		if code, _, errs := output(t, args...); code != 2 || errs != "replan: name the goal: replan run GOAL\n" {
			t.Errorf("%q: got exit code %d and %s", args, code, errs)
		}
	}
}

func TestMistypedWordsAreNotTakenForAGoal(t *testing.T) {
	for line, want := range map[string]string{
		"rnu":                        `replan: unknown command "rnu"; did you mean run? To use it as a goal: replan -- rnu`,
		"runz":                       `replan: unknown command "runz"; did you mean runs or run? To use it as a goal: replan -- runz`,
		"rnu foo":                    `replan: unknown command "rnu"; did you mean run? To use it as a goal: replan -- rnu foo`,
		"stauts":                     `replan: unknown command "stauts"; see replan --help. To use it as a goal: replan -- stauts`,
		"show ../../x":               `replan: unknown command "show"; did you mean replan runs show? To use it as a goal: replan -- show ../../x`,
		"show README":                `there is no file "README" in the workspace`,
		"-- stauts":                  `I do not understand "stauts". Did you mean: status?`,
		"unod r-1 --yes":             `replan: unknown flag --yes`,
		"unod r-1":                   `did you mean undo?`,
		"plan chekc x":               `replan: unknown command "chekc" for "replan plan"; did you mean check?`,
		"tools lsit":                 `replan: unknown command "lsit" for "replan tools"; did you mean list?`,
		"runs rm 1a2b3c":             `replan: unknown command "rm" for "replan runs"; did you mean prune?`,
		"runs xyz":                   `replan: unknown command "xyz" for "replan runs"; it has follow, list, prune, show and stop`,
		"completion bsh":             `replan: there is no completion for the shell "bsh"; did you mean bash?`,
		"help rnu":                   `replan: unknown help topic "rnu"; did you mean run?`,
		"help plan nothing":          `replan: unknown help topic "nothing"`,
		"runs --modle x":             "replan: unknown flag --modle; did you mean --model?\n",
		"--hlep":                     "replan: unknown flag --hlep; did you mean --help?\n",
		"intent --ouptut x":          "replan: unknown flag --ouptut; did you mean --output?\n",
		"runs -z":                    "replan: unknown flag -z; see replan runs --help\n",
		"runs list --zzz":            "replan: unknown flag --zzz; see replan runs list --help\n",
		"tools call fs.list --zzz":   "replan: unknown flag --zzz; see replan tools call --help\n",
		"--zzz":                      "replan: unknown flag --zzz; see replan --help\n",
		"tools call fs.serach":       `replan: there is no tool "fs.serach"; did you mean fs.search?`,
		"version --output jsn":       `--output takes text or json`,
		"runs show 50c504":           `replan: no run "50c504"; see "replan runs"`,
		"--output json -- rnu foo":   `"code":"no_model"`,
		"run --output json rnu food": `"code":"no_model"`,
	} {
		if code, out, errs := output(t, strings.Fields(line)...); code == 0 || !strings.Contains(errs+out, want) {
			t.Errorf("%s: got exit code %d, %s%s; want %s", line, code, out, errs, want)
		}
	}
}

func TestManualHasEveryCommandAndEveryFlagOnce(t *testing.T) {
	code, page, errs := output(t, "man")
	if code != 0 || !strings.HasPrefix(page, ".TH REPLAN 1 ") {
		t.Fatalf("got exit code %d and %s%s", code, page, errs)
	}
	for _, path := range commandPaths(t)[1:] {
		if name := strings.Join(path, " "); name != "help" && strings.Count(page, `\fB`+name+`\fP`) != 1 {
			t.Errorf("%s is not there once", name)
		}
	}
	for _, flag := range []string{"--model NAME", "--max-steps N", "--help", "--continue"} {
		if strings.Count(page, flag+`\fP`) != 1 {
			t.Errorf("%s is not there once", flag)
		}
	}
	if strings.Contains(page, "%!") {
		t.Error("a text was taken for a format")
	}
}
