package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"replan/internal/untrusted"
	"replan/mcpclient/result"
	"replan/planning/plan"
	"replan/planning/prompt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const (
	maxResources        = 1000             // per server
	maxResourceText     = 64 << 10         // bytes per resource
	resourceListTimeout = 5 * time.Second  // per server; short because a user is typing
	resourceReadTimeout = 20 * time.Second // per resource
)

// Resource is a readable resource of a server.
type Resource struct {
	Server, URI, Name, Description string
	Open                           bool // URI is the beginning of one, which the user completes
}

// Resources lists the resources of all ready servers, in the order of the
// servers. It leaves out servers that do not answer and reports them in the
// error.
func (p *Pool) Resources(ctx context.Context) ([]Resource, error) {
	p.mu.Lock()
	servers := offering(p.entries)
	p.mu.Unlock()
	lists, errs := make([][]Resource, len(servers)), make([]error, len(servers))
	var asked sync.WaitGroup
	for i, server := range servers {
		asked.Go(func() {
			errs[i] = ask(ctx, p, server, resourceListTimeout, func(ctx context.Context, c *connection) (err error) {
				lists[i], err = resources(ctx, c, server)
				return err
			})
		})
	}
	asked.Wait()
	var all []Resource
	for _, list := range lists {
		all = append(all, list...)
	}
	return all, errors.Join(errs...)
}

// offering returns the ready servers that offer resources. The caller holds the mutex
// of the pool.
func offering(entries []*entry) []string {
	var servers []string
	for _, e := range entries {
		if e.state == plan.ServerReady && e.conn != nil && e.conn.offersResources() {
			servers = append(servers, e.server.Name)
		}
	}
	return servers
}

func (c *connection) offersResources() bool { return c.client.GetServerCapabilities().Resources != nil }

// ask sends a request to a ready server, and sends it again in a new session if an HTTP
// server has forgotten the session.
func ask(ctx context.Context, p *Pool, server string, limit time.Duration, send func(context.Context, *connection) error) error {
	within, cancel := p.bounded(ctx, limit)
	defer cancel()
	for again := false; ; again = true {
		e, conn, err := readyEntry(p, server)
		if err != nil {
			return err
		}
		err = send(within, conn)
		p.work.Done()
		if again || !errors.Is(err, transport.ErrSessionTerminated) {
			return err
		}
		p.suspend(e, conn, errors.New("has forgotten the session"))
		p.ReadyFor(within, []string{server + ":*"})
	}
}

// readyEntry returns a ready server with its connection, and registers work of the pool.
func readyEntry(p *Pool, server string) (*entry, *connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, err := findEntry(p, server)
	switch {
	case err != nil:
		return nil, nil, err
	case e.state != plan.ServerReady || e.conn == nil:
		return nil, nil, fmt.Errorf("the MCP server %q is not ready: %s", server, cmp.Or(e.problem, string(e.state)))
	}
	p.work.Add(1)
	return e, e.conn, nil
}

// resourceTool returns the tool that reads resources, nothing if no server has any or
// one has taken the name. The caller holds the mutex of the pool.
func resourceTool(entries []*entry) []plan.Tool {
	servers := offering(entries)
	if len(servers) == 0 || slices.ContainsFunc(entries, func(e *entry) bool { return e.server.Name == plan.ResourceServer }) {
		return nil
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{"server", "uri"},
		"properties": map[string]any{
			"server": map[string]any{"type": "string", "enum": servers, "description": "the server that has the resource"},
			"uri":    map[string]any{"type": "string", "description": "the URI of the resource, as a result or the user names it"},
		},
	})
	if err != nil {
		return nil
	}
	return []plan.Tool{{
		Server: plan.ResourceServer, Name: plan.ResourceTool, InputSchema: schema, ReadOnly: true, Annotated: true,
		Description: "Reads a resource of an MCP server by its URI. Returns its text; what is no text becomes a file.",
	}}
}

// readsResources reports whether a tool is the one of the pool itself that reads
// resources, and not one of a server with the same name.
func (p *Pool) readsResources(t plan.Tool) bool {
	return t.Server == plan.ResourceServer && t.Name == plan.ResourceTool &&
		!slices.ContainsFunc(p.Status(), func(s plan.ServerStatus) bool { return s.Name == plan.ResourceServer })
}

