package incoming

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/timelimit"
	"replan/internal/untrusted"
	"replan/planning/form"
	"replan/planning/plan"
)

const (
	// MaxQuestions is the maximum number of questions in one call.
	MaxQuestions = 10

	maxText    = 4000     // characters of a question
	maxSchema  = 64 << 10 // bytes of a form
	maxAddress = 2000     // bytes of the address of a page
)

// Handler answers the requests of one server. It is safe for concurrent use.
type Handler struct {
	server string
	root   string // the workspace; "" tells nothing
	log    *slog.Logger

	mu    sync.Mutex
	calls []*call // in progress, oldest first
}

// New returns the handler for a server. root is the absolute path of the workspace, or
// "" to offer the server no root.
func New(server, root string, log *slog.Logger) *Handler {
	return &Handler{server: server, root: root, log: log}
}

// Attach declares what this program does for a server, and handles its requests. It
// must be called before the client starts. Sampling is not offered.
func (h *Handler) Attach(c *client.Client) {
	set := []client.ClientOption{
		client.WithClientCapabilities(mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}}),
		client.WithElicitationHandler(h), client.WithMaxInputRoundTrips(MaxQuestions),
	}
	if h.root != "" {
		set = append(set, client.WithRootsHandler(h)) // which declares the capability too
	}
	for _, option := range set {
		option(c)
	}
}

// ListRoots names the workspace to a server that asks which folders it may use.
func (h *Handler) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	path := filepath.ToSlash(h.root)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	uri := (&url.URL{Scheme: "file", Path: path}).String()
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: uri, Name: filepath.Base(h.root)}}}, nil
}

// call is a call in progress, during which the server may ask the user.
type call struct {
	plan.ToolCall
	ctx   context.Context
	limit *timelimit.Limit
	asked atomic.Int32 // questions
}

// callKey is the context key of the *call of a request.
type callKey struct{}

// During notes a call in progress. It returns the context with which to send the
// request, and a function to call when it has ended.
func (h *Handler) During(ctx context.Context, limit *timelimit.Limit, of plan.ToolCall) (within context.Context, end func()) {
	c := &call{ToolCall: of, ctx: ctx, limit: limit}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, c)
	return context.WithValue(ctx, callKey{}, c), func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.calls = slices.DeleteFunc(slices.Clone(h.calls), func(other *call) bool { return other == c })
	}
}

// asking returns the call that a question belongs to, and the calls whose time does
// not run meanwhile. Over stdio, servers of older protocols do not say which call
// asks. Then it is the newest, and the clocks of all stop.
func (h *Handler) asking(ctx context.Context) (c *call, held []*call) {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c, []*call{c}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.calls) == 0 {
		return nil, nil
	}
	return h.calls[len(h.calls)-1], slices.Clone(h.calls)
}

// Elicit asks the user a question of the server. It declines questions outside of
// calls, those that no user can answer, and too many of them.
func (h *Handler) Elicit(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	answer := plan.ElicitationAnswer{Action: plan.ElicitationDecline}
	c, held := h.asking(ctx)
	question, err := h.question(request.Params)
	switch {
	case c == nil:
		err = errors.New("it belongs to no call")
	case c.Elicit == nil:
		err = errors.New("nobody can answer")
	case c.asked.Add(1) > MaxQuestions:
		err = errors.New("the call asks too much")
	}
	if err == nil {
		for _, other := range held {
			defer other.limit.Hold()()
		}
		answer = c.Elicit(c.ctx, question)
	} else {
		h.log.Warn("a question of the server is declined", "reason", err)
	}
	result := &mcp.ElicitationResult{}
	result.Action = mcp.ElicitationResponseAction(answer.Action)
	if answer.Action == plan.ElicitationAccept && answer.Content != nil {
		result.Content = answer.Content
	}
	return result, nil
}

// AskToVisit asks the user to visit the pages that a server wants visited before it
// carries out a call, and returns the outcome. ctx is that of the call, see
// [Handler.During]. The server does not say when the user is done there, so the call is
// not repeated.
func (h *Handler) AskToVisit(ctx context.Context, pages []mcp.ElicitationParams) string {
	for _, page := range pages {
		page.Mode = mcp.ElicitationModeURL
		answer, err := h.Elicit(ctx, mcp.ElicitationRequest{Params: page})
		if err != nil || answer.Action != mcp.ElicitationResponseActionAccept {
			return "the server wants you to visit a page first, which was declined: " + untrusted.Line(page.URL)
		}
	}
	return "the server wants you to finish on its page first; then run the call again"
}

// question returns a question as the user sees it, or why it cannot be asked.
func (h *Handler) question(p mcp.ElicitationParams) (plan.Elicitation, error) {
	q := plan.Elicitation{Server: h.server, Message: untrusted.Text(p.Message)}
	if runes := []rune(p.Message); len(runes) > maxText {
		q.Message = untrusted.Text(runes[:maxText-1]) + "…"
	}
	if p.Mode == mcp.ElicitationModeURL {
		page, err := url.Parse(p.URL)
		if err != nil || page.Scheme != "https" && page.Scheme != "http" || page.Host == "" || page.User != nil || len(p.URL) > maxAddress {
			return q, errors.New("the page to open has no plain web address")
		}
		q.URL = page.String()
		return q, nil
	}
	schema, err := json.Marshal(p.RequestedSchema)
	switch {
	case err != nil:
		return q, err
	case len(schema) > maxSchema:
		return q, errors.New("its form is too long")
	}
	q.Schema = schema
	_, err = form.Parse(schema)
	return q, err
}

// Answerable reports whether the requests of an input_required result (protocol
// 2026-07-28) can all be answered.
func Answerable(requests map[string]json.RawMessage) bool {
	for _, raw := range requests {
		var r struct {
			Method mcp.MCPMethod `json:"method"`
		}
		if json.Unmarshal(raw, &r) != nil || r.Method != mcp.MethodElicitationCreate && r.Method != mcp.MethodListRoots {
			return false
		}
	}
	return true
}
