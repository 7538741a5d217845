package keymap

import (
	"cmp"
	"maps"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Action is one thing that the user can have the screen do. Keys, palette, help,
// footer and mouse are views of it.
type Action struct {
	ID  string       // "plan.follow", as the configuration names it
	Key *key.Binding // in the key map, with what it does in words
	Handler
}

// Handler is how an action is done.
type Handler struct {
	When   func() bool   // whether the key is meant for it now, else it is another's or text; nil: always
	Refuse func() string // why it cannot be done now, "" where it can; nil: it always can
	Do     func() Wanted
	Opens  bool // Opens a dialog, over an open gate too
}

// Handlers are how actions are done, by their ids.
type Handlers map[string]Handler

// Refusal is why an action cannot be done now, "" where it can.
func (h *Handler) Refusal() string {
	if h.Refuse == nil {
		return ""
	}
	return h.Refuse()
}

// Place is where the keys of a group of actions act.
type Place int

// The places there are, in the order of help.
const (
	PlaceEverywhere Place = iota
	PlaceChat
	PlaceWriting // the list over the input
	PlacePlan
	PlaceStep
	PlaceMoving // in plan, step and dialogs
	PlaceGate
	PlaceQuestion
	PlaceReview
	PlaceDialog
	PlaceQuit    // the question whether to quit
	PlaceCommand // a command of the chat, which has no key
	PlaceReplay  // while a run is played again
)

// Group is the actions of one place.
type Group struct {
	Place   Place
	Title   string
	Actions []Action
}

// Unless refuses while something does not hold.
func Unless(holds func() bool, why string) func() string {
	return func() string {
		if holds() {
			return ""
		}
		return why
	}
}

// Just does something that asks nothing of the root.
func Just(f func()) func() Wanted {
	return func() Wanted {
		f()
		return Wanted{}
	}
}

// Command does something that leaves a command.
func Command(f func() tea.Cmd) func() Wanted {
	return func() Wanted { return Wanted{Cmd: f()} }
}

// Hint is what keys do now.
type Hint struct {
	IDs   []string // of their actions, in the order in which the label names the keys
	Label string
	Does  string
}

// Hint is what the keys of some actions do now, "" for what they always do. Of
// several the first key of each is named.
func (k *Map) Hint(does string, ids ...string) Hint {
	h := Hint{IDs: ids, Does: does}
	if len(ids) == 1 {
		help := k.ByID[ids[0]].Help()
		h.Label, h.Does = help.Key, cmp.Or(does, help.Desc)
		return h
	}
	var names []string
	for _, id := range ids {
		if keys := k.ByID[id].Keys(); len(keys) > 0 {
			names = append(names, keys[0])
		}
	}
	h.Label = strings.Join(names, "/")
	if h.Label == "up/down/left/right" {
		h.Label = "arrows"
	}
	return h
}

// Name is the first key of an action, for a sentence.
func (k *Map) Name(id string) string {
	if b := k.ByID[id]; b != nil && len(b.Keys()) > 0 {
		return b.Keys()[0]
	}
	return "no key"
}

// LeadingName is the key of an action at the beginning of a sentence. A letter stays as
// it is: another case is another key.
func (k *Map) LeadingName(id string) string {
	name := k.Name(id)
	if len(name) == 1 {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// Untyped is a hint that names a key of an action which is no letter, so that it
// acts where text is typed too.
func (k *Map) Untyped(does, id string) Hint {
	h := k.Hint(does, id)
	for _, name := range k.ByID[id].Keys() {
		if KeyNamed(name).Text == "" {
			h.Label = strings.ToUpper(name[:1]) + name[1:] // F1
		}
	}
	return h
}

// At is the action whose key stands at that cell of the label: of several the one
// there, else the last.
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

// Matches is short for the keys of the map.
func Matches(k tea.KeyPressMsg, b ...key.Binding) bool { return key.Matches(k, b...) }

// Meant is the action that a key means among the handlers of a pane.
func (k *Map) Meant(press tea.KeyPressMsg, hs Handlers) (id string, found bool) {
	for _, g := range k.groups {
		for _, a := range g.Actions {
			h, ok := hs[a.ID]
			if ok && key.Matches(press, *a.Key) && (h.When == nil || h.When()) {
				return a.ID, true
			}
		}
	}
	return "", false
}

// Act does an action of a pane. why says why it cannot be done now.
func (hs Handlers) Act(id string) (w Wanted, why string) {
	h, ok := hs[id]
	if !ok || h.When != nil && !h.When() {
		return Wanted{}, NotHere
	}
	if why = h.Refusal(); why != "" {
		return Wanted{}, why
	}
	return h.Do(), ""
}

// NotHere is why an action cannot be done that belongs to a dialog which is not open.
const NotHere = "Its key acts while its dialog is open."

// With adds handlers to those of a pane.
func (hs Handlers) With(more ...Handlers) Handlers {
	for _, m := range more {
		maps.Copy(hs, m)
	}
	return hs
}

// Then has f follow each of the actions.
func (hs Handlers) Then(f func()) Handlers {
	for id, h := range hs {
		do := h.Do
		h.Do = func() Wanted {
			w := do()
			f()
			return w
		}
		hs[id] = h
	}
	return hs
}

// Scrolling moves what a pane shows by lines. body is how many lines are in view.
func Scrolling(body int, move func(lines int)) Handlers {
	const far = 1 << 30
	by := func(lines int) Handler { return Handler{Do: Just(func() { move(lines) })} }
	page := max(body-1, 1)
	return Handlers{
		"move.up": by(-1), "move.down": by(1), "move.first": by(-far), "move.last": by(far),
		"move.page_up": by(-page), "move.half_up": by(-page), "move.page_down": by(page), "move.half_down": by(page), "move.onward": by(page),
	}
}

// Searching edits a line that is searched for. Nothing else is typed there.
func Searching(text string, set func(text string)) Handlers {
	return Handlers{"list.erase": {Do: Just(func() {
		if r := []rune(text); len(r) > 0 {
			set(string(r[:len(r)-1]))
		}
	})}}
}
