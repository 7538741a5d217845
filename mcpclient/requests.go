package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/connection"
	"replan/mcpclient/result"
	"replan/mcpclient/server"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Resource is a readable resource of a server.
type Resource = connection.Resource

// Prompt is a prompt that a server offers to the user.
type Prompt = connection.Prompt

// PromptArgument is an argument of a prompt.
type PromptArgument = connection.PromptArgument

// requests send requests for resources and prompts to servers.
type requests struct {
	life   context.Context // of the pool
	roster *roster
	ready  *readiness
}

// ask sends a request to a ready server, and sends it again in a new session if an HTTP
// server has forgotten the session.
func (r *requests) ask(ctx context.Context, name string, limit time.Duration, send func(context.Context, *connection.Connection) error) error {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()
	for again := false; ; again = true {
		s, leave, err := r.roster.enter(name, anyServer)
		if err != nil {
			return err
		}
		forgotten, err := s.Ask(within, send)
		leave()
		if again || !forgotten {
			return err
		}
		r.wait(within, name)
	}
}

// wait waits until a server has started, or ctx ends.
func (r *requests) wait(ctx context.Context, name string) {
	r.ready.ReadyFor(ctx, []string{name + ":*"})
}

// errNoResources reports that a server offers no resources.
var errNoResources = errors.New("it offers no resources")

// askForResource sends a request to a server once it has started. It reports false if no
// such server offers resources.
func (r *requests) askForResource(ctx context.Context, name string, send func(context.Context, *connection.Resources) error) (offers bool, err error) {
	if !slices.ContainsFunc(r.roster.all(), func(s *server.Server) bool { return s.Name() == name }) {
		return false, nil
	}
	r.wait(ctx, name)
	err = r.ask(ctx, name, connection.ReadTimeout, func(ctx context.Context, c *connection.Connection) error {
		if !c.Resources().Offered() {
			return errNoResources
		}
		return send(ctx, c.Resources())
	})
	return !errors.Is(err, errNoResources), err
}

// hasResourceServer reports whether a server has the name of the pool's own one that reads
// resources.
func hasResourceServer(views []server.View) bool {
	return slices.ContainsFunc(views, func(v server.View) bool { return v.Name == plan.ResourceServer })
}

// offering returns the ready servers that offer resources.
func offering(views []server.View) (names []string) {
	for _, v := range views {
		if v.Resources {
			names = append(names, v.Name)
		}
	}
	return names
}

// resourceTool returns the tool that reads resources, nothing if no server has any or
// one has taken the name.
func resourceTool(views []server.View) []plan.Tool {
	servers := offering(views)
	if len(servers) == 0 || hasResourceServer(views) {
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

// Resources lists the resources of all ready servers, in the order of the
// servers. It leaves out servers that do not answer and reports them in the
// error.
func (r *requests) Resources(ctx context.Context) ([]Resource, error) {
	servers := offering(r.roster.views())
	lists, errs := make([][]Resource, len(servers)), make([]error, len(servers))
	var asked sync.WaitGroup
	for i, name := range servers {
		asked.Go(func() {
			errs[i] = r.ask(ctx, name, connection.ListTimeout, func(ctx context.Context, c *connection.Connection) (err error) {
				lists[i], err = c.Resources().List(ctx)
				return err
			})
		})
	}
	asked.Wait()
	return slices.Concat(lists...), errors.Join(errs...)
}

// ReadResource reads a resource from a server, for which it waits to start, with its
// invisible characters made visible. ok is false if no such server offers resources. Long
// text is cut at the end. If the server then reports that the resource has changed, there
// is one note.
func (r *requests) ReadResource(ctx context.Context, server, uri string) (m prompt.Mention, ok bool, err error) {
	m = prompt.Mention{Name: server + ":" + uri, Server: server}
	ok, err = r.askForResource(ctx, server, func(ctx context.Context, of *connection.Resources) (err error) {
		m, err = of.Mention(ctx, uri)
		return err
	})
	if !ok {
		return m, false, nil
	}
	return m, true, err
}

// callResourceTool reads the resource that a call names, for a model.
func (r *requests) callResourceTool(ctx context.Context, call plan.ToolCall) (any, error) {
	name, _ := call.Args["server"].(string)
	uri, _ := call.Args["uri"].(string)
	var reply *mcp.ReadResourceResult
	offers, err := r.askForResource(ctx, name, func(ctx context.Context, of *connection.Resources) (err error) {
		reply, err = of.Read(ctx, uri)
		return err
	})
	switch {
	case !offers:
		return nil, notDone(call.Tool, fmt.Sprintf("the server %q offers no resources", name))
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("reading %s: %w", uri, ctx.Err())
	case err != nil:
		return nil, notDone(call.Tool, fmt.Sprintf("the server %s cannot read %s: %s", name, uri, connection.Plain(err)))
	}
	return result.Resource(call, reply.Contents)
}

// Prompts gives access to the prompts of a pool's servers.
type Prompts struct{ requests *requests }

// Prompts returns the prompts of the servers.
func (r *requests) Prompts() Prompts { return Prompts{r} }

// All returns the prompts of all ready servers, as listed last, in the order of the
// servers.
func (p Prompts) All() []Prompt { return p.requests.prompts() }

// prompts returns the prompts of all ready servers, as listed last.
func (r *requests) prompts() (all []Prompt) {
	for _, s := range r.roster.all() {
		all = append(all, s.Prompts()...)
	}
	return all
}

// Of waits for a server to start and returns its prompts.
func (p Prompts) Of(ctx context.Context, server string) (list []Prompt, err error) {
	p.requests.wait(ctx, server)
	err = p.ask(ctx, server, func(ctx context.Context, of *connection.Prompts) error {
		list, err = of.List(ctx)
		return err
	})
	return list, err
}

// Read returns what a server's prompt says with these arguments, by name, with its
// invisible characters made visible. Long text is cut at the end.
func (p Prompts) Read(ctx context.Context, server, name string, args map[string]string) (prompt.Mention, error) {
	m := prompt.Mention{Server: server}
	err := p.ask(ctx, server, func(ctx context.Context, of *connection.Prompts) (err error) {
		m, err = of.Read(ctx, name, args)
		return err
	})
	return m, err
}

// Complete returns the server's completions of an argument of a prompt, none if
// it offers none. before are the values of arguments that the user has given, by name.
func (p Prompts) Complete(ctx context.Context, server, name, argument string, before map[string]string) (values []string, err error) {
	err = p.ask(ctx, server, func(ctx context.Context, of *connection.Prompts) error {
		values, err = of.Complete(ctx, name, argument, before)
		return err
	})
	return values, err
}

// ask sends a request for prompts to a ready server.
func (p Prompts) ask(ctx context.Context, server string, send func(context.Context, *connection.Prompts) error) error {
	return p.requests.ask(ctx, server, connection.ReadTimeout, func(ctx context.Context, c *connection.Connection) error { return send(ctx, c.Prompts()) })
}
