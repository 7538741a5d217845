package logs

import (
	"bufio"
	"log"
	"log/slog"
	"os"
	"sync"
)

// Libraries sends to a logger what libraries log with the defaults of the
// packages slog and log, which write to the terminal. restore undoes that.
func Libraries(to *slog.Logger) (restore func()) {
	structured, writer, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(to) // that of log follows it
	return func() {
		slog.SetDefault(structured)
		log.SetOutput(writer)
		log.SetFlags(flags)
	}
}

// StandardError sends to a logger, line by line, what libraries write to standard
// error. restore undoes that. The IO of the program keeps the terminal.
func StandardError(to *slog.Logger) (restore func()) {
	read, write, err := os.Pipe()
	if err != nil {
		to.Warn("what libraries write to standard error is not kept", "error", err)
		return func() {}
	}
	before := os.Stderr
	os.Stderr = write
	var copied sync.WaitGroup
	copied.Go(func() {
		defer func() { _ = read.Close() }()
		for lines := bufio.NewReaderSize(read, maxLibraryLine); ; {
			line, _, err := lines.ReadLine() // a longer one comes in parts
			if err != nil {
				return
			}
			if len(line) > 0 {
				to.Warn("standard error of a library", "line", string(line))
			}
		}
	})
	return func() {
		os.Stderr = before
		_ = write.Close()
		copied.Wait()
	}
}

// maxLibraryLine is the most of a line that is logged in one piece, in bytes.
const maxLibraryLine = 4 << 10
