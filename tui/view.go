package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/tui/draw"
	"replan/tui/frame"
	"replan/tui/panes"
	"replan/tui/selection"
)

// view composes the lines of the screen from what its parts draw.
type view struct {
	styles    *draw.Styles
	frame     *frame.Frame
	situation *situation
	footer    *footer
	focus     *keyFocus
	places    places
	chat      drawnChat
	input     drawnInput
	plan      drawnPlan
	step      drawnStep
	sheet     drawnSheet
	dialogs   interface{ front() overlay }
	toasts    interface {
		Draw(l *draw.Styles, width int, lines []string)
	}
}

// places says where on the screen each part is.
type places interface {
	Layout() panes.Layout
	Size() (width, height int)
}

// drawnChat draws the conversation.
type drawnChat interface {
	View() []string
	EdgeLabels() (title, note string)
	SearchCursor() int
}

// drawnInput draws the input, and the list above it over other lines.
type drawnInput interface {
	View(place draw.Rect) []string
	ListOver(lines []string, width int) []string
	ListLines(height, width, most int) []string
	Cursor() *tea.Cursor
}

// drawnPlan draws the plan.
type drawnPlan interface {
	View() []string
	Title() string
	Summary() string
	ChosenTitle() string
}

// drawnStep draws the chosen step.
type drawnStep interface {
	View() []string
	Title(width int) string
	Place() string
}

// drawnSheet draws an open gate or question.
type drawnSheet interface {
	View(place draw.Rect) []string
	Showing() bool
	Editing() bool
	Cursor() *tea.Cursor
}

// lines returns every line of the screen.
func (v *view) lines() []string {
	l := v.places.Layout()
	if l.Small {
		return v.frame.TooSmall(l.Width, l.Height)
	}
	screen := make([]string, 0, l.Height)
	screen = append(screen, v.frame.Header(v.situation.state(), l.Width))
	over := v.dialogs.front()
	if over != nil {
		screen = append(screen, v.underlaid(over.View(v.dialogSize()))...)
	} else {
		screen = append(screen, v.body()...)
	}
	screen = append(screen, v.footer.draw(l.Width))
	first, end := 1, l.Height-l.Sheet.H-1 // lines that notices may cover
	if l.Tabs.H > 0 && over == nil {
		first = l.Tabs.Y + 1
	} else if over == nil && l.Wide {
		first++ // the titles of the panes stay in view
	}
	if over == nil && l.Input.H > 0 {
		end = min(end, l.Input.Y-1) // and the input with its edge
	}
	v.toasts.Draw(v.styles, l.Width, screen[first:max(end, first)])
	return screen
}

// cursor returns the position of the text cursor, nil if nothing is being typed.
func (v *view) cursor() *tea.Cursor {
	l := v.places.Layout()
	within := func(c *tea.Cursor, place draw.Rect) *tea.Cursor {
		if c != nil {
			c.X += place.X
			c.Y += place.Y
		}
		return c
	}
	switch over := v.dialogs.front(); {
	case l.Small:
		return nil
	case over != nil:
		return within(over.Cursor(), draw.Rect{Y: 1}) // below the header
	case v.sheet.Editing():
		return within(v.sheet.Cursor(), l.Sheet)
	case v.focus.searching():
		return tea.NewCursor(l.Chat.X+v.chat.SearchCursor(), l.Chat.Y+l.Chat.H-1)
	default:
		return within(v.input.Cursor(), l.Input)
	}
}

// selectable returns the area that bounds a selection from that cell, and whether that
// is the chat.
func (v *view) selectable(x, y int) (area draw.Rect, chat bool) {
	l := v.places.Layout()
	switch over := v.dialogs.front(); {
	case l.Small:
	case over != nil:
		alone := append(append([]string{""}, over.View(v.dialogSize())...), "")
		return selection.Framed(alone, v.styles.Glyphs.Border.Left, x, y), false
	case l.Sheet.H > 2 && l.Sheet.Contains(x, y):
		return draw.Rect{X: l.Sheet.X + 2, Y: l.Sheet.Y + 1, W: l.Sheet.W - 4, H: l.Sheet.H - 2}, false
	case l.Chat.Contains(x, y):
		return l.Chat, true
	case l.Plan.Contains(x, y):
		return l.Plan, false
	case l.Step.Contains(x, y):
		return l.Step, false
	}
	return draw.Rect{}, false
}

// dialogSize returns the size of a dialog: between header and footer.
func (v *view) dialogSize() draw.Rect {
	width, height := v.places.Size()
	return draw.Rect{W: width, H: height - 2}
}

// body draws the panes, and the sheet of an open gate below them.
func (v *view) body() []string {
	var lines []string
	switch l := v.places.Layout(); {
	case l.Body.H == 0:
	case l.Mapped:
		lines = v.styles.Frame(l.Width, v.styles.Focus, v.planSection())
	case l.Wide:
		right := v.rightHalf()
		if l.Left.W == 0 {
			lines = right
			break
		}
		lines = v.leftHalf()
		for i, part := range right {
			lines[i] += part
		}
		v.putList(lines)
	default:
		lines = append(lines, v.frame.Tabs(v.tabs(), l.Width))
		lines = append(lines, v.tabBody()...)
	}
	if sheet := v.places.Layout().Sheet; sheet.H > 0 {
		lines = append(lines, v.sheet.View(sheet)...)
	}
	return lines
}

