package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"replan/planning/prompt"
)

// explain converts an error into one that says what to do. The cause of a
// canceled ctx comes first, since connection errors then only follow from it.
func (c *Client) explain(ctx context.Context, info prompt.ModelInfo, err error) error {
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		var late *TimeoutError
		if errors.Is(cause, ctx.Err()) || errors.As(cause, &late) {
			return fmt.Errorf("asking the model at %s: %w", c.base, cause)
		}
		return fmt.Errorf("asking the model at %s: %w (%w)", c.base, ctx.Err(), cause)
	}
	if tooLong(serverMessage(err)) {
		return &PromptTooLongError{Model: info.Name, ContextWindow: info.ContextWindow, Err: err}
	}
	var cut *CutStreamError
	var stalled *StalledError
	if errors.As(err, &cut) || errors.As(err, &stalled) || errors.Is(err, prompt.ErrNoModel) {
		return err
	}
	if silent(err) {
		return c.unanswered(info.Name, err)
	}
	code, words := status(err)
	switch {
	case missingModel(err):
		return c.missing(ctx, info.Name, err)
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return noModel(err, "the server at %s has no chat API: it is not Ollama or too old; update it, or choose another with --host", c.base)
	case code == http.StatusServiceUnavailable:
		return fmt.Errorf("the Ollama at %s is busy with other requests; try again later: %w", c.base, err)
	case code == http.StatusUnauthorized:
		return fmt.Errorf("the Ollama at %s needs you to sign in with `ollama signin`: %w", c.base, err)
	}
	if words == "" {
		words = err.Error()
	}
	if sentence := remedy(info.Name, words); sentence != "" {
		return fmt.Errorf("%s (Ollama at %s: %w)", sentence, c.base, err)
	}
	return fmt.Errorf("asking %s at %s, whose log may say more: %w", info.Name, c.base, err)
}

// unanswered returns the error for a request that got no answer at all.
func (c *Client) unanswered(name string, err error) error {
	if refusedToDial(err) {
		return c.unreachable(err)
	}
	return &CutStreamError{Model: name, Err: reason(err)}
}

// remedy returns what to do about an error message of the server for a model, ""
// if unknown. It matches the text, because Ollama sends most errors with the same
// status, or in the middle of a reply.
func remedy(name, words string) string {
	words = strings.ToLower(words)
	mentions := func(these ...string) bool { return containsAny(words, these...) }
	switch {
	case mentions("more system memory", "out of memory", "out of device memory", "outofdevicememory", "malloc failed", "not enough memory",
		"insufficient memory", "failed to allocate", "unable to allocate", "allocation failed"):
		return fmt.Sprintf("there is not enough memory for %s: choose a smaller --model or context window, or close other programs", name)
	case mentions("process has terminated", "process no longer running", "runner has unexpectedly stopped"):
		return fmt.Sprintf("the process of %s died, usually for lack of memory: try again, then choose a smaller --model or context window", name)
	case mentions("does not support tools"):
		return fmt.Sprintf("%s cannot call tools: choose another --model", name)
	case refusesThinking(words):
		return fmt.Sprintf("%s does not support this thinking level: set its thinking to auto or off", name)
	case mentions("does not support chat"):
		return fmt.Sprintf("%s cannot chat: choose another --model", name)
	case mentions("parsing tool call", "parse tool call"):
		return fmt.Sprintf("%s wrote a tool call that Ollama cannot parse: ask again, or choose another --model", name)
	case refusesFormat(words):
		return fmt.Sprintf("Ollama cannot constrain %s to the requested format: update Ollama, or choose another --model", name)
	case mentions("newer version of ollama", "compatible with your version of ollama"):
		return fmt.Sprintf("this Ollama cannot run %s: update Ollama, or choose another --model", name)
	default:
		return ""
	}
}

// containsAny reports whether words contain one of these.
func containsAny(words string, these ...string) bool {
	return slices.ContainsFunc(these, func(w string) bool { return strings.Contains(words, w) })
}

// tooLong reports whether an error message says that the prompt does not fit.
func tooLong(words string) bool {
	return strings.Contains(words, "exceeds the context length") || strings.Contains(words, "exceeds maximum context length") ||
		strings.Contains(words, "exceeds the available context size")
}
