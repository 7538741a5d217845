package connection

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/yosida95/uritemplate/v3"

	"replan/internal/untrusted"
	"replan/planning/prompt"
)

const maxResources = 1000 // per server

// Time limits of requests for resources.
const (
	ListTimeout = 5 * time.Second // of a list, per server; short because a user is typing
	ReadTimeout = requestTimeout  // of one resource or prompt
)

// Resource is a readable resource of a server.
type Resource struct {
	Server, URI, Name, Description string
	Open                           bool // URI is the beginning of one, which the user completes
}

// Resources are the resources of a server.
type Resources struct {
	client  *client.Client
	server  string
	changes *changeListener
}

// Offered reports whether the server offers resources.
func (r *Resources) Offered() bool { return r.client.GetServerCapabilities().Resources != nil }

// List lists the resources of the server, and of its templates.
func (r *Resources) List(ctx context.Context) ([]Resource, error) {
	var out []Resource
	var request mcp.ListResourcesRequest
	seen := map[mcp.Cursor]bool{"": true}
	for range maxPages {
		page, err := r.client.ListResourcesByPage(ctx, request)
		if err != nil {
			return out, fmt.Errorf("the resources of the MCP server %q cannot be listed: %w", r.server, err)
		}
		for _, one := range page.Resources {
			if len(out) < maxResources && one.URI != "" && !strings.ContainsAny(one.URI, " \"\n") {
				out = append(out, Resource{Server: r.server, URI: one.URI, Name: one.Name, Description: one.Description})
			}
		}
		if seen[page.NextCursor] {
			break
		}
		seen[page.NextCursor] = true
		request.Params.Cursor = page.NextCursor
	}
	return append(out, templates(ctx, r.client, r.server)...), nil
}

// templates returns the resources of the templates of a server. The server
// completes the first variable; the user completes what follows it, or all of it if the
// server has no completions.
func templates(ctx context.Context, c *client.Client, server string) []Resource {
	result, err := c.ListResourceTemplatesByPage(ctx, mcp.ListResourceTemplatesRequest{})
	if err != nil {
		return nil // servers with resources need not have templates
	}
	var out []Resource
	for _, t := range result.ResourceTemplates {
		if t.URITemplate == nil || t.URITemplate.Template == nil {
			continue
		}
		pattern := t.URITemplate.Raw()
		one := Resource{Server: server, Name: t.Name, Description: t.Description}
		var values []string
		first, open, variable := firstVariable(pattern)
		if variable != "" {
			values, _ = complete(ctx, c, mcp.ResourceReference{Type: "ref/resource", URI: pattern}, variable, nil)
		}
		for _, value := range values {
			if one.URI, err = first.Expand(uritemplate.Values{variable: uritemplate.String(value)}); err == nil {
				one.Open = open
				out = append(out, one)
			}
		}
		if len(values) == 0 {
			one.URI, _, _ = strings.Cut(pattern, "{")
			one.Open = true
			out = append(out, one)
		}
	}
	return out
}

// firstVariable returns a template up to its second expression, whether there is one,
// and the variable of the first expression. The variable is "" if there is none, or if
// the expression has several.
func firstVariable(pattern string) (first *uritemplate.Template, open bool, variable string) {
	_, rest, _ := strings.Cut(pattern, "{")
	if second := strings.IndexByte(rest, '{'); second >= 0 {
		pattern, open = pattern[:len(pattern)-len(rest)+second], true
	}
	first, err := uritemplate.New(pattern)
	if err != nil || len(first.Varnames()) != 1 {
		return nil, false, ""
	}
	return first, open, first.Varnames()[0]
}

// Read reads a resource.
func (r *Resources) Read(ctx context.Context, uri string) (*mcp.ReadResourceResult, error) {
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	return r.client.ReadResource(ctx, request)
}

// Mention reads the text of a resource for a message, with its invisible characters made
// visible. Long text is cut at the end. The server is to report the next change.
func (r *Resources) Mention(ctx context.Context, uri string) (prompt.Mention, error) {
	m := prompt.Mention{Name: r.server + ":" + uri, Server: r.server}
	r.changes.follow(ctx, uri) // before the text may change
	result, err := r.Read(ctx, uri)
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
	cutMention(&m)
	return m, nil
}
