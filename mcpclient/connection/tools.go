package connection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient/builtin"
	"replan/mcpclient/config"
	"replan/mcpclient/pin"
	"replan/planning/plan"
)

const (
	maxPages = 100   // per list
	maxTools = 5_000 // per server
	maxNames = 3     // in a note
)

// Listing is what a server says of its tools.
type Listing struct {
	Tools []plan.Tool
	Texts map[string]string // all that the server says of each tool, by name; empty for a server in this process
	Note  string            // about tools that are left out since they cannot be used, "" for none
	Tasks string            // names of the tools that are left out since they run only as tasks, "" for none
}

// toolList lists the tools of a server.
type toolList struct {
	client  *client.Client
	tap     *tap
	server  string
	builtin bool // the server is in this process

	mu    sync.Mutex
	fresh time.Time // the list holds until then; zero has no end
}

// list lists the tools. A server without tools is valid.
func (l *toolList) list(ctx context.Context) (Listing, error) {
	listed, err := l.pages(ctx)
	if errors.Is(err, mcp.ErrMethodNotFound) {
		return Listing{}, nil
	}
	if err != nil {
		return Listing{}, err
	}
	var notes []string
	if len(listed) > maxTools {
		notes = append(notes, fmt.Sprintf("left out all tools after the first %d of %d", maxTools, len(listed)))
		listed = listed[:maxTools]
	}
	var out, wrong, tasks []string
	found := Listing{Texts: map[string]string{}}
	for _, t := range listed {
		if t.Execution.TaskSupport == mcp.TaskSupportRequired {
			tasks = append(tasks, strconv.Quote(t.Name))
			continue
		}
		if _, seen := found.Texts[t.Name]; seen || !config.ValidName(t.Name) {
			out = append(out, strconv.Quote(t.Name))
			continue
		}
		if err := l.misplaced(t); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s (%s)", t.Name, plan.OneLine(untrusted.Visible(err.Error()), maxRefusal)))
			continue
		}
		found.Texts[t.Name] = ""
		if !l.builtin {
			found.Texts[t.Name] = t.text()
		}
		found.Tools = append(found.Tools, t.planned(l.server, l.builtin))
	}
	if len(out) > 0 {
		notes = append(notes, "left out tools whose names cannot be used or come twice: "+english.First(out, maxNames))
	}
	if len(wrong) > 0 {
		notes = append(notes, "left out tools that ask for arguments in headers as the protocol forbids: "+english.First(wrong, maxNames))
	}
	found.Note, found.Tasks = strings.Join(notes, "; "), english.First(tasks, maxNames)
	return found, nil
}

// misplaced returns what is wrong with how a tool asks for arguments in HTTP headers, else
// nil. A client must leave such a tool out; other transports have no headers.
func (l *toolList) misplaced(t listedTool) error {
	if _, overHTTP := l.client.GetTransport().(transport.HTTPConnection); !overHTTP || !mcp.IsModernProtocol(l.client.ProtocolVersion()) {
		return nil
	}
	return mcp.ValidateParamHeaderAnnotations(&mcp.Tool{RawInputSchema: t.InputSchema})
}

func (l *toolList) pages(ctx context.Context) ([]listedTool, error) {
	var all []listedTool
	var request mcp.ListToolsRequest
	seen := map[mcp.Cursor]bool{"": true}
	for range maxPages {
		l.tap.forget()
		_, err := l.client.ListToolsByPage(ctx, request)
		// The library's types lose everything in a schema but its properties, and
		// reject a whole list because of one odd schema. So read the wire format.
		page, ok := l.tap.page()
		if !ok {
			if err == nil {
				err = errors.New("the answer is not a list of tools")
			}
			return nil, err
		}
		all = append(all, page.Tools...)
		l.expires(page.TTL)
		next := mcp.Cursor(page.NextCursor)
		if seen[next] {
			return all, nil
		}
		seen[next] = true
		request.Params.Cursor = next
	}
	return nil, fmt.Errorf("the list has more than %d pages", maxPages)
}

// expires notes for how many milliseconds the list of tools holds. It matters only
// if the server does not report changes.
func (l *toolList) expires(ttl int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = time.Time{}
	if tools := l.client.GetServerCapabilities().Tools; ttl > 0 && tools != nil && !tools.ListChanged {
		l.fresh = time.Now().Add(time.Duration(ttl) * time.Millisecond)
	}
}

// stale reports whether the list of tools no longer holds.
func (l *toolList) stale() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.fresh.IsZero() && time.Now().After(l.fresh)
}

