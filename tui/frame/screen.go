package frame

import (
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/draw"
)

// WindowTitle returns the title of the terminal's window during a run, nil
// before the first.
func (f *Frame) WindowTitle(run *agent.Run) string {
	const longest = 60 // cells
	if run == nil {
		return "replan"
	}
	return "replan - " + f.styles.Cut(run.Goal.FirstLine(), longest)
}

// TooSmall returns a screen that says that the window is too small.
func (f *Frame) TooSmall(width, height int) []string {
	for _, text := range []string{"replan needs 40 x 12 cells; please enlarge this window.", "Enlarge the window.", "Too small."} {
		if lines := draw.Wrap(text, width); len(lines) <= height {
			return f.styles.Block(lines, width, height)
		}
	}
	return f.styles.Block([]string{"replan"}, width, height)
}

// Title draws the title of a pane.
func (f *Frame) Title(title string, focused bool) string {
	if focused {
		return f.styles.Strong.Render(title)
	}
	return f.styles.Muted.Render(title)
}

// Border returns the style of a pane's border.
func (f *Frame) Border(focused bool) lipgloss.Style {
	if focused {
		return f.styles.Focus
	}
	return f.styles.Border
}
