package dialog

import (
	"context"
	"slices"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// logView shows the log of a server and follows its end while it grows.
type logView struct {
	server  string // "" shows none
	lines   []untrusted.Text
	known   bool // the log has arrived
	problem untrusted.Text
	watched context.Context
	end     context.CancelFunc // ends the query for more; nil if there is none

	top     int  // first visible line, unless the view follows the end
	away    bool // the user looks at earlier lines
	page    int  // visible rows
	lastTop int  // first visible line when the end is in view
}

// logKey identifies one showing of a log.
type logKey struct{ of context.Context }

// follow shows the end of a server's log and requests it.
func (v *logView) follow(server string) keymap.Query {
	v.close()
	*v = logView{server: server}
	v.watched, v.end = context.WithCancel(context.Background())
	return keymap.QueryServerLog(v.watched, logKey{v.watched}, server, -1)
}

// close ends the query for more.
func (v *logView) close() {
	if v.end != nil {
		v.end()
	}
	*v = logView{}
}

// take stores the lines of the log and requests the next ones.
func (v *logView) take(msg keymap.LogMsg) keymap.Query {
	if v.watched == nil || msg.Of != (logKey{v.watched}) {
		return nil
	}
	if v.away {
		v.top = sameLine(v.lines, msg.Lines, v.top)
	}
	v.known, v.lines, v.problem = true, msg.Lines, msg.Problem
	if msg.Problem != "" {
		return nil
	}
	return keymap.QueryServerLog(v.watched, logKey{v.watched}, v.server, msg.At)
}

// sameLine returns where a line of a log is now. The log has new lines at its end, and
// may have lost some at its start.
func sameLine(was, now []untrusted.Text, at int) int {
	const alike = 5 // lines that must be equal
	if at >= len(was) {
		return at
	}
	part := was[at:min(at+alike, len(was))]
	for i := min(at, len(now)-len(part)); i >= 0; i-- {
		if slices.Equal(now[i:i+len(part)], part) {
			return i
		}
	}
	return 0
}

// by scrolls by lines.
func (v *logView) by(lines int) {
	if !v.away {
		v.top = v.lastTop
	}
	v.top = max(v.top+lines, 0)
	v.away = v.top < v.lastTop
}

// keys returns the keys that scroll the log.
func (v *logView) keys() keymap.Handlers { return keymap.Scrolling(v.page, v.by) }

// visible returns the visible rows, at most height, and where they are in the log.
func (v *logView) visible(l *draw.Styles, width, height int) (rows []string, note string) {
	v.page = height
	if len(v.lines) == 0 {
		return v.nothing(l, width), ""
	}
	wrapped := func(i int) []string { return draw.Wrap(v.lines[i].Visible(), width) }
	v.lastTop = len(v.lines)
	for room := height; v.lastTop > 0; v.lastTop-- {
		if room -= len(wrapped(v.lastTop - 1)); room < 0 && v.lastTop < len(v.lines) {
			break
		}
	}
	top := v.lastTop
	if v.away {
		top = min(v.top, v.lastTop)
	}
	at := top
	for ; at < len(v.lines) && len(rows) < height; at++ {
		rows = append(rows, draw.Paint(l.Text, wrapped(at))...)
	}
	if top == v.lastTop {
		rows = rows[max(len(rows)-height, 0):] // one line may be longer than the page
	}
	return rows[:min(len(rows), height)], l.Span(top, at, len(v.lines))
}

// nothing explains why there are no lines.
func (v *logView) nothing(l *draw.Styles, width int) []string {
	words := "It has written nothing yet. Its lines appear here as they come."
	switch {
	case !v.known:
		words = "Reading the log" + l.Glyphs.Ellipsis
	case v.problem != "":
		words = v.problem.Visible()
	}
	return draw.Paint(l.Faint, draw.Wrap(words, width))
}
