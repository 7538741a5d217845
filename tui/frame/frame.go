package frame

import (
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Frame draws what surrounds the panes. Each of its parts draws one thing.
type Frame struct {
	screen
	header
	tabRow
	activity
	welcome
	footerLine
}

// Options configure what surrounds the panes.
type Options struct {
	Version  string   // of the program
	Replay   bool     // a past run is replayed, which asks no questions
	Home     string   // the user's home folder, "" if unknown
	Intro    string   // Markdown that replaces the greeting; "" for none
	Examples []string // goals that fit the workspace, for the greeting
}

// New returns a frame that draws Markdown with md.
func New(l *draw.Styles, keys *keymap.Map, md *draw.Markdown, o Options) *Frame {
	return &Frame{
		screen:     screen{l},
		header:     header{styles: l, replay: o.Replay, home: o.Home},
		tabRow:     tabRow{l},
		activity:   activity{styles: l, keys: keys, replay: o.Replay},
		welcome:    welcome{styles: l, keys: keys, markdown: md, options: o},
		footerLine: footerLine{styles: l, keys: keys, replay: o.Replay},
	}
}
