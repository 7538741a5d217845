package config

import (
	"context"
	"slices"

	"github.com/tailscale/hujson"

	"replan/internal/wholefile"
)

// SetDisabled returns the text of a JSON file of servers with one of them disabled, or
// enabled. It changes no other byte than the value of "disabled" or "enabled", or it
// adds or removes "disabled". The error is [ErrNoEntry] if the file does not have the
// server.
func SetDisabled(text []byte, name string, disabled bool) ([]byte, error) {
	mark, body := cutMark(text)
	servers, err := serversIn(body)
	if err != nil {
		return nil, err
	}
	entry, ok := member(servers, name)
	if !ok || entry.Value.Kind() != '{' {
		return nil, ErrNoEntry
	}
	after := body
	if on, ok := member(asObject(entry), "enabled"); ok {
		after = splice(after, on.StartOffset, on.EndOffset, boolText(!disabled))
	}
	if after, err = setKey(after, name, disabled); err != nil {
		return nil, err
	}
	return append(mark, after...), same(body, after, name)
}

// setKey writes the key "disabled" of a server, or removes it.
func setKey(text []byte, name string, disabled bool) ([]byte, error) {
	servers, err := serversIn(text)
	if err != nil {
		return nil, err
	}
	entry, _ := member(servers, name)
	of := asObject(entry)
	at := slices.IndexFunc(of.Members, func(m hujson.ObjectMember) bool { return literal(m.Name) == "disabled" })
	_, enabled := member(of, "enabled")
	switch {
	case at >= 0 && disabled:
		v := of.Members[at].Value
		return splice(text, v.StartOffset, v.EndOffset, boolText(true)), nil
	case at >= 0:
		return cut(text, of, at), nil
	case disabled && !enabled:
		return insert(text, entry, of, "disabled", func(string, string) []byte { return boolText(true) }), nil
	}
	return text, nil
}

// asObject returns a value as an object; another value is one without members.
func asObject(v *hujson.Value) *hujson.Object {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return &hujson.Object{}
	}
	return object
}

func boolText(b bool) []byte {
	if b {
		return []byte("true")
	}
	return []byte("false")
}

// DisabledServers is the file with the servers that the user has disabled in single
// workspaces. It is for those that are not in the user's own file of servers.
type DisabledServers struct {
	file *wholefile.JSON[disabledFile] // nil stores nothing
}

// disabledFile is the file format.
type disabledFile struct {
	V        int                 `json:"v"`
	Disabled map[string][]string `json:"disabled"` // workspace → names of servers
}

const disabledVersion = 1

// NewDisabledServers returns the file at a path; "" stores nothing.
func NewDisabledServers(path string) DisabledServers {
	if path == "" {
		return DisabledServers{}
	}
	return DisabledServers{&wholefile.JSON[disabledFile]{
		Path: path, What: "the disabled MCP servers", Empty: disabledFile{V: disabledVersion},
		Sound: func(f disabledFile) bool { return f.V == disabledVersion },
	}}
}

// In returns the names of the servers that are disabled in a workspace.
func (d DisabledServers) In(workspace string) ([]string, error) {
	if d.file == nil {
		return nil, nil
	}
	content, err := d.file.Read()
	return content.Disabled[workspace], err
}

// Set stores whether a server is disabled in a workspace, and reports whether that
// changed the file.
func (d DisabledServers) Set(ctx context.Context, workspace, name string, disabled bool) (changed bool, err error) {
	if d.file == nil {
		return false, nil
	}
	if known, err := d.In(workspace); err == nil && slices.Contains(known, name) == disabled {
		return false, nil
	}
	_, err = d.file.Change(ctx, func(f *disabledFile) {
		if f.Disabled == nil {
			f.Disabled = map[string][]string{}
		}
		names := slices.DeleteFunc(f.Disabled[workspace], func(n string) bool { return n == name })
		if disabled {
			names = append(names, name)
		}
		if f.Disabled[workspace] = names; len(names) == 0 {
			delete(f.Disabled, workspace)
		}
	})
	return err == nil, err
}
