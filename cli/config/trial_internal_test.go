package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"replan/agent/session"
)

// settingOf returns the setting of a key.
func settingOf(t *testing.T, o *Options, key string) session.Setting {
	t.Helper()
	all := o.All()
	at := slices.IndexFunc(all, func(s session.Setting) bool { return s.Key == key })
	if at < 0 {
		t.Fatalf("there is no setting %s", key)
	}
	return all[at]
}

func TestEveryKeyOfTheManualIsASettingAndCanBeSaved(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```toml\n")
	text, _, _ = strings.Cut(text, "```")
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := started(t, t.TempDir(), "")
	var sections map[string]any
	if err := toml.Unmarshal([]byte(text), &sections); err != nil {
		t.Fatal(err)
	}
	values := savedValues(path)
	for section, keys := range sections {
		if section == "profiles" || section == "keys" || section == "policy" {
			continue
		}
		for name, value := range keys.(map[string]any) {
			key := section + "." + name
			s := settingOf(t, o, key)
			_, list := value.([]any)
			switch err := o.CheckSetting(s, values[key]); {
			case list && (err == nil || !strings.Contains(err.Error(), "is a list")):
				t.Errorf("%s: got error %v, want that it is a list", key, err)
			case !list && values[key] != "" && err != nil:
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	for _, s := range o.All() {
		if s.About == "" {
			t.Errorf("nothing is said about %s", s.Key)
		}
	}
	if seen := map[string]bool{}; slices.ContainsFunc(o.All(), func(s session.Setting) bool { twice := seen[s.Key]; seen[s.Key] = true; return twice }) {
		t.Error("a setting is listed twice")
	}
}

func TestThemeOfTheUserCanBeSaved(t *testing.T) {
	folder := t.TempDir()
	o := started(t, folder, "")
	if err := os.MkdirAll(filepath.Join(folder, "themes"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "themes", "mine.toml"), []byte("base = \"dark\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := o.CheckSetting(settingOf(t, o, "screen.theme"), "mine"); err != nil {
		t.Error(err)
	}
}

// A flag or the environment can be wrong for a moment; a file is wrong at every start.
func TestFileIsCheckedWithoutTheEnvironment(t *testing.T) {
	o := started(t, t.TempDir(), "")
	folder := t.TempDir()
	t.Setenv("REPLAN_HOME", "/nowhere")
	for text, want := range map[string]string{
		"":                              "",
		"[screen]\ntheme = \"plaid\"\n": "screen.theme",
		"[screen]\nthem = 1\n":          "a key that does not exist: screen.them",
		"[isolate]\nenabled = true\n":   "",
		"[limits]\nmax_steps = -1\n":    "cannot be below 0",
		"[[policy]]\ntool = \"\"\naction = \"x\"": "cannot be used",
	} {
		path := filepath.Join(folder, "config.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := o.CheckFile(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}
