package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"replan/themes"
	"replan/tui"
)

// looks returns the options on a terminal for a configuration, an environment,
// flags, and user themes by file name.
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

func TestDisplayOptionsOrderOfSources(t *testing.T) {
	type want struct{ noColor, ascii, still bool }
	const all = "[screen]\nno_color = true\nascii = true\nreduced_motion = true\n"
	for _, c := range []struct {
		name  string
		toml  string
		env   map[string]string
		flags []string
		want
	}{
		{name: "defaults", want: want{}},
		{name: "configuration", toml: all, want: want{true, true, true}},
		{name: "flags", flags: []string{"--no-color", "--ascii", "--reduced-motion"}, want: want{true, true, true}},
		{name: "flags over configuration", toml: all, flags: []string{"--no-color=false", "--ascii=false", "--reduced-motion=false"}},
		{name: "environment", env: map[string]string{"NO_COLOR": "1", "LC_ALL": "C", "REPLAN_REDUCED_MOTION": "1"}, want: want{true, true, true}},
		{name: "any value of NO_COLOR", env: map[string]string{"NO_COLOR": "0"}, want: want{noColor: true}},
		{name: "flag over NO_COLOR", env: map[string]string{"NO_COLOR": "1"}, flags: []string{"--no-color=false"}},
		{name: "motion allowed by environment", toml: all, env: map[string]string{"REPLAN_REDUCED_MOTION": "0"}, want: want{true, true, false}},
		{name: "UTF-8 locale", env: map[string]string{"LANG": "C.UTF-8"}},
		{name: "utf8 locale", env: map[string]string{"LANG": "de_DE.utf8"}},
		{name: "locale with another encoding", env: map[string]string{"LC_CTYPE": "de_DE.ISO-8859-1", "LANG": "de_DE.UTF-8"}, want: want{ascii: true}},
		{name: "LC_ALL before other variables", env: map[string]string{"LC_ALL": "en_US.UTF-8", "LC_CTYPE": "C", "LANG": "C"}},
		{name: "Linux console", env: map[string]string{"TERM": "linux", "LANG": "C.UTF-8"}, want: want{ascii: true}},
		{name: "configuration over locale", toml: "[screen]\nascii = false\n", env: map[string]string{"LC_ALL": "POSIX"}},
		{name: "flag over locale", env: map[string]string{"LC_ALL": "C"}, flags: []string{"--ascii=false"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := looks(t, c.toml, c.env, nil, c.flags...)
			if err != nil {
				t.Fatal(err)
			}
			screen := o.Appearance().Dress(tui.Options{}, "")
			if got := (want{screen.NoColor, screen.ASCII, screen.ReducedMotion}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestUserThemesAreFoundByName(t *testing.T) {
	own := map[string]string{"sea.toml": "base = \"harbour\"\n", "notes.txt": "none", "torn.toml": "base = \"dark\"\n[colours]\ntext = \"red\"\n"}
	for _, c := range []struct {
		name  string
		toml  string
		flags []string
		want  themes.Name
		err   []string
	}{
		{name: "named by flag", flags: []string{"--theme", "Sea"}, want: "sea"},
		{name: "named by configuration", toml: "[screen]\ntheme = \"sea\"\n", want: "sea"},
		{name: "flag over configuration", toml: "[screen]\ntheme = \"sea\"\n", flags: []string{"--theme", "paper"}, want: themes.Paper},
		{name: "unknown theme lists known themes", flags: []string{"--theme", "pink"}, err: []string{`there is no theme "pink": choose auto, dark, light, `, "mono", "frost or sea"}},
		{name: "broken theme named by flag", flags: []string{"--theme", "torn"}, err: []string{filepath.Join("themes", "torn.toml"), `line 3: colours.text is "red"`}},
		{name: "broken theme named by configuration", toml: "[screen]\ntheme = \"torn\"\n", err: []string{"config.toml", "screen.theme", "torn.toml", "line 3"}},
		{name: "unused broken theme", flags: []string{"--theme", "dark"}, want: themes.Dark},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := looks(t, c.toml, nil, own, c.flags...)
			for _, want := range c.err {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want %q in it", err, want)
				}
			}
			if len(c.err) > 0 {
				return
			}
			if err != nil || o.Appearance().Theme != c.want {
				t.Fatalf("got theme %q, %v; want %q", o.Appearance().Theme, err, c.want)
			}
			screen := o.Appearance().Dress(tui.Options{}, "")
			if !slices.Contains(screen.Themes.Names(), "sea") || len(screen.Themes.Broken()) != 1 {
				t.Errorf("got themes %q, broken: %v", screen.Themes.Names(), screen.Themes.Broken())
			}
		})
	}
}

func TestExampleThemesLoad(t *testing.T) {
	files, err := filepath.Glob("../../examples/themes/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example themes found: %v", err)
	}
	for _, path := range files {
		set := &themes.Set{}
		if err := addTheme(set, strings.TrimSuffix(filepath.Base(path), ".toml"), path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestManualNamesEveryTheme(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range (*themes.Set)(nil).Names() {
		if !strings.Contains(string(page), "`"+string(name)+"`") {
			t.Errorf("%s is not in the manual", name)
		}
	}
}

func TestExampleThemeNamesEveryColor(t *testing.T) {
	page, err := os.ReadFile("../../examples/themes/dusk.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range themes.ColorNames() {
		if !regexp.MustCompile(`\b` + name + `\b`).Match(page) {
			t.Errorf("%s is not in the example", name)
		}
	}
}
