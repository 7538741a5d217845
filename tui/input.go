package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/session"
)

// maxInputHeight bounds the input; longer text scrolls in it.
const maxInputHeight = 8

// input is where the user types, with a history of what was sent.
type input struct {
	look    *look
	area    textarea.Model
	width   int
	history []string
	others  []string // what was sent in other folders
	secret  string   // what was sent last with a blank before it: it is not remembered
	at      int      // position in history; its length where none is shown
	draft   string   // what was typed before the history was looked at
	pastes  []pasted // what tokens in the text stand for
	closed  []string // what stands in its place where nothing can be typed, the longest first
}

func newInput(l *look, text string) *input {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.CharLimit = 0
	area.MaxHeight = maxInputHeight
	area.MaxContentHeight = 10_000
	area.DynamicHeight = true
	area.MinHeight = 1
	area.Placeholder = "What shall be done?"
	area.SetVirtualCursor(false)
	// Enter sends, and keys that other parts of the screen take are left to them.
	area.KeyMap.InsertNewline.Unbind()
	area.KeyMap.PageUp.Unbind()
	area.KeyMap.PageDown.Unbind()
	i := &input{look: l, area: area}
	i.retheme()
	i.area.SetValue(text)
	i.area.Focus()
	return i
}

// retheme takes the colours of the theme.
func (i *input) retheme() {
	l := i.look
	i.area.SetPromptFunc(2, func(p textarea.PromptInfo) string {
		if p.LineNumber == 0 {
			return l.glyphs.Prompt + " "
		}
		return "  "
	})
	state := textarea.StyleState{
		Text: l.Text, CursorLine: l.Text, Placeholder: l.Faint, Prompt: l.Accent,
		Selection: l.Selected(l.Text), EndOfBuffer: l.Text, Base: lipgloss.NewStyle(),
	}
	styles := i.area.Styles()
	styles.Focused, styles.Blurred = state, state
	styles.Blurred.Prompt = l.Faint
	styles.Cursor.Color = nil
	i.area.SetStyles(styles)
}

// setSize makes the input that many cells wide, its prompt included, and bounds
// how many lines of the text are shown.
func (i *input) setSize(width, lines int) {
	lines = max(min(lines, maxInputHeight), 1)
	if i.area.MaxHeight != lines || i.width != width {
		i.width, i.area.MaxHeight = width, lines
		i.area.SetWidth(width)
	}
}

// height is how many lines the input takes.
func (i *input) height() int {
	if i.closed != nil {
		return 1
	}
	return max(i.area.Height(), 1)
}

// close takes no more text and says words instead, the longest that there is
// room for.
func (i *input) close(words ...string) {
	i.closed = words
	i.area.Blur()
}

func (i *input) empty() bool { return i.area.Value() == "" }

// value is what was typed, with what its tokens stand for.
func (i *input) value() string { return strings.TrimSpace(i.expanded()) }

// sent is the value to be sent: with a blank before it where that keeps it from
// being remembered.
func (i *input) sent() string {
	text := i.value()
	if !strings.HasPrefix(i.area.Value(), " ") {
		return text
	}
	i.secret = text
	return " " + text
}

func (i *input) clear() {
	i.set("")
	i.pastes, i.at = nil, len(i.history)
}

// split is the text before and behind the cursor.
func (i *input) split() (before, after string) {
	text := i.area.Value()
	at := 0
	for range i.area.Line() {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for range i.area.Column() {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at], text[at:]
}

// setSplit sets the text with the cursor between its parts.
func (i *input) setSplit(before, after string) {
	i.area.SetValue(after)
	i.area.MoveToBegin()
	i.area.InsertString(before)
}

// breakLine takes a backslash before the cursor for a new line, and reports whether
// there was one.
func (i *input) breakLine() bool {
	before, after := i.split()
	before, escaped := strings.CutSuffix(before, `\`)
	if escaped {
		i.setSplit(before+"\n", after)
	}
	return escaped
}

func (i *input) set(text string) {
	i.area.SetValue(text)
	i.area.MoveToEnd()
}

func (i *input) setFocus(focused bool) {
	if focused && i.closed == nil {
		i.area.Focus() // returns a command for a cursor that blinks, which this one does not
		return
	}
	i.area.Blur()
}

// remember adds a text to the history.
func (i *input) remember(text string) {
	if text == i.secret {
		i.at = len(i.history)
		return
	}
	if n := len(i.history); text != "" && (n == 0 || i.history[n-1] != text) {
		i.history = append(i.history, text)
	}
	i.at = len(i.history)
}

// restore puts what was sent in other sessions before what was sent in this one.
func (i *input) restore(h session.History) {
	here := slices.Clone(h.Here)
	for _, text := range i.history {
		if !slices.Contains(here, text) {
			here = append(here, text)
		}
	}
	i.history, i.others, i.at = here, h.Elsewhere, len(here)
}

// update gives a message to the text. What a token stands for goes as a whole.
func (i *input) update(msg tea.Msg) tea.Cmd {
	k, isKey := msg.(tea.KeyPressMsg)
	if isKey && i.erased(k) {
		return nil
	}
	was, _ := i.split()
	var cmd tea.Cmd
	i.area, cmd = i.area.Update(msg)
	if isKey {
		i.stepOver(was)
	}
	return cmd
}

// newline begins a new line at the cursor.
func (i *input) newline() {
	was, _ := i.split()
	i.area.InsertString("\n")
	i.stepOver(was)
}

// hasBefore reports whether the cursor is on the first line and something was
// sent before what is shown.
func (i *input) hasBefore() bool {
	return i.area.Line() == 0 && i.area.LineInfo().RowOffset == 0 && i.at > 0 && len(i.history) > 0
}

// hasAfter reports whether the cursor is on the last line and something was sent
// after what is shown.
func (i *input) hasAfter() bool {
	return i.at < len(i.history) && i.area.Line() >= i.area.LineCount()-1
}

// back shows what was sent before.
func (i *input) back() {
	if i.at == len(i.history) {
		i.draft = i.area.Value()
	}
	i.at--
	i.set(i.history[i.at])
}

// forward shows what was sent after that, and at last what was being typed.
func (i *input) forward() {
	i.at++
	if i.at == len(i.history) {
		i.set(i.draft)
	} else {
		i.set(i.history[i.at])
	}
}

// lines is the input's content.
func (i *input) lines() []string {
	if i.closed == nil {
		return steadyLines(i.area.View())
	}
	line := ""
	for _, line = range i.closed {
		if visibleWidth(line) <= i.width {
			break
		}
	}
	return []string{i.look.Faint.Render(i.look.cut(line, i.width))}
}

// cursor is where the text cursor stands, from the input's upper left corner.
func (i *input) cursor() *tea.Cursor { return i.area.Cursor() }
