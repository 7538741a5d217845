package keymap

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"replan/internal/english"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Action is something the user can make the program do. Keys, palette, help, footer
// and mouse are all driven by actions.
type Action struct {
	ID  string       // configuration name, such as "plan.follow"
	Key *key.Binding // in the key map, with a description
	Handler

	KeyOnly bool // leave it out of the palette: it moves, or belongs to what is typed
}

// Handler defines how an action is performed.
type Handler struct {
	When   func() bool   // reports whether the key applies now; if not, it goes elsewhere; nil: always
	Refuse func() string // returns why the action is unavailable, or ""; nil: always available
	Do     func() Requests
	Opens  bool // opens a dialog, even over an open gate
	Early  bool // answers nothing, and so acts even on a key that may not be meant for the dialog
}

// Handlers maps action ids to their handlers, those of a [Table] for one part.
type Handlers map[string]Handler

// Mode is what takes keys before the actions of the screen do: an open dialog, search,
// filter or list. The zero value takes none.
type Mode struct {
	Actions Handlers
	Type    func(tea.Msg) Requests // handles the other keys; nil leaves them to the screen
	Letters bool                   // Type handles only keys with text
}

// Refusal returns why an action is unavailable now, or "" if it is available.
func (h *Handler) Refusal() string {
	if h.Refuse == nil {
		return ""
	}
	return h.Refuse()
}

// Place is where the keys of a group of actions are active.
type Place int

// The places, in the order of the help dialog.
const (
	PlaceEverywhere Place = iota
	PlaceChat
	PlaceWriting // the list above the input
	PlacePlan
	PlaceStep
	PlaceMoving // in the plan, the step and dialogs
	PlaceGate
	PlaceQuestion
	PlaceReview
	PlaceDialog
	PlaceQuit    // the question whether to quit
	PlaceCommand // a chat command, which has no key
	PlaceReplay  // while a run is replayed
)

// Acts reports whether the actions of a place are for the palette. The others move,
// or act in a dialog.
func (p Place) Acts() bool {
	return p != PlaceWriting && p != PlaceMoving && p != PlaceDialog && p != PlaceQuit
}

// OfPlan reports whether a place is in the plan or its step.
func (p Place) OfPlan() bool { return p == PlacePlan || p == PlaceStep }

// Answers reports whether the actions of a place answer something that is not always
// open.
func (p Place) Answers() bool {
	return p == PlaceGate || p == PlaceQuestion || p == PlaceReview || p == PlaceReplay
}

// Group is the actions of one place.
type Group struct {
	Place   Place
	Title   string
	Actions []Action
}

// Hint describes what some keys do now.
type Hint struct {
	IDs   []string // action ids, in the order of the key names in the label
	Label string
	Does  string
	Armed bool // its key was pressed, and acts in a moment
}

// Hint describes the keys of the given actions. An empty does means their usual
// description. For several actions, it names the first key of each.
func (k *Map) Hint(does string, ids ...string) Hint {
	h := Hint{IDs: ids, Does: does}
	if len(ids) == 1 {
		help := k.Binding(ids[0]).Help()
		h.Label, h.Does = help.Key, cmp.Or(does, help.Desc)
		return h
	}
	var names []string
	for _, id := range ids {
		if keys := k.byID[id].Keys(); len(keys) > 0 {
			names = append(names, keys[0])
		}
	}
	h.Label = strings.Join(names, "/")
	if h.Label == "up/down/left/right" {
		h.Label = "arrows"
	}
	return h
}

// Name returns a key of an action, for use in a sentence: the one that the user last
// pressed for it, else the first.
func (k *Map) Name(id string) string {
	b := k.byID[id]
	switch {
	case b == nil || len(b.Keys()) == 0:
		return "no key"
	case slices.Contains(b.Keys(), k.pressed[id]):
		return k.pressed[id]
	default:
		return b.Keys()[0]
	}
}

// ResumeNames returns the keys that resume the newest run, for use in a sentence: the list
// of runs, and its choice.
func (k *Map) ResumeNames() string { return k.Name("runs") + ", " + k.Name("list.choose") }

// LeadingName returns the key of an action for the beginning of a sentence. It
// never capitalizes a single letter, because case distinguishes keys.
func (k *Map) LeadingName(id string) string {
	name := k.Name(id)
	if len(name) == 1 {
		return name
	}
	return english.Capital(name)
}

// Untyped returns a hint that prefers a key which types no letter, so that it also
// works in text fields.
func (k *Map) Untyped(does, id string) Hint {
	h := k.Hint(does, id)
	for _, name := range k.byID[id].Keys() {
		if KeyNamed(name).Text == "" {
			h.Label = english.Capital(name) // F1
		}
	}
	return h
}

// At returns the action whose key is at the given cell of the label, or the last
// action if there is none.
func (h Hint) At(cell int) (id string, found bool) {
	if len(h.IDs) == 0 {
		return "", false
	}
	end := 0
	for i, name := range strings.Split(h.Label, "/") {
		if end += len(name) + 1; cell < end && i < len(h.IDs) {
			return h.IDs[i], true
		}
	}
	return h.IDs[len(h.IDs)-1], true
}

// Matches is shorthand for key.Matches.
func Matches(k tea.KeyPressMsg, b ...key.Binding) bool { return key.Matches(k, b...) }

// Meant returns the action bound to a key press among the handlers of a pane.
func (k *Map) Meant(press tea.KeyPressMsg, hs Handlers) (id string, found bool) {
	for _, g := range k.groups {
		for _, a := range g.Actions {
			h, ok := hs[a.ID]
			if ok && key.Matches(press, *a.Key) && (h.When == nil || h.When()) {
				k.pressed[a.ID] = press.String()
				return a.ID, true
			}
		}
	}
	return "", false
}

// Act runs an action of a pane. If the action is unavailable, why is the reason.
func (hs Handlers) Act(id string) (w Requests, why string) {
	h, ok := hs[id]
	if !ok || h.When != nil && !h.When() {
		return nil, NotHere
	}
	if why = h.Refusal(); why != "" {
		return nil, why
	}
	return h.Do(), ""
}

// Press runs an action that was clicked. If the action is unavailable, the footer
// says why.
func (hs Handlers) Press(id string) Requests {
	w, why := hs.Act(id)
	if why != "" {
		w = ShowFooter(why)
	}
	return append(w, Clicked{})
}

// Offered drops the hints of which no action can be done now. Actions of other places
// count as possible.
func (hs Handlers) Offered(hints []Hint) []Hint {
	return slices.DeleteFunc(slices.Clone(hints), func(hint Hint) bool {
		return len(hint.IDs) > 0 && !slices.ContainsFunc(hint.IDs, func(id string) bool {
			h, here := hs[id]
			return !here || (h.When == nil || h.When()) && h.Refusal() == ""
		})
	})
}

// NotHere explains that an action belongs to a dialog that is not open.
const NotHere = "Its key works only while its dialog is open."

// With adds handlers to those of a pane.
func (hs Handlers) With(more ...Handlers) Handlers {
	for _, m := range more {
		maps.Copy(hs, m)
	}
	return hs
}

// First makes f run before each of the actions.
func (hs Handlers) First(f func()) Handlers {
	for id, h := range hs {
		do := h.Do
		h.Do = func() Requests {
			f()
			return do()
		}
		hs[id] = h
	}
	return hs
}
