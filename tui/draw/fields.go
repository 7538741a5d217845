package draw

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/wording"
)

// Fields edits the arguments of a call, one field each: texts as they are, other
// values as JSON. An argument that the call does not have is an empty field.
type Fields struct {
	styles *Styles
	all    []field
	at     int // index of the field that takes the keys
	rows   int // lines of the screen
	width  int
	fault  string // error in the arguments
}

// Refuse shows why the arguments were not taken.
func (f *Fields) Refuse(why string) { f.fault = why }

// Fault returns the error in the arguments, or why they were not taken; "" for neither.
func (f *Fields) Fault() string { return f.fault }

// field is one argument.
type field struct {
	name  string
	label string // shown in place of the name
	about string // what it takes and means, shown below it; "" says nothing
	given bool   // the call has it
	text  bool   // it is edited as text
	kind  string // the type in the schema, "" if unknown or several
	tab   string
	edit  *Editor
}

// inField indents the text of a field below its name.
const inField = "  "

// tabSigns stand for a tab in a text field, which has no room for real ones. The
// first that the text does not contain is used.
var tabSigns = []string{"⇥", "␉", "→"}

// NewFields opens the fields of a call. schema is the JSON schema of the arguments, if
// known. It returns nil if they are too long to edit on a screen.
func NewFields(l *Styles, args map[string]any, schema json.RawMessage) *Fields {
	f := &Fields{styles: l}
	d := Document{Styles: l, Width: 80}
	names, _ := d.Order(args)
	kinds := argKinds(schema)
	for _, name := range slices.Concat(names, absent(kinds, args)) {
		value, given := args[name]
		text, isText := value.(string)
		kind, known := kinds[name]
		one := field{name: name, given: given, kind: kind}
		i := slices.IndexFunc(tabSigns, func(sign string) bool { return !strings.Contains(text, sign) })
		if (isText || !given) && (kind == "string" || !known) && i >= 0 {
			one.tab = tabSigns[i]
			tabbed := strings.ReplaceAll(text, "\t", one.tab)
			one.text = escaped(tabbed) == tabbed
			text = tabbed
		}
		if !one.text && given {
			one.tab = ""
			text = escaped(wording.JSONText(value, "  "))
		}
		one.edit = newEditor(l, text, one.tab)
		if one.edit == nil {
			return nil
		}
		f.all = append(f.all, one)
	}
	if len(f.all) == 0 {
		return nil
	}
	if i := slices.IndexFunc(f.all, func(one field) bool { return one.text && IsLong(one.edit.text()) }); i >= 0 {
		f.at = i
	}
	return f
}

// fault says why the text of a field is no value.
func (one field) fault(err error) string {
	switch one.kind {
	case "boolean":
		return one.name + " takes true or false"
	case "integer", "number":
		return one.name + " takes a number"
	default:
		return one.name + " is not JSON" + strings.TrimPrefix(err.Error(), "decode JSON")
	}
}

// FormField is a field of a form. It is edited as text on one line.
type FormField struct {
	Name, Label string
	About       string // what it takes and means, a paragraph each
	Text        string // at first
}

// NewForm opens the fields of a form. Their arguments are the texts that are not
// empty. It returns nil if there are none.
func NewForm(l *Styles, fields []FormField) *Fields {
	f := &Fields{styles: l}
	for _, one := range fields {
		edit := newEditor(l, escaped(one.Text), "")
		if edit == nil {
			return nil
		}
		f.all = append(f.all, field{name: one.Name, label: one.Label, about: one.About, text: true, edit: edit})
	}
	if len(f.all) == 0 {
		return nil
	}
	return f
}

// argKinds returns the types of the arguments of a schema: of several "string" if it is
// among them, else "".
func argKinds(schema json.RawMessage) map[string]string {
	var known struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &known) != nil {
		return nil
	}
	out := map[string]string{}
	for name, property := range known.Properties {
		kinds, _ := property.Type.([]any)
		out[name], _ = property.Type.(string)
		if slices.Contains(kinds, any("string")) {
			out[name] = "string"
		}
	}
	return out
}

