package keymap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
)

// Keys maps action names to keys. An empty list unbinds the action.
type Keys map[string][]string

// keyCodes maps key names to key codes.
var keyCodes = map[string]rune{
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "insert": tea.KeyInsert, "delete": tea.KeyDelete,
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
	"f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
}

// modifiers lists the possible prefixes of a key name, in the order in which a
// press reports them.
var modifiers = []struct {
	name string
	mod  tea.KeyMod
}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}}

// parseKey parses a key name, such as "ctrl+k", "alt+enter", "G" or "f5".
func parseKey(name string) (tea.KeyPressMsg, bool) {
	var k tea.KeyPressMsg
	rest := name
	for _, m := range modifiers {
		if after, ok := strings.CutPrefix(rest, m.name); ok && after != "" {
			k.Mod |= m.mod
			rest = after
		}
	}
	if code, ok := keyCodes[rest]; ok {
		k.Code = code
		if rest == "space" && k.Mod == 0 {
			k.Text = " "
		}
		return k, true
	}
	r, size := utf8.DecodeRuneInString(rest)
	if size == 0 || size < len(rest) || r <= ' ' || r == utf8.RuneError {
		return tea.KeyPressMsg{}, false
	}
	k.Code = r
	if k.Mod == 0 {
		k.Text = rest
	}
	return k, true
}

// KeyNamed returns a press of the named key.
func KeyNamed(name string) tea.KeyPressMsg {
	k, _ := parseKey(name)
	return k
}

// IDs returns the name of every action, each once.
func (k *Map) IDs() []string {
	var ids []string
	for _, g := range k.Actions() {
		for i := range g.Actions {
			ids = append(ids, g.Actions[i].ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Rebind replaces the keys of actions. It returns an error for an unknown action or key,
// one key for two actions of a place, or a letter where text is typed.
func (k *Map) Rebind(keys Keys) error {
	groups := k.Actions()
	bindings := map[string]*key.Binding{}
	for _, g := range groups {
		for _, a := range g.Actions {
			bindings[a.ID] = a.Key
		}
	}
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		b, ok := bindings[id]
		if !ok {
			return fmt.Errorf("there is no action %q%s", id, english.DidYouMean(id, k.IDs()))
		}
		for _, name := range keys[id] {
			if _, ok := parseKey(name); !ok {
				return fmt.Errorf("%s: there is no key %q: keys are written like \"x\", \"ctrl+k\", \"alt+enter\", \"pgdown\" or \"f5\"", id, name)
			}
		}
		b.SetKeys(keys[id]...)
		does, _, _ := strings.Cut(b.Help().Desc, " (also ") // lists the previous keys
		b.SetHelp(cmp.Or(strings.Join(keys[id], "/"), "no key"), does)
	}
	return clash(groups, keys)
}

// clash returns an error if one key means two things in one place and at least one
// of them was changed.
func clash(groups []Group, changed Keys) error {
	everywhere := map[string]string{} // key → action
	for _, g := range groups {
		taken := map[string]string{}
		for _, a := range g.Actions {
			for _, name := range a.Key.Keys() {
				_, mine := changed[a.ID]
				letter := KeyNamed(name).Text != ""
				if mine && letter && (g.Place == PlaceEverywhere && a.ID != "help" && a.ID != "replay.quit" || g.Place == PlaceChat) {
					return fmt.Errorf("%s: %q would be typed as text: take a key with ctrl or alt, or a function key", a.ID, name)
				}
				other, ok := taken[name]
				if !ok && g.Place != PlaceDialog && g.Place != PlaceQuit {
					other, ok = everywhere[name]
				}
				_, theirs := changed[other]
				if ok && other != a.ID && (mine || theirs) {
					return fmt.Errorf("%s: %q is the key of %s already: give that another one too, or none", a.ID, name, other)
				}
				taken[name] = a.ID
				if g.Place == PlaceEverywhere {
					everywhere[name] = a.ID
				}
			}
		}
	}
	return nil
}

// NameOf names a pressed key for a sentence.
func NameOf(press tea.KeyPressMsg) string {
	if name := press.String(); strings.TrimSpace(name) != "" {
		return name
	}
	return press.Keystroke()
}
