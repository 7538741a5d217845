package connection

import (
	"errors"
	"io"
	"strings"
	"testing"

	"replan/internal/jsonsize"
)

// repeated is a stream of a text without end.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(p), nil
}

func TestStreamMayBeLongerThanAnEvent(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("has no goroutine that the race detector could watch")
	}
	line := "data: " + strings.Repeat("x", 1000)
	for name, c := range map[string]struct {
		text string
		ends bool
	}{
		"one line without end":         {line, true},
		"lines without an empty one":   {line + "\n", true},
		"events":                       {line + "\n\n", false},
		"events with carriage returns": {line + "\r\n" + line + "\r\n\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			stream := &limitedEvents{stream: true, ReadCloser: io.NopCloser(io.LimitReader(&repeated{text: c.text}, maxHTTPReply+1<<20))}
			_, err := io.Copy(io.Discard, stream)
			if (err != nil) != c.ends || errors.Is(err, io.EOF) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMessageHasNoMoreValuesThanMayBe(t *testing.T) {
	t.Parallel()
	many := "data: [" + strings.Repeat("1,", jsonsize.Most*2/3) + "1]"
	for name, c := range map[string]struct {
		text         string
		stream, ends bool
	}{
		"events":             {many + "\n\n" + many + "\n\n", true, false},
		"lines of one event": {many + "\n" + many + "\n\n", true, true},
		"an empty line in a reply that is no stream": {many + "\n\n" + many, false, true},
	} {
		_, err := io.ReadAll(&limitedEvents{stream: c.stream, ReadCloser: io.NopCloser(strings.NewReader(c.text))})
		if (err != nil) != c.ends || c.ends && err.Error() != "a message of the server has more than 500000 values" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