// listedTool is a tool in the wire format.
type listedTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  struct {
		ReadOnly    *bool `json:"readOnlyHint,omitempty"`
		Destructive *bool `json:"destructiveHint,omitempty"`
		Idempotent  *bool `json:"idempotentHint,omitempty"`
		OpenWorld   *bool `json:"openWorldHint,omitempty"`
	} `json:"annotations"`
	Execution struct {
		TaskSupport mcp.TaskSupport `json:"taskSupport"`
	} `json:"execution"`
	Meta map[string]any `json:"_meta"`
}

// text returns all that the server says of the tool.
func (t listedTool) text() string {
	hints, _ := json.Marshal(t.Annotations) // cannot fail
	return pin.Tool{Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Annotations: hints}.Text()
}

func (t listedTool) planned(serverName string, isBuiltin bool) plan.Tool {
	hints := t.Annotations
	is := func(hint *bool) bool { return hint != nil && *hint }
	tool := plan.Tool{
		Name: t.Name, Server: serverName, Description: t.Description,
		ReadOnly:    is(hints.ReadOnly),
		Destructive: is(hints.Destructive) && !is(hints.ReadOnly),
		Annotated: hints.ReadOnly != nil || hints.Destructive != nil ||
			hints.Idempotent != nil || hints.OpenWorld != nil,
		OpenWorld: hints.OpenWorld,
		Trusted:   isBuiltin,
		// Many servers read what they keep, change it and write it back, without a lock.
		Serial: !isBuiltin && !is(hints.ReadOnly) && !is(hints.Idempotent),
	}
	if !isBuiltin {
		// A model would read what people cannot see.
		tool.Description = untrusted.Visible(cutDescription(t.Description))
		t.InputSchema, t.OutputSchema = visibleSchema(t.InputSchema), visibleSchema(t.OutputSchema)
	}
	switch size := len(t.InputSchema); {
	case size > plan.MaxInputSchema:
		tool.Description = strings.TrimSpace(fmt.Sprintf("%s (The schema of its arguments is left out, since it has %d KB.)", tool.Description, size>>10))
	case size > 0 && !bytes.Equal(t.InputSchema, []byte("null")):
		tool.InputSchema = t.InputSchema
	}
	if len(t.OutputSchema) <= plan.MaxOutputSchema && !bytes.Equal(t.OutputSchema, []byte("null")) {
		tool.OutputSchema = t.OutputSchema
	}
	// Only the built-in servers are trusted to change nothing.
	tool.Previews = isBuiltin && t.Meta[builtin.MetaPreviews] == true
	tool.Commands = isBuiltin && t.Meta[builtin.MetaCommands] == true
	return tool
}

type toolPage struct {
	Tools      []listedTool `json:"tools"`
	NextCursor string       `json:"nextCursor"`
	TTL        int64        `json:"ttlMs"` // 0 if the server does not say
}

// visibleSchema returns a JSON Schema with its descriptions and titles made visible.
// Names and values stay as they are: calls must hold them.
func visibleSchema(schema json.RawMessage) json.RawMessage {
	if !strings.ContainsFunc(string(schema), func(r rune) bool { return r >= 0x7F || r == '\\' }) {
		return schema // nothing can be hidden in it
	}
	var out strings.Builder
	from := jsontext.NewDecoder(strings.NewReader(string(schema)), jsontext.AllowDuplicateNames(true))
	to := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true))
	describes := false // the next value is a description
	changed := false
	for {
		token, err := from.ReadToken()
		if err != nil {
			break
		}
		if text := token.String(); token.Kind() == '"' {
			kind, n := to.StackIndex(to.StackDepth())
			isKey := kind == '{' && n%2 == 0
			if seen := untrusted.Visible(text); describes && !isKey && seen != text {
				token, changed = jsontext.String(seen), true
			}
			describes = isKey && (text == "description" || text == "title" || text == "$comment")
		} else {
			describes = false
		}
		if err := to.WriteToken(token); err != nil {
			return schema
		}
	}
	if !changed {
		return schema
	}
	return json.RawMessage(strings.TrimSpace(out.String()))
}

// maxDescription is how many bytes of the description of a tool are kept. Its pin
// covers all of it.
const maxDescription = 8 << 10

// cutDescription returns a description with its end left out if it is long.
func cutDescription(text string) string {
	if len(text) <= maxDescription {
		return text
	}
	kept := strings.ToValidUTF8(text[:maxDescription], "")
	return fmt.Sprintf("%s (cut here: the description has %d KB)", kept, len(text)>>10)
}
