package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
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

// proc runs what a call asks for. There is a gate before it: nothing here keeps
// a program from doing what its user may do.
func (o *Operators) proc(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	var args struct {
		Argv         []string `json:"argv"`
		Shell        string   `json:"shell"`
		Dir          string   `json:"dir"`
		Timeout      string   `json:"timeout"`
		AllowFailure bool     `json:"allow_failure"`
	}
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	limit, err := c.limit(args.Timeout, defaultProcTime)
	if err != nil {
		return nil, err
	}
	if limit > maxProcTime {
		return nil, fmt.Errorf("the argument timeout of proc.run is %s; at most %s are given", limit, maxProcTime)
	}
	dir, err := o.tree.Folder(args.Dir)
	if err != nil {
		return nil, err
	}
	child := command{dir: o.tree.OnDisk(dir), timeout: limit}
	switch {
	case len(args.Argv) > 0 && args.Shell != "":
		return nil, errors.New("proc.run takes argv or shell, not both")
	case strings.ContainsRune(strings.Join(args.Argv, "")+args.Shell, 0):
		return nil, errors.New("what proc.run is to run holds a NUL, which no program can be given")
	case args.Shell != "":
		child.name, child.script = shell, args.Shell
	case len(args.Argv) > 0 && args.Argv[0] != "":
		child.name, child.args = args.Argv[0], args.Argv[1:]
	default:
		return nil, errors.New("proc.run needs argv, the program and its arguments, or shell, a script")
	}
	out, err := o.execute(ctx, c, child)
	if err != nil {
		return nil, err
	}
	result := procResult{
		Exit: out.exit, Output: out.output, TimedOut: out.timedOut,
		Command: child.String(), Duration: out.took.Milliseconds(), Spill: out.spill,
	}
	if out.exit == 0 && !out.timedOut {
		return structured(result, out.output), nil
	}
	said := fmt.Sprintf("%s ended with %s", child, out.state)
	if out.timedOut {
		said = fmt.Sprintf("%s did not end within %s and was stopped", child, limit)
	}
	answer := structured(result, said+"\n\n"+middleCut(strings.TrimSpace(out.output), maxFailureText))
	answer.IsError = !args.AllowFailure
	return answer, nil
}
