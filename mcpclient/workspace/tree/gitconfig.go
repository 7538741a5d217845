package tree

import (
	"cmp"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"replan/mcpclient/child"
)

// gitSettings are what git's configuration says about ignored files.
type gitSettings struct {
	excludes string // file with rules for every repository; it need not exist
	fold     bool   // patterns match upper and lower case alike
}

// gitConfig remembers git's answer until a file of its configuration changes. Several
// goroutines may use it.
type gitConfig struct {
	mu       sync.Mutex
	settings gitSettings
	asked    time.Time
	files    map[string]stamp // of the configuration, those that do not exist too
}

// stamp identifies a state of a file; it is zero without a file.
type stamp struct {
	size    int64
	changed time.Time
}

func stampOf(file string) stamp {
	info, err := os.Stat(file)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// of returns the settings of a repository: of its top folder, and its git folder.
func (c *gitConfig) of(ctx context.Context, top, git string, environ []string) gitSettings {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current() {
		return c.settings
	}
	c.asked = time.Now()
	c.files = map[string]stamp{}
	home := cmp.Or(child.Variable(environ, "HOME"), child.Variable(environ, "USERPROFILE"))
	own := cmp.Or(child.Variable(environ, "XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	for _, file := range []string{
		filepath.Join(git, "config"), filepath.Join(git, "config.worktree"), filepath.Join(git, "HEAD"), filepath.Join(home, ".gitconfig"), filepath.Join(own, "git", "config"),
		child.Variable(environ, "GIT_CONFIG_GLOBAL"), child.Variable(environ, "GIT_CONFIG_SYSTEM"), "/etc/gitconfig",
	} {
		c.watch(file)
	}
	c.settings = gitSettings{excludes: filepath.Join(own, "git", "ignore")}
	ask := func(arg ...string) string {
		git, err := child.Find("git", environ)
		if err != nil {
			return ""
		}
		cmd := exec.CommandContext(ctx, git, append([]string{"config", "--null"}, arg...)...) // #nosec G204 -- reads only
		child.Isolate(cmd)
		cmd.Dir, cmd.Env = top, environ
		out, _ := cmd.Output() // without git, or a setting, there is none
		return string(out)
	}
	fields := strings.Split(ask("--list", "--show-origin"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		origin, _ := strings.CutPrefix(fields[i], "file:")
		origin = from(top, origin)
		c.watch(origin)
		switch key, value, given := strings.Cut(fields[i+1], "\n"); {
		case key == "core.ignorecase":
			c.settings.fold = !given || isTrue(value)
		case key == "core.excludesfile":
			c.settings.excludes = ""
		case strings.HasPrefix(key, "include") && strings.HasSuffix(key, ".path"):
			if rest, ok := strings.CutPrefix(value, "~/"); ok {
				value = filepath.Join(home, rest)
			}
			c.watch(from(filepath.Dir(origin), value))
		}
	}
	if c.settings.excludes == "" {
		if file, _, _ := strings.Cut(ask("--type=path", "--get", "core.excludesFile"), "\x00"); file != "" {
			c.settings.excludes = from(top, file)
		}
	}
	if ctx.Err() != nil {
		c.files = nil // git was stopped
	}
	return c.settings
}

func (c *gitConfig) watch(file string) {
	if file != "" {
		c.files[file] = stampOf(file)
	}
}

// current reports whether no file of the configuration has changed since git was asked.
func (c *gitConfig) current() bool {
	for file := range maps.Keys(c.files) {
		if now := stampOf(file); now != c.files[file] || c.asked.Sub(now.changed) <= settles {
			return false
		}
	}
	return len(c.files) > 0
}

// from returns a file as named in a folder.
func from(folder, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(folder, file)
}

// isTrue reads a truth as git writes it.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}
