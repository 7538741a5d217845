package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"replan/mcpclient/connection"
	"replan/mcpclient/server"
)

// gatherLog is how long Log gathers the lines of a server that writes many.
const gatherLog = 100 * time.Millisecond

// serverLogs are what servers log.
type serverLogs struct {
	dir    string // "" if their lines are in the log of the program
	roster *roster
	signal *server.Signal
}

// Log returns the newest lines of a server's log, oldest first, and a position in it. The
// log has its log messages, and what a process writes to standard error. It waits until
// the log is not at the position after, or until ctx ends; a negative one does not wait.
// The error says why there is no log.
func (l *serverLogs) Log(ctx context.Context, name string, after int64) (lines []string, at int64, err error) {
	for {
		changed := l.signal.Changed()
		s, err := l.roster.find(name)
		if err != nil {
			return nil, 0, err
		}
		grown, path := s.LogGrows(), s.LogFile()
		switch {
		case path == "" && l.dir == "":
			return nil, 0, errors.New("what servers log is in the log of the program in this session")
		case path == "":
			return nil, 0, errors.New("this server has no log: it was not started, or is part of replan")
		}
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			at = 0
		case err != nil:
			return nil, 0, fmt.Errorf("reading the log of the server %q: %w", name, err)
		default:
			at = info.Size()
		}
		if at != after {
			lines, err := connection.NewestLines(path)
			return lines, at, err
		}
		select {
		case <-grown:
			if err := pause(ctx, gatherLog); err != nil {
				return nil, at, err
			}
		case <-changed: // another server may have the name now
		case <-ctx.Done():
			return nil, at, ctx.Err()
		}
	}
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
