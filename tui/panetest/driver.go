package panetest

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/session"
	"replan/tui/answerguard"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Part is a pane or a dialog.
type Part interface {
	Actions() keymap.Handlers
	Update(msg tea.Msg) keymap.Requests
}

// Driver gives keys and messages to a part as the screen does, and looks at what it draws
// and requests.
type Driver struct {
	T        testing.TB
	Keys     *keymap.Map
	Part     Part
	Guard    *answerguard.Guard   // of the part; nil for none
	Draw     func() []string      // lays the part out and draws it
	Hints    func() []keymap.Hint // for the footer; nil for none
	Width    int                  // of the footer in cells
	Queries  session.Queries      // answers what the part asks; nil leaves it unanswered
	Requests keymap.Requests      // the newest ones
	Footer   string               // the message about the last key
	sent     []any                // commands
}

// Press presses keys. After each, a stage that it opened takes keys.
func (d *Driver) Press(keys ...tea.KeyPressMsg) *Driver {
	d.T.Helper()
	for _, k := range keys {
		d.Touch(k)
		if d.Guard != nil && d.Guard.Ignores() && d.Guard.InStage() {
			d.Rest()
		}
	}
	return d
}

// Type presses the keys of letters.
func (d *Driver) Type(letters string) *Driver {
	d.T.Helper()
	return d.Press(Letters(letters)...)
}

// Touch presses one key, and leaves the guard as the key has left it.
func (d *Driver) Touch(k tea.KeyPressMsg) {
	d.T.Helper()
	d.Footer = ""
	if d.Guard != nil {
		d.Guard.ClearMessage()
	}
	if moded, ok := d.Part.(interface{ Mode() keymap.Mode }); ok {
		mode := moded.Mode()
		if id, found := d.Keys.Meant(k, mode.Actions); found {
			d.carryOut(mode.Actions.Press(id))
			return
		}
		if mode.Type != nil && (k.Text != "" || !mode.Letters) {
			d.carryOut(mode.Type(k))
			return
		}
	}
	if id, found := d.Keys.Meant(k, d.Part.Actions()); found {
		d.carryOut(d.Part.Actions().Press(id))
		return
	}
	d.carryOut(d.Part.Update(k))
}

// Update gives the part a message.
func (d *Driver) Update(msg tea.Msg) {
	d.T.Helper()
	d.carryOut(d.Part.Update(msg))
}

// Rest ends the time in which the guard ignores keys, or shows its message.
func (d *Driver) Rest() {
	new(answerguard.Letters).Over(answerguard.Scene{}, d.Guard.Over(0))
	d.Draw()
}

// ClickOn clicks at the last place where the part draws a text.
func (d *Driver) ClickOn(text string) {
	d.T.Helper()
	lines := d.Lines()
	for y := len(lines) - 1; y >= 0; y-- {
		if i := strings.LastIndex(lines[y], text); i >= 0 {
			d.Update(tea.MouseClickMsg{X: ansi.StringWidth(lines[y][:i]), Y: y, Button: tea.MouseLeft})
			return
		}
	}
	d.T.Fatalf("%q is not drawn:\n%s", text, d.Text())
}

// Lines are what the part draws without styles.
func (d *Driver) Lines() []string { return strings.Split(Stripped(d.Draw()), "\n") }

// Line returns the number of the first line that holds a text.
func (d *Driver) Line(text string) int {
	d.T.Helper()
	at := slices.IndexFunc(d.Lines(), func(line string) bool { return strings.Contains(line, text) })
	if at < 0 {
		d.T.Fatalf("%q is not drawn:\n%s", text, d.Text())
	}
	return at
}

