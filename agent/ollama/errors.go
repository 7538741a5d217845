package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

// CutStreamError says that a reply ended before the model was done: the server
// or its model died, or the server gave up a model that repeats itself. What
// had come in until then has gone to delta.
type CutStreamError struct {
	Model   string
	Bytes   int   // of text that had come in
	Repeats int   // pieces at the end that were all the same
	Err     error // what the server or the connection said; io.ErrUnexpectedEOF where they said nothing
}

// repeatsGivenUp is how many equal pieces a reply that the server gives up for
// repeating itself has at least.
const repeatsGivenUp = 30

func (e *CutStreamError) Error() string {
	if e.Repeats >= repeatsGivenUp && errors.Is(e.Err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("%s repeated itself and was given up by Ollama after %d bytes (%v): say it differently, ask for less at once or choose another --model", e.Model, e.Bytes, e.Err)
	}
	if sentence := remedy(e.Model, e.Err.Error()); sentence != "" {
		return fmt.Sprintf("the reply broke off after %d bytes: %s (%v)", e.Bytes, sentence, e.Err)
	}
	return fmt.Sprintf("the reply of %s broke off after %d bytes (%v): try again, and look into Ollama's log if it stays so", e.Model, e.Bytes, e.Err)
}

func (e *CutStreamError) Unwrap() error { return e.Err }

// StalledError says that a model thought on and on and never came to an answer.
// It was stopped.
type StalledError struct {
	Model string
	Bytes int // of thought
}

func (e *StalledError) Error() string {
	return fmt.Sprintf("%s thought on for %d bytes without a word of an answer and was stopped: ask for less at once, have it think less or choose another --model", e.Model, e.Bytes)
}

// PromptTooLongError says that a request does not fit into the context window.
// Nothing was cut from it and the model never saw it.
type PromptTooLongError struct {
	Model         string
	ContextWindow int // tokens there is room for
	Err           error
}

func (e *PromptTooLongError) Error() string {
	return fmt.Sprintf("the request is longer than the %d tokens that %s is given room for: shorten it, raise the context window or choose another --model", e.ContextWindow, e.Model)
}

func (e *PromptTooLongError) Unwrap() error { return e.Err }

// TimeoutError says that the time limit of a request ran out. It wraps
// context.DeadlineExceeded.
type TimeoutError struct {
	After  time.Duration // the limit
	Silent bool          // it bounds the time in which nothing comes, not the whole
	Err    error
}

func (e *TimeoutError) Error() string {
	if e.Silent {
		return fmt.Sprintf("nothing came from the model for %s", e.After)
	}
	return fmt.Sprintf("the model was not done within %s", e.After)
}

func (e *TimeoutError) Unwrap() error { return e.Err }

// noModelError is a sentence that wraps prompt.ErrNoModel.
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

// Trouble is what is wrong, for those who help with it.
func (e *noModelError) Trouble() prompt.ModelTrouble {
	t := e.trouble
	if t.Kind == "" {
		t.Kind = prompt.TroubleOther
	}
	return t
}

// because says what is wrong beside the sentence of a noModel.
func (c *Client) because(err error, kind prompt.TroubleKind, model string, there []api.ListModelResponse) error {
	var e *noModelError
	if errors.As(err, &e) {
		e.trouble = prompt.ModelTrouble{Kind: kind, Host: c.base.String(), Model: model}
		for _, m := range there {
			e.trouble.Models = append(e.trouble.Models, m.Name)
		}
	}
	return err
}

// silent says whether nobody answered at all: the request never got an answer.
func silent(err error) bool {
	var urlErr *url.Error
	return errors.As(err, &urlErr)
}

// refusedToDial says whether there was nobody to connect to.
func refusedToDial(err error) bool {
	var opErr *net.OpError
	var dnsErr *net.DNSError
	return errors.As(err, &dnsErr) || errors.As(err, &opErr) && opErr.Op == "dial"
}

// status is the HTTP status and the server's words, 0 where it gave none.
func status(err error) (int, string) {
	var statusErr api.StatusError
	if errors.As(err, &statusErr) {
		return statusErr.StatusCode, statusErr.ErrorMessage
	}
	var authErr api.AuthorizationError
	if errors.As(err, &authErr) {
		return http.StatusUnauthorized, authErr.Error()
	}
	return 0, ""
}

// said is the server's own words, "" where it said nothing.
func said(err error) string {
	if _, words := status(err); words != "" {
		return words
	}
	var cut *CutStreamError
	if errors.As(err, &cut) {
		return cut.Err.Error()
	}
	return ""
}

// unreachable is the sentence for a server that does not answer at all.
func (c *Client) unreachable(err error) error {
	if refusedToDial(err) {
		return c.because(noModel(err, "Ollama does not answer at %s: start it with `ollama serve`, or name another with --host", c.base), prompt.TroubleUnreachable, "", nil)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return c.because(noModel(err, "Ollama at %s takes connections but does not answer: start it anew with `ollama serve`, or name another with --host", c.base), prompt.TroubleUnreachable, "", nil)
	}
	return c.because(noModel(err, "what answers at %s does not speak as Ollama does (%v): start `ollama serve` there, or name another with --host", c.base, reason(err)), prompt.TroubleUnreachable, "", nil)
}

// reason is the innermost of the errors that net/http wraps: what went wrong,
// without the address a second time.
func reason(err error) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
