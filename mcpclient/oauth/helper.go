package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"replan/mcpclient/box"
	"replan/mcpclient/child"
)

// HelperTimeout limits how long a program may take to print headers.
const HelperTimeout = 10 * time.Second

const maxHeaders = 64 << 10 // bytes that a program may print

// Helper is a shell command that prints headers: a JSON object of texts.
type Helper struct {
	Script  string
	Dir     string
	Environ []string
	Watcher child.Watcher // ends the command if this program no longer can; may be nil
	Box     *box.Box      // contains the command; nil contains nothing
}

// Print runs the command and returns the headers. No error holds anything that it
// printed.
func (h Helper) Print(ctx context.Context) (map[string]string, error) {
	var printed limitedBuffer
	// The log would hold the command, which may hold a key.
	runner := &child.Runner{MaxOutput: maxHeaders, Logger: slog.New(slog.DiscardHandler), Watcher: h.Watcher, Box: h.Box}
	result, err := runner.Run(ctx, child.Command{
		Script: h.Script, Dir: h.Dir, Environ: h.Environ, Timeout: HelperTimeout, Quiet: true,
		Data: func(io.Writer) io.WriteCloser { return &printed },
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, errors.New(`"headersHelper" cannot be run`) // err names the command, which may hold a key
	case result.TimedOut:
		return nil, fmt.Errorf(`"headersHelper" did not end within %s`, HelperTimeout)
	case result.Exit != 0:
		return nil, fmt.Errorf(`"headersHelper" failed (%s); run it in a shell to see why`, result.State)
	}
	var headers map[string]string
	if json.Unmarshal(printed.text.Bytes(), &headers) != nil || headers == nil {
		return nil, errors.New(`"headersHelper" must print one JSON object of texts, such as {"X-Key": "…"}`)
	}
	for name, value := range headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, errors.New(`"headersHelper" printed a header that HTTP does not allow`)
		}
	}
	return headers, nil
}

// limitedBuffer keeps the beginning of what is written to it.
type limitedBuffer struct{ text bytes.Buffer }

// Write keeps a part of the output.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.text.Write(p[:min(len(p), maxHeaders-b.text.Len())])
	return len(p), nil
}

// Close does nothing.
func (b *limitedBuffer) Close() error { return nil }

// HelperTransport adds the headers that a program prints to requests. It runs the
// program for the first request, and again after the server has refused them. It is
// safe for concurrent use.
type HelperTransport struct {
	Base  http.RoundTripper
	Print func(context.Context) (map[string]string, error)

	mu      sync.Mutex
	headers map[string]string // nil before the program ran
}

// HelperError reports that the program has not printed headers. The request was not
// sent.
type HelperError struct{ err error }

func (e *HelperError) Error() string { return e.err.Error() }
func (e *HelperError) Unwrap() error { return e.err }

// RoundTrip sends a request with the headers. If the server refuses them with 401 and
// the program now prints others, it sends the request once more.
func (t *HelperTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := t.current(r.Context(), nil)
	if err != nil {
		return nil, err
	}
	response, err := t.Base.RoundTrip(with(r, sent))
	if err != nil || response.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil {
		return response, err
	}
	next, err := t.current(r.Context(), sent)
	if err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	if maps.Equal(next, sent) {
		return response, nil
	}
	_ = response.Body.Close()
	again := with(r, next)
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.Base.RoundTrip(again)
}

// current returns the headers. It runs the program if they are not known yet, or are
// still the refused ones.
func (t *HelperTransport) current(ctx context.Context, refused map[string]string) (map[string]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.headers != nil && (refused == nil || !maps.Equal(t.headers, refused)) {
		return t.headers, nil
	}
	headers, err := t.Print(ctx)
	if err != nil {
		return nil, &HelperError{err}
	}
	t.headers = headers
	return headers, nil
}

func with(r *http.Request, headers map[string]string) *http.Request {
	r = r.Clone(r.Context())
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return r
}
