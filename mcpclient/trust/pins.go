package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient/config"
	"replan/mcpclient/pin"
	"replan/planning/plan"
)

// Pins compare what servers say of their tools with what they said at first use, and
// with what the user has accepted since. They are safe for concurrent use.
type Pins struct {
	folder    *pin.Folder
	workspace string
}

// OpenPins returns the pins in a folder, which need not exist; with an empty path they
// are kept in memory. Servers of projects are told apart by their workspace.
func OpenPins(dir, workspace string) *Pins { return &Pins{pin.Open(dir), workspace} }

// of identifies a server for its pins. It goes by its name, and by what its file writes of
// the program or address, since values of variables may rotate. Servers of different
// projects differ.
func (p *Pins) of(s config.Server) pin.Server {
	how := s.AsWritten()
	folder := ""
	if s.Source == config.SourceProject {
		folder = p.workspace
	}
	text, _ := json.Marshal([]any{s.Name, how.Command, how.Dir, how.URL, folder}) // cannot fail: only strings
	return pin.Server{Name: s.Name, Identity: pin.Sum(string(text))}
}

// Description is what a server says of its tools, compared with its pins. It is a value that
// does not change; the zero value says nothing.
type Description struct {
	server  string
	tools   []plan.Tool
	changes []change
}

// change is what a server says that the user has not accepted. It is another text
// than at first use.
type change struct {
	plan.ServerChange
	text string // the present one
}

// Unpinned returns what a server says that is not compared, since it is part of this
// program.
func Unpinned(server string, tools []plan.Tool) Description {
	return Description{server: server, tools: tools}
}

// Compare compares what a server says with its pins, and pins what has none. It marks
// the tools whose text is another one. texts are the texts of the tools, by name. It
// also returns the names of tools that are new of a known server, sorted. The error says
// why there is no comparison with earlier; the rest holds then, too.
func (p *Pins) Compare(ctx context.Context, s config.Server, tools []plan.Tool, instructions string, texts map[string]string) (description Description, news []string, err error) {
	now := map[string]string{}
	for _, t := range tools {
		now[t.Name] = texts[t.Name]
	}
	if instructions != "" {
		now[pin.Instructions] = instructions
	}
	differs, err := p.folder.Check(ctx, p.of(s), now)
	description.server = s.Name
	for _, name := range slices.Sorted(maps.Keys(differs.Changed)) {
		diff, _, _ := plan.UnifiedDiff("accepted", "now", lined(differs.Changed[name]), lined(now[name]))
		description.changes = append(description.changes, change{plan.ServerChange{Server: s.Name, Tool: name, Pin: pin.Sum(now[name]), Diff: untrusted.Text(untrusted.Visible(diff))}, now[name]})
	}
	for _, t := range tools {
		t.Pin = pin.Sum(now[t.Name])
		if at := slices.IndexFunc(description.changes, func(c change) bool { return c.Tool == t.Name }); at >= 0 {
			t.Changed, t.TooLong = description.changes[at].Diff, description.changes[at].TooLong()
			if t.TooLong {
				t.Changed = untrusted.Text("its server has changed it, by more than can be shown here: " + howToAccept(t.QualifiedName()))
			}
		}
		description.tools = append(description.tools, t)
	}
	return description, slices.DeleteFunc(differs.New, func(key string) bool { return key == pin.Instructions }), err
}

func lined(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

func howToAccept(name string) string {
	return "read the change and accept it with replan tools accept " + name
}

// Tools returns the tools, those that have changed among them.
func (s Description) Tools() []plan.Tool { return s.tools }

// WithoutTools returns the changes alone, since the server does not offer its tools now.
func (s Description) WithoutTools() Description {
	return Description{server: s.server, changes: s.changes}
}

// Changes returns what the user has not accepted.
func (s Description) Changes() []plan.ServerChange {
	var all []plan.ServerChange
	for _, c := range s.changes {
		all = append(all, c.ServerChange)
	}
	return all
}

// InstructionsChanged reports whether the user has not accepted the instructions of the
// server.
func (s Description) InstructionsChanged() bool {
	return slices.ContainsFunc(s.changes, func(c change) bool { return c.Tool == pin.Instructions })
}

// Note says which tools are not offered, "" if there are none.
func (s Description) Note() string {
	if len(s.changes) == 0 {
		return ""
	}
	var names []string
	for _, c := range s.changes {
		if c.Tool == pin.Instructions {
			names = append(names, "its instructions")
			continue
		}
		names = append(names, c.Tool)
	}
	words := "has changed; models do not see it until you accept the change"
	if len(names) > 1 || s.changes[0].Tool == pin.Instructions {
		words = "have changed; models do not see them until you accept the changes"
	}
	return fmt.Sprintf("%s %s: replan tools accept %s", english.First(names, maxNames), words, s.server)
}

// maxNames is how many names of tools a note holds.
const maxNames = 3

// Refuses returns why a tool is not called: it is not the one that the user has accepted,
// or another one than the caller knows. It returns nil if the tool may be called.
func (s Description) Refuses(tool plan.Tool) error {
	at := slices.IndexFunc(s.tools, func(t plan.Tool) bool { return t.Name == tool.Name })
	switch {
	case slices.ContainsFunc(s.changes, func(c change) bool { return c.Tool == tool.Name }):
		return &plan.ToolError{Tool: tool.QualifiedName(), Message: (&plan.ChangedToolError{Tool: tool}).Error(), NotCalled: true}
	case at >= 0 && tool.Pin != "" && s.tools[at].Pin != "" && tool.Pin != s.tools[at].Pin:
		return &plan.ToolError{
			Tool: tool.QualifiedName(), NotCalled: true,
			Message: fmt.Sprintf("the server %s has changed this tool since the run began; resume the run to use it as it is now", tool.Server),
		}
	}
	return nil
}

// Accept pins a change that the user has seen in place of the earlier text. It fails if
// the server says something else by now. [Description.Accepted] returns what it says
// then.
func (p *Pins) Accept(ctx context.Context, s config.Server, description Description, seen plan.ServerChange) error {
	which := slices.IndexFunc(description.changes, isChange(seen))
	if which < 0 {
		// Another step may have accepted it.
		if slices.ContainsFunc(description.tools, func(t plan.Tool) bool { return t.Name == seen.Tool && t.Pin == seen.Pin }) {
			return nil
		}
		return errors.New("the server " + seen.Server + " has changed it again since; read the new change")
	}
	accepted := description.changes[which]
	if err := p.folder.Accept(ctx, p.of(s), map[string]string{accepted.Tool: accepted.text}); err != nil {
		return fmt.Errorf("accept the change of %s: %w", seen.Server, err)
	}
	return nil
}

func isChange(seen plan.ServerChange) func(change) bool {
	return func(c change) bool { return c.Tool == seen.Tool && c.Pin == seen.Pin }
}

// Accepted returns what the server says with a change accepted, and whether it was a
// change before.
func (s Description) Accepted(seen plan.ServerChange) (after Description, changed bool) {
	after = Description{server: s.server, tools: slices.Clone(s.tools), changes: slices.DeleteFunc(slices.Clone(s.changes), isChange(seen))}
	for i, t := range after.tools {
		if t.Name == seen.Tool && t.Pin == seen.Pin {
			after.tools[i].Changed, after.tools[i].TooLong = "", false
		}
	}
	return after, len(after.changes) < len(s.changes)
}
