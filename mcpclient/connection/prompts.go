package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/untrusted"
	"replan/mcpclient/config"
	"replan/planning/prompt"
)

const (
	maxPrompts     = 200              // per server
	maxCompletions = 100              // of one argument
	maxMention     = 64 << 10         // bytes of a prompt or resource in a message
	requestTimeout = 20 * time.Second // for prompts and single resources
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

// Prompts are the prompts of a server.
type Prompts struct {
	client *client.Client
	server string

	mu     sync.Mutex
	listed []Prompt
}

// offered reports whether the server offers prompts.
func (p *Prompts) offered() bool { return p.client.GetServerCapabilities().Prompts != nil }

// Listed returns the prompts as listed last.
func (p *Prompts) Listed() []Prompt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listed
}

// refresh lists the prompts.
func (p *Prompts) refresh(ctx context.Context) error {
	list, err := p.List(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listed = list
	return nil
}

// List asks the server for its prompts.
func (p *Prompts) List(ctx context.Context) (list []Prompt, err error) {
	if !p.offered() {
		return nil, nil
	}
	var request mcp.ListPromptsRequest
	seen := map[mcp.Cursor]bool{"": true}
	for range maxPages {
		page, err := p.client.ListPromptsByPage(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, one := range page.Prompts {
			if len(list) < maxPrompts && config.ValidName(one.Name) {
				list = append(list, promptOf(p.server, one))
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

func promptOf(server string, p mcp.Prompt) Prompt {
	out := Prompt{Server: server, Name: p.Name, Description: p.Description}
	for _, a := range p.Arguments {
		out.Arguments = append(out.Arguments, PromptArgument{a.Name, a.Description, a.Required})
	}
	return out
}

// Read returns what a prompt says with these arguments, by name, with its invisible
// characters made visible. Long text is cut at the end.
func (p *Prompts) Read(ctx context.Context, name string, args map[string]string) (prompt.Mention, error) {
	m := prompt.Mention{Server: p.server}
	var request mcp.GetPromptRequest
	request.Params.Name, request.Params.Arguments = name, args
	result, err := p.client.GetPrompt(ctx, request)
	if err != nil {
		return m, fmt.Errorf("the MCP server %q cannot give its prompt %s: %w", p.server, name, Plain(err))
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
		return m, errors.New("the prompt is empty")
	}
	m.Text = untrusted.ForModel(strings.Join(parts, "\n\n")) // a model would read what people cannot see
	cutMention(&m)
	return m, nil
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
func (p *Prompts) Complete(ctx context.Context, name, argument string, before map[string]string) ([]string, error) {
	return complete(ctx, p.client, mcp.PromptReference{Type: "ref/prompt", Name: name}, argument, before)
}

// complete asks a server for the values of an argument, with those given before. It
// leaves out values with invisible characters or several lines.
func complete(ctx context.Context, c *client.Client, of any, argument string, before map[string]string) ([]string, error) {
	if c.GetServerCapabilities().Completions == nil {
		return nil, nil
	}
	var request mcp.CompleteRequest
	request.Params.Ref, request.Params.Argument.Name, request.Params.Context.Arguments = of, argument, before
	result, err := c.Complete(ctx, request)
	if err != nil {
		return nil, err
	}
	values := slices.DeleteFunc(result.Completion.Values, func(value string) bool {
		return value != untrusted.Line(value) // the user could not see what goes into the message
	})
	return values[:min(len(values), maxCompletions)], nil
}

// cutMention notes the size of a text, and cuts it at the end if it is long.
func cutMention(m *prompt.Mention) {
	m.Bytes = len(m.Text)
	if m.Cut = m.Bytes > maxMention; m.Cut {
		m.Text = strings.ToValidUTF8(m.Text[:maxMention], "")
	}
}
