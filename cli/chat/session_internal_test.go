package chat

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"replan/agent/ollama/ollamatest"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/app"
	"replan/mcpclient"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// onScreen returns the chat of a session on the full screen or, without a terminal, on
// none, and what the session works with. Its server has several models.
func onScreen(t *testing.T, terminal bool) (chat, *app.Services) {
	t.Helper()
	server, err := ollamatest.Start(t.Context(), ollamatest.Script{
		Model: "small", ContextLength: 8192, Capabilities: []string{"completion", "tools"},
		Others: []ollamatest.Model{{
			Name: "wise", ContextLength: 40960, Capabilities: []string{"completion", "thinking"},
			Bytes: 5_200_000_000, Parameters: "8.2B", Quantization: "Q4_K_M",
		}, {Name: "tiny", Bytes: 24_751_360}},
	})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("[profiles.quick]\nmodel = \"small\"\ndescription = \"a | b\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := app.New("", app.IO{
		Terminal: terminal,
		Getenv: func(name string) string {
			return map[string]string{"REPLAN_HOME": home, "OLLAMA_HOST": server.URL()}[name]
		},
		Getwd: func() (string, error) { return t.TempDir(), nil },
	}, Commands)
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	a.Register(flags)
	if err := a.Complete(flags); err != nil {
		t.Fatal(err)
	}
	w, err := a.Prepare(t.Context(), app.Opening{Trust: mcpclient.TrustNone})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(w.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
	return chat{a}, w
}

func TestSessionCommandsAnswerAndSendCommands(t *testing.T) {
	screen, w := onScreen(t, true)
	text := func(s string) *string { return &s }
	level := func(l prompt.ThinkLevel) *prompt.ThinkLevel { return &l }
	for line, c := range map[string]struct {
		then session.Command
		want []string // in the answer
	}{
		"/model wise":                     {session.Choose{Model: text("wise:latest")}, []string{"`wise:latest`, 16k of context, no tools, thinking"}},
		"/think high":                     {session.Choose{Think: level(prompt.ThinkHigh)}, []string{"think high"}},
		"/think auto":                     {session.Choose{Think: level(prompt.ThinkAuto)}, []string{"think auto"}},
		"/profile quick":                  {session.Choose{Profile: text("quick")}, []string{"`quick`"}},
		"/profile none":                   {session.Choose{Profile: text("")}, []string{"no profile"}},
		"/compact":                        {session.Compact{}, nil},
		"/review on":                      {session.Hold{On: true}, []string{"you review plans before they run"}},
		"/review off":                     {session.Hold{}, []string{"run at once"}},
		"/compact undo":                   {session.Compact{Undo: true}, nil},
		"/steer  don't touch \"main.go\"": {session.Steer{Text: "don't touch \"main.go\""}, nil},
		"/models":                         {nil, []string{"small:latest", "8k", "tools", "wise:latest", "5.2 GB", "16k", "25 MB"}},
		"/model":                          {nil, []string{"small:latest", "wise:latest"}},
		"/profiles":                       {nil, []string{"explorer", "reads and searches this folder", "quick", "a | b"}},
		"/profile":                        {nil, []string{"explorer", "quick"}},
		"/think --help":                   {nil, []string{"/think LEVEL"}},
		"/steer -h":                       {nil, []string{"/steer TEXT"}},
		"/help":                           {nil, []string{"/model [NAME]", "/models", "/think", "/profile [NAME|none]", "/profiles", "/steer TEXT", "/compact undo"}},
	} {
		t.Run(line, func(t *testing.T) {
			answer, err := screen.Answer(t.Context(), w, runner.SlashState{Busy: true}, line)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := plan.CanonicalJSON(answer.Then), plan.CanonicalJSON(c.then); got != want {
				t.Errorf("got command %s, want %s", got, want)
			}
			if len(c.want) == 0 && answer.Text != "" {
				t.Errorf("got answer %q, want none", answer.Text)
			}
			for _, want := range c.want {
				if !strings.Contains(answer.Text, want) {
					t.Errorf("got answer %q, want %q in it", answer.Text, want)
				}
			}
		})
	}
}