// callResourceTool reads the resource that a call names, for a model.
func callResourceTool(ctx context.Context, p *Pool, call plan.ToolCall) (any, error) {
	server, _ := call.Args["server"].(string)
	uri, _ := call.Args["uri"].(string)
	var reply *mcp.ReadResourceResult
	offers, err := askForResource(ctx, p, server, func(ctx context.Context, c *connection) (err error) {
		var request mcp.ReadResourceRequest
		request.Params.URI = uri
		reply, err = c.client.ReadResource(ctx, request)
		return err
	})
	switch {
	case !offers:
		return nil, notDone(call.Tool, "the server %q offers no resources", server)
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("reading %s: %w", uri, ctx.Err())
	case err != nil:
		return nil, notDone(call.Tool, "the server %s cannot read %s: %s", server, uri, plain(err))
	}
	return result.Resource(call, reply.Contents)
}

// errNoResources reports that a server offers no resources.
var errNoResources = errors.New("it offers no resources")

// askForResource sends a request to a server once it has started. It reports false if no
// such server offers resources.
func askForResource(ctx context.Context, p *Pool, server string, send func(context.Context, *connection) error) (offers bool, err error) {
	if !slices.ContainsFunc(p.Status(), func(s plan.ServerStatus) bool { return s.Name == server }) {
		return false, nil
	}
	p.ReadyFor(ctx, []string{server + ":*"})
	err = ask(ctx, p, server, resourceReadTimeout, func(ctx context.Context, c *connection) error {
		if !c.offersResources() {
			return errNoResources
		}
		return send(ctx, c)
	})
	return !errors.Is(err, errNoResources), err
}

// bounded returns a context that ends with ctx, with the pool or after limit.
func (p *Pool) bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(p.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// resources lists the resources of one server.
func resources(ctx context.Context, c *connection, server string) ([]Resource, error) {
	var out []Resource
	var request mcp.ListResourcesRequest
	seen := map[mcp.Cursor]bool{"": true}
	for range maxPages {
		page, err := c.client.ListResourcesByPage(ctx, request)
		if err != nil {
			return out, fmt.Errorf("the resources of the MCP server %q cannot be listed: %w", server, err)
		}
		for _, r := range page.Resources {
			if len(out) < maxResources && r.URI != "" && !strings.ContainsAny(r.URI, " \"\n") {
				out = append(out, Resource{Server: server, URI: r.URI, Name: r.Name, Description: r.Description})
			}
		}
		if seen[page.NextCursor] {
			break
		}
		seen[page.NextCursor] = true
		request.Params.Cursor = page.NextCursor
	}
	return append(out, templates(ctx, c, server)...), nil
}

// ReadResource reads a resource from a server, for which it waits to start, with its
// invisible characters made visible. ok is false if no such server offers resources. Long
// text is cut at the end. If the server then reports that the resource has changed, there
// is one note.
func (p *Pool) ReadResource(ctx context.Context, server, uri string) (m prompt.Mention, ok bool, err error) {
	m = prompt.Mention{Name: server + ":" + uri, Server: server}
	ok, err = askForResource(ctx, p, server, func(ctx context.Context, c *connection) (err error) {
		c.follow(ctx, uri) // before the text may change
		m, err = read(ctx, c, m, uri)
		return err
	})
	if !ok {
		return m, false, nil
	}
	return m, true, err
}

func read(ctx context.Context, c *connection, m prompt.Mention, uri string) (prompt.Mention, error) {
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	result, err := c.client.ReadResource(ctx, request)
	if err != nil {
		return m, fmt.Errorf("the MCP server %q cannot read it: %w", m.Server, err)
	}
	var parts []string
	for _, content := range result.Contents {
		text, isText := content.(mcp.TextResourceContents)
		if !isText || !utf8.ValidString(text.Text) {
			return m, errors.New("it is not text")
		}
		parts = append(parts, text.Text)
	}
	m.Text = untrusted.ForModel(strings.Join(parts, "\n")) // a model would read what people cannot see
	m.Bytes = len(m.Text)
	if m.Cut = m.Bytes > maxResourceText; m.Cut {
		m.Text = strings.ToValidUTF8(m.Text[:maxResourceText], "")
	}
	return m, nil
}
