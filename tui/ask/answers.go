package ask

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/keymap"
)

// answers are what the displayed request accepts, and what is said of a key that answers
// nothing.
type answers struct {
	keys  *keymap.Map
	queue *queue
}

// nothingOpen is why there is no answer while nothing waits.
const nothingOpen = "No gate and no question is open."

// all returns the answers that the displayed request accepts.
func (a *answers) all() []choice { return a.queue.current().choices(a.keys) }

// with returns the answer with an id, nil for none.
func (a *answers) with(id string) *choice {
	for _, c := range a.all() {
		if c.id == id {
			return &c
		}
	}
	return nil
}

// offered returns the answers as the dialog offers them: also one for all similar
// requests, and the way to the next request.
func (a *answers) offered() []choice {
	choices := a.all()
	if like := a.queue.like(); len(like) > 1 {
		all := "all similar…"
		if like[0].Session {
			all = "all of them…"
		}
		choices = append(choices, choice{id: "gate.all", does: all, short: "all"})
	}
	if a.queue.count() > 1 {
		choices = append(choices, choice{id: "gate.next", does: "next", short: "next"})
	}
	return choices
}

// isKey reports whether a text is the key of an answer.
func (a *answers) isKey(text string) bool {
	return a.queue.count() > 0 && slices.ContainsFunc(a.all(), func(c choice) bool { return !c.hidden && a.keys.Shown(c.id) == text })
}

// refusal returns why an answer is unavailable now, or "" if it is available.
func (a *answers) refusal(id string) string {
	if a.queue.count() == 0 {
		return nothingOpen
	}
	if c := a.with(id); c != nil {
		return c.refuse
	}
	return a.none(id)
}

// none says that the displayed request does not accept an answer, and which keys it
// accepts.
func (a *answers) none(id string) string {
	if a.queue.count() == 0 {
		return nothingOpen
	}
	return a.keys.LeadingName(id) + " does nothing here: use " + a.names() + "."
}

// noKey says that a key answers nothing, and which keys do.
func (a *answers) noKey(k tea.KeyPressMsg) string {
	name := keymap.NameOf(k)
	if len(name) > 1 {
		name = english.Capital(name)
	}
	return fmt.Sprintf("%s is no answer: use %s. %s looks around.", name, a.names(), a.keys.LeadingName("dialog.leave"))
}

// names lists the keys that answer the displayed request.
func (a *answers) names() string {
	var keys []string
	for _, c := range a.all() {
		if c.refuse == "" && !c.hidden {
			keys = append(keys, a.keys.Name(c.id))
		}
	}
	return english.List(keys, "or")
}

// notAlike says why there is no other gate to approve together with the displayed
// one.
func (a *answers) notAlike() string {
	switch {
	case a.queue.count() == 0:
		return nothingOpen
	case len(a.queue.like()) < 2:
		return "No other waiting gate has the same tool and rule."
	default:
		return ""
	}
}
