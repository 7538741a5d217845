package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"replan/agent/store"
	"replan/agent/store/journal"
	"replan/agent/store/plans"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// print writes text to standard output.
func (o *options) print(text string) error {
	_, err := io.WriteString(o.io.Out, text)
	return wrap(writing, err)
}

// printJSON writes a value to standard output as one line of JSON.
func (o *options) printJSON(v any) error {
	enc := json.NewEncoder(o.io.Out)
	enc.SetEscapeHTML(false)
	return wrap(writing, enc.Encode(v))
}

// sayTo returns what writes a line to b, whatever came from outside made visible
// and kept from making lines of its own.
func sayTo(b *strings.Builder) func(format string, args ...any) {
	return func(format string, args ...any) {
		text := untrusted.Visible(fmt.Sprintf(format, args...))
		b.WriteString(strings.ReplaceAll(text, "\n", " ") + "\n")
	}
}

// named is the name of a command as the user can type it here: in the chat they
// begin with a slash. Every text that names a command goes through it.
func (o *options) named(command string) string {
	if o.talk != nil {
		return "/" + command
	}
	return "replan " + command
}

// unlessTalking returns what is to be said of flags that the chat does not take.
func (o *options) unlessTalking(text string) string {
	if o.talk != nil {
		return ""
	}
	return text
}

// unopened is the failure of a plan, a run or a session that cannot be opened.
func (o *options) unopened(err error) error {
	code := "unreadable"
	var unknown *store.NotFoundError
	if errors.As(err, &unknown) {
		err = fmt.Errorf("%w; %q shows those there are", err, o.named(map[string]string{"run": "runs list", "plan": "plan list"}[unknown.Kind]))
	}
	var ambiguous *plan.AmbiguousIDError
	var damaged *journal.DamageError
	switch {
	case errors.As(err, &ambiguous):
		code = "ambiguous"
	case errors.Is(err, plan.ErrUnknownID), errors.Is(err, fs.ErrNotExist):
		code = "unknown"
	case errors.Is(err, journal.ErrLocked):
		code = "locked"
	case errors.Is(err, plans.ErrExists):
		code = "exists"
	case errors.As(err, &damaged), errors.Is(err, journal.ErrEmpty):
		code = "damaged"
	}
	return &failure{exit: exitUsage, code: code, err: err}
}
