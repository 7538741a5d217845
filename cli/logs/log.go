package logs

import (
	"log/slog"
	"os"
	"path/filepath"

	"replan/cli/exit"
	"replan/internal/redact"
)

// Log is the open log file.
type Log struct {
	file    *os.File
	secrets redact.Secrets // known ones, which the file does not hold
	logger  *slog.Logger
	restore func() // gives libraries their own logs back
}

// Open opens the log file in a folder, and sends what libraries log there too.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, exit.Wrap("create the folder of logs; choose another with --data-dir", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "replan.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) //nolint:gosec // the user's own folder
	if err != nil {
		return nil, exit.Wrap("open the log", err)
	}
	l := &Log{file: file}
	l.secrets.AddEnviron(os.Environ())
	l.logger = slog.New(slog.NewTextHandler(l.secrets.Writer(file), nil))
	l.restore = Libraries(l.logger)
	return l, nil
}

// Logger returns the logger of the program.
func (l *Log) Logger() *slog.Logger { return l.logger }

// Secrets returns the known secrets. What is added to them is kept out of the file.
func (l *Log) Secrets() *redact.Secrets { return &l.secrets }

// Close gives libraries their own logs back and closes the file; nil is no log.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.restore()
	return l.file.Close()
}
