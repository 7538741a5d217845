package files_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// configured is a repository with a home folder of its own.
type configured struct {
	*bench
	home string
	env  []string
}

func newConfigured(t *testing.T, env ...string) *configured {
	t.Helper()
	workspacetest.NeedGit(t)
	top, home := t.TempDir(), t.TempDir()
	workspacetest.Git(t, top, "init", "-q")
	all := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_CONFIG_") || strings.HasPrefix(v, "XDG_CONFIG_HOME=") || strings.HasPrefix(v, "HOME=")
	})
	all = append(all, "HOME="+home, "GIT_CONFIG_SYSTEM="+os.DevNull)
	for _, v := range env {
		all = append(all, strings.ReplaceAll(v, "=HOME", "="+home))
	}
	return &configured{newBench(t, workspace.Config{Dir: top, Environ: all}), home, all}
}

// write writes files; those below "~/" into the home folder.
func (c *configured) write(t tb, files map[string]string) {
	t.Helper()
	own := &workspacetest.Bench{Dir: c.home}
	for name, text := range files {
		text = strings.ReplaceAll(text, "HOME", c.home)
		if at, ok := strings.CutPrefix(name, "~/"); ok {
			own.Write(t, map[string]string{at: text})
		} else {
			c.Write(t, map[string]string{name: text})
		}
	}
}

// git returns the files that git would add.
func (c *configured) git(t tb) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--others", "--exclude-standard", "-z")
	cmd.Dir, cmd.Env = c.Dir, c.env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	names := strings.Split(string(out), "\x00")
	names = slices.DeleteFunc(names[:len(names)-1], func(name string) bool { return isIgnoreFile(name) || name == "rules" })
	slices.Sort(names)
	return names
}

func TestFilesIgnoredByTheUsersOwnRulesAreNotSearched(t *testing.T) {
	t.Parallel()
	rules := map[string]string{"~/gi": "*.private\n"}
	for name, c := range map[string]struct {
		env   []string
		files map[string]string
	}{
		"home folder":       {files: map[string]string{"~/.gitconfig": "[core]\n excludesFile = ~/gi\n"}},
		"absolute, quoted":  {files: map[string]string{"~/.gitconfig": "[core]\n EXCLUDESFILE = \"HOME/gi\"\n"}},
		"CRLF":              {files: map[string]string{"~/.gitconfig": "[core]\r\n\texcludesfile = ~/gi\r\n"}},
		"XDG configuration": {files: map[string]string{"~/.config/git/config": "[core]\n excludesFile = ~/gi\n"}},
		"default file":      {files: map[string]string{"~/.config/git/ignore": "*.private\n"}},
		"XDG folder":        {env: []string{"XDG_CONFIG_HOME=HOME/xdg"}, files: map[string]string{"~/xdg/git/ignore": "*.private\n"}},
		"named file":        {env: []string{"GIT_CONFIG_GLOBAL=HOME/other"}, files: map[string]string{"~/other": "[core]\n excludesFile = ~/gi\n"}},
		"repository":        {files: map[string]string{".git/config": "[core]\n\trepositoryformatversion = 0\n\texcludesFile = ~/gi\n"}},
		"relative":          {files: map[string]string{"rules": "*.private\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\texcludesFile = rules\n"}},
		"include":           {files: map[string]string{"~/.gitconfig": "[include]\n path = more\n", "~/more": "[core]\n excludesFile = ~/gi\n"}},
		"includeIf":         {files: map[string]string{"~/.gitconfig": "[includeIf \"gitdir:/\"]\n path = ~/more\n", "~/more": "[core]\n excludesFile = ~/gi\n"}},
		"case of letters":   {files: map[string]string{".gitignore": "Notes.PRIVATE\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\tignorecase = true\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newConfigured(t, c.env...)
			b.write(t, map[string]string{"notes.private": "needle\n", "other.md": "needle\n"})
			if got := found(t, b.bench); !reflect.DeepEqual(got, []string{"notes.private", "other.md"}) {
				t.Fatalf("without rules: got %q", got)
			}
			b.write(t, rules)
			b.write(t, c.files)
			got := slices.DeleteFunc(found(t, b.bench), func(name string) bool { return name == "rules" })
			if want := b.git(t); !slices.Equal(got, want) || !slices.Equal(want, []string{"other.md"}) {
				t.Errorf("got %q; git would add %q", got, want)
			}
		})
	}
}

// 200 trees, with rules in all places where git looks for them.
func TestSearchIgnoresWhatGitIgnoresByItsConfiguration(t *testing.T) {
	t.Parallel()
	b := newConfigured(t)
	names := []string{"f", "F.Log", "a.go", "A", "a.private", ".env.local", "Top.md"}
	files := map[string]string{}
	for _, dir := range []string{"", "a/", "B/", "a/b/"} {
		for _, name := range names {
			if dir != "" || name != "A" {
				files[dir+name] = "needle\n"
			}
		}
	}
	b.Write(t, files)
	token := rapid.SampledFrom([]string{"a", "A", "b", "f", "F", "go", ".", "log", "LOG", "top", "*", "*", "**/", "/", "?", "*.private", ".env*", "[A-F]", "[!a-f]", "[Aa]", "[[:upper:]]", "[^[:lower:]]", `\A`, `\a`, "a/", "/a", "B/"})
	line := rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(token, 1, 4).Draw(t, "tokens"), "")
		if rapid.IntRange(0, 3).Draw(t, "negated") == 0 {
			text = "!" + text
		}
		return text + "\n"
	})
	check := func(t *rapid.T) {
		rules := map[string]string{
			"~/.gitconfig": rapid.SampledFrom([]string{"", "[core]\n excludesFile = ~/gi\n", "[core]\n excludesFile =\n", "[include]\n path = more\n", "[core]\n excludesFile = ~/none\n excludesFile = ~/gi\n"}).Draw(t, "global"),
			"~/more":       "[core]\n excludesFile = HOME/gi\n",
			".git/config":  "[core]\n\trepositoryformatversion = 0\n" + rapid.SampledFrom([]string{"", "\tignorecase = true\n", "\tignorecase\n", "\tignorecase = no\n", "\tignoreCase = 1\n"}).Draw(t, "ignorecase"),
		}
		for _, name := range []string{"~/gi", "~/.config/git/ignore", ".git/info/exclude", ".gitignore", "a/.gitignore", "a/b/.gitignore"} {
			rules[name] = strings.Join(rapid.SliceOfN(line, 0, 3).Draw(t, name), "")
		}
		b.write(t, rules)
		if got, want := found(t, b.bench), b.git(t); !slices.Equal(got, want) {
			t.Fatalf("rules %q: got\n%q, want the files that git would add\n%q", rules, got, want)
		}
	}
	for range 2 {
		rapid.Check(t, check) // 100 trees
	}
}

func TestGitIsAskedAgainWhenItsConfigurationChanges(t *testing.T) {
	t.Parallel()
	b := newConfigured(t)
	b.write(t, map[string]string{"a.private": "needle\n", "b": "needle\n", "~/gi": "*.private\n"})
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"a.private", "b"}},
		{"[core]\n excludesFile = ~/gi\n", []string{"b"}},
		{"[core]\n excludesFile = ~/go\n", []string{"a.private", "b"}},
	} {
		b.write(t, map[string]string{"~/.gitconfig": c.text})
		if got := found(t, b.bench); !slices.Equal(got, c.want) {
			t.Errorf("with %q: got %q", c.text, got)
		}
	}
	if err := os.Remove(filepath.Join(b.home, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	if got := found(t, b.bench); len(got) != 2 {
		t.Errorf("without a file: got %q", got)
	}
}
