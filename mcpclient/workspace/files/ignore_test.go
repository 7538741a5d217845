package files_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// found returns the files that a search for their common text finds.
func found(t tb, b *bench) []string {
	t.Helper()
	var names []string
	for _, m := range b.Must(t, "fs.search", args{"query": "needle", "max": 2000}).Data["matches"].([]any) {
		names = append(names, m.(map[string]any)["path"].(string))
	}
	slices.Sort(names)
	return names
}

// notIgnored returns the files that git would add.
func notIgnored(t tb, dir string) []string {
	t.Helper()
	names := strings.Split(workspacetest.Git(t, dir, "ls-files", "--others", "--exclude-standard", "-z"), "\x00")
	names = names[:len(names)-1]
	slices.Sort(names)
	if len(names) == 0 {
		return nil
	}
	return names
}

func TestSearchIgnoresTheFilesThatGitIgnores(t *testing.T) {
	t.Parallel()
	workspacetest.NeedGit(t)
	top := t.TempDir()
	workspacetest.Git(t, top, "init", "-q")
	whole := newBench(t, workspace.Config{Dir: top})
	names := []string{"f", "a.go", "f.log", "#x", "!y", "[z]", "a b", "é.go", "a*", `b\`, "ab", "-", "^", "f ", "x]y"}
	files := map[string]string{}
	for _, dir := range []string{"", "a/", "b/", "a/b/", "a/b/a/", "b/a b/", "é/"} {
		for _, name := range names {
			if name == "a b" && dir == "b/" {
				continue // is a folder
			}
			files[dir+name] = "needle\n"
		}
	}
	whole.Write(t, files)
	part := newBench(t, workspace.Config{Dir: filepath.Join(top, "a/b")})
	token := rapid.SampledFrom([]string{
		"a", "b", "f", "go", ".", "log", "é", "x", "y", "*", "*", "**", "?", "/", "/", "**/", "/**", "a/", "/a", "*.log", "f*",
		"[ab]", "[!a]", "[^a]", "[a-f]", "[a-]", "[-a]", "[]a]", "[!]a]", "[[:alpha:]]", "[[:space:]]", "[[:no:]]", "[[:punct:]", "[a", "[", "]", `\`, `\*`, `\ `, `[\]]`, `[a\-z]`, " ", "!", "#", "{a,b}", "\t", "-", "^",
	})
	line := rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(token, 1, 5).Draw(t, "tokens"), "")
		if rapid.IntRange(0, 3).Draw(t, "negated") == 0 {
			text = "!" + text
		}
		return text + rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", " \n", "/\n"}).Draw(t, "end")
	})
	ignoreFiles := []string{".gitignore", "a/.gitignore", "a/b/.gitignore", "b/.gitignore", ".git/info/exclude"}
	rapid.Check(t, func(t *rapid.T) {
		rules := map[string]string{}
		for _, name := range ignoreFiles {
			rules[name] = strings.Join(rapid.SliceOfN(line, 0, 4).Draw(t, name), "")
		}
		whole.Write(t, rules)
		if got, want := found(t, whole), notIgnored(t, top); !slices.Equal(got, slices.DeleteFunc(want, isIgnoreFile)) {
			t.Fatalf("rules %q: got\n%q, want the files that git would add\n%q", rules, got, want)
		}
		// git lists no files of an ignored folder, but a workspace can be one.
		if want := notIgnored(t, filepath.Join(top, "a/b")); want != nil {
			if got := found(t, part); !slices.Equal(got, slices.DeleteFunc(want, isIgnoreFile)) {
				t.Fatalf("rules %q in a/b: got\n%q, want the files that git would add\n%q", rules, got, want)
			}
		}
	})
}

func isIgnoreFile(name string) bool { return filepath.Base(name) == ".gitignore" }

func TestWorkspaceInRepositoryFollowsItsRules(t *testing.T) {
	t.Parallel()
	workspacetest.NeedGit(t)
	for name, c := range map[string]struct {
		rules map[string]string
		want  []string
	}{
		"parent folders":         {map[string]string{".gitignore": "*.log\nin/ws/b\n", "in/.gitignore": "ws/a\n/c\n"}, []string{"c", "d/c"}},
		"info/exclude":           {map[string]string{".git/info/exclude": "c\n"}, []string{"a", "b", "x.log"}},
		"own rules first":        {map[string]string{".gitignore": "*\n!*/\n", "in/ws/.gitignore": "!a\n"}, []string{"a"}},
		"ignored workspace":      {map[string]string{".gitignore": "in/\n"}, []string{"a", "b", "c", "d/c", "x.log"}},
		"everything ignored":     {map[string]string{".gitignore": "*\n"}, []string{"a", "b", "c", "d/c", "x.log"}},
		"rules of other folders": {map[string]string{"other/.gitignore": "*\n"}, []string{"a", "b", "c", "d/c", "x.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			workspacetest.Git(t, top, "init", "-q")
			repository := &workspacetest.Bench{Dir: top}
			repository.Write(t, c.rules)
			for _, file := range []string{"a", "b", "c", "d/c", "x.log"} {
				repository.Write(t, map[string]string{"in/ws/" + file: "needle"})
			}
			b := newBench(t, workspace.Config{Dir: filepath.Join(top, "in", "ws")})
			if got := found(t, b); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWorktreeFollowsRulesOfItsRepository(t *testing.T) {
	t.Parallel()
	workspacetest.NeedGit(t)
	top := t.TempDir()
	workspacetest.Git(t, top, "init", "-q")
	workspacetest.Git(t, top, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty", "-m", "first")
	tree := filepath.Join(t.TempDir(), "tree")
	workspacetest.Git(t, top, "worktree", "add", "-q", tree)
	(&workspacetest.Bench{Dir: top}).Write(t, map[string]string{".git/info/exclude": "a\n"})
	b := newBench(t, workspace.Config{Dir: tree})
	b.Write(t, map[string]string{"a": "needle", "b": "needle"})
	if got := found(t, b); !reflect.DeepEqual(got, []string{"b"}) {
		t.Errorf("got %q", got)
	}
}

func TestHostilePatternIsFast(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	long := strings.Repeat("a", 200)
	b.Write(t, map[string]string{
		".gitignore":                          strings.Repeat("a*", 60) + "b\n" + strings.Repeat("**/a*/", 40) + "b\n",
		long:                                  "needle",
		strings.Repeat("aaaaaaaa/", 20) + "x": "needle",
	})
	if got := found(t, b); len(got) != 2 {
		t.Errorf("got %q", got)
	}
}