// absent returns the names of a schema that the call does not have, in order.
func absent(known map[string]string, args map[string]any) []string {
	var out []string
	for name := range known {
		if _, given := args[name]; !given {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Args returns the arguments as edited. If a field is not valid, Args returns nil and
// sets the fault.
func (f *Fields) Args() map[string]any {
	args := map[string]any{}
	for i, one := range f.all {
		text := one.edit.text()
		switch {
		case one.text && (one.given || text != ""):
			if one.tab != "" {
				text = strings.ReplaceAll(text, one.tab, "\t")
			}
			args[one.name] = text
		case strings.TrimSpace(text) == "":
		default:
			value, err := plan.DecodeValue([]byte(text))
			if err != nil {
				f.fault = untrusted.Line(one.fault(err))
				f.at = i
				return nil
			}
			args[one.name] = value
		}
	}
	return args
}

// Move gives the keys to another field.
func (f *Fields) Move(by int) {
	n := len(f.all)
	f.at = (f.at + by + n) % n
	f.SetSize(f.width, f.rows)
}

// Update passes a message to the field that takes the keys.
func (f *Fields) Update(msg tea.Msg) tea.Cmd {
	f.fault = ""
	cmd := f.all[f.at].edit.Update(msg)
	f.SetSize(f.width, f.rows)
	return cmd
}

// Undo reverts the last change of the field that takes the keys. If there is none, it
// returns a message.
func (f *Fields) Undo() (word string) {
	f.fault = ""
	return f.all[f.at].edit.Undo()
}

// Retheme applies the colors of the theme.
func (f *Fields) Retheme() {
	for _, one := range f.all {
		one.edit.Retheme()
	}
}

// Wishes returns how many lines the fields need at a width.
func (f *Fields) Wishes(width int) int {
	most := 0
	for _, one := range f.all {
		width := max(width-len(inField), 1)
		most = max(most, one.edit.Wishes(width)+len(one.aboutLines(width)))
	}
	return len(f.all) + most
}

// aboutLines returns the lines that say what a field takes and means.
func (one field) aboutLines(width int) []string {
	if one.about == "" {
		return nil
	}
	return Wrap(untrusted.Visible(one.about), width)
}

// alone reports whether there is room for the field that takes the keys only.
func (f *Fields) alone() bool { return f.rows-len(f.all) < 3 }

// SetSize sets the size of the fields, in cells and lines.
func (f *Fields) SetSize(width, height int) {
	f.width, f.rows = width, height
	room := height - len(f.all)
	if f.alone() {
		room = height - 1
	}
	one := f.all[f.at].edit
	width = max(width-len(inField), 1)
	one.SetSize(width, max(min(room, one.Wishes(width)), 1))
}

// Lines returns the fields: the one that takes the keys in full, the others on one
// line each.
func (f *Fields) Lines() []string {
	l, column := f.styles, f.column()
	var out []string
	for i, one := range f.all {
		label := untrusted.Line(cmp.Or(one.label, one.name))
		switch {
		case i == f.at:
			if f.alone() {
				label += fmt.Sprintf(" (%d of %d)", i+1, len(f.all))
			}
			out = append(out, l.Cut(l.Accent.Bold(true).Render(label), f.width))
			for _, row := range one.edit.Lines() {
				if l.Theme.Mode.ASCII && one.tab != "" {
					row = strings.ReplaceAll(row, one.tab, ">")
				}
				out = append(out, inField+row)
			}
			for _, row := range f.aboutInView() {
				out = append(out, inField+l.Faint.Render(row))
			}
		case f.alone():
		default:
			out = append(out, l.Cut(l.Accent.Render(label)+strings.Repeat(" ", max(column-VisibleWidth(label), 2))+l.Muted.Render(f.brief(one)), f.width))
		}
	}
	return out
}

// aboutInView returns the lines below the field that takes the keys for which there
// is room.
func (f *Fields) aboutInView() []string {
	one, width := f.all[f.at], max(f.width-len(inField), 1)
	lines, room := one.aboutLines(width), f.rows-len(f.all)-one.edit.height()
	if f.alone() {
		room = f.rows - 1 - one.edit.height()
	}
	if room = max(room, 0); len(lines) > room {
		if lines = lines[:room]; room > 0 {
			lines[room-1] = f.styles.Cut(lines[room-1], width-2) + " " + f.styles.Glyphs.Ellipsis
		}
	}
	return lines
}

// column returns where the fields on one line show their values, in cells.
func (f *Fields) column() int {
	longest := 0
	for _, one := range f.all {
		longest = max(longest, VisibleWidth(untrusted.Line(cmp.Or(one.label, one.name))))
	}
	return min(longest, 24, f.width/3) + 2
}

// brief returns a field on one line.
func (f *Fields) brief(one field) string {
	text := one.edit.text()
	if text == "" && !one.given {
		return "not set"
	}
	first, rest, more := strings.Cut(text, "\n")
	if one.tab != "" {
		first = strings.ReplaceAll(first, one.tab, "  ")
	}
	if more {
		first += " " + f.styles.Glyphs.Ellipsis + " " + english.Count(strings.Count(rest, "\n")+1, "more line")
	}
	return untrusted.Line(first)
}

// Cursor returns the text cursor, relative to the upper left corner of the fields.
func (f *Fields) Cursor() *tea.Cursor {
	c := f.all[f.at].edit.Cursor()
	if c != nil {
		c.X, c.Y = c.X+len(inField), c.Y+1
		if !f.alone() {
			c.Y += f.at
		}
	}
	return c
}
