package op

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient/builtin"
	"replan/planning/plan"
)

// Call is one tools/call as an operator sees it.
type Call struct {
	Tool     string            // the name of the operator
	Preview  bool              // it asks what would be changed
	Contents bool              // it asks for the text of the file before and after, too
	Hashes   map[string]string // nil where the call was not approved against anything
	Diff     string            // the DiffHash of what it was approved with
	Command  *plan.Command     // that it was approved with; nil where it was not
	Run      string            // that it belongs to, "" for none
	Hold     bool              // it may not remove most of a file
	args     []argument
	raw      json.RawMessage
	progress mcp.ProgressToken // nil if nothing listens
}

func newCall(t Tool, req mcp.CallToolRequest) (Call, error) {
	c := Call{Tool: t.Name, args: t.args, raw: req.Params.RawArguments}
	if len(c.raw) == 0 && req.Params.Arguments != nil {
		raw, err := json.Marshal(req.Params.Arguments)
		if err != nil {
			return Call{}, fmt.Errorf("reading the arguments of %s: %w", t.Name, err)
		}
		c.raw = raw
	}
	if req.Params.Meta == nil {
		return c, nil
	}
	meta := req.Params.Meta.AdditionalFields
	c.progress = req.Params.Meta.ProgressToken
	c.Preview, _ = meta[builtin.MetaPreview].(bool)
	if c.Preview && !t.previews && !t.readOnly {
		return Call{}, fmt.Errorf("%s cannot preview its changes", t.Name)
	}
	c.Contents, _ = meta[builtin.MetaContents].(bool)
	c.Hold, _ = meta[builtin.MetaHold].(bool)
	if run, of := meta[builtin.MetaRun]; of {
		c.Run, _ = run.(string)
		if err := plan.CheckID(c.Run); err != nil {
			return Call{}, fmt.Errorf("%s of the call must be the id of a run: %w", builtin.MetaRun, err)
		}
	}
	c.Diff, _ = meta[builtin.MetaDiff].(string)
	if command, ok := meta[builtin.MetaCommand]; ok && command != nil {
		raw, err := json.Marshal(command)
		if err == nil {
			err = json.Unmarshal(raw, &c.Command)
		}
		if err != nil {
			return Call{}, fmt.Errorf("%s of the call must be an object of argv and dir: %w", builtin.MetaCommand, err)
		}
	}
	approved, ok := meta[builtin.MetaHashes]
	if !ok || approved == nil {
		return c, nil
	}
	hashes, ok := approved.(map[string]any)
	if !ok {
		return Call{}, fmt.Errorf("%s of the call must be an object of file names and hashes", builtin.MetaHashes)
	}
	c.Hashes = make(map[string]string, len(hashes))
	for name, v := range hashes {
		hash, ok := v.(string)
		if !ok {
			return Call{}, fmt.Errorf("%s of the call has no text for %q", builtin.MetaHashes, name)
		}
		c.Hashes[PathOf(name)] = hash
	}
	return c, nil
}

// CheckCommand refuses to start another process than the one that was approved.
func (c Call) CheckCommand(now *plan.Command) error {
	if c.Command == nil || slices.Equal(c.Command.Argv, now.Argv) && c.Command.Dir == now.Dir {
		return nil
	}
	return &RefusedError{key: builtin.MetaOutdated, why: "the command changed since it was approved", message: "nothing was started: the command changed since it was approved"}
}

// Sender returns a function that sends output as progress of the call: the message
// is the chunk, the progress the number of bytes so far. It is nil if the client
// asked for no progress.
func (c Call) Sender(ctx context.Context) func(chunk string, bytes int64) error {
	s := server.ServerFromContext(ctx)
	if c.progress == nil || s == nil {
		return nil
	}
	return func(chunk string, bytes int64) error {
		return s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": c.progress, "progress": bytes, "message": chunk,
		})
	}
}

// Status returns a function that says what the call is doing now. The function does
// nothing if the client asked for no progress.
func (c Call) Status(ctx context.Context) func(text string) {
	s := server.ServerFromContext(ctx)
	if c.progress == nil || s == nil {
		return func(string) {}
	}
	return func(text string) {
		// A lost status harms nothing; the next one replaces it.
		_ = s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": c.progress, "progress": 0, "message": text, builtin.StatusField: true,
		})
	}
}

// Limit parses an argument that is a time limit. If it is left out, Limit returns
// usual. A bare number counts seconds.
func (c Call) Limit(given string, usual time.Duration) (time.Duration, error) {
	if given == "" {
		return usual, nil
	}
	if _, err := strconv.ParseUint(given, 10, 32); err == nil {
		given += "s"
	}
	limit, err := time.ParseDuration(given)
	if err != nil || limit <= 0 {
		return 0, fmt.Errorf("the argument timeout of %s is %q; write it like 90s or 5m", c.Tool, given)
	}
	return limit, nil
}

// decode reads the arguments into a struct. Every mistake is one sentence that
// names the argument, because a model reads it and tries again.
func (c Call) decode(into any) error {
	raw := bytes.TrimSpace(c.raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		raw = []byte("{}")
	}
	if err := c.exact(raw); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields() // an argument that is declared and not taken
	err := dec.Decode(into)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		field, within, _ := strings.Cut(wrong.Field, ".")
		if i := slices.IndexFunc(c.args, func(a argument) bool { return a.name == field }); i >= 0 {
			kind := c.args[i].kind
			if inner := cmp.Or(c.args[i].items, c.args[i].values); inner != "" && (within != "" || kind != wrong.Value) {
				kind += " of " + inner
			}
			return fmt.Errorf("the argument %s of %s must be of type %s, not %s", wrong.Field, c.Tool, kind, wrong.Value)
		}
		return fmt.Errorf("the arguments of %s must be an object, not %s", c.Tool, wrong.Value)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the arguments of %s cannot be read: %w", c.Tool, err)
	}
	return c.missing(raw)
}

// exact checks the names of the arguments. The decoder would take PATH for path, and
// the last of two equal names, while whoever approved the call may have read the
// first.
func (c Call) exact(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil //nolint:nilerr // the decoder says what is wrong with it
	}
	given := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil //nolint:nilerr // as above
		}
		switch {
		case !slices.ContainsFunc(c.args, func(a argument) bool { return a.name == name }):
			return fmt.Errorf("%s has no argument %q; it takes %s", c.Tool, name, c.ArgNames())
		case given[name]:
			return fmt.Errorf("%s has the argument %s twice; give it once", c.Tool, name)
		}
		given[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil //nolint:nilerr // as above
		}
	}
	return nil
}

// missing fails for the first required argument that is not given.
func (c Call) missing(raw []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return fmt.Errorf("the arguments of %s cannot be read: %w", c.Tool, err)
	}
	for _, a := range c.args {
		if v, ok := given[a.name]; a.required && (!ok || string(v) == "null") {
			return fmt.Errorf("%s needs the argument %s: %s", c.Tool, a.name, a.description)
		}
	}
	return nil
}

// ArgNames lists the arguments that the operator takes.
func (c Call) ArgNames() string {
	names := make([]string, len(c.args))
	for i, a := range c.args {
		names[i] = a.name
	}
	return strings.Join(names, ", ")
}
