package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// tape is a transport that serves one request and keeps the lines of its answer
// beside what the API's own client makes of them. That client reads every number
// as a float64, and takes the rest of a torn line for words of the server.
type tape struct {
	base http.RoundTripper

	status int
	body   io.ReadCloser
	kept   bytes.Buffer
	broke  error // why the body ended, other than in good order
}

// RoundTrip starts anew where a redirect has come before.
func (t *tape) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	t.kept.Reset()
	t.broke = nil
	t.status, t.body, resp.Body = resp.StatusCode, resp.Body, t
	return resp, nil
}

func (t *tape) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	t.kept.Write(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		t.broke = err
	}
	return n, err
}

func (t *tape) Close() error { return t.body.Close() }

// line takes the next line off the tape.
func (t *tape) line() []byte {
	line, _ := t.kept.ReadBytes('\n') // the last may end without one
	return line
}

// torn says whether the tape ends in the middle of a line.
func (t *tape) torn() bool {
	rest := t.kept.Bytes()
	rest = rest[bytes.LastIndexByte(rest, '\n')+1:]
	return len(rest) > 0 && !json.Valid(rest)
}
