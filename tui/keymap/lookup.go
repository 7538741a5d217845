package keymap

import (
	"iter"

	tea "charm.land/bubbletea/v2"
)

// Groups are the table of actions: for each its key, its words, who carries it out, and why
// not.
type Groups []Group

// Table joins the keys and words with the handlers of the parts, by place. relayed
// returns the handler of an action that no part has at its place, as dialogs have them.
func (k *Map) Table(parts map[Place]Handlers, relayed func(id string) Handler) Groups {
	var groups Groups = k.Actions()
	for _, g := range groups {
		for i := range g.Actions {
			a := &g.Actions[i]
			if h, ok := parts[g.Place][a.ID]; ok {
				a.Handler = h
			} else {
				a.Handler = relayed(a.ID)
			}
		}
	}
	return groups
}

// at yields the actions of a place.
func (gs Groups) at(place Place) iter.Seq[*Action] {
	return func(yield func(*Action) bool) {
		for i := range gs {
			for j := range gs[i].Actions {
				if gs[i].Place == place && !yield(&gs[i].Actions[j]) {
					return
				}
			}
		}
	}
}

// Bound returns the action bound to a key at a place, nil for none.
func (gs Groups) Bound(k tea.KeyPressMsg, place Place) *Action {
	for a := range gs.at(place) {
		if Matches(k, *a.Key) && (a.When == nil || a.When()) {
			return a
		}
	}
	return nil
}

// At returns the action with this id at a place, nil for none.
func (gs Groups) At(id string, place Place) *Action {
	for a := range gs.at(place) {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// Find returns the first action with this id and its place, nil for none.
func (gs Groups) Find(id string) (*Action, Place) {
	for _, g := range gs {
		if a := gs.At(id, g.Place); a != nil {
			return a, g.Place
		}
	}
	return nil, PlaceEverywhere
}
