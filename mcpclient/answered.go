package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/config"
)

// answeredError is an error that the server returned in answer to a request.
type answeredError struct {
	code    int // of JSON-RPC; 0 if there is none
	message string
	status  int      // of HTTP, if it is an error; else 0
	scopes  []string // that the server wants of the token
	data    any      // of JSON-RPC
}

// pages returns the pages that the user must visit before the call, if the error says so.
func (e *answeredError) pages() []mcp.ElicitationParams {
	if e.code != mcp.URL_ELICITATION_REQUIRED {
		return nil
	}
	var required mcp.URLElicitationRequiredError
	data, err := json.Marshal(e.data)
	if err != nil || json.Unmarshal(data, &required) != nil {
		return nil
	}
	return required.Elicitations
}

func (e *answeredError) Error() string {
	switch {
	case e.status > 0 && e.message == "":
		return "the server answered " + statusWords(e.status)
	case e.status > 0 && !strings.Contains(e.message, http.StatusText(e.status)):
		return fmt.Sprintf("the server answered %s: %s", statusWords(e.status), e.message)
	case e.message == "":
		return fmt.Sprintf("the server answered the call with the error code %d", e.code)
	}
	return e.message
}

// statusWords returns an HTTP status with its name, such as "403 Forbidden".
func statusWords(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// refuses reports whether the server rejected the call before it did anything.
func (e *answeredError) refuses() bool {
	if isRefusal(e.status) {
		return true
	}
	switch e.code {
	case mcp.INVALID_REQUEST, mcp.METHOD_NOT_FOUND, mcp.INVALID_PARAMS,
		mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.URL_ELICITATION_REQUIRED:
		return true
	default:
		return false
	}
}

// fails reports whether the server says that the call failed. A gateway says no such thing if it
// gives up on a server that does not answer: it sends an HTTP error of its own, or the error with
// which the SDKs report a time-out or a lost connection.
func (e *answeredError) fails() bool {
	if e.code == codeConnectionClosed || e.code == codeRequestTimeout {
		words := strings.ToLower(e.message)
		if strings.Contains(words, "connection closed") || strings.Contains(words, "timed out") || strings.Contains(words, "timeout") {
			return false
		}
	}
	return e.status == 0 || e.code != 0
}

// Error codes with which clients of the SDKs report that no answer came.
const (
	codeConnectionClosed = -32000
	codeRequestTimeout   = -32001
)

// isRefusal reports whether an HTTP status says that the request was wrong.
func isRefusal(status int) bool {
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError
}

// startProblem explains why a server did not list its tools.
func (p *Pool) startProblem(ctx context.Context, e *entry, conn *connection, err error) error {
	var answered *answeredError
	switch {
	case err == nil:
		return nil
	case conn.isLost():
		return errors.New(conn.process.reason())
	case ctx.Err() != nil:
		text := fmt.Sprintf("did not answer within %s", p.startTimeout(e.server))
		if conn.process != nil {
			text = conn.process.withLastWords(text)
			if strays := conn.strays(0); strays != "" {
				text += "; " + strays
			}
			if p.cfg.Box != nil && !p.cfg.Box.Network() {
				text += "; it has no network here, which programs such as npx may wait for (npx --offline does not)"
			}
		}
		return errors.New(text)
	case conn.unauthorised(e.server, err) != nil:
		return conn.unauthorised(e.server, err)
	case errors.As(err, &answered) && (answered.status == http.StatusNotFound || answered.status == http.StatusMethodNotAllowed):
		return errors.New(wrongTransport(e.server, answered.status))
	case errors.As(err, &answered) && answered.status > 0 && answered.message == "":
		return fmt.Errorf("refuses the first request (%s)", statusWords(answered.status))
	default:
		return plain(err)
	}
}

// wrongTransport says that a server does not answer as its configuration says.
func wrongTransport(s config.Server, status int) string {
	if s.SSE {
		return fmt.Sprintf(`does not speak the older SSE transport at its url (%s); newer servers need "type": "http"`, statusWords(status))
	}
	return fmt.Sprintf(`does not speak streamable HTTP at its url (%s); older servers need "type": "sse"`, statusWords(status))
}
