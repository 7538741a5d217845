package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/yosida95/uritemplate/v3"

	"replan/internal/untrusted"
	"replan/mcpclient/config"
	"replan/planning/plan"
	"replan/planning/prompt"
)

const (
	maxPrompts     = 200 // per server
	maxCompletions = 100 // of one argument
)

// Prompt is a prompt that a server offers to the user.
type Prompt struct {
	Server, Name, Description string
	Arguments                 []PromptArgument
}

// PromptArgument is an argument of a prompt.
type PromptArgument struct {
	Name, Description string
	Required          bool
}

// Prompts gives access to the prompts of a pool's servers.
type Prompts struct{ pool *Pool }

// Prompts returns the prompts of the servers.
func (p *Pool) Prompts() Prompts { return Prompts{p} }

// prompts are the prompts of a connection, as listed last.
type prompts struct {
	mu   sync.Mutex
	list []Prompt
}

// listPrompts lists the prompts of a server in the background, since it must not delay
// the tools, and then calls listed.
func (c *connection) listPrompts(server string, listed func()) {
	if c.client.GetServerCapabilities().Prompts == nil || !c.enter() {
		return
	}
	go func() {
		defer c.calls.Done()
		ctx, cancel := context.WithTimeout(c.life, resourceReadTimeout)
		defer cancel()
		list, err := c.promptList(ctx, server)
		if err != nil {
			return // the server then has no prompts for the user
		}
		c.prompts.mu.Lock()
		c.prompts.list = list
		c.prompts.mu.Unlock()
		listed()
	}()
}

// promptList asks a server for its prompts.
func (c *connection) promptList(ctx context.Context, server string) (list []Prompt, err error) {
	if c.client.GetServerCapabilities().Prompts == nil {
		return nil, nil
	}
	var request mcp.ListPromptsRequest
	seen := map[mcp.Cursor]bool{"": true}
	for range maxPages {
		page, err := c.client.ListPromptsByPage(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, p := range page.Prompts {
			if len(list) < maxPrompts && config.ValidName(p.Name) {
				list = append(list, promptOf(server, p))
			}
		}
		if seen[page.NextCursor] {
			break
		}
		seen[page.NextCursor] = true
		request.Params.Cursor = page.NextCursor
	}
	return list, nil
}

// Of waits for a server to start and returns its prompts.
func (p Prompts) Of(ctx context.Context, server string) (list []Prompt, err error) {
	p.pool.ReadyFor(ctx, []string{server + ":*"})
	err = ask(ctx, p.pool, server, resourceReadTimeout, func(ctx context.Context, c *connection) error {
		list, err = c.promptList(ctx, server)
		return err
	})
	return list, err
}

func promptOf(server string, p mcp.Prompt) Prompt {
	out := Prompt{Server: server, Name: p.Name, Description: p.Description}
	for _, a := range p.Arguments {
		out.Arguments = append(out.Arguments, PromptArgument{a.Name, a.Description, a.Required})
	}
	return out
}

// All returns the prompts of all ready servers, as listed last, in the order of the
// servers.
func (p Prompts) All() []Prompt {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	var all []Prompt
	for _, e := range p.pool.entries {
		if e.state == plan.ServerReady && e.conn != nil {
			e.conn.prompts.mu.Lock()
			all = append(all, e.conn.prompts.list...)
			e.conn.prompts.mu.Unlock()
		}
	}
	return all
}

// Read returns what a server's prompt says with these arguments, by name, with its
// invisible characters made visible. Long text is cut at the end.
func (p Prompts) Read(ctx context.Context, server, name string, args map[string]string) (prompt.Mention, error) {
	m := prompt.Mention{Server: server}
	err := ask(ctx, p.pool, server, resourceReadTimeout, func(ctx context.Context, c *connection) error {
		var request mcp.GetPromptRequest
		request.Params.Name, request.Params.Arguments = name, args
		result, err := c.client.GetPrompt(ctx, request)
		if err != nil {
			return fmt.Errorf("the MCP server %q cannot give its prompt %s: %w", server, name, plain(err))
		}
		var parts []string
		for _, message := range result.Messages {
			text := promptText(message.Content)
			if message.Role == mcp.RoleAssistant {
				text = "An example of an answer:\n" + text
			}
			parts = append(parts, text)
		}
		if len(parts) == 0 {
			return errors.New("the prompt is empty")
		}
		m.Text = untrusted.ForModel(strings.Join(parts, "\n\n")) // a model would read what people cannot see
		return nil
	})
	m.Bytes = len(m.Text)
	if m.Cut = m.Bytes > maxResourceText; m.Cut {
		m.Text = strings.ToValidUTF8(m.Text[:maxResourceText], "")
	}
	return m, err
}

// promptText returns the text of a message, or a line for what is no text.
func promptText(content mcp.Content) string {
	if text, ok := mcp.AsTextContent(content); ok {
		return text.Text
	}
	if embedded, ok := mcp.AsEmbeddedResource(content); ok {
		if text, ok := mcp.AsTextResourceContents(embedded.Resource); ok {
			return text.Text
		}
	}
	return "[content that is no text]"
}

// Complete returns the server's completions of an argument of a prompt, none if
// it offers none. before are the values of arguments that the user has given, by name.
func (p Prompts) Complete(ctx context.Context, server, name, argument string, before map[string]string) (values []string, err error) {
	err = ask(ctx, p.pool, server, resourceReadTimeout, func(ctx context.Context, c *connection) error {
		values, err = c.complete(ctx, mcp.PromptReference{Type: "ref/prompt", Name: name}, argument, before)
		return err
	})
	return values, err
}

// complete asks a server for the values of an argument, with those given before. It
// leaves out values with invisible characters or several lines.
func (c *connection) complete(ctx context.Context, of any, argument string, before map[string]string) ([]string, error) {
	if c.client.GetServerCapabilities().Completions == nil {
		return nil, nil
	}
	var request mcp.CompleteRequest
	request.Params.Ref, request.Params.Argument.Name, request.Params.Context.Arguments = of, argument, before
	result, err := c.client.Complete(ctx, request)
	if err != nil {
		return nil, err
	}
	values := slices.DeleteFunc(result.Completion.Values, func(value string) bool {
		return value != untrusted.Line(value) // the user could not see what goes into the message
	})
	return values[:min(len(values), maxCompletions)], nil
}

// templates returns the resources that the templates of a server stand for. The server
// completes the first variable; the user completes what follows it, or all of it if the
// server has no completions.
func templates(ctx context.Context, c *connection, server string) []Resource {
	result, err := c.client.ListResourceTemplatesByPage(ctx, mcp.ListResourceTemplatesRequest{})
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
			values, _ = c.complete(ctx, mcp.ResourceReference{Type: "ref/resource", URI: pattern}, variable, nil)
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