func TestInvalidSessionCommandsAreRejected(t *testing.T) {
	screen, w := onScreen(t, true)
	for line, want := range map[string]string{
		"/model nowhere":   "nowhere",
		"/think":           "/think auto|off|on|low|medium|high",
		"/think hard":      "/think takes auto, off, on, low, medium or high, not \"hard\"",
		"/profile nowhere": "there is no profile \"nowhere\": there is explorer, quick",
		"/review":          "/review on or /review off",
		"/compact it":      "takes no argument or undo",
		"/steer":           "/steer TEXT",
		"/steer left":      "there is no active run",
		"/modell":          "there is no command /modell; did you mean /model?",
		"/quit":            "there is no command /quit: press ctrl+c", // without the screen, which does it
		"/exit":            "there is no command /exit: press ctrl+c",
		"/settings":        "there is no command /settings: press alt+o",
		"/unod":            "there is no command /unod; did you mean /undo?",
	} {
		answer, err := screen.Answer(t.Context(), w, runner.SlashState{}, line)
		if err == nil || !strings.Contains(err.Error(), want) || answer != (runner.Answer{}) {
			t.Errorf("%s: %+v, %v; want %q", line, answer, err, want)
		}
	}
	lines, w := onScreen(t, false)
	if _, err := lines.Answer(t.Context(), w, runner.SlashState{}, "/compact"); err == nil || !strings.Contains(err.Error(), "full screen") {
		t.Errorf("/compact without the screen: got error %v", err)
	}
}

func TestThinkWarnsAboutModelsThatDoNotThink(t *testing.T) {
	screen, w := onScreen(t, true)
	for name, c := range map[string]struct {
		line string
		now  runner.SlashState
		want string // "" means no warning
	}{
		"level with a model that does not think":            {"/think high", runner.SlashState{Model: "small"}, "small cannot think, so the level has no effect"},
		"level with the server's default model":             {"/think low", runner.SlashState{}, "small"},
		"level with a model that thinks":                    {"/think high", runner.SlashState{Model: "wise"}, ""},
		"off with a model that does not think":              {"/think off", runner.SlashState{Model: "small"}, ""},
		"auto with a model that does not think":             {"/think auto", runner.SlashState{Model: "small"}, ""},
		"level with an unknown model":                       {"/think high", runner.SlashState{Model: "nowhere"}, ""},
		"choosing a model that does not think with a level": {"/model small", runner.SlashState{Model: "wise", Think: prompt.ThinkOn}, "small:latest cannot think"},
		"choosing a model that thinks with a level":         {"/model wise", runner.SlashState{Think: prompt.ThinkOn}, ""},
		"choosing a model that does not think with auto":    {"/model small", runner.SlashState{Model: "wise"}, ""},
	} {
		answer, err := screen.Answer(t.Context(), w, c.now, c.line)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if warned := strings.Contains(answer.Text, "cannot think"); warned != (c.want != "") || !strings.Contains(answer.Text, c.want) {
			t.Errorf("%s: got answer %q, want %q in it", name, answer.Text, c.want)
		}
	}
}

func TestTableOmitsEmptyColumns(t *testing.T) {
	for name, c := range map[string]struct {
		rows [][]string
		want string
	}{
		"empty column": {[][]string{{"model", "size", "can"}, {"a", "", "tools"}}, "model  can\na      tools"},
		"empty cell":   {[][]string{{"model", "size", "can"}, {"a", "", "tools"}, {"b", "1 GB", ""}}, "model  size  can\na            tools\nb      1 GB"},
	} {
		if answer, err := table(c.rows); err != nil || answer.Text != "```\n"+c.want+"\n```" {
			t.Errorf("%s: got %q, %v; want %q", name, answer.Text, err, c.want)
		}
	}
}

// The list must fit into the chat of a screen with 120 columns.
func TestModelsFitBesideThePlan(t *testing.T) {
	const most = 58
	screen, w := onScreen(t, true)
	if err := w.Model().Warm(t.Context(), "wise"); err != nil {
		t.Fatal(err)
	}
	answer, err := screen.Answer(t.Context(), w, runner.SlashState{}, "/models")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(answer.Text, "\n")
	if heading := strings.Join(strings.Fields(lines[1]), " "); heading != "model size context can loaded" {
		t.Errorf("got heading %q", heading)
	}
	for _, line := range lines {
		if len(line) > most || strings.Contains(line, " - ") {
			t.Errorf("got a line of width %d, want at most %d: %s", len(line), most, line)
		}
	}
}
