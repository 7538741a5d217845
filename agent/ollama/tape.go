package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/ollama/ollama/api"

	"replan/planning/prompt"
)

// tape is a transport for one request that adds its purpose as a header and records the
// lines of the response for a second reading. The API's own client sends no headers of a
// request, and reads every number as a float64. It takes the rest of a torn line for a
// message of the server.
type tape struct {
	base    http.RoundTripper
	purpose string // value of [prompt.PurposeHeader]; "" sends none

	status int
	body   io.ReadCloser
	kept   bytes.Buffer
	framed bool  // HTTP says where the body ends, so that no break looks like its end
	broke  error // why the body ended early, nil if it ended cleanly
}

// RoundTrip restarts the recording after a redirect.
func (t *tape) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.purpose != "" {
		req = req.Clone(req.Context()) // a transport must not change it
		req.Header.Set(prompt.PurposeHeader, t.purpose)
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	t.kept.Reset()
	t.broke = nil
	t.framed = resp.ProtoMajor > 1 || resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0
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

// line removes and returns the next recorded line.
func (t *tape) line() []byte {
	line, _ := t.kept.ReadBytes('\n') // the last line may lack a line break
	return line
}

// refusal returns the error that the status stands for, nil for none.
func (t *tape) refusal() error {
	if t.status < http.StatusBadRequest {
		return nil
	}
	return api.StatusError{StatusCode: t.status, Status: http.StatusText(t.status)}
}

// breach returns why the body ended early, nil if it ended cleanly.
func (t *tape) breach() error { return t.broke }

// ended reports whether the body ended where HTTP says, and behind a whole line.
func (t *tape) ended() bool {
	return t.framed && t.broke == nil && t.status < http.StatusBadRequest && len(bytes.TrimSpace(t.kept.Bytes())) == 0
}

// torn reports whether the recording ends in the middle of a line.
func (t *tape) torn() bool {
	rest := t.kept.Bytes()
	rest = rest[bytes.LastIndexByte(rest, '\n')+1:]
	return len(rest) > 0 && !json.Valid(rest)
}
