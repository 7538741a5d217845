package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"replan/mcpclient/child"
)

const (
	localTime  = 10 * time.Minute
	remoteTime = time.Hour
	maxOutput  = 64 << 20 // bytes of standard output
	maxSaid    = 8 << 10  // bytes of standard error
	grace      = 10 * time.Second
)

// call is one run of git.
type call struct {
	repository string // folder
	files      string // of the checkout; "" is none
	index      string // file
	objects    string // folder with further objects, only read
	args       []string
	input      []byte
	environ    []string // added
	// remote is the address that the call reaches, with what the user of this worker
	// configured for it, such as a credential helper. "" is none: then only the
	// repository's own configuration counts.
	remote string
	max    int // bytes of output; 0 is maxOutput
}

// exitError is an exit status other than 0.
type exitError struct {
	exit int
	text string
}

func (e *exitError) Error() string { return e.text }

// output keeps the first bytes that are written to it.
type output struct {
	bytes.Buffer
	max int
	cut bool
}

func (o *output) Write(p []byte) (int, error) {
	room := min(max(0, o.max-o.Len()), len(p))
	o.cut = o.cut || room < len(p)
	_, _ = o.Buffer.Write(p[:room]) // never fails
	return len(p), nil
}

// git runs git and returns its output. The error says what was being done.
func git(ctx context.Context, doing string, c call) (string, error) {
	flags := []string{
		"--no-pager", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never",
		"-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c", "push.recurseSubmodules=no", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	}
	limit := remoteTime
	if c.remote == "" {
		limit = localTime
		flags = append(flags, "-c", "core.attributesFile="+os.DevNull, "-c", "core.excludesFile="+os.DevNull)
	}
	out, text := &output{max: c.max}, &output{max: maxSaid}
	if out.max == 0 {
		out.max = maxOutput
	}
	timed, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("git did not end within %s", limit))
	defer cancel()
	cmd := exec.CommandContext(timed, "git", append(flags, c.args...)...) // #nosec G204 -- no argument is an option that others chose
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.files, c.environment(), out, text
	if c.files == "" {
		cmd.Dir = filepath.Dir(c.repository)
	}
	if c.input != nil {
		cmd.Stdin = bytes.NewReader(c.input)
	}
	child.Isolate(cmd)
	cmd.Cancel, cmd.WaitDelay = func() error { return child.Kill(cmd) }, grace
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case timed.Err() != nil:
		err = context.Cause(timed)
	case errors.As(err, &exit):
		err = &exitError{exit.ExitCode(), said(text.String(), exit.ExitCode())}
	case errors.Is(err, exec.ErrNotFound):
		err = errors.New("git is not installed or not in PATH: install it on this worker")
	case err == nil && out.cut:
		err = fmt.Errorf("the result is larger than %d MB", out.max>>20)
	}
	if err == nil {
		return out.String(), nil
	}
	if c.remote != "" {
		text := hide(c.remote, err.Error())
		local := filepath.IsAbs(strings.TrimPrefix(c.remote, "file://")) // another worker may have it
		if noRevision.MatchString(text) || noRepository.MatchString(text) && !local {
			return "", refused("%s: %s", doing, text)
		}
		return "", fmt.Errorf("%s: %s", doing, text)
	}
	return "", fmt.Errorf("%s: %w", doing, err)
}

var (
	// noRepository is what git says of an address at which there is none. Over HTTP it is
	// "not found" also for a worker that has not logged in.
	noRepository = regexp.MustCompile(`does not appear to be a git repository`)
	// noRevision is what it says of a revision that the repository does not have.
	noRevision = regexp.MustCompile(`not our ref|couldn't find remote ref`)
)

// asks runs git where exit status 1 means no.
func asks(ctx context.Context, doing string, c call) (answer string, yes bool, err error) {
	answer, err = git(ctx, doing, c)
	var exit *exitError
	if errors.As(err, &exit) && exit.exit == 1 {
		return "", false, nil
	}
	return strings.TrimSpace(answer), err == nil, err
}

// said returns what git wrote about a failure.
func said(text string, exit int) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"fatal: ", "error: ", "remote: ", "! ["} {
			if strings.HasPrefix(line, mark) {
				lines = append(lines, strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: "), "."))
			}
		}
	}
	switch {
	case len(lines) > 0:
		return strings.Join(lines, "; ")
	case strings.TrimSpace(text) != "":
		return strings.TrimSpace(text)
	default:
		return fmt.Sprintf("git ended with exit status %d", exit)
	}
}

// kept are the beginnings of the variables of git that say how to reach a repository.
var kept = []string{"GIT_ASKPASS", "GIT_CONFIG", "GIT_CURL", "GIT_EXEC_PATH", "GIT_HTTP", "GIT_PROXY", "GIT_SSH", "GIT_SSL"}

// environment returns the environment of git. Without a remote it holds no secrets,
// and nothing is configured but by the repository.
func (c call) environment() []string {
	environ := os.Environ()
	if c.remote == "" {
		environ = child.Environ(environ, nil)
	}
	environ = slices.DeleteFunc(environ, func(entry string) bool {
		return strings.HasPrefix(entry, "GIT_") && (c.remote == "" || !slices.ContainsFunc(kept, func(k string) bool { return strings.HasPrefix(entry, k) }))
	})
	environ = append(environ, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_DIR="+c.repository)
	if c.remote != "" {
		environ = append(environ, "GIT_ALLOW_PROTOCOL="+protocols)
	} else {
		environ = append(environ, "GIT_ALLOW_PROTOCOL=none", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1")
	}
	if c.files != "" {
		environ = append(environ, "GIT_WORK_TREE="+c.files)
	}
	if c.index != "" {
		environ = append(environ, "GIT_INDEX_FILE="+c.index)
	}
	if c.objects != "" {
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c.objects) + `"`
		environ = append(environ, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoted)
	}
	return append(environ, c.environ...)
}

// create makes an empty repository with a branch checked out, which reads the objects of
// a clone, if one is given. It is bare unless its name is .git.
func create(ctx context.Context, repository, branch, clone string) error {
	if _, err := git(ctx, "make a repository", call{repository: repository, args: []string{"init", "-q", "--template=", "--initial-branch=" + branch}}); err != nil {
		return err
	}
	if clone == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(repository, alternates), []byte(filepath.Join(clone, "objects")+"\n"), 0o600); err != nil {
		return fmt.Errorf("share the objects of a clone: %w", err)
	}
	return nil
}

// alternates is the file that names the folders with further objects.
var alternates = filepath.Join("objects", "info", "alternates")
