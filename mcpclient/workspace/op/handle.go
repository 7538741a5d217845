package op

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/redact"
	"replan/mcpclient/builtin"
)

// UnsureError is a failure after which the state on disk is unknown. It is reported
// as a failure of the call, never as an answer of the tool.
type UnsureError struct{ Err error }

func (e *UnsureError) Error() string { return e.Err.Error() }

// Unwrap returns the failure itself.
func (e *UnsureError) Unwrap() error { return e.Err }

// RefusedError refuses a call that needs a new approval. Nothing was changed. The
// reason is also in the `_meta` of the answer, so that the client can ask again.
type RefusedError struct {
	key     string // of `_meta`
	why     string
	message string
}

func (e *RefusedError) Error() string { return e.message }

// Outdated refuses a call that would no longer do what was approved. See
// [builtin.MetaOutdated].
func Outdated(why string) error {
	why = Name(why) // it names a file
	return &RefusedError{key: builtin.MetaOutdated, why: why, message: why + "; look at the new diff"}
}

// Removal refuses a change that removes most of a file and was not approved. See
// [builtin.MetaRemoves].
func Removal(removes string) error {
	return &RefusedError{key: builtin.MetaRemoves, why: removes, message: "nothing was changed: this " + removes + ", which has to be approved first"}
}

// Handle answers a request. A refusal by the tool is an answer; an error means that
// the call itself failed.
func (t Tool) Handle(ctx context.Context, req mcp.CallToolRequest, log *slog.Logger) (*mcp.CallToolResult, error) {
	c, err := newCall(t, req)
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	if !t.readOnly && holdsMarker(req.GetArguments()) {
		return mcp.NewToolResultError("the args hold \"" + redact.Marker + "…\", the placeholder of a secret hidden from models; nothing was done: " +
			"leave that part of the file as it is, or have the user change it"), nil
	}
	var result *mcp.CallToolResult
	if err = context.Cause(ctx); err == nil {
		result, err = t.run(ctx, c)
	}
	stopped := ctx.Err() != nil
	if err == nil && (!stopped || !t.readOnly) { // a stopped read may be incomplete, a stopped change is not
		return result, nil
	}
	log.Debug("operator failed", "tool", t.Name, "error", err)
	if stopped {
		return nil, fmt.Errorf("%s was stopped: %w", t.Name, context.Cause(ctx))
	}
	if unsure := new(UnsureError); errors.As(err, &unsure) {
		return nil, err
	}
	if refused := new(RefusedError); errors.As(err, &refused) {
		result := mcp.NewToolResultError(refused.Error())
		result.Meta = mcp.NewMetaFromMap(map[string]any{refused.key: refused.why})
		return result, nil
	}
	return mcp.NewToolResultError(Sentence(err)), nil
}

// holdsMarker reports whether an argument holds the marker of a redacted secret.
// Writing the marker to a file would lose the secret.
func holdsMarker(args map[string]any) bool {
	found := false
	redact.Value(args, func(text string) string {
		found = found || redact.Marks(text) > 0
		return text
	})
	return found
}

// Sentence returns the message of an error. For missing permissions it says what to
// do in place of the system's words.
func Sentence(err error) string {
	var denied *fs.PathError
	if errors.As(err, &denied) && errors.Is(denied, fs.ErrPermission) {
		return strings.Replace(err.Error(), denied.Error(), "you may not open it; change its mode, or leave it out", 1)
	}
	return err.Error()
}
