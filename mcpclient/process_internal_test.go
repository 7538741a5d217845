package mcpclient

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"
)

func TestAWriteToAChildThatDoesNotReadEndsTheConnection(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	gone := &loss{done: make(chan struct{})}
	writer := &pipeWriter{file: w, loss: gone, most: time.Millisecond}
	if _, err := writer.Write(make([]byte, 4<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	<-gone.done
	if got := gone.reason(); got != "does not read its input" {
		t.Errorf("got %q", got)
	}
	if _, err := writer.Write([]byte("more")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("half a message is followed by more: %v", err)
	}
}

func TestALineMayBeAsLongAsTheLimitHoweverItArrives(t *testing.T) {
	for name, c := range map[string]struct {
		chunks []int // bytes; negative ends in a newline
		tooFar bool
	}{
		"just as long":              {[]int{maxLine, -1}, false},
		"one more":                  {[]int{maxLine, 1}, true},
		"one more before its end":   {[]int{maxLine, -2}, true},
		"many lines":                {[]int{-maxLine, -maxLine, -maxLine}, false},
		"a short one and a long":    {[]int{-10, maxLine, 1}, true},
		"pieces that come together": {[]int{maxLine / 2, maxLine / 2, -1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r lineReader
			var got bool
			for _, n := range c.chunks {
				b := make([]byte, max(n, -n))
				if n < 0 {
					b[len(b)-1] = '\n'
				}
				got = got || r.tooLong(b)
			}
			if got != c.tooFar {
				t.Errorf("too long: %v", got)
			}
		})
	}
}

func TestTheLastWordsAreTheLastLineThatIsNotBlank(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":       {"", ""},
		"one line":      {"a\n", "a"},
		"no newline":    {"a\nb", "b"},
		"blanks at end": {"a\n b \n\n \n", "b"},
		"carriage":      {"a\r\n", "a"},
		"no text":       {"ok\n\xff\xfe\n", "�"},
	} {
		t.Run(name, func(t *testing.T) {
			w := lastWords{log: slog.New(slog.DiscardHandler)}
			for i := range len(c.text) { // however it is cut
				if _, err := io.WriteString(&w, c.text[i:i+1]); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.last(); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}
