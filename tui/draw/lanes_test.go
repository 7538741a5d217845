package draw

import (
	"slices"
	"testing"

	"replan/themes"
)

func TestLanesSideBySideDifferInColor(t *testing.T) {
	for _, definition := range new(themes.Set).All() {
		if definition.Palette.Accent == nil {
			continue // it has no colors
		}
		l := NewStyles(new(themes.Set).New(definition.Name, definition.Dark, themes.Mode{}))
		used := []any{l.Accent.GetForeground(), l.Warning.GetForeground(), l.Danger.GetForeground()}
		for column := range 4 {
			color := l.Lane(column).GetForeground()
			if slices.Contains(used, any(color)) {
				t.Errorf("%s: the color of lane %d has another meaning beside it", definition.Name, column)
			}
			used = append(used, color)
		}
	}
}
