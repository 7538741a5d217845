package cli_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/ollama/ollamatest"
	"replan/agent/store"
	"replan/cli"
	"replan/planning/plan"
)

func TestShellCompletesWhatThereIs(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	dirs, err := store.FindDirs(home)
	if err != nil {
		t.Fatal(err)
	}
	s := store.New(dirs)
	j, err := s.CreateJournal("run", "r-20260102-030405-a61ec9")
	if err != nil {
		t.Fatal(err)
	}
	started := event.Event{Seq: 1, Time: time.Now().Add(-3*time.Hour - time.Minute), Run: "r-20260102-030405-a61ec9", Data: event.RunStarted{Goal: "rename X to Y", Workspace: dir}}
	if err := j.Append(started); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Plans.Save(plan.Plan{ID: "deploy", Title: "Deploy it"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	model, err := ollamatest.Start(t.Context(), ollamatest.Script{Model: "scripted:1b", ContextLength: 8192, Capabilities: []string{"completion", "tools"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	}()
	for line, c := range map[string]struct{ shown, hidden []string }{
		"undo ":                      {[]string{"last\t", "a61ec9\t3h ago, rename X to Y"}, []string{"deploy"}},
		"runs show a":                {[]string{"a61ec9\t"}, []string{"last"}},
		"replay ":                    {[]string{"a61ec9\t"}, nil},
		"plan resume ":               {[]string{"a61ec9\t", "deploy\tDeploy it"}, nil},
		"plan show ":                 {[]string{"deploy\tDeploy it", ":36"}, []string{"a61ec9"}},
		"plan run ":                  {[]string{"deploy\tDeploy it", ":32"}, nil},
		"tools call fs.":             {[]string{"fs.read", "fs.write"}, []string{"vcs.diff"}},
		"--theme ":                   {[]string{"auto", "dark"}, nil},
		"run --model ":               {[]string{"scripted:1b\t"}, nil},
		"run --planner-model ":       {[]string{"scripted:1b\t"}, nil},
		"run --approve ":             {[]string{"safe\tfiles here", "all\t"}, nil},
		"serve --":                   {[]string{"--http\t", "--plans\t", "--token-file\t", "--workspace\t", "--approve\t"}, []string{"--output", "--review"}},
		"config set screen.n":        {[]string{"screen.no_color\tno colors", "screen.notify"}, []string{"model.name"}},
		"config get lim":             {[]string{"limits.max_steps\t"}, nil},
		"config set screen.theme ":   {[]string{"auto", "dark", "paper"}, nil},
		"config set screen.ascii ":   {[]string{"true", "false"}, nil},
		"config set model.name ":     {[]string{"scripted:1b\t"}, nil},
		"config set limits.preset s": {[]string{"strict"}, []string{"default"}},
		"models remove ":             {[]string{"scripted:1b\t"}, nil},
		"runs --sort ":               {[]string{"newest", "goal"}, nil},
		"serve --http=":              {[]string{"127.0.0.1:7373\tthis machine alone"}, nil},
		"plan run x --on-f":          {[]string{"--on-failure"}, nil},
		"run --think ":               {[]string{"auto", "high"}, nil},
		"runs show --":               {[]string{"--output"}, []string{"--model", "--approve", "--max-steps"}},
		"run --m":                    {[]string{"--model\tuse the model NAME"}, []string{"`"}},
		"r":                          {[]string{"run\t", "runs\t", "replay\t", "redo\t"}, []string{"undo\t"}},
		"undo --output ":             {[]string{"text", "json"}, nil},
		"plan resume --in-do":        {[]string{"--in-doubt"}, nil},
		"completion ":                {[]string{"bash", "zsh", "fish", "powershell"}, nil},
		"help pl":                    {nil, []string{"panic"}},
		"run find ":                  {[]string{":4"}, []string{"a61ec9"}},
		"plan run x --in-nowh":       {nil, nil},
	} {
		words := append([]string{"__complete"}, strings.Split(line, " ")...)
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), words, cli.IO{
			In: strings.NewReader(""), Out: &out, Err: &errs,
			Getenv: func(name string) string {
				return map[string]string{"REPLAN_HOME": home, "OLLAMA_HOST": model.URL()}[name]
			},
			Getwd: func() (string, error) { return dir, nil },
		})
		if code != 0 {
			t.Errorf("%s: got exit code %d: %s", line, code, errs.String())
		}
		for _, want := range c.shown {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", line, want, out.String())
			}
		}
		for _, not := range c.hidden {
			if strings.Contains(out.String(), not) {
				t.Errorf("%s: %q is offered in\n%s", line, not, out.String())
			}
		}
	}
}
