package keymap

import (
	tea "charm.land/bubbletea/v2"
)

// Row is an action of a part: its keys and words, who carries it out, and why not. A row
// of a dialog or mode may have only the ID of an action whose keys and words stand in
// another table. There, its keys do what this row says.
type Row[P any] struct {
	ID      string // configuration name, such as "plan.follow"
	Keys    string // names, with spaces between them, the usual one first
	Shown   string // in help, if not the first name
	Does    string // in help
	Like    string // the action whose keys and words it has
	KeyOnly bool   // leave it out of the palette: it moves, or belongs to what is typed

	When   func(P) bool     // as in [Handler]
	Refuse func(P) string   // as in [Handler]
	Do     func(P) Requests // nil does nothing, where Refuse always says why
	Opens  bool             // as in [Handler]
	Early  bool             // as in [Handler]
}

// Table holds the actions that parts of the type P carry out. It stands beside their
// methods.
type Table[P any] []Row[P]

// For returns the handlers of the actions for one part.
func (t Table[P]) For(part P) Handlers {
	hs := make(Handlers, len(t))
	for _, r := range t {
		h := Handler{Opens: r.Opens, Early: r.Early, Do: func() Requests { return nil }}
		if r.Do != nil {
			h.Do = func() Requests { return r.Do(part) }
		}
		if r.When != nil {
			h.When = func() bool { return r.When(part) }
		}
		if r.Refuse != nil {
			h.Refuse = func() string { return r.Refuse(part) }
		}
		hs[r.ID] = h
	}
	return hs
}

// Lines returns the keys and words of the actions that have them in this table.
func (t Table[P]) Lines() Lines {
	lines := make(Lines, 0, len(t))
	for _, r := range t {
		if r.Keys == "" && r.Does == "" && r.Like == "" {
			continue
		}
		lines = append(lines, Line{ID: r.ID, Keys: r.Keys, Shown: r.Shown, Does: r.Does, Like: r.Like, KeyOnly: r.KeyOnly, Handled: r.Do != nil})
	}
	return lines
}

// Line is the line of an action in help. Its fields are those of [Row].
type Line struct {
	ID      string
	Keys    string `json:",omitempty"`
	Shown   string `json:",omitempty"`
	Does    string `json:",omitempty"`
	Like    string `json:",omitempty"`
	KeyOnly bool   `json:",omitempty"`
	Handled bool   `json:"-"` // its row says who carries it out
}

// Lines are lines of help, in order.
type Lines []Line

// Section is the lines of one place in help.
type Section struct {
	Place Place
	Title string
	Lines Lines
	Fixed bool `json:",omitempty"` // the keys cannot be configured, and help does not list them
}

// Calls makes an action of a method that requests nothing from the root.
func Calls[P any](f func(P)) func(P) Requests {
	return func(part P) Requests {
		f(part)
		return nil
	}
}

// Runs makes an action of a method that returns a command.
func Runs[P any](f func(P) tea.Cmd) func(P) Requests {
	return func(part P) Requests { return Requests{f(part)} }
}

// Says makes an action of a method that returns what the footer says, "" for nothing.
func Says[P any](f func(P) string) func(P) Requests {
	return func(part P) Requests { return ShowFooter(f(part)) }
}

// Needs returns a Refuse function that returns why unless holds reports true.
func Needs[P any](holds func(P) bool, why string) func(P) string {
	return func(part P) string {
		if holds(part) {
			return ""
		}
		return why
	}
}
