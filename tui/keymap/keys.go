package keymap

import (
	"cmp"
	"strings"

	"charm.land/bubbles/v2/key"
)

// Map holds the actions of every place, with their keys and descriptions.
type Map struct {
	groups  []Group // every action, without its handler; the last group cannot be configured
	byID    map[string]*key.Binding
	pressed map[string]string // by action: the key that was last pressed for it
}

// New returns the key map with its default bindings.
func New() *Map {
	k := &Map{byID: map[string]*key.Binding{}, pressed: map[string]string{}}
	for _, of := range append(table(), fixed()) {
		g := Group{Place: of.Place, Title: of.Title}
		for _, r := range of.Rows {
			g.Actions = append(g.Actions, Action{ID: r.ID, Key: k.bind(r), KeyOnly: r.KeyOnly})
		}
		k.groups = append(k.groups, g)
	}
	return k
}

// bind returns the keys of a row, which rows of the same action share.
func (k *Map) bind(r row) *key.Binding {
	b := k.byID[cmp.Or(r.Like, r.ID)]
	if b == nil {
		names := strings.Fields(r.Keys)
		bound := key.NewBinding(key.WithKeys(names...), key.WithHelp(cmp.Or(r.Shown, names[0]), r.Does))
		b = &bound
	}
	k.byID[r.ID] = b
	return b
}

// Binding returns the keys of an action with their description. Unknown actions have none.
func (k *Map) Binding(id string) key.Binding {
	if b := k.byID[id]; b != nil {
		return *b
	}
	return key.Binding{}
}

// Shown returns the key of an action as help shows it.
func (k *Map) Shown(id string) string { return k.Binding(id).Help().Key }

// Actions returns every action that can be configured, grouped by place. The handlers
// define how each is performed; the caller may set them.
func (k *Map) Actions() []Group {
	var groups []Group
	for _, g := range k.groups[:len(k.groups)-1] {
		g.Actions = append([]Action(nil), g.Actions...)
		groups = append(groups, g)
	}
	return groups
}
