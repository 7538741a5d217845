package frame

import (
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/draw"
)

// screen draws what belongs to the whole screen and to every pane.
type screen struct{ styles *draw.Styles }

// WindowTitle returns the title of the terminal's window during a run, nil
// before the first.
func (s *screen) WindowTitle(run *agent.Run) string {
	const longest = 60 // cells
	if run == nil {
		return "replan"
	}
	return "replan - " + s.styles.Cut(run.Goal.FirstLine(), longest)
}

// TooSmall returns a screen that says that the window is too small.
func (s *screen) TooSmall(width, height int) []string {
	for _, text := range []string{"replan needs 40 x 12 cells; please enlarge this window.", "Enlarge the window.", "Too small."} {
		if lines := draw.Wrap(text, width); len(lines) <= height {
			return s.styles.Block(lines, width, height)
		}
	}
	return s.styles.Block([]string{"replan"}, width, height)
}

// Title draws the title of a pane.
func (s *screen) Title(title string, focused bool) string {
	if focused {
		return s.styles.Strong.Render(title)
	}
	return s.styles.Muted.Render(title)
}

// Border returns the style of a pane's border.
func (s *screen) Border(focused bool) lipgloss.Style {
	if focused {
		return s.styles.Focus
	}
	return s.styles.Border
}
