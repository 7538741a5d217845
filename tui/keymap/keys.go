package keymap

import (
	"cmp"
	"strings"

	"charm.land/bubbles/v2/key"
)

// Map holds the actions of every place, with their keys and descriptions.
type Map struct {
	groups  []Group // every action, without its handler
	fixed   int     // the number of groups at the end that cannot be configured
	byID    map[string]*key.Binding
	pressed map[string]string // by action: the key that was last pressed for it
}

// New returns the key map of sections with their default keys. The fixed ones are the
// last. An action without words has those of a line before it.
func New(sections ...Section) *Map {
	k := &Map{byID: map[string]*key.Binding{}, pressed: map[string]string{}}
	for _, of := range sections {
		g := Group{Place: of.Place, Title: of.Title}
		for _, l := range of.Lines {
			g.Actions = append(g.Actions, Action{ID: l.ID, Key: k.bind(l), KeyOnly: l.KeyOnly})
		}
		k.groups = append(k.groups, g)
		if of.Fixed {
			k.fixed++
		}
	}
	return k
}

// bind returns the keys of a line, which lines of the same action share.
func (k *Map) bind(l Line) *key.Binding {
	b := k.byID[cmp.Or(l.Like, l.ID)]
	if b == nil {
		names := strings.Fields(l.Keys)
		bound := key.NewBinding(key.WithKeys(names...), key.WithHelp(cmp.Or(l.Shown, append(names, "")[0]), l.Does))
		b = &bound
	}
	k.byID[l.ID] = b
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
	for _, g := range k.groups[:len(k.groups)-k.fixed] {
		g.Actions = append([]Action(nil), g.Actions...)
		groups = append(groups, g)
	}
	return groups
}
