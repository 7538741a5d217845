package mcpclient

import (
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
	offers := p.offering()
	lists, errs := make([][]Resource, len(offers)), make([]error, len(offers))
	var asked sync.WaitGroup
	for i, o := range offers {
		asked.Go(func() {
			defer p.work.Done()
			within, cancel := p.bounded(ctx, resourceListTimeout)
			defer cancel()
			lists[i], errs[i] = o.resources(within)
		})
	}
	asked.Wait()
	var all []Resource
	for _, list := range lists {
		all = append(all, list...)
	}
	return all, errors.Join(errs...)
}

// offer is a server that offers resources.
type offer struct {
	server string
	conn   *connection
}

// offering returns the servers that offer resources, each registered as work
// of the pool.
func (p *Pool) offering() []offer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []offer
	for _, e := range p.entries {
		if !p.closed && e.state == plan.ServerReady && e.conn != nil && e.conn.client.GetServerCapabilities().Resources != nil {
			p.work.Add(1)
			out = append(out, offer{e.server.Name, e.conn})
		}
	}
	return out
}

// resourceTool returns the tool that reads resources, nothing if no server has any or
// one has taken the name. The caller holds the mutex of the pool.
func resourceTool(entries []*entry) []plan.Tool {
	var servers []string
	for _, e := range entries {
		if e.server.Name == plan.ResourceServer {
			return nil
		}
		if e.state == plan.ServerReady && e.conn != nil && e.conn.client.GetServerCapabilities().Resources != nil {
			servers = append(servers, e.server.Name)
		}
	}
	if len(servers) == 0 {
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
	for _, o := range p.offering() {
		defer p.work.Done()
		if o.server != server {
			continue
		}
		within, cancel := p.bounded(ctx, resourceReadTimeout)
		defer cancel()
		var request mcp.ReadResourceRequest
		request.Params.URI = uri
		reply, err := o.conn.client.ReadResource(within, request)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, fmt.Errorf("reading %s: %w", uri, ctx.Err())
		case err != nil:
			return nil, notDone(call.Tool, "the server %s cannot read %s: %s", server, uri, plain(err))
		}
		return result.Resource(call, reply.Contents)
	}
	return nil, notDone(call.Tool, "the server %q offers no resources", server)
}

// bounded returns a context that ends with ctx, with the pool or after limit.
func (p *Pool) bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(p.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// resources lists the resources of one server.
func (o offer) resources(ctx context.Context) ([]Resource, error) {
	var out []Resource
	var request mcp.ListResourcesRequest
	seen := map[mcp.Cursor]bool{"": true}
	for range maxPages {
		page, err := o.conn.client.ListResourcesByPage(ctx, request)
		if err != nil {
			return out, fmt.Errorf("the resources of the MCP server %q cannot be listed: %w", o.server, err)
		}
		for _, r := range page.Resources {
			if len(out) < maxResources && r.URI != "" && !strings.ContainsAny(r.URI, " \"\n") {
				out = append(out, Resource{Server: o.server, URI: r.URI, Name: r.Name, Description: r.Description})
			}
		}
		if seen[page.NextCursor] {
			break
		}
		seen[page.NextCursor] = true
		request.Params.Cursor = page.NextCursor
	}
	return append(out, o.templates(ctx)...), nil
}

// ReadResource reads a resource from a server, with its invisible characters made
// visible. ok is false if no such server offers resources. Long text is cut at the end.
// If the server then reports that the resource has changed, there is one note.
func (p *Pool) ReadResource(ctx context.Context, server, uri string) (m prompt.Mention, ok bool, err error) {
	m = prompt.Mention{Name: server + ":" + uri, Server: server}
	for _, o := range p.offering() {
		defer p.work.Done()
		if o.server == server {
			ok = true
			within, cancel := p.bounded(ctx, resourceReadTimeout)
			o.conn.follow(within, uri) // before the text may change
			m, err = o.read(within, m, uri)
			cancel()
		}
	}
	return m, ok, err
}

func (o offer) read(ctx context.Context, m prompt.Mention, uri string) (prompt.Mention, error) {
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	result, err := o.conn.client.ReadResource(ctx, request)
	if err != nil {
		return m, fmt.Errorf("the MCP server %q cannot read it: %w", o.server, err)
	}
	var parts []string
	for _, c := range result.Contents {
		text, isText := c.(mcp.TextResourceContents)
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
