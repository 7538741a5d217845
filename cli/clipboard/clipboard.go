package clipboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"time"

	"replan/internal/picture"
	"replan/mcpclient/child"
)

// within is how long one program may take. PowerShell starts slowly.
const within = 5 * time.Second

// Content is what the clipboard holds: a picture, else text, else nothing.
type Content struct {
	Picture []byte
	Text    string
}

// Errors that say why the clipboard cannot be read. Each is a sentence.
var (
	// ErrNoDesktop reports that there is no desktop, as over SSH.
	ErrNoDesktop = errors.New("no desktop is here whose clipboard replan could read: paste the path of the picture")
	// ErrTooLarge reports a picture above [picture.MaxBytes].
	ErrTooLarge = fmt.Errorf("the picture in the clipboard has more than %d MB", picture.MaxBytes>>20)
)

// Reader reads the clipboard.
type Reader struct {
	// Environ is the environment of the desktop and of the programs, as NAME=VALUE.
	Environ []string
	// System is a value of [runtime.GOOS]; "" is this one's.
	System string
	// Run runs a program of PATH and returns its output. It may return [exec.ErrNotFound]
	// and [ErrTooLarge]. nil runs it in a session of its own, for a few seconds at most.
	Run func(ctx context.Context, name string, args ...string) ([]byte, error)
}

// Read reads the clipboard by the first program that finds something. The error is
// [ErrNoDesktop], [ErrTooLarge], or names the program to install.
func (r Reader) Read(ctx context.Context) (Content, error) {
	if r.Run == nil {
		r.Run = r.runChild
	}
	if r.System == "" {
		r.System = runtime.GOOS
	}
	programs, missing := r.programs()
	if len(programs) == 0 {
		return Content{}, ErrNoDesktop
	}
	found := false
	var text string
	for _, read := range programs {
		got, err := read(ctx, r.Run)
		switch {
		case errors.Is(err, ErrTooLarge), ctx.Err() != nil:
			return Content{}, err
		case errors.Is(err, exec.ErrNotFound):
			continue
		}
		found = true
		if err == nil && len(got.Picture) > 0 {
			return got, nil
		}
		if text == "" {
			text = got.Text
		}
	}
	if !found {
		return Content{}, fmt.Errorf("nothing here reads the clipboard: install %s", missing)
	}
	return Content{Text: text}, nil
}

// runChild runs a program in a session of its own.
func (r Reader) runChild(ctx context.Context, name string, args ...string) ([]byte, error) {
	path, err := child.Find(name, r.Environ)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	run := exec.CommandContext(ctx, path, args...) //nolint:gosec // one of the table's, of PATH
	run.Env = child.Environ(r.Environ, nil)
	child.Isolate(run)
	run.Cancel = func() error { return child.Kill(run) }
	run.WaitDelay = time.Second // programs that serve the clipboard keep the pipe open
	out := &bounded{}
	run.Stdout = out
	err = run.Run()
	if out.over {
		return nil, ErrTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("read the clipboard by %s: %w", name, err)
	}
	return out.kept, nil
}

// bounded keeps what a program writes, up to the largest picture in base64. Then it takes
// no more, which ends the program.
type bounded struct {
	kept []byte
	over bool
}

const maxOutput = picture.MaxBytes/3*4 + 1024

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if len(b.kept)+len(p) > maxOutput {
		b.over = true
		return 0, io.ErrShortBuffer
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}
