package tui

import (
	"cmp"
	"maps"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// action is one thing that the user can have the screen do. Keys, palette, help,
// footer and mouse are views of it.
type action struct {
	id  string       // "plan.follow", as the configuration names it
	key *key.Binding // in the key map, with what it does in words
	handler
}

// handler is how an action is done.
type handler struct {
	when   func() bool   // whether the key is meant for it now, else it is another's or text; nil: always
	refuse func() string // why it cannot be done now, "" where it can; nil: it always can
	do     func() wanted
	opens  bool // opens a dialog, over an open gate too
}

// handlers are how actions are done, by their ids.
type handlers map[string]handler

// refusal is why an action cannot be done now, "" where it can.
func (h *handler) refusal() string {
	if h.refuse == nil {
		return ""
	}
	return h.refuse()
}

// place is where the keys of a group of actions act.
type place int

// The places there are, in the order of help.
const (
	placeEverywhere place = iota
	placeChat
	placeWriting // the list over the input
	placePlan
	placeStep
	placeMoving // in plan, step and dialogs
	placeGate
	placeQuestion
	placeReview
	placeDialog
	placeQuit    // the question whether to quit
	placeCommand // a command of the chat, which has no key
	placeReplay  // while a run is played again
)

// group is the actions of one place.
type group struct {
	place   place
	title   string
	actions []action
}

// unless refuses while something does not hold.
func unless(holds func() bool, why string) func() string {
	return func() string {
		if holds() {
			return ""
		}
		return why
	}
}

// just does something that asks nothing of the root.
func just(f func()) func() wanted {
	return func() wanted {
		f()
		return wanted{}
	}
}

// command does something that leaves a command.
func command(f func() tea.Cmd) func() wanted {
	return func() wanted { return wanted{cmd: f()} }
}

// hint is what keys do now.
type hint struct {
	ids   []string // of their actions, in the order in which the label names the keys
	label string
	does  string
}

// hint is what the keys of some actions do now, "" for what they always do. Of
// several the first key of each is named.
func (k *keyMap) hint(does string, ids ...string) hint {
	h := hint{ids: ids, does: does}
	if len(ids) == 1 {
		help := k.byID[ids[0]].Help()
		h.label, h.does = help.Key, cmp.Or(does, help.Desc)
		return h
	}
	var names []string
	for _, id := range ids {
		if keys := k.byID[id].Keys(); len(keys) > 0 {
			names = append(names, keys[0])
		}
	}
	h.label = strings.Join(names, "/")
	if h.label == "up/down/left/right" {
		h.label = "arrows"
	}
	return h
}

// untyped is a hint that names a key of an action which is no letter, so that it
// acts where text is typed too.
func (k *keyMap) untyped(does, id string) hint {
	h := k.hint(does, id)
	for _, name := range k.byID[id].Keys() {
		if keyNamed(name).Text == "" {
			h.label = strings.ToUpper(name[:1]) + name[1:]
		}
	}
	return h
}

// at is the action whose key stands at that cell of the label: of several the one
// there, else the last.
func (h hint) at(cell int) (id string, found bool) {
	if len(h.ids) == 0 {
		return "", false
	}
	end := 0
	for i, name := range strings.Split(h.label, "/") {
		if end += len(name) + 1; cell < end && i < len(h.ids) {
			return h.ids[i], true
		}
	}
	return h.ids[len(h.ids)-1], true
}

// matches is short for the keys of the map.
func matches(k tea.KeyPressMsg, b ...key.Binding) bool { return key.Matches(k, b...) }

// meant is the action that a key means among the handlers of a pane.
func (k *keyMap) meant(press tea.KeyPressMsg, hs handlers) (id string, found bool) {
	for _, g := range k.groups {
		for _, a := range g.actions {
			h, ok := hs[a.id]
			if ok && key.Matches(press, *a.key) && (h.when == nil || h.when()) {
				return a.id, true
			}
		}
	}
	return "", false
}

// act does an action of a pane. why says why it cannot be done now.
func (hs handlers) act(id string) (w wanted, why string) {
	h, ok := hs[id]
	if !ok || h.when != nil && !h.when() {
		return wanted{}, notHere
	}
	if why = h.refusal(); why != "" {
		return wanted{}, why
	}
	return h.do(), ""
}

// notHere is why an action cannot be done that belongs to a dialog which is not open.
const notHere = "Its key acts while its dialog is open."

// with adds handlers to those of a pane.
func (hs handlers) with(more ...handlers) handlers {
	for _, m := range more {
		maps.Copy(hs, m)
	}
	return hs
}

// then has f follow each of the actions.
func (hs handlers) then(f func()) handlers {
	for id, h := range hs {
		do := h.do
		h.do = func() wanted {
			w := do()
			f()
			return w
		}
		hs[id] = h
	}
	return hs
}

// scrolling moves what a pane shows by lines. body is how many lines are in view.
func scrolling(body int, move func(lines int)) handlers {
	const far = 1 << 30
	by := func(lines int) handler { return handler{do: just(func() { move(lines) })} }
	page := max(body-1, 1)
	return handlers{
		"move.up": by(-1), "move.down": by(1), "move.first": by(-far), "move.last": by(far),
		"move.page_up": by(-page), "move.half_up": by(-page), "move.page_down": by(page), "move.half_down": by(page), "move.onward": by(page),
	}
}

// searching edits a line that is searched for. Nothing else is typed there.
func searching(text string, set func(text string)) handlers {
	return handlers{"list.erase": {do: just(func() {
		if r := []rune(text); len(r) > 0 {
			set(string(r[:len(r)-1]))
		}
	})}}
}
