package draw

import "github.com/charmbracelet/x/ansi"

// Breaks returns the byte offsets where the rows of text start when it is
// broken into rows of at most width cells. It keeps every character.
func Breaks(text string, width int) []int {
	out := []int{0}
	if plainWidth(text) {
		for at := width; at < len(text); at += width {
			out = append(out, at)
		}
		return out
	}
	cells := 0
	for at := 0; at < len(text); {
		cluster, w := ansi.FirstGraphemeCluster(text[at:], ansi.GraphemeWidth)
		if len(cluster) == 0 {
			break
		}
		if cells+w > width && cells > 0 {
			out = append(out, at)
			cells = 0
		}
		cells += w
		at += len(cluster)
	}
	return out
}

// rowsOf returns the number of rows Breaks makes.
func rowsOf(text string, width int) int {
	if plainWidth(text) {
		return max((len(text)+width-1)/width, 1)
	}
	if len(text) <= width { // no character has more cells than bytes
		return 1
	}
	return len(Breaks(text, width))
}

// plainWidth reports whether every byte of a text is one cell wide.
func plainWidth(text string) bool {
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7E {
			return false
		}
	}
	return true
}
