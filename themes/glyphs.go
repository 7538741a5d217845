package themes

import "charm.land/lipgloss/v2"

// Glyphs are the signs the screen is drawn with, each one cell wide unless it
// says otherwise.
type Glyphs struct {
	Done    string
	Partial string // of which something was left out
	Failed  string
	Pending string
	Gate    string // waits for the user
	Skipped string
	Doubt   string // nobody knows whether it took effect
	Stopped string
	Draft   string // of a plan that is not whole yet
	Ready   string // nothing keeps it from starting but a free slot
	Retry   string // will be tried again
	Warning string
	Spinner []string // one after the other while something goes on
	Still   string   // in its place where nothing is to move

	Added   string
	Removed string
	Revised string

	Prompt    string
	Separator string // between things on one line
	Folded    string
	Unfolded  string
	Blocker   string // stands before the steps that one waits for; may be wider
	Ellipsis  string // may be wider
	Guide     string // left of a block of text
	Bullet    string
	Cursor    string // left of the chosen row in a list
	Rule      string
	Quote     string // left of a quotation
	Branch    string // before the name of a branch
	Full      string // of a bar
	Empty     string
	Play      string // what plays
	Pause     string // may be wider
	Parallel  string // on what may run at the same time as something else; may be wider

	Border lipgloss.Border
	Lanes  Lanes
	Bars   Bars

	Wires     Lanes  // lines between boxes; two cells are joined where both have that side
	Box       Lanes  // edges of a box, with a joint where a line meets it
	ChosenBox Lanes  // of the chosen one
	CursorEnd string // right of what is chosen, where Cursor is left of it
}

// Bars are what times are drawn with, so that none is told by colour alone.
type Bars struct {
	Critical string // ran, on the path that decided how long it all took
	Run      string // ran beside that
	Gate     string // waited for somebody's word
	Wait     string // waited otherwise
	Plan     string // a model planned
	Mark     string // a new plan took the place of the old one
}

// Lanes are the pieces that the gutter of a graph is drawn with, by the sides
// of the cell that they join: up, down, left, right.
type Lanes struct {
	UD, UDR, UDL, UDLR string
	DL, DR, UL, UR     string
	LR, DLR, ULR       string
}

// lightLines are lines with round corners.
var lightLines = Lanes{
	UD: "│", UDR: "├", UDL: "┤", UDLR: "┼",
	DL: "╮", DR: "╭", UL: "╯", UR: "╰",
	LR: "─", DLR: "┬", ULR: "┴",
}

// The sides of a cell that a line joins, as bits.
const (
	sideUp uint8 = 1 << iota
	sideDown
	sideLeft
	sideRight
)

// Cell is the piece that joins those sides of a cell, in the order of the bits
// up, down, left and right; a blank for none.
func (l Lanes) Cell(sides uint8) string {
	switch sides {
	case sideUp | sideDown:
		return l.UD
	case sideUp | sideDown | sideRight:
		return l.UDR
	case sideUp | sideDown | sideLeft:
		return l.UDL
	case sideUp | sideDown | sideLeft | sideRight:
		return l.UDLR
	case sideDown | sideLeft:
		return l.DL
	case sideDown | sideRight:
		return l.DR
	case sideUp | sideLeft:
		return l.UL
	case sideUp | sideRight:
		return l.UR
	case sideLeft | sideRight:
		return l.LR
	case sideDown | sideLeft | sideRight:
		return l.DLR
	case sideUp | sideLeft | sideRight:
		return l.ULR
	default:
		return " "
	}
}

// UnicodeGlyphs need a font with box drawing and Braille, as every terminal's
// has.
func UnicodeGlyphs() Glyphs {
	return Glyphs{
		Done: "✓", Partial: "◐", Failed: "✗", Pending: "·", Gate: "◆", Skipped: "—", Doubt: "?", Stopped: "■", Warning: "!",
		Draft: "◌", Ready: "○", Retry: "↻",
		Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}, Still: "⠿",
		Added: "+", Removed: "−", Revised: "~",
		Prompt: "›", Separator: "·", Folded: "▸", Unfolded: "▾", Blocker: "←", Ellipsis: "…", Guide: "│", Bullet: "•",
		Cursor: "▌", Rule: "─", Quote: "│", Branch: "⎇", Full: "▰", Empty: "▱", Play: "▶", Pause: "‖", Parallel: "∥",
		Border: lipgloss.RoundedBorder(),
		Lanes: Lanes{
			UD: "│", UDR: "├", UDL: "┤", UDLR: "┼",
			DL: "┐", DR: "┌", UL: "┘", UR: "└",
			LR: "─", DLR: "┬", ULR: "┴",
		},
		Wires:     lightLines,
		Box:       lightLines,
		CursorEnd: "▐",
		ChosenBox: Lanes{
			UD: "┃", UDR: "┠", UDL: "┨", UDLR: "╋",
			DL: "┓", DR: "┏", UL: "┛", UR: "┗",
			LR: "━", DLR: "┯", ULR: "┷",
		},
		Bars: Bars{Critical: "█", Run: "▒", Gate: "╌", Wait: "·", Plan: "≈", Mark: "┊"},
	}
}

// ASCIIGlyphs are for terminals and fonts that have nothing else.
func ASCIIGlyphs() Glyphs {
	border := lipgloss.ASCIIBorder()
	return Glyphs{
		Done: "v", Partial: "%", Failed: "x", Pending: ".", Gate: "*", Skipped: "=", Doubt: "?", Stopped: "#", Warning: "!",
		Draft: ":", Ready: "^", Retry: "@",
		Spinner: []string{"O", "0", "o", "0"}, Still: "o",
		Added: "+", Removed: "-", Revised: "~",
		Prompt: ">", Separator: "-", Folded: ">", Unfolded: "v", Blocker: "<-", Ellipsis: "...", Guide: "|", Bullet: "*",
		Cursor: ">", Rule: "-", Quote: "|", Branch: "@", Full: "#", Empty: ".", Play: ">", Pause: "||", Parallel: "||",
		Border: border,
		Lanes: Lanes{
			UD: "|", UDR: "+", UDL: "+", UDLR: "+",
			DL: "\\", DR: "/", UL: "/", UR: "\\",
			LR: "-", DLR: ".", ULR: "'",
		},
		Wires: Lanes{
			UD: "|", UDR: "+", UDL: "+", UDLR: "+",
			DL: ".", DR: ".", UL: "'", UR: "'",
			LR: "-", DLR: ".", ULR: "'",
		},
		Box: Lanes{
			UD: "|", UDR: "|", UDL: "|", UDLR: "+",
			DL: "+", DR: "+", UL: "+", UR: "+",
			LR: "-", DLR: "-", ULR: "-",
		},
		ChosenBox: Lanes{
			UD: "#", UDR: "#", UDL: "#", UDLR: "#",
			DL: "#", DR: "#", UL: "#", UR: "#",
			LR: "=", DLR: "=", ULR: "=",
		},
		CursorEnd: "<",
		Bars:      Bars{Critical: "#", Run: "=", Gate: "-", Wait: ".", Plan: "~", Mark: "|"},
	}
}
