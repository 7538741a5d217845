package themes

import "charm.land/lipgloss/v2"

// Glyphs are the signs used to draw the screen. Each is one cell wide unless noted
// otherwise.
type Glyphs struct {
	Done     string
	Partial  string // done, with parts left out
	Failed   string
	Pending  string
	Gate     string // waits for the user
	Skipped  string
	Declined string // the user said no
	Doubt    string // unknown whether it took effect
	Stopped  string

	Claimed   string // done as a tool or a model says, and nothing checks it
	Unchecked string // done, and its check was not evaluated

	Draft   string // part of an incomplete plan
	Ready   string // waits only for a free slot
	Retry   string // will be retried
	Warning string

	Milestone string   // a part of a plan
	Spinner   []string // frames of the animation for ongoing work
	Still     string   // replaces Spinner if animation is off

	Added   string
	Removed string
	Revised string

	Prompt    string
	Separator string // between items on one line
	Folded    string
	Unfolded  string
	Blocker   string // before the steps that a step waits for; may be wider
	Ellipsis  string // may be wider
	Guide     string // left of a block of text
	Bullet    string
	Cursor    string // left of the selected list row
	Rule      string
	Quote     string // left of a quotation
	Branch    string // before a branch name
	Full      string // of a bar
	Empty     string
	Play      string // playing
	Pause     string // may be wider

	Above, Below, Before, After string // toward what is out of view

	Border lipgloss.Border
	Lanes  Lanes
	Bars   Bars

	Wires     Lanes  // lines between boxes; two cells connect if both have that side
	Box       Lanes  // edges of a box, with a joint where a line meets it
	ChosenBox Lanes  // edges of the selected box
	CursorEnd string // right of the selection; Cursor is left of it
}

// Bars are the signs for periods of time, so that color alone never distinguishes
// them.
type Bars struct {
	Critical string // running, on the critical path
	Run      string // running beside the critical path
	Gate     string // waiting for an answer
	Wait     string // other waiting
	Plan     string // a model planning
	Mark     string // a new plan replaced the old one
}

// Lanes are the pieces for drawing the gutter of a graph. Each is named by the
// sides of its cell that it connects: up, down, left, right.
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

// The sides of a cell that a line connects, as bits.
const (
	sideUp uint8 = 1 << iota
	sideDown
	sideLeft
	sideRight
)

// Cell returns the piece that connects the given sides of a cell, or a blank for
// none. The bits are in the order up, down, left, right.
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

// UnicodeGlyphs returns glyphs that need a font with box drawing and Braille, which
// every terminal has.
func UnicodeGlyphs() Glyphs {
	return Glyphs{
		Done: "✓", Partial: "◐", Failed: "✗", Pending: "◦", Gate: "◆", Skipped: "—", Declined: "⊘", Doubt: "?", Stopped: "■", Claimed: "≈", Unchecked: "□", Warning: "!", Milestone: "◇",
		Draft: "◌", Ready: "○", Retry: "↻",
		Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}, Still: "⠿",
		Added: "+", Removed: "−", Revised: "~",
		Prompt: "›", Separator: "·", Folded: "▸", Unfolded: "▾", Blocker: "←", Ellipsis: "…", Guide: "│", Bullet: "•",
		Cursor: "▌", Rule: "─", Quote: "│", Branch: "⎇", Full: "▰", Empty: "▱", Play: "▶", Pause: "‖",
		Above: "▲", Below: "▼", Before: "◀", After: "▶",
		Border:    lipgloss.RoundedBorder(),
		Lanes:     lightLines,
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

// ASCIIGlyphs returns glyphs for terminals and fonts limited to ASCII.
func ASCIIGlyphs() Glyphs {
	border := lipgloss.ASCIIBorder()
	return Glyphs{
		Done: "v", Partial: "%", Failed: "x", Pending: ".", Gate: "*", Skipped: "=", Declined: "n", Doubt: "?", Stopped: "#", Claimed: "~", Unchecked: "_", Warning: "!", Milestone: "/",
		Draft: ":", Ready: "^", Retry: "@",
		Spinner: []string{"O", "0", "o", "0"}, Still: "o",
		Added: "+", Removed: "-", Revised: "~",
		Prompt: ">", Separator: "-", Folded: ">", Unfolded: "{", Blocker: "<-", Ellipsis: "...", Guide: ":", Bullet: "*",
		Cursor: ">", Rule: "-", Quote: ":", Branch: "@", Full: "#", Empty: ".", Play: ">", Pause: "||",
		Above: "^", Below: "v", Before: "<", After: ">",
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
