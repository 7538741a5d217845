package cli

import (
	"context"
	"strings"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/agent/runner"
	"replan/planning"
)

// onScreen returns the options of a session on the full screen and what it works
// with: a server with two models.
func onScreen(t *testing.T) (*options, *workshop) {
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
	model, err := ollama.New(ollama.Config{Host: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	o, err := configured(t, "[profiles.quick]\nmodel = \"small\"\ndescription = \"a | b\"\n")
	if err != nil {
		t.Fatal(err)
	}
	o.io.Terminal = true
	return o, &workshop{model: model}
}

func TestALineAboutTheSessionIsAnOrderToIt(t *testing.T) {
	o, w := onScreen(t)
	text := func(s string) *string { return &s }
	level := func(l planning.ThinkLevel) *planning.ThinkLevel { return &l }
	for line, c := range map[string]struct {
		then runner.Command
		says []string
	}{
		"/model wise":                     {runner.Choose{Model: text("wise")}, []string{"`wise`", "16k of context", "thinking"}},
		"/think high":                     {runner.Choose{Think: level(planning.ThinkHigh)}, []string{"think high"}},
		"/think auto":                     {runner.Choose{Think: level(planning.ThinkAuto)}, []string{"think auto"}},
		"/profile quick":                  {runner.Choose{Profile: text("quick")}, []string{"`quick`"}},
		"/profile none":                   {runner.Choose{Profile: text("")}, []string{"no profile"}},
		"/compact":                        {runner.Compact{}, nil},
		"/compact undo":                   {runner.Compact{Undo: true}, nil},
		"/steer  don't touch \"main.go\"": {runner.Steer{Text: "don't touch \"main.go\""}, nil},
		"/models":                         {nil, []string{"small:latest", "8k", "tools", "wise:latest", "5.2 GB 8.2B Q4_K_M", "40k", "25 MB"}},
		"/model":                          {nil, []string{"small:latest", "wise:latest"}},
		"/profiles":                       {nil, []string{"explorer", "reads and searches this folder", "quick", "a | b"}},
		"/profile":                        {nil, []string{"explorer", "quick"}},
		"/help":                           {nil, []string{"/model [NAME]", "/models", "/think", "/profile [NAME|none]", "/profiles", "/steer TEXT", "/compact undo"}},
	} {
		t.Run(line, func(t *testing.T) {
			answer, err := o.slash(context.Background(), w, line)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := planning.CanonicalJSON(answer.Then), planning.CanonicalJSON(c.then); got != want {
				t.Errorf("it orders %s, want %s", got, want)
			}
			if len(c.says) == 0 && answer.Text != "" {
				t.Errorf("it says %q", answer.Text)
			}
			for _, want := range c.says {
				if !strings.Contains(answer.Text, want) {
					t.Errorf("it says %q without %q", answer.Text, want)
				}
			}
		})
	}
}

func TestALineAboutTheSessionThatCannotBe(t *testing.T) {
	o, w := onScreen(t)
	for line, want := range map[string]string{
		"/model nowhere":   "nowhere",
		"/think":           "/think auto|off|on|low|medium|high",
		"/think hard":      "/think takes auto, off, on, low, medium or high, not \"hard\"",
		"/profile nowhere": "there is no profile \"nowhere\": there is explorer, quick",
		"/compact it":      "takes nothing or undo",
		"/steer":           "/steer TEXT",
		"/modell":          "there is no command /modell",
	} {
		answer, err := o.slash(context.Background(), w, line)
		if err == nil || !strings.Contains(err.Error(), want) || answer != (runner.Answer{}) {
			t.Errorf("%s: %+v, %v; want %q", line, answer, err, want)
		}
	}
	o.io.Terminal = false
	if _, err := o.slash(context.Background(), w, "/compact"); err == nil || !strings.Contains(err.Error(), "full screen") {
		t.Errorf("without the screen a conversation is summed up: %v", err)
	}
}
