package connection

import (
	"log/slog"
	"strings"
	"sync"
)

const maxWords = 500 // bytes of a line of standard error; the rest is dropped

// lastWords writes a child's standard error into its log, line by line, and keeps
// the last line that is not blank.
type lastWords struct {
	log    *slog.Logger // used if file is nil
	file   *logFile     // may be nil
	onLine func()       // called after each line, with no lock held; may be nil
	lines  lines

	mu   sync.Mutex
	kept string
}

func newLastWords(log *slog.Logger, file *logFile, onLine func()) *lastWords {
	w := &lastWords{log: log, file: file, onLine: onLine}
	w.lines = lines{most: maxWords, each: func(line []byte) {
		if w.add(line) && w.onLine != nil {
			w.onLine()
		}
	}}
	return w
}

func (w *lastWords) Write(b []byte) (int, error) { return w.lines.Write(b) }

// add logs and keeps a line. It reports whether the line is not blank.
func (w *lastWords) add(line []byte) bool {
	text := shownLine(line)
	if text == "" {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = text
	if w.file != nil {
		w.file.write(text)
	} else {
		w.log.Info("standard error", "line", text)
	}
	return true
}

// message writes a log message of the server into its log.
func (w *lastWords) message(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if line = strings.ToValidUTF8(line[:min(len(line), maxWords)], ""); w.file != nil {
		w.file.write(line)
	} else {
		w.log.Info("message", "line", line)
	}
}

// last returns the last line, also an unfinished one. The locks of others may be held.
func (w *lastWords) last() string {
	if text := shownLine(w.lines.unfinished()); text != "" {
		return text
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kept
}

func shownLine(line []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(string(line), "�"))
}

// close closes the log file.
func (w *lastWords) close() {
	w.add(w.lines.rest())
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		w.file.close()
	}
}
