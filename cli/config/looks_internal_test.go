package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/themes"
	"replan/tui"
)

// looks returns the options that a configuration, an environment and flags come
// to on a terminal, with themes of the user's own by their names.
func looks(t *testing.T, toml string, env, own map[string]string, flags ...string) (*Options, error) {
	t.Helper()
	home := t.TempDir()
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, "config.toml"), toml)
	for name, text := range own {
		write(filepath.Join(home, "themes", name), text)
	}
	return completed(Environment{
		Workspace: home, Terminal: true,
		Getenv: func(name string) string {
			if name == "REPLAN_HOME" {
				return home
			}
			return env[name]
		},
	}, flags)
}

func TestLooksComeFromFlagsThenTheEnvironmentThenTheConfiguration(t *testing.T) {
	type want struct{ noColor, ascii, still bool }
	const all = "[screen]\nno_color = true\nascii = true\nreduced_motion = true\n"
	for _, c := range []struct {
		name  string
		toml  string
		env   map[string]string
		flags []string
		want
	}{
		{name: "nothing said", want: want{}},
		{name: "the configuration", toml: all, want: want{true, true, true}},
		{name: "flags", flags: []string{"--no-color", "--ascii", "--reduced-motion"}, want: want{true, true, true}},
		{name: "flags over the configuration", toml: all, flags: []string{"--no-color=false", "--ascii=false", "--reduced-motion=false"}},
		{name: "the environment", env: map[string]string{"NO_COLOR": "1", "LC_ALL": "C", "REPLAN_REDUCED_MOTION": "1"}, want: want{true, true, true}},
		{name: "NO_COLOR whatever it says", env: map[string]string{"NO_COLOR": "0"}, want: want{noColor: true}},
		{name: "a flag over NO_COLOR", env: map[string]string{"NO_COLOR": "1"}, flags: []string{"--no-color=false"}},
		{name: "motion that the environment allows", toml: all, env: map[string]string{"REPLAN_REDUCED_MOTION": "0"}, want: want{true, true, false}},
		{name: "a locale of UTF-8", env: map[string]string{"LANG": "C.UTF-8"}},
		{name: "another spelling of it", env: map[string]string{"LANG": "de_DE.utf8"}},
		{name: "a locale of another encoding", env: map[string]string{"LC_CTYPE": "de_DE.ISO-8859-1", "LANG": "de_DE.UTF-8"}, want: want{ascii: true}},
		{name: "LC_ALL goes first", env: map[string]string{"LC_ALL": "en_US.UTF-8", "LC_CTYPE": "C", "LANG": "C"}},
		{name: "the console of Linux", env: map[string]string{"TERM": "linux", "LANG": "C.UTF-8"}, want: want{ascii: true}},
		{name: "the configuration over the locale", toml: "[screen]\nascii = false\n", env: map[string]string{"LC_ALL": "POSIX"}},
		{name: "a flag over the locale", env: map[string]string{"LC_ALL": "C"}, flags: []string{"--ascii=false"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := looks(t, c.toml, c.env, nil, c.flags...)
			if err != nil {
				t.Fatal(err)
			}
			screen := o.Dressed(tui.Options{})
			if got := (want{screen.NoColor, screen.ASCII, screen.ReducedMotion}); got != c.want {
				t.Errorf("no colours, ASCII, still: %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestThemesOfTheUsersOwnAreFoundByName(t *testing.T) {
	own := map[string]string{"sea.toml": "base = \"harbour\"\n", "notes.txt": "none", "torn.toml": "base = \"dark\"\n[colours]\ntext = \"red\"\n"}
	for _, c := range []struct {
		name  string
		toml  string
		flags []string
		want  themes.Name
		err   []string
	}{
		{name: "by the flag", flags: []string{"--theme", "Sea"}, want: "sea"},
		{name: "by the configuration", toml: "[screen]\ntheme = \"sea\"\n", want: "sea"},
		{name: "the flag over the configuration", toml: "[screen]\ntheme = \"sea\"\n", flags: []string{"--theme", "paper"}, want: themes.Paper},
		{name: "none of the name lists what there are", flags: []string{"--theme", "pink"}, err: []string{`there is no theme "pink": choose auto, dark, light, `, "mono", "frost or sea"}},
		{name: "a broken one says where", flags: []string{"--theme", "torn"}, err: []string{filepath.Join("themes", "torn.toml"), `line 3: colours.text is "red"`}},
		{name: "a broken one in the configuration", toml: "[screen]\ntheme = \"torn\"\n", err: []string{"config.toml", "screen.theme", "torn.toml", "line 3"}},
		{name: "a broken one that nobody asks for is left alone", flags: []string{"--theme", "dark"}, want: themes.Dark},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := looks(t, c.toml, nil, own, c.flags...)
			for _, want := range c.err {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("it says %v, want %q", err, want)
				}
			}
			if len(c.err) > 0 {
				return
			}
			if err != nil || o.ThemeName != c.want {
				t.Fatalf("%q, %v", o.ThemeName, err)
			}
			screen := o.Dressed(tui.Options{})
			if !slices.Contains(screen.Themes.Names(), "sea") || len(screen.Themes.Broken()) != 1 {
				t.Errorf("to choose from: %q, broken: %v", screen.Themes.Names(), screen.Themes.Broken())
			}
		})
	}
}

func TestTheThemesAmongTheExamplesCanBeUsed(t *testing.T) {
	files, err := filepath.Glob("../../examples/themes/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are none: %v", err)
	}
	for _, path := range files {
		set := &themes.Set{}
		if err := addTheme(set, strings.TrimSuffix(filepath.Base(path), ".toml"), path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestTheManualNamesEveryThemeAndColour holds the page against the program.
func TestTheManualNamesEveryThemeAndColour(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, name := range (*themes.Set)(nil).Names() {
		names = append(names, string(name))
	}
	for _, name := range append(names, themes.Colours()...) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("%s is not in the manual", name)
		}
	}
}
