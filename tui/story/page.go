package story

import (
	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
)

// page collects what a reader is told of an event. It remembers the causes that it has told.
type page struct {
	reader  Reader
	entries []Entry
	ended   untrusted.Text // why the run ends, already told
	failed  untrusted.Text // why a step failed last, already told
	doubt   untrusted.Text // why a step is in doubt, already told
}

// scene is what an event is told from: the run after the event, and the page for its entries.
type scene struct {
	*page
	run    *agent.Run
	nested bool // a call of another run started it
	before Before
}

// tell adds an entry if the reader is among those it is for.
func (p *page) tell(to Reader, e Entry) {
	if !p.isRead(to) {
		return
	}
	if e.ends != "" {
		p.ended = e.ends
	}
	if e.fails != "" {
		p.failed = e.fails
	}
	if e.doubts != "" {
		p.doubt = e.doubts
	}
	p.entries = append(p.entries, e)
}

// event is tell for an entry whose renderers read the event.
func (p *page) event(to Reader, data event.Data, e Entry) {
	e.Event = data
	p.tell(to, e)
}

// take returns the entries and begins an empty page.
func (p *page) take() []Entry {
	entries := p.entries
	p.entries = nil
	return entries
}

// readBy makes another the reader from now on.
func (p *page) readBy(to Reader) { p.reader = to }

// isRead reports whether the reader is among these.
func (p *page) isRead(by Reader) bool { return p.reader&by != 0 }

// sentence begins words with a capital in the chat, where they stand alone.
func (p *page) sentence(words string) string {
	if !p.isRead(Screen) {
		return words
	}
	return english.Capital(words)
}

// hasEnd reports whether the reader was told last that the run ends for this reason.
func (p *page) hasEnd(reason untrusted.Text) bool { return p.ended == reason }

// lastFailure returns why a step failed, as told last; "" for none.
func (p *page) lastFailure() untrusted.Text { return p.failed }

// forgetFailure leaves it to the next entry to say why a step failed.
func (p *page) forgetFailure() { p.failed = "" }

// lastDoubt returns why a step is in doubt, as told last; "" for none.
func (p *page) lastDoubt() untrusted.Text { return p.doubt }