// putList puts the list above the input over the lines of both halves.
func (v *view) putList(lines []string) {
	const header = 1
	l := v.places.Layout()
	list := v.input.ListLines(l.Chat.H, l.Left.W-2, l.Width-2)
	for i, row := range list {
		line := &lines[l.Chat.Y-header+l.Chat.H-len(list)+i]
		*line = ansi.Truncate(*line, 1, "") + row + ansi.TruncateLeft(*line, 1+draw.VisibleWidth(row), "")
	}
}

// edge returns the border of a pane, and whether the pane has the focus.
func (v *view) edge(p panes.Pane) (focused bool, border draw.Section) {
	focused = v.focus.focused() == p
	return focused, draw.Section{Style: v.frame.Border(focused && !v.sheet.Showing())}
}

// leftHalf draws the chat with the input below it.
func (v *view) leftHalf() []string {
	l := v.places.Layout()
	focused, chat := v.edge(panes.Chat)
	below := chat
	chat.Lines = draw.Padded(v.chat.View())
	title, note := v.chat.EdgeLabels() // for the view just drawn
	chat.Title, chat.Note = v.frame.Title("Chat", focused), note
	sections := []draw.Section{chat}
	if l.Input.H > 0 {
		below.Title, below.Lines = title, draw.Padded(v.input.View(l.Input))
		sections = append(sections, below)
	}
	return v.styles.Frame(l.Left.W, v.styles.Focus, sections...)
}

// planSection draws the plan for a border around it.
func (v *view) planSection() draw.Section {
	focused, plan := v.edge(panes.Plan)
	plan.Title, plan.Note, plan.Lines = v.frame.Title(v.plan.Title(), focused), v.plan.Summary(), v.plan.View()
	return plan
}

// rightHalf draws the plan above the step.
func (v *view) rightHalf() []string {
	l := v.places.Layout()
	if l.Right.W == 0 {
		return nil
	}
	var sections []draw.Section
	if l.Plan.H > 0 {
		sections = append(sections, v.planSection())
	}
	if l.Step.H > 0 {
		_, step := v.edge(panes.Step)
		step.Lines = draw.Padded(v.step.View())
		width := l.Right.W - 6
		if note := v.plan.Summary(); note != "" && len(sections) > 0 {
			width -= draw.VisibleWidth(note) + 4 // drawn in the same edge
		}
		step.Title, step.Note = v.step.Title(width), v.step.Place()
		sections = append(sections, step)
	}
	return v.styles.Frame(l.Right.W, v.styles.Focus, sections...)
}

// tabs returns the tabs of a narrow screen.
func (v *view) tabs() frame.Tabs {
	return frame.Tabs{Plan: v.plan.Title(), Step: v.plan.ChosenTitle(), Focus: v.focus.focused()}
}

// tabAt returns the tab in a column of the row of tabs.
func (v *view) tabAt(x, width int) (tab panes.Pane, found bool) {
	return v.frame.TabAt(v.tabs(), x, width)
}

// tabBody draws the visible tab.
func (v *view) tabBody() []string {
	switch v.focus.focused() {
	case panes.Plan:
		return v.plan.View()
	case panes.Step:
		return draw.Padded(v.step.View())
	}
	l := v.places.Layout()
	out := v.input.ListOver(draw.Padded(v.chat.View()), l.Width)
	if l.Input.H > 0 {
		bar := v.styles.Glyphs.Rule
		title, note := v.chat.EdgeLabels()
		out = append(out, v.styles.Edge(bar, bar, bar, title, note, l.Width, v.styles.Border))
		out = append(out, draw.Padded(v.input.View(l.Input))...)
	}
	return out
}

// The minimum screen size on which a dialog lies over the panes, in cells. On a
// smaller one it has the screen to itself.
const (
	overlayWidth  = 60
	overlayHeight = 20
)

// underlaid returns the lines of a dialog with the panes around it, dimmed.
func (v *view) underlaid(dialog []string) []string {
	width, height := v.places.Size()
	if width < overlayWidth || height < overlayHeight {
		return dialog
	}
	box := boxOf(dialog)
	if box.H == 0 || box.W >= width-2 && box.H >= len(dialog)-2 {
		return dialog
	}
	below := v.body()
	for i := range min(len(dialog), len(below)) {
		plain := ansi.Strip(below[i])
		if i < box.Y || i >= box.Y+box.H {
			dialog[i] = v.styles.Faint.Render(plain)
			continue
		}
		left := ansi.Truncate(plain, box.X, "")
		left += strings.Repeat(" ", max(box.X-draw.VisibleWidth(left), 0))
		right := ansi.TruncateLeft(plain, box.X+box.W, "")
		within := v.styles.Exactly(ansi.TruncateLeft(dialog[i], box.X, ""), box.W)
		dialog[i] = v.styles.Faint.Render(left) + within + v.styles.Faint.Render(right)
	}
	return dialog
}

// boxOf returns the rectangle that the lines of a dialog fill.
func boxOf(lines []string) draw.Rect {
	first, last, left, right := -1, -1, 0, 0
	for i, line := range lines {
		plain := strings.TrimRight(ansi.Strip(line), " ")
		if plain == "" {
			continue
		}
		at := len(plain) - len(strings.TrimLeft(plain, " "))
		if first < 0 {
			first, left = i, at
		}
		last, left, right = i, min(left, at), max(right, draw.VisibleWidth(plain))
	}
	return draw.Rect{X: left, Y: max(first, 0), W: right - left, H: last - first + min(first+1, 1)}
}
