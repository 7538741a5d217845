package host_test

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"replan/cli/app"
	"replan/cli/chat"
	"replan/cli/host"
)

func TestRunsAreWithTheWorkersOfOnExceptForTheChat(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		chat  bool
		want  string // of Again
	}{
		"without --on":              {nil, false, ""},
		"with --on":                 {[]string{"--on", "postgres://me:secret@db/runs"}, false, " --on ADDRESS"},
		"with --on '' to be local":  {[]string{"--on", ""}, false, ""},
		"in the chat, with --on":    {[]string{"--on", "postgres://db/runs"}, true, ""},
		"in the chat, without --on": {nil, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			a := app.New("", app.IO{
				Getenv: func(name string) string { return map[string]string{"REPLAN_HOME": home}[name] },
				Getwd:  func() (string, error) { return home, nil },
			}, chat.Commands)
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			a.Register(flags)
			if err := flags.Parse(c.flags); err != nil {
				t.Fatal(err)
			}
			if err := a.Complete(flags); err != nil {
				t.Fatal(err)
			}
			if c.chat {
				a = a.InChat(nil, io.Discard)
			}
			h := host.Of(a)
			if got := h.Again(); got != c.want {
				t.Errorf("other commands about the runs need %q, want %q", got, c.want)
			}
			if _, remote := h.(host.Remote); remote != (c.want != "") {
				t.Errorf("the runs are on %T", h)
			}
		})
	}
}

func TestReasonWhyThereIsNoFullScreen(t *testing.T) {
	for name, c := range map[string]struct {
		flags    []string
		terminal bool
		term     string
		want     string
	}{
		"no terminal":     {nil, false, "xterm", "there is no terminal for the full screen"},
		"--plain":         {[]string{"--plain"}, true, "xterm", "--plain has no full screen"},
		"--output json":   {[]string{"--output", "json"}, true, "xterm", "--output json has no full screen"},
		"a dumb terminal": {nil, true, "dumb", "TERM=dumb"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			a := app.New("", app.IO{
				Terminal: c.terminal,
				Getenv:   func(name string) string { return map[string]string{"REPLAN_HOME": home, "TERM": c.term}[name] },
				Getwd:    func() (string, error) { return home, nil },
			}, chat.Commands)
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			a.Register(flags)
			if err := flags.Parse(c.flags); err != nil {
				t.Fatal(err)
			}
			if err := a.Complete(flags); err != nil {
				t.Fatal(err)
			}
			if err := host.Of(a).Open(t.Context(), host.Opening{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v", err)
			}
		})
	}
}
