package runner

import (
	"log/slog"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
)

// publisher numbers, journals and delivers the events of a session itself, and delivers
// those of its runs. Only the goroutine that owns the session calls its methods.
type publisher struct {
	session string // the id
	journal Journal
	out     chan<- event.Event
	now     func() time.Time
	log     *slog.Logger
	seq     uint64
}

// publish journals and delivers an event of the session. The event is shown even if
// the journal cannot be written; the error is for callers that would act on it.
func (p *publisher) publish(data event.Data) (err error) {
	p.seq++
	event := event.Event{Seq: p.seq, Time: p.now().UTC(), Run: p.session, Data: data}
	if !data.Kind().Passing() {
		if err = p.journal.Append(event); err != nil {
			p.log.Error("the session's journal", "error", err)
		}
	}
	p.deliver(event)
	return err
}

// note publishes a note to the user.
func (p *publisher) note(level, text string) {
	_ = p.publish(event.Note{Level: level, Text: untrusted.Text(text)})
}

// deliver passes on an event that is in its journal.
func (p *publisher) deliver(e event.Event) { p.out <- e }

// continueAfter continues after an event of the session's journal.
func (p *publisher) continueAfter(e event.Event) { p.seq = max(p.seq, e.Seq) }

// close closes the journal.
func (p *publisher) close() {
	if err := p.journal.Close(); err != nil {
		p.log.Error("close the session's journal", "error", err)
	}
}

// failedReply returns the reply for what was not done.
func failedReply(reason event.Reason, sentence string) event.ChatReply {
	return event.ChatReply{Status: event.StatusFailed, Reason: reason, Text: untrusted.Text(sentence)}
}