// carryOut notes what the part requests, and has its questions answered.
func (d *Driver) carryOut(requests keymap.Requests) {
	d.Requests = requests
	for _, r := range requests {
		switch r := r.(type) {
		case keymap.Footer:
			d.Footer = string(r)
		case keymap.FooterUntilEvent:
			d.Footer = string(r)
		case session.Command:
			d.sent = append(d.sent, r)
		}
	}
	if d.Queries != nil {
		for _, query := range keymap.Of[keymap.Query](requests) {
			if answer := query(d.T.Context(), d.Queries); answer != nil {
				d.carryOut(d.Part.Update(answer))
			}
		}
	}
	d.Draw()
}

// Text is what the part draws without styles, with the message about the last key.
func (d *Driver) Text() string {
	text := Stripped(d.Draw()) + "\n" + d.Footer
	if d.Guard != nil {
		text += "\n" + d.Guard.Message()
	}
	return text
}

// Front is what the part draws without styles and without its margins, and the footer.
func (d *Driver) Front() string {
	lines, margin := d.Draw(), math.MaxInt
	for i, line := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
		if lines[i] != "" {
			margin = min(margin, len(lines[i])-len(strings.TrimLeft(lines[i], " ")))
		}
	}
	for i, line := range lines {
		lines[i] = line[min(margin, len(line)):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n" + strings.TrimRight(d.footer(), " ")
}

func (d *Driver) footer() string {
	message := d.Footer
	if d.Guard != nil {
		message = cmp.Or(message, d.Guard.Message())
	}
	if message != "" {
		return " " + message
	}
	line := ""
	for _, h := range d.Hints() {
		next := line + " " + h.Label + " " + h.Does + " "
		if draw.VisibleWidth(next) > d.Width {
			break
		}
		line = next
	}
	return line
}

// Wants fails the test unless all texts are drawn.
func (d *Driver) Wants(texts ...string) {
	d.T.Helper()
	for _, text := range texts {
		if got := d.Text(); !strings.Contains(got, text) {
			d.T.Errorf("%q is not drawn:\n%s", text, got)
		}
	}
}

// Offers fails the test unless the footer offers all of these keys.
func (d *Driver) Offers(texts ...string) {
	d.T.Helper()
	for _, text := range texts {
		if got := d.footer(); !strings.Contains(got, text) {
			d.T.Errorf("%q is not offered: %s", text, got)
		}
	}
}

// Withholds fails the test if the footer offers one of these keys.
func (d *Driver) Withholds(texts ...string) {
	d.T.Helper()
	for _, text := range texts {
		if got := d.footer(); strings.Contains(got, text) {
			d.T.Errorf("%q is offered: %s", text, got)
		}
	}
}

// Lacks fails the test if one of the texts is drawn.
func (d *Driver) Lacks(texts ...string) {
	d.T.Helper()
	for _, text := range texts {
		if got := d.Text(); strings.Contains(got, text) {
			d.T.Errorf("%q is drawn:\n%s", text, got)
		}
	}
}

// Sent fails the test unless these commands were sent so far.
func (d *Driver) Sent(want ...session.Command) {
	d.T.Helper()
	var all []any
	for _, c := range want {
		all = append(all, c)
	}
	if len(all)+len(d.sent) > 0 && !reflect.DeepEqual(d.sent, all) {
		d.T.Errorf("sent %s, want %s", fmt.Sprintf("%#v", d.sent), fmt.Sprintf("%#v", all))
	}
}

// Commands returns the commands that were sent so far.
func (d *Driver) Commands() []any { return d.sent }

// Letters are presses of the keys of letters.
func Letters(s string) []tea.KeyPressMsg {
	var keys []tea.KeyPressMsg
	for _, r := range s {
		keys = append(keys, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return keys
}

// Key is a press of the key with that name, such as "ctrl+s".
func Key(name string) tea.KeyPressMsg { return keymap.KeyNamed(name) }

// Named are presses of the keys with these names.
func Named(names ...string) []tea.KeyPressMsg {
	var keys []tea.KeyPressMsg
	for _, name := range names {
		keys = append(keys, Key(name))
	}
	return keys
}
