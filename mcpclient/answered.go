package mcpclient

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// answeredError is an error that the server returned in answer to a request.
type answeredError struct {
	code    int // of JSON-RPC; 0 if there is none
	message string
	status  int      // of HTTP, if it is an error; else 0
	scopes  []string // that the server wants of the token
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
// After any other error, such as an internal one, the effect is unknown.
func (e *answeredError) refuses() bool {
	if isRefusal(e.status) {
		return true
	}
	switch e.code {
	case mcp.INVALID_REQUEST, mcp.METHOD_NOT_FOUND, mcp.INVALID_PARAMS,
		mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION:
		return true
	default:
		return false
	}
}

// isRefusal reports whether an HTTP status says that the request was wrong.
func isRefusal(status int) bool {
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError
}
