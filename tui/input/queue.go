package input

import (
	"fmt"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
)

// jobList is the queue of the session: what it prepares, and the entries that wait, listed
// above the text field.
type jobList struct {
	styles *draw.Styles
	queue  session.Queue
	most   int // maximum number of lines
}

// set stores the queue of the session. It reports whether the session has stopped to
// prepare an entry.
func (j *jobList) set(q session.Queue) (prepared bool) {
	prepared = j.queue.Doing != "" && q.Doing == ""
	j.queue = q
	return prepared
}

// setMost sets the maximum number of lines, and returns how many it takes of them.
func (j *jobList) setMost(lines int) int {
	j.most = lines
	return min(len(j.queue.Waiting), lines)
}

// lines returns how many lines list the queue beside a text field of at
// least one line: one per entry, if there is room.
func (j *jobList) lines(height int) int {
	return max(min(len(j.queue.Waiting), j.most, height-1), 0)
}

// draw draws the given number of queued entries, each with its number. The
// newest is always among them, since a key takes it back.
func (j *jobList) draw(width, lines int) []string {
	l, n := j.styles, len(j.queue.Waiting)
	var out []string
	for i := range lines {
		at, more := i, 0
		if i == lines-1 {
			at, more = n-1, n-lines
		}
		text := fmt.Sprintf("%d queued: %s", at+1, untrusted.FirstLine(j.queue.Waiting[at]))
		note := ""
		if more > 0 {
			note = fmt.Sprintf(" (%d more before it)", more)
		}
		out = append(out, l.Faint.Render(l.Glyphs.Pending)+" "+l.Muted.Render(l.Cut(text, max(width-2-draw.VisibleWidth(note), 1)))+l.Faint.Render(note))
	}
	return out
}

// newest returns the entry queued last, nil if the queue is empty.
func (j *jobList) newest() *session.QueuedJob {
	if n := len(j.queue.Jobs); n > 0 {
		return &j.queue.Jobs[n-1]
	}
	return nil
}

// newestWords returns the entry queued last, in words of one line.
func (j *jobList) newestWords() string {
	return untrusted.FirstLine(j.queue.Waiting[len(j.queue.Waiting)-1])
}

// doing returns the name of what the session prepares, "" for nothing.
func (j *jobList) doing() string { return j.queue.Doing }

// servers returns the servers that the session waits for.
func (j *jobList) servers() []string { return j.queue.Servers }
