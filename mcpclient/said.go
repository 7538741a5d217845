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

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient/config"
	"replan/mcpclient/pin"
	"replan/planning/plan"
)

// Change is what a server says that the user has not accepted. It is another text
// than at first use.
type Change struct {
	Server string
	Tool   string         // bare name; empty for the server's instructions
	Diff   untrusted.Text // unified, from the accepted text to the present one

	text string // the present one
}

// longestDiff is how many bytes of a difference a gate can show. Other changes are
// accepted on the command line, which prints them whole.
const longestDiff = 32 << 10

// errChanged is the reason why a changed tool is not called.
func errChanged(tool plan.Tool) error {
	return notDone(tool, "the server %s has changed this tool since you accepted it: %s", tool.Server, howToAccept(tool.QualifiedName()))
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
func (p *Pool) compare(s config.Server, tools []plan.Tool, instructions string, said map[string]string) (kept []plan.Tool, changes []Change, note string) {
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
		p.Note(fmt.Sprintf("what the tools of %s are cannot be compared with earlier: %v", s.Name, err))
	}
	if news := slices.DeleteFunc(differs.New, func(key string) bool { return key == pin.Instructions }); len(news) > 0 {
		p.Note(fmt.Sprintf("the server %s has %s now: %s", s.Name, english.Count(len(news), "new tool"), shortened(news)))
	}
	for _, name := range slices.Sorted(maps.Keys(differs.Changed)) {
		diff, _, _ := plan.UnifiedDiff("accepted", "now", lined(differs.Changed[name]), lined(now[name]))
		changes = append(changes, Change{Server: s.Name, Tool: name, Diff: untrusted.Text(untrusted.Visible(diff)), text: now[name]})
	}
	for _, t := range tools {
		t.Pin = pin.Sum(now[t.Name])
		if at := slices.IndexFunc(changes, func(c Change) bool { return c.Tool == t.Name }); at >= 0 {
			t.Changed = changes[at].Diff
			if len(t.Changed) > longestDiff {
				t.Changed = untrusted.Text("The change is too long to be shown here: " + howToAccept(t.QualifiedName()) + ".")
			}
		}
		kept = append(kept, t)
	}
	return kept, changes, changedNote(s.Name, changes)
}

func lined(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

// changedNote says which tools are not offered, "" if there are none.
func changedNote(server string, changes []Change) string {
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
	return fmt.Sprintf("changed since you accepted it, so models do not see it: %s; %s", shortened(names), howToAccept(server))
}

// Changes returns what servers say that the user has not accepted, in the order of
// the servers.
func (p *Pool) Changes() []Change {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Change
	for _, e := range p.entries {
		all = append(all, e.changes...)
	}
	return all
}

// AcceptChange pins a changed text in place of the earlier one. It fails if the
// server says something else by now.
func (p *Pool) AcceptChange(ctx context.Context, c Change) error {
	return p.acceptOne(ctx, c.Server, func(now Change) bool { return now.Tool == c.Tool && now.text == c.text })
}

// Accept accepts what a tool has become, as the catalogue with that tool said. It
// fails if the tool is another one by now.
func (p *Pool) Accept(ctx context.Context, tool plan.Tool) error {
	if p.isAccepted(tool) {
		return nil // by another step
	}
	return p.acceptOne(ctx, tool.Server, func(now Change) bool { return now.Tool == tool.Name && pin.Sum(now.text) == tool.Pin })
}

// acceptOne pins the change of a server that fits.
func (p *Pool) acceptOne(ctx context.Context, server string, fits func(Change) bool) error {
	p.mu.Lock()
	at := slices.IndexFunc(p.entries, func(e *entry) bool { return e.server.Name == server })
	if at < 0 {
		p.mu.Unlock()
		return fmt.Errorf("there is no MCP server %q", server)
	}
	e := p.entries[at]
	which := slices.IndexFunc(e.changes, fits)
	if which < 0 {
		p.mu.Unlock()
		return errors.New("the server " + server + " has changed it again since; read the new change")
	}
	change := e.changes[which]
	p.mu.Unlock()
	if err := p.pins.Accept(ctx, p.pinServer(e.server), map[string]string{change.Tool: change.text}); err != nil {
		return fmt.Errorf("accept the change of %s: %w", server, err)
	}
	p.set(func() {
		e.changes = slices.DeleteFunc(slices.Clone(e.changes), func(c Change) bool { return c.Tool == change.Tool && c.text == change.text })
		e.tools = slices.Clone(e.tools)
		for i, t := range e.tools {
			if t.Name == change.Tool && t.Pin == pin.Sum(change.text) {
				e.tools[i].Changed = ""
			}
		}
		if e.state == plan.ServerReady {
			e.problem = changedNote(server, e.changes)
		}
	})
	return nil
}

// isAccepted reports whether the user has accepted the tool as it is now.
func (p *Pool) isAccepted(tool plan.Tool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.catalogue(), func(t plan.Tool) bool {
		return t.QualifiedName() == tool.QualifiedName() && t.Pin == tool.Pin && t.Changed == ""
	})
}

// checkAccepted returns an error if a tool is not the one that the user has
// accepted, or another one than the caller knows.
func (p *Pool) checkAccepted(e *entry, tool plan.Tool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(e.tools, func(t plan.Tool) bool { return t.Name == tool.Name })
	switch {
	case e.builtin != nil:
		return nil
	case slices.ContainsFunc(e.changes, func(c Change) bool { return c.Tool == tool.Name }):
		return errChanged(tool)
	case at >= 0 && tool.Pin != "" && tool.Pin != e.tools[at].Pin:
		return notDone(tool, "the server %s has changed this tool since the run began; resume the run to use it as it is now", tool.Server)
	}
	return nil
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
