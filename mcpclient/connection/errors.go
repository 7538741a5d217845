package connection

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/oauth"
)

// maxRefusal is how many characters of the reason for a refusal are shown.
const maxRefusal = 300

// ErrBroken reports a connection or stream that ended before the answer.
var ErrBroken = errors.New("the server closed the connection before it answered")

// NotSent reports whether the connection failed before anything was sent.
func NotSent(err error) bool {
	var network *net.OpError
	return unprepared(err) != nil || errors.As(err, &network) && network.Op == "dial"
}

// unprepared returns the error because of which a request got no token or no headers,
// so that it was not sent; else nil.
func unprepared(err error) error {
	if refresh, ok := errors.AsType[*oauth.RefreshError](err); ok {
		return refresh
	}
	if helper, ok := errors.AsType[*oauth.HelperError](err); ok {
		return helper
	}
	return nil
}

// Plain strips the library's wording and the address, which may hold a secret,
// from an error.
func Plain(err error) error {
	if why := unprepared(err); why != nil {
		return why
	}
	if address, ok := errors.AsType[*url.Error](err); ok {
		if NotSent(address) {
			return fmt.Errorf("cannot be reached: %w", address.Err)
		}
		return fmt.Errorf("the connection failed: %w", address.Err)
	}
	if wrapped, ok := errors.AsType[*transport.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// IsNetwork reports whether an error is one of the network.
func IsNetwork(err error) bool {
	_, ok := errors.AsType[*url.Error](err)
	return ok || errors.Is(err, ErrBroken)
}

// AnsweredError is an error that the server returned in answer to a request.
type AnsweredError struct {
	code    int // of JSON-RPC; 0 if there is none
	message string
	status  int      // of HTTP, if it is an error; else 0
	scopes  []string // that the server wants of the token
	data    any      // of JSON-RPC
}

// answeredBy returns an error of JSON-RPC.
func answeredBy(e *mcp.JSONRPCErrorDetails) *AnsweredError {
	return &AnsweredError{code: e.Code, message: e.Message, data: e.Data}
}

// pages returns the pages that the user must visit before the call, if the error says so.
func (e *AnsweredError) pages() []mcp.ElicitationParams {
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

func (e *AnsweredError) Error() string {
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

// Refuses reports whether the server rejected the call before it did anything.
func (e *AnsweredError) Refuses() bool {
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

// Fails reports whether the server says that the call failed. A gateway says no such thing if
// it gives up on a server that does not answer. It sends its own HTTP error, or the error with
// which the SDKs report a time-out or a lost connection.
func (e *AnsweredError) Fails() bool {
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
