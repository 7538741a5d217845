package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"replan/mcpclient/child"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

const (
	maxShown        = 16 << 10 // bytes of output in the text of a failure
	defaultProcTime = 2 * time.Minute
	maxProcTime     = 30 * time.Minute
)

type procResult struct {
	Exit     int    `json:"exit"` // -1 where a signal ended it
	Output   string `json:"output"`
	TimedOut bool   `json:"timed_out"`
	Command  string `json:"command"`
	Duration int64  `json:"duration_ms"`
	Spill    string `json:"spill,omitempty"` // file with all of the output
}

// Operators are the operators that run any program.
type Operators struct {
	tree   *tree.Tree
	runner *child.Runner
}

// New makes the operators.
func New(files *tree.Tree, runner *child.Runner) *Operators {
	return &Operators{tree: files, runner: runner}
}

type procArgs struct {
	Argv         []string `json:"argv,omitempty" jsonschema:"the program and its arguments, passed unchanged without a shell"`
	Shell        string   `json:"shell,omitempty" jsonschema:"script for sh, or cmd on Windows, instead of argv"`
	Dir          string   `json:"dir,omitempty" jsonschema:"folder of the workspace to run in; default: the workspace itself"`
	Timeout      string   `json:"timeout,omitempty" jsonschema:"longest time to run, like 90s or 5m, at most 30m; default: 2m"`
	AllowFailure bool     `json:"allow_failure,omitempty" jsonschema:"return the exit code instead of failing"`
}

// isShellSign reports whether a word of a command means something to a shell alone.
func isShellSign(word string) bool {
	return slices.Contains([]string{"|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"}, word)
}

// proc runs what a call asks for. There is a gate before it: nothing here keeps
// a program from doing what its user may do.
func (o *Operators) proc(ctx context.Context, c op.Call, args procArgs) (*op.Answer[procResult], error) {
	limit, err := c.Limit(args.Timeout, defaultProcTime)
	if err != nil {
		return nil, err
	}
	if limit > maxProcTime {
		return nil, fmt.Errorf("the argument timeout of proc.run is %s; at most %s are given", limit, maxProcTime)
	}
	dir, err := o.tree.Folder(ctx, args.Dir)
	if err != nil {
		return nil, err
	}
	cmd := child.Command{Send: c.Sender(ctx), Dir: o.tree.OnDisk(dir), Timeout: limit}
	switch {
	case len(args.Argv) > 0 && args.Shell != "":
		return nil, errors.New("proc.run takes argv or shell, not both")
	case strings.ContainsRune(strings.Join(args.Argv, "")+args.Shell, 0):
		return nil, errors.New("the command of proc.run contains a NUL byte")
	case args.Shell != "":
		cmd.Name, cmd.Script = child.Shell, args.Shell
	case slices.ContainsFunc(args.Argv, isShellSign):
		return nil, fmt.Errorf("argv reaches no shell, so signs like | and && mean nothing in it; pass shell: %q", strings.Join(args.Argv, " "))
	case len(args.Argv) > 0 && args.Argv[0] != "":
		cmd.Name, cmd.Args = args.Argv[0], args.Argv[1:]
	default:
		return nil, errors.New("proc.run needs argv, the program and its arguments, or shell, a script")
	}
	out, err := o.runner.Run(ctx, cmd)
	if errors.Is(err, exec.ErrNotFound) && strings.ContainsAny(cmd.Name, " \t") {
		return nil, fmt.Errorf("argv takes each word as a text of its own, and %q is several: split it, or pass it as shell", cmd.Name)
	}
	if errors.Is(err, exec.ErrNotFound) && cmd.Name == "cd" {
		return nil, errors.New("cd is no program; name the folder in dir, and the program in argv")
	}
	if err != nil {
		return nil, err
	}
	result := procResult{
		Exit: out.Exit, Output: out.Output, TimedOut: out.TimedOut,
		Command: cmd.String(), Duration: out.Duration.Milliseconds(), Spill: out.Spill,
	}
	if out.Exit == 0 && !out.TimedOut {
		return op.Reply(result, out.Output), nil
	}
	summary := fmt.Sprintf("%s ended with %s", cmd, out.State)
	if out.TimedOut {
		summary = fmt.Sprintf("%s did not end within %s and was stopped", cmd, limit)
	}
	answer := op.Reply(result, summary+"\n\n"+op.MiddleCut(strings.TrimSpace(out.Output), maxShown))
	answer.Failed = !args.AllowFailure
	return answer, nil
}
