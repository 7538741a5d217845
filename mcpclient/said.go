package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient/config"
	"replan/mcpclient/pin"
	"replan/planning/plan"
)

// change is what a server says that the user has not accepted. It is another text
// than at first use.
type change struct {
	plan.ServerChange
	text string // the present one
}

// errChanged is the reason why a changed tool is not called.
func errChanged(tool plan.Tool) error {
	return notDone(tool, "%s", (&plan.ChangedToolError{Tool: tool}).Error())
}

func howToAccept(name string) string {
	return "read the change and accept it with replan tools accept " + name
}

// pinServer identifies a server for its pins: by its name, and by what its file
// writes of the program or address, since values of variables may rotate. Servers
// of different projects differ.
func (p *Pool) pinServer(s config.Server) pin.Server {
	how := s.AsWritten()
	folder := ""
	if s.Source == config.SourceProject {
		folder = p.cfg.Dir
	}
	text, _ := json.Marshal([]any{s.Name, how.Command, how.Dir, how.URL, folder}) // cannot fail: only strings
	return pin.Server{Name: s.Name, Identity: pin.Sum(string(text))}
}

// compare compares what a server says with its pins. It marks the tools whose text
// is another one, and returns them with the changes and a note about them. said are
// the texts of the tools.
func (p *Pool) compare(s config.Server, tools []plan.Tool, instructions string, said map[string]string) (kept []plan.Tool, changes []change, note string) {
	now := map[string]string{}
	for _, t := range tools {
		now[t.Name] = said[t.Name]
	}
	if instructions != "" {
		now[pin.Instructions] = instructions
	}
	differs, err := p.pins.Check(p.life, p.pinServer(s), now)
	if err != nil && p.life.Err() == nil {
		p.log.Warn("pinned tools", "server", s.Name, "error", err)
		noteOn(p, s.Name, fmt.Sprintf("what the tools of %s are cannot be compared with earlier: %v", s.Name, err))
	}
	if news := slices.DeleteFunc(differs.New, func(key string) bool { return key == pin.Instructions }); len(news) > 0 {
		noteOn(p, s.Name, fmt.Sprintf("the server %s has %s now: %s", s.Name, english.Count(len(news), "new tool"), shortened(news)))
	}
	for _, name := range slices.Sorted(maps.Keys(differs.Changed)) {
		diff, _, _ := plan.UnifiedDiff("accepted", "now", lined(differs.Changed[name]), lined(now[name]))
		changes = append(changes, change{plan.ServerChange{Server: s.Name, Tool: name, Pin: pin.Sum(now[name]), Diff: untrusted.Text(untrusted.Visible(diff))}, now[name]})
	}
	for _, t := range tools {
		t.Pin = pin.Sum(now[t.Name])
		if at := slices.IndexFunc(changes, func(c change) bool { return c.Tool == t.Name }); at >= 0 {
			t.Changed, t.TooLong = changes[at].Diff, changes[at].TooLong()
			if t.TooLong {
				t.Changed = untrusted.Text("its server has changed it, by more than can be shown here: " + howToAccept(t.QualifiedName()))
			}
		}
		kept = append(kept, t)
	}
	return kept, changes, changedNote(s.Name, changes)
}

func lined(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

// changedNote says which tools are not offered, "" if there are none.
func changedNote(server string, changes []change) string {
	if len(changes) == 0 {
		return ""
	}
	var names []string
	for _, c := range changes {
		if c.Tool == pin.Instructions {
			names = append(names, "its instructions")
			continue
		}
		names = append(names, c.Tool)
	}
	words := "has changed; models do not see it until you accept the change"
	if len(names) > 1 || changes[0].Tool == pin.Instructions {
		words = "have changed; models do not see them until you accept the changes"
	}
	return fmt.Sprintf("%s %s: replan tools accept %s", shortened(names), words, server)
}

// Changes returns what servers say that the user has not accepted, in the order of
// the servers.
func (p *Pool) Changes() []plan.ServerChange {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []plan.ServerChange
	for _, e := range p.entries {
		for _, c := range e.changes {
			all = append(all, c.ServerChange)
		}
	}
	return all
}

// Accept pins what a server says in place of the earlier text, after the user has
// seen the difference. It fails if the server says something else by now.
func (p *Pool) Accept(ctx context.Context, seen plan.ServerChange) error {
	p.mu.Lock()
	e, err := findEntry(p, seen.Server)
	if err != nil {
		p.mu.Unlock()
		return err
	}
	is := func(c change) bool { return c.Tool == seen.Tool && c.Pin == seen.Pin }
	which := slices.IndexFunc(e.changes, is)
	if which < 0 {
		// Another step may have accepted it.
		accepted := slices.ContainsFunc(e.tools, func(t plan.Tool) bool { return t.Name == seen.Tool && t.Pin == seen.Pin })
		p.mu.Unlock()
		if accepted {
			return nil
		}
		return errors.New("the server " + seen.Server + " has changed it again since; read the new change")
	}
	accepted := e.changes[which]
	p.mu.Unlock()
	if err := p.pins.Accept(ctx, p.pinServer(e.server), map[string]string{accepted.Tool: accepted.text}); err != nil {
		return fmt.Errorf("accept the change of %s: %w", seen.Server, err)
	}
	p.set(func() {
		e.changes = slices.DeleteFunc(slices.Clone(e.changes), is)
		e.tools = slices.Clone(e.tools)
		for i, t := range e.tools {
			if t.Name == accepted.Tool && t.Pin == accepted.Pin {
				e.tools[i].Changed, e.tools[i].TooLong = "", false
			}
		}
		if e.state == plan.ServerReady {
			e.problem = changedNote(seen.Server, e.changes)
		}
	})
	return nil
}

// checkAccepted returns an error if a tool is not the one that the user has
// accepted, or another one than the caller knows. The caller holds the mutex.
func checkAccepted(e *entry, tool plan.Tool) error {
	at := slices.IndexFunc(e.tools, func(t plan.Tool) bool { return t.Name == tool.Name })
	switch {
	case e.builtin != nil:
		return nil
	case slices.ContainsFunc(e.changes, func(c change) bool { return c.Tool == tool.Name }):
		return errChanged(tool)
	case at >= 0 && tool.Pin != "" && tool.Pin != e.tools[at].Pin:
		return notDone(tool, "the server %s has changed this tool since the run began; resume the run to use it as it is now", tool.Server)
	}
	return nil
}

// noteUndeclared notes, once for each tool, that a result differs from what the server
// declares of it. Plans are checked against that.
func noteUndeclared(p *Pool, e *entry, tool plan.Tool, reply *mcp.CallToolResult) {
	if e.builtin != nil {
		return
	}
	if fault := e.declared.Fault(tool, reply); fault != nil {
		text := fmt.Sprintf("the result of %s is not as its server declares it: %s", tool.QualifiedName(), plan.OneLine(untrusted.Visible(fault.Error()), maxRefusal))
		p.log.Warn("result", "server", e.server.Name, "note", text)
		noteOn(p, e.server.Name, text)
	}
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
