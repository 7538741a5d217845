package ollama

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Process is a server of Ollama that was started on this machine. It outlives this program,
// unless it is stopped.
type Process struct {
	Log   string       // the file with its output
	Ended <-chan error // receives how it ended
	Stop  func() error
}

// serveLimit is how long a server may take until it answers.
const serveLimit = time.Minute

// Serve starts the server on this machine, and waits until it answers. log is the file with
// its output. A server that does not answer until ctx ends is stopped. An error says what to
// do, or wraps the error of ctx.
func (c *Client) Serve(ctx context.Context) (log string, err error) {
	if !c.startable() {
		return "", fmt.Errorf("the server %s cannot be started from here: start `ollama serve` there", c.base)
	}
	p, err := c.serve(c.base.Host)
	if err != nil {
		return "", fmt.Errorf("starting `ollama serve`: %w; start it in another terminal", err)
	}
	if err := c.answers(ctx, p); err != nil {
		return p.Log, errors.Join(err, p.Stop())
	}
	c.log.Info("Ollama was started", "host", c.base.Host, "output", p.Log)
	return p.Log, nil
}

// answers waits until the server of a process answers.
func (c *Client) answers(ctx context.Context, p Process) error {
	within, cancel := context.WithTimeoutCause(ctx, serveLimit, fmt.Errorf("`ollama serve` does not answer at %s after %s: its output is in %s", c.base, serveLimit, p.Log))
	defer cancel()
	for {
		if _, err := c.api.Version(within); err == nil {
			return nil
		}
		again := time.NewTimer(c.delay)
		select {
		case err := <-p.Ended:
			again.Stop()
			return fmt.Errorf("`ollama serve` ended before it answered (%w): its output is in %s", err, p.Log)
		case <-within.Done():
			again.Stop()
			return context.Cause(within)
		case <-again.C:
		}
	}
}

// startable reports whether the server can be started on this machine.
func (c *Client) startable() bool {
	return c.serve != nil && isLocal(c.base) && c.base.Scheme == "http" && c.base.Path == ""
}
