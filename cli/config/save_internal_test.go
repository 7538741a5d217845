package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"replan/agent/session"
	"replan/tui"
	"replan/tui/dialog"
)

// started returns the options of a start with a configuration and flags.
func started(t *testing.T, folder, toml string, flags ...string) *Options {
	t.Helper()
	if toml != "" {
		if err := os.WriteFile(filepath.Join(folder, "config.toml"), []byte(toml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := &Options{}
	set := pflag.NewFlagSet("replan", pflag.ContinueOnError)
	o.Register(set)
	if err := set.Parse(append([]string{"--data-dir", folder}, flags...)); err != nil {
		t.Fatal(err)
	}
	if err := o.Complete(set, Environment{Workspace: t.TempDir(), Getenv: func(string) string { return "" }}); err != nil {
		t.Fatal(err)
	}
	return o
}

// reported returns a setting of the report.
func reported(t *testing.T, o *Options, key string) session.Setting {
	t.Helper()
	for _, s := range o.Report().Settings {
		if s.Key == key {
			return s
		}
	}
	t.Fatalf("there is no setting %s", key)
	return session.Setting{}
}

func TestKeptSettingHoldsAtTheNextStart(t *testing.T) {
	folder := t.TempDir()
	const before = "# mine\n[screen]\n# dark\ntheme = 'paper' # warm\n\n[limits]\nmax_steps = 7\n"
	o := started(t, folder, before)
	for key, value := range map[string]string{
		"screen.theme": "ember", "screen.review": "true", "model.name": "a\"b\u0007:1b", "model.think": "low", "limits.max_steps": "20",
		"limits.max_duration": "5m", "routing.planner": "router", "planning.eager": "false", "model.keep_alive": "-1",
		"screen.chat_width": "40", "screen.plan_height": "70", "screen.show_thinking": "true",
	} {
		if path, err := o.SaveSetting(key, &value); err != nil || path != filepath.Join(folder, "config.toml") {
			t.Errorf("%s: got %q, %v", key, path, err)
		}
		if s := reported(t, o, key); s.Saved == nil || *s.Saved != value {
			t.Errorf("%s: reported as %+v", key, s)
		}
	}
	after, err := os.ReadFile(filepath.Join(folder, "config.toml"))
	if want := "# mine\n[screen]\n# dark\ntheme = \"ember\" # warm\n"; err != nil || !strings.HasPrefix(string(after), want) {
		t.Errorf("got %q, %v; want the beginning %q", after, err, want)
	}
	o = started(t, folder, "")
	o.TakeChoices()
	if o.Appearance().Theme != "ember" || !o.Execution().Review || o.Model().Name != "a\"b\u0007:1b" || o.Limits().Run.MaxSteps != 20 || o.Planning().Routing.Planner != "router" || o.Planning().Prompting.Think != "low" || o.Appearance().ChatWidth != 40 || o.Appearance().PlanHeight != 70 || !o.Appearance().ShowThinking {
		t.Errorf("not read back: %+v", o)
	}
	if o = started(t, folder, "", "--review=false", "--theme", "paper", "--model", "m"); o.Appearance().Theme != "paper" || o.Model().Name != "m" {
		t.Error("a flag does not precede the file")
	}
	if o.TakeChoices(); o.Execution().Review {
		t.Error("--review=false does not precede the file")
	}
	if _, err := o.SaveSetting("screen.theme", nil); err != nil || reported(t, o, "screen.theme").Saved != nil {
		t.Errorf("not removed: %v", err)
	}
	if path, err := o.SaveSetting("screen.theme", nil); path != "" || err != nil {
		t.Errorf("removed twice: %q, %v", path, err)
	}
}

func TestChoicesHoldOnTheNextScreenOfTheProcess(t *testing.T) {
	o := started(t, t.TempDir(), "", "--model", "m", "--theme", "paper")
	for key, value := range map[string]string{"model.name": "big", "planning.planner_model": "large", "screen.theme": "ember", "screen.ascii": "true", "screen.review": "true", "screen.chat_width": "40"} {
		if _, err := o.SaveSetting(key, &value); err != nil {
			t.Error(err)
		}
	}
	if o.TakeChoices(); o.Model().Name != "big" || o.Planning().Prompting.Models.Planner.Name != "large" || o.Appearance().Theme != "ember" || !o.Appearance().ASCII || !o.Execution().Review || o.Appearance().ChatWidth != 40 {
		t.Errorf("not taken: %+v", o)
	}
}

func TestImpossibleSettingIsNotSaved(t *testing.T) {
	folder := t.TempDir()
	o := started(t, folder, "[limits]\nmax_steps = 7\n")
	for key, c := range map[string]struct{ value, want string }{
		"limits.max_steps":    {"-3", "cannot be below 0"},
		"limits.max_tokens":   {"many", "TOML"},
		"limits.max_duration": {"soon", "not a time"},
		"screen.nothing":      {"1", "no such key"},
		"screen.chat_width":   {"100", "a percentage from 1 to 99"},
		"nothing":             {"1", "no such key"},
		"policy.tool":         {"1", ""},
	} {
		if path, err := o.SaveSetting(key, &c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %q, %v; want an error with %q", key, path, err, c.want)
		}
	}
	if after, err := os.ReadFile(filepath.Join(folder, "config.toml")); string(after) != "[limits]\nmax_steps = 7\n" {
		t.Errorf("the file was changed: %q, %v", after, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "config.toml"), []byte("[limits\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	value := "ember"
	if _, err := o.SaveSetting("screen.theme", &value); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %v, want one sentence", err)
	}
	if after, err := os.ReadFile(filepath.Join(folder, "config.toml")); string(after) != "[limits\n" {
		t.Errorf("the broken file was changed: %q, %v", after, err)
	}
}

func TestDemoKeepsOnlyTheLooks(t *testing.T) {
	o := started(t, t.TempDir(), "")
	own := o.Folders().Dirs.ConfigFile()
	o.Demonstrate(Project{Home: t.TempDir()})
	value := "true"
	if path, err := o.SaveSetting("screen.ascii", &value); err != nil || path != own {
		t.Errorf("got %q, %v; want %s", path, err, own)
	}
	for _, key := range []string{"model.name", "screen.review"} {
		if path, err := o.SaveSetting(key, &value); err != nil || path != "" {
			t.Errorf("%s: got %q, %v; want it not to be saved", key, path, err)
		}
	}
}

func TestPaletteStartsWithWhatWasChosenBefore(t *testing.T) {
	folder := t.TempDir()
	o := started(t, folder, "")
	if path, err := o.SaveSetting(dialog.KeyRecent, new("Zoom the focused pane\nUndo last run")); path != "" || err != nil {
		t.Errorf("got %q, %v", path, err)
	}
	if got := started(t, folder, "").Appearance().Dress(tui.Options{}, o.Folders().Dirs.Recents()).Recent; !slices.Equal(got, []string{"Zoom the focused pane", "Undo last run"}) {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(folder, "config.toml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the configuration has it: %v", err)
	}
}
