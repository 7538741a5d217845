package ollama

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"replan/planning/pace"
	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

// CutStreamError reports that a reply ended before the model was done. The server
// or its model died, or the server stopped a model that repeats itself. All
// output received before went to delta.
type CutStreamError struct {
	Model   string
	Bytes   int   // of text received
	Repeats int   // equal pieces at the end
	Err     error // from the server or the connection; io.ErrUnexpectedEOF if they reported none
}

// repeatsGivenUp is the minimum number of equal pieces at the end of a reply that
// the server stops for repetition.
const repeatsGivenUp = 30

func (e *CutStreamError) Error() string {
	if e.Repeats >= repeatsGivenUp && errors.Is(e.Err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("%s repeated itself and Ollama stopped it after %d bytes (%v): rephrase the goal, ask for less at once or choose another --model", e.Model, e.Bytes, e.Err)
	}
	if sentence := remedy(e.Model, e.Err.Error()); sentence != "" {
		return fmt.Sprintf("the reply broke off after %d bytes: %s (%v)", e.Bytes, sentence, e.Err)
	}
	return fmt.Sprintf("the reply of %s broke off after %d bytes (%v): try again; if it persists, check Ollama's log", e.Model, e.Bytes, e.Err)
}

func (e *CutStreamError) Unwrap() error { return e.Err }

// StalledError reports that a model was stopped because it kept thinking without
// ever answering.
type StalledError struct {
	Model string
	Bytes int // of thinking
}

func (e *StalledError) Error() string {
	return fmt.Sprintf("%s was stopped after thinking for %d bytes without an answer: ask for less at once, let it think less or choose another --model", e.Model, e.Bytes)
}

// PromptTooLongError reports that a request does not fit into the context window.
// Nothing was cut from it, and the model never saw it.
type PromptTooLongError struct {
	Model         string
	ContextWindow int    // in tokens
	Part          string // what is too long, as in prompt.Request.TooLong; may be ""
	Err           error  // from the server; nil if the request was not sent
}

func (e *PromptTooLongError) Error() string {
	return fmt.Sprintf("the prompt does not fit the context window of %s (%d tokens): %schoose another --model or a larger context_window", e.Model, e.ContextWindow, e.Part)
}

func (e *PromptTooLongError) Unwrap() []error {
	if e.Err == nil {
		return []error{prompt.ErrTooLong}
	}
	return []error{prompt.ErrTooLong, e.Err}
}

// TimeoutError reports that the time limit of a request expired. It wraps
// context.DeadlineExceeded.
type TimeoutError struct {
	After  time.Duration // the limit
	Silent bool          // the limit bounds the time without output, not the whole request
	Speed  pace.Speed    // that the limit was taken from; zero if the caller set it, or nothing was measured
	Err    error
}

func (e *TimeoutError) Error() string {
	sentence := fmt.Sprintf("the model was not done within %s", e.After)
	if e.Silent {
		sentence = fmt.Sprintf("nothing came from the model for %s", e.After)
	}
	if e.Speed != (pace.Speed{}) {
		sentence += fmt.Sprintf(", although it %s here: check Ollama's log, or set phase_timeout", e.Speed)
	}
	return sentence
}

func (e *TimeoutError) Unwrap() error { return e.Err }

// noModelError is a message that wraps prompt.ErrNoModel.
type noModelError struct {
	sentence string
	cause    error // may be nil
	trouble  prompt.ModelTrouble
}

func (e *noModelError) Error() string { return e.sentence }

func (e *noModelError) Unwrap() []error {
	if e.cause == nil {
		return []error{prompt.ErrNoModel}
	}
	return []error{prompt.ErrNoModel, e.cause}
}

func noModel(cause error, format string, args ...any) error {
	return &noModelError{sentence: fmt.Sprintf(format, args...), cause: cause}
}

// Trouble describes the problem for code that offers help with it.
func (e *noModelError) Trouble() prompt.ModelTrouble {
	t := e.trouble
	if t.Kind == "" {
		t.Kind = prompt.TroubleOther
	}
	return t
}

// silent reports whether the request got no answer at all.
func silent(err error) bool {
	var urlErr *url.Error
	return errors.As(err, &urlErr)
}

// refusedToDial reports whether nothing accepted the connection.
func refusedToDial(err error) bool {
	var opErr *net.OpError
	var dnsErr *net.DNSError
	return errors.As(err, &dnsErr) || errors.As(err, &opErr) && opErr.Op == "dial"
}

// status returns the HTTP status and the server's message; the status is 0 if
// there was none.
func status(err error) (int, string) {
	if statusErr, ok := errors.AsType[api.StatusError](err); ok {
		return statusErr.StatusCode, statusErr.ErrorMessage
	}
	if authErr, ok := errors.AsType[api.AuthorizationError](err); ok {
		return http.StatusUnauthorized, authErr.Error()
	}
	return 0, ""
}

// serverMessage returns the server's message, "" if there is none.
func serverMessage(err error) string {
	if _, words := status(err); words != "" {
		return words
	}
	if cut, ok := errors.AsType[*CutStreamError](err); ok {
		return cut.Err.Error()
	}
	return ""
}

// reason returns the innermost error wrapped by net/http: the cause without a
// repeated address.
func reason(err error) error {
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		err = urlErr.Err
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
