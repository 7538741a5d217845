package connection

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"replan/mcpclient/child"
	"replan/mcpclient/config"
)

// launcherStartTimeout is the default limit for the start of servers whose program
// may have to download them first.
const launcherStartTimeout = time.Minute

// launchers are programs that may download what they start, with the first argument
// that makes them do so; "" means any.
var launchers = map[string]string{
	"npx": "", "uvx": "", "bunx": "", "pnpx": "", "docker": "", "podman": "", "nerdctl": "", "pnpm": "dlx", "yarn": "dlx", "bun": "x", "npm": "exec", "uv": "", "pipx": "run", "deno": "",
}

// StartTimeout returns how long a server may take from its start until its tools are
// listed. usual holds for servers without a limit of their own whose program is there.
func StartTimeout(s config.Server, usual time.Duration) time.Duration {
	if s.StartTimeout > 0 {
		return s.StartTimeout
	}
	if first, known := launchers[programName(s)]; known && (first == "" || slices.Contains(s.Args, first)) {
		return max(launcherStartTimeout, usual)
	}
	return usual
}

// programName returns the name of a server's program, without folder and suffix.
func programName(s config.Server) string {
	name := strings.ToLower(filepath.Base(s.Command))
	for _, suffix := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// command returns the command that starts a server.
func command(settings Settings, s config.Server) (*exec.Cmd, error) {
	own := maps.Clone(s.Env)
	if own == nil {
		own = map[string]string{}
	}
	own[child.MarkName] = rand.Text()
	environ := child.ServerEnviron(settings.Environ, own, s.Inherit)
	dir, err := workingDir(settings.WorkDir, s, environ)
	if err != nil {
		return nil, err
	}
	path, err := find(home(s.Command, environ), environ, dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, s.Args...) //nolint:gosec // what the configuration says, after the user's yes
	cmd.Args[0] = s.Command
	cmd.Dir, cmd.Env = dir, environ
	return cmd, nil
}

// workingDir returns the folder in which a server is started.
func workingDir(usual string, s config.Server, environ []string) (string, error) {
	if s.Dir == "" {
		return usual, nil
	}
	dir := home(s.Dir, environ)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(usual, dir)
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("its working directory %s does not exist; create it, or change \"cwd\"", dir)
	case err != nil:
		return "", fmt.Errorf("its working directory: %w", err)
	case !info.IsDir():
		return "", fmt.Errorf("its working directory %s is not a folder; change \"cwd\"", dir)
	}
	return dir, nil
}

// home replaces a leading ~ by the user's home folder.
func home(path string, environ []string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' && rest[0] != filepath.Separator {
		return path
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := child.Variable(environ, name); dir != "" {
			return filepath.Join(dir, rest)
		}
	}
	return path
}

// find returns the path of a program. It looks in the PATH that the program gets,
// which its configuration may set, and takes relative paths from dir, where it will
// run.
func find(name string, environ []string, dir string) (string, error) {
	if name != filepath.Base(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		path, err := exec.LookPath(name)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("there is no program %s; install it, or correct its path", name)
		}
		return path, err
	}
	for _, folder := range filepath.SplitList(child.Variable(environ, "PATH")) {
		if !filepath.IsAbs(folder) {
			continue // a program of the workspace must be named by its path
		}
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s in its PATH; install it, or write its whole path", name)
}
