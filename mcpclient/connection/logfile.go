package connection

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"replan/internal/redact"
)

const maxLogFile = 1 << 20 // bytes, until a log file becomes the old one

// LogFile returns the file with the log of a server in a folder; "" if there is no
// folder.
func LogFile(dir, server string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "mcp-"+server+".log")
}

// logFile is the file with the standard error of one server. When it is full it
// becomes the old one, which replaces the one before. Secrets are left out.
type logFile struct {
	path    string
	log     *slog.Logger // for errors
	secrets *redact.Secrets
	file    *os.File
	size    int64
	failed  bool
}

// write appends a line. Errors go to the log, once.
func (f *logFile) write(line string) {
	if f.failed {
		return
	}
	if err := f.append(f.secrets.Text(line) + "\n"); err != nil {
		f.failed = true
		f.log.Warn("the log of the server cannot be written", "file", f.path, "error", err)
	}
}

func (f *logFile) append(text string) error {
	if f.file != nil && f.size+int64(len(text)) > maxLogFile {
		f.close()
		if err := os.Rename(f.path, f.path+".old"); err != nil {
			return err
		}
	}
	if f.file == nil {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
			return err
		}
		file, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		f.file, f.size = file, 0
		if info, err := file.Stat(); err == nil {
			f.size = info.Size()
		}
	}
	n, err := f.file.WriteString(text)
	f.size += int64(n)
	return err
}

func (f *logFile) close() {
	if f.file != nil {
		_ = f.file.Close() // everything is written
		f.file = nil
	}
}

// logFileOf returns the log file of a server, nil if there is none.
func logFileOf(settings Settings, to Target) *logFile {
	path := LogFile(settings.LogDir, to.Server.Name)
	if path == "" {
		return nil
	}
	return &logFile{path: path, log: to.Log, secrets: settings.Secrets}
}

// maxLogShown is how much of a log is shown, in bytes from its end.
const maxLogShown = 256 << 10

// NewestLines returns the end of a log, with that of the old file if it has just begun.
func NewestLines(path string) ([]string, error) {
	var text []byte
	for _, name := range []string{path, path + ".old"} {
		room := int64(maxLogShown - len(text))
		if room <= 0 {
			break
		}
		part, err := readEnd(name, room)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the log of a server: %w", err)
		}
		text = append(part, text...)
	}
	text = bytes.TrimRight(text, "\n")
	if len(text) == 0 {
		return nil, nil
	}
	return strings.Split(string(text), "\n"), nil
}

// readEnd returns the whole lines in the last bytes of a file.
func readEnd(path string, most int64) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // a log of this program
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	from := max(info.Size()-most, 0)
	text := make([]byte, info.Size()-from)
	n, err := file.ReadAt(text, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if text = text[:n]; from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, nil
}
