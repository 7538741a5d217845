package connection

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/config"
)

func TestBlockedWriteEndsConnection(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	end := &loss{done: make(chan struct{})}
	writer := &pipeWriter{file: w, loss: end, most: time.Millisecond}
	if _, err := writer.Write(make([]byte, 4<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	<-end.done
	if got := end.reason(); got != "does not read its input" {
		t.Errorf("got %q", got)
	}
	if _, err := writer.Write([]byte("more")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("write after a partial message: got error %v", err)
	}
}

func TestLineLengthLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chunks []int // bytes; negative ends in a newline
		want   bool
	}{
		"line of maximum length":       {[]int{maxLine, -1}, false},
		"one byte more":                {[]int{maxLine, 1}, true},
		"one byte more and a newline":  {[]int{maxLine, -2}, true},
		"many long lines":              {[]int{-maxLine, -maxLine, -maxLine}, false},
		"short line before a long one": {[]int{-10, maxLine, 1}, true},
		"long line in pieces":          {[]int{maxLine / 2, maxLine / 2, -1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r lineReader
			var got bool
			for _, n := range c.chunks {
				b := make([]byte, max(n, -n))
				if n < 0 {
					b[len(b)-1] = '\n'
				}
				got = got || r.take(b) != ""
			}
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestLastWordsAreTheLastNonBlankLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"empty":                {"", ""},
		"one line":             {"a\n", "a"},
		"no newline":           {"a\nb", "b"},
		"trailing blank lines": {"a\n b \n\n \n", "b"},
		"carriage return":      {"a\r\n", "a"},
		"invalid UTF-8":        {"ok\n\xff\xfe\n", "�"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newLastWords(slog.New(slog.DiscardHandler), nil, nil)
			for i := range len(c.text) { // byte by byte
				if _, err := io.WriteString(w, c.text[i:i+1]); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.last(); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A server reads the last line with its mutex held, and takes its mutex to report a
// line, so neither may happen with a lock of the words held.
func TestLastLineCanBeReadWhileALineIsReported(t *testing.T) {
	t.Parallel()
	var w *lastWords
	var reported []string
	w = newLastWords(slog.New(slog.DiscardHandler), nil, func() { reported = append(reported, w.last()) })
	if _, err := io.WriteString(w, "one\n\ntwo\nhalf"); err != nil {
		t.Fatal(err)
	}
	if got := w.last(); got != "half" || !slices.Equal(reported, []string{"one", "two"}) {
		t.Errorf("got %q at last, and %q reported", got, reported)
	}
}

func TestFullLogFileBecomesTheOldOne(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("has no goroutine that the race detector could watch")
	}
	f := &logFile{path: filepath.Join(t.TempDir(), "mcp-k.log"), log: slog.New(slog.DiscardHandler)}
	line := strings.Repeat("x", 1023)
	for range 2*maxLogFile/1024 + 1 {
		f.write(line)
	}
	f.write("token=ghp_abcdefghijklmnopqrstuvwxyz0123456789")
	f.close()
	for path, want := range map[string]int64{f.path + ".old": maxLogFile, f.path: 2048} {
		if info, err := os.Stat(path); err != nil || info.Size() > want || info.Size() == 0 {
			t.Errorf("%s: got %v, %v, want at most %d bytes", path, info, err, want)
		}
	}
	if text, _ := os.ReadFile(f.path); strings.Contains(string(text), "ghp_") {
		t.Error("the log holds a secret")
	}
}

func TestStartLimitOfLaunchers(t *testing.T) {
	t.Parallel()
	const usual = 20 * time.Second
	for name, c := range map[string]struct {
		server config.Server
		want   time.Duration
	}{
		"program":           {config.Server{Command: "/opt/server"}, usual},
		"npx":               {config.Server{Command: "npx", Args: []string{"-y", "x"}}, time.Minute},
		"npx on Windows":    {config.Server{Command: "npx.cmd"}, time.Minute},
		"docker by path":    {config.Server{Command: "/usr/bin/docker"}, time.Minute},
		"pnpm dlx":          {config.Server{Command: "pnpm", Args: []string{"dlx", "x"}}, time.Minute},
		"pnpm start":        {config.Server{Command: "pnpm", Args: []string{"start"}}, usual},
		"own limit is kept": {config.Server{Command: "npx", StartTimeout: time.Second}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if got := StartTimeout(c.server, usual); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestContainersHaveLongerForTheirEnd(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]time.Duration{"/usr/bin/docker": 15 * time.Second, "podman": 15 * time.Second, "node": 3 * time.Second, "docker-mcp": 3 * time.Second} {
		got := graceOf(programName(config.Server{Command: command}))
		if sum := got.exit + got.term; sum != want || sum+drainGrace >= EndTimeout {
			t.Errorf("%s has %s, want %s", command, sum, want)
		}
	}
}
