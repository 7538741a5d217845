package ask

import (
	"slices"
	"strings"

	"replan/tui/draw"
)

// queue is the requests that wait for the user, and which of them is displayed.
type queue struct {
	all      []Request       // in the order of the requests
	at       int             // index of the displayed request
	shown    string          // id of the displayed request
	seen     map[string]bool // ids already shown to the user
	answered map[string]bool // ids whose answers are in flight
	leftOut  map[string]bool // ids of calls that the answer to all similar ones denies
	fresh    []Request       // opened in the newest batch of events, with no notification sent yet
}

func newQueue() *queue {
	return &queue{seen: map[string]bool{}, answered: map[string]bool{}, leftOut: map[string]bool{}}
}

// set replaces the requests. The displayed one stays. It reports whether some are new.
func (q *queue) set(asks []Request) (fresh bool) {
	q.all = q.all[:0]
	q.fresh = nil
	for _, a := range asks {
		if q.answered[a.id()] {
			continue
		}
		if a.id() == q.shown {
			q.at = len(q.all)
		}
		q.all = append(q.all, a)
		if !q.seen[a.id()] {
			q.seen[a.id()] = true
			q.fresh = append(q.fresh, a)
		}
	}
	return len(q.fresh) > 0
}

// takeFresh returns the requests of the newest batch of events once.
func (q *queue) takeFresh() []Request {
	fresh := q.fresh
	q.fresh = nil
	return fresh
}

// forget marks the requests of a run as unseen because the run is being resumed.
func (q *queue) forget(run string) {
	for _, ids := range []map[string]bool{q.seen, q.answered} {
		for id := range ids {
			if strings.HasPrefix(id, run+" ") {
				delete(ids, id)
			}
		}
	}
	if strings.HasPrefix(q.shown, run+" ") {
		q.shown = ""
	}
}

// display makes the current request the displayed one. It reports whether that is another
// one than before.
func (q *queue) display() (other bool) {
	if len(q.all) == 0 {
		q.shown, q.at = "", 0
		return false
	}
	q.at = max(min(q.at, len(q.all)-1), 0)
	before := q.shown
	q.shown = q.current().id()
	return q.shown != before
}

// count returns how many requests wait.
func (q *queue) count() int { return len(q.all) }

// current returns the displayed request. At least one must wait.
func (q *queue) current() Request { return q.all[q.at] }

// is reports whether the request with this id is the displayed one.
func (q *queue) is(id string) bool { return q.current().id() == id }

// has reports whether the request with this id waits.
func (q *queue) has(id string) bool {
	return slices.ContainsFunc(q.all, func(a Request) bool { return a.id() == id })
}

// holds reports whether all requests with these ids wait.
func (q *queue) holds(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !q.has(id) })
}

// step moves to another request, to the first one after the last.
func (q *queue) step(by int) { q.at = (q.at + len(q.all) + by) % len(q.all) }

// choose moves to the request at an index.
func (q *queue) choose(i int) { q.at = i }

// stepWithin moves to another of the requests with these ids. It returns its index among
// them.
func (q *queue) stepWithin(ids []string, by int) int {
	i := (slices.Index(ids, q.shown) + len(ids) + by) % len(ids)
	q.shown = ids[i]
	q.at = slices.IndexFunc(q.all, func(a Request) bool { return a.id() == q.shown })
	return i
}

// answer removes answered requests.
func (q *queue) answer(ids []string) {
	for _, id := range ids {
		q.answered[id] = true
	}
	q.all = slices.DeleteFunc(q.all, func(a Request) bool { return slices.Contains(ids, a.id()) })
}

// leaveOut leaves the displayed call out of a joint approval, or takes it back.
func (q *queue) leaveOut() { q.leftOut[q.current().id()] = !q.leftOut[q.current().id()] }

// isOut reports whether a call is left out of a joint approval.
func (q *queue) isOut(a Request) bool { return q.leftOut[a.id()] }

// like returns the open gates similar to the displayed one, including it: same run,
// same tool, and same rule. Questions of the session are similar if all or none of
// them are about changes. A call that accepts a change is like no other one: each
// shows the change.
func (q *queue) like() []OpenGate {
	if len(q.all) == 0 {
		return nil
	}
	this, gate := q.current().(OpenGate)
	if !gate || this.Ask.Changed != "" && !this.Session {
		return nil
	}
	var out []OpenGate
	for _, a := range q.all {
		if other, ok := a.(OpenGate); ok && other.Session == this.Session && other.Run == this.Run && (other.Ask.Changed == "") == (this.Ask.Changed == "") &&
			other.Ask.QualifiedTool() == this.Ask.QualifiedTool() && (this.Session || other.Ask.Rule.Equal(this.Ask.Rule)) {
			out = append(out, other)
		}
	}
	return out
}

// picks reports whether the displayed call is one of several similar ones, some of which
// the user may leave out.
func (q *queue) picks() bool {
	like := q.like()
	return len(like) > 1 && !like[0].Session
}

// place returns the number of the displayed request, from 1.
func (q *queue) place() int { return q.at + 1 }

// listMost is the maximum number of requests listed at once.
const listMost = 5

// listHeight returns the height of the list of requests in lines, including the edge
// below it. It is 0 if a list would add nothing.
func (q *queue) listHeight() int {
	if len(q.all) < 2 {
		return 0
	}
	return min(len(q.all), listMost) + 1
}

// window returns the range of requests that a list of so many lines shows: those around the
// displayed one.
func (q *queue) window(lines int) (first, end int) {
	first = max(min(q.at-lines/2, len(q.all)-lines), 0)
	return first, min(first+lines, len(q.all))
}

// list draws the requests around the displayed one.
func (q *queue) list(l *draw.Styles, lines, width int) []string {
	first, end := q.window(lines)
	out := make([]string, 0, lines)
	for i := first; i < end; i++ {
		out = append(out, l.Fit(q.listLine(l, q.all[i], i == q.at, width), width))
	}
	return out
}

func (q *queue) listLine(l *draw.Styles, a Request, chosen bool, width int) string {
	line := l.Line(chosen, true)
	glyph, style := a.sign(l)
	if q.isOut(a) {
		glyph, style = l.Glyphs.Skipped, l.Muted
	}
	step, what, args := a.Brief()
	drawn := line.Cursor + line.Draw(style, glyph) + line.Blank(1)
	if step != "" {
		drawn += line.Draw(l.Text, step) + line.Blank(2)
	}
	drawn += line.Draw(l.Strong, what) + line.Blank(2) + line.Draw(l.Muted, args)
	return line.Fill(drawn, width)
}
