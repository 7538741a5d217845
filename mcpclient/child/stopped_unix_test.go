//go:build !windows

package child_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/child"
)

// A process that is stopped (SIGSTOP) hears of the end of its time like any other, and
// tidies up; what ignores that is killed.
func TestStoppedProcessesAreEndedByLimitAndCancel(t *testing.T) {
	const stop = "trap 'echo tidied; exit 3' INT; echo ready; kill -STOP $$"
	for name, c := range map[string]struct {
		script string
		cancel bool
		said   string
	}{
		"by its limit":              {script: stop, said: "tidied"},
		"by its limit, in a child":  {script: "trap 'echo tidied; exit 3' INT; sh -c 'kill -STOP $$'", said: "tidied"},
		"by a cancel":               {script: stop, cancel: true},
		"though it ignores signals": {script: "trap '' INT TERM; while :; do kill -STOP $$; done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			runner := &child.Runner{Environ: []string{"PATH=/usr/bin:/bin"}, MaxOutput: 1 << 10, Logger: slog.New(slog.DiscardHandler)}
			command := child.Command{Script: c.script, Timeout: 200 * time.Millisecond}
			var tidied strings.Builder
			command.Line = func(line string) {
				tidied.WriteString(line + "\n")
				if c.cancel && line == "ready" {
					cancel()
				}
			}
			if c.cancel {
				command.Timeout = time.Hour
			}
			out, err := runner.Run(ctx, command)
			switch {
			case c.cancel && (err == nil || !strings.Contains(tidied.String(), "tidied")):
				t.Errorf("got %v after %q", err, tidied.String())
			case !c.cancel && (err != nil || !out.TimedOut || !strings.Contains(out.Output, c.said)):
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
}
