package remote

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
)

// Session is a run that workers carry out, as a session of the screen. It ends with the
// run, with its program, or with [Session.Close], after which the run continues.
type Session struct {
	run, id string
	options Options
	program *program
	events  chan event.Event
	news    chan event.Data // about the session itself, from Send
	open    context.Context // ends with Close; until then the database answers, also after the run
	leave   context.CancelFunc
	ended   chan struct{} // closed when nothing more comes
	over    bool          // the run has ended; read it after ended, as err
	err     error         // why it broke off

	mu      sync.Mutex     // of queries, which gets none after Close
	queries sync.WaitGroup // whose programs run
}

// Attach starts a worker program with a request to submit, follow or resume a run, and
// returns once the database has it. A [*Problem] is an error that the program reports.
// The end of ctx closes the session.
func Attach(ctx context.Context, o Options, r Request) (*Session, error) {
	var past map[string]uint64
	if of := cmp.Or(r.Follow, r.Resume); of != nil {
		found, events, err := Journal(ctx, o, of.Run)
		if err != nil {
			return nil, err
		}
		of.Run = found.Run // a newer one may come
		past = lastNumbers(events)
	}
	p, err := start(ctx, o, r)
	if err != nil {
		return nil, err
	}
	var before []event.Data // news before the run is accepted
	for {
		out, err := p.next()
		switch {
		case err != nil:
			p.close()
			return nil, cmp.Or(context.Cause(ctx), err)
		case out.End:
			p.close()
			return nil, p.ended("before it had the run; are it and replan of the same version?")
		case out.Note != "":
			before = append(before, event.Note{Level: "info", Text: out.Note})
		case out.Accepted != nil:
			const waiting = 16 // notes that are not read yet
			s := &Session{
				run: out.Accepted.Run, id: out.Accepted.Session, options: o, program: p,
				events: make(chan event.Event), news: make(chan event.Data, waiting), ended: make(chan struct{}),
			}
			s.open, s.leave = context.WithCancel(ctx)
			go s.serve(before, feed{run: s.run, session: s.id, past: past, resumes: r.Resume != nil})
			return s, nil
		}
	}
}

// lastNumbers returns the number of the last event of each run.
func lastNumbers(events []event.Event) map[string]uint64 {
	last := map[string]uint64{}
	for _, e := range events {
		last[e.Run] = max(last[e.Run], e.Seq)
	}
	return last
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.id }

// Run returns the full id of the run.
func (s *Session) Run() string { return s.run }

// Events returns the events of the run, its inner runs and its session.
func (s *Session) Events() <-chan event.Event { return s.events }

// Err returns why the session broke off, nil if it did not. It waits for the end.
func (s *Session) Err() error {
	<-s.ended
	return s.err
}

// Over reports whether the run has ended. It waits for the end of the session.
func (s *Session) Over() bool {
	<-s.ended
	return s.over
}

// Close leaves the run, which continues, and waits for the program and those of queries. It
// discards unread events.
func (s *Session) Close() {
	s.mu.Lock()
	s.leave()
	s.mu.Unlock()
	<-s.ended
	s.queries.Wait()
}

// startQuery reports whether the session is open. The caller must then end a query.
func (s *Session) startQuery() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open.Err() != nil {
		return false
	}
	s.queries.Add(1)
	return true
}

// Send passes a command to the run. One that does not reach it is answered here.
func (s *Session) Send(c session.Command) {
	switch c := c.(type) {
	case session.Warm, session.Unqueue, session.SkipServers: // there is nothing to do
	case session.Submit:
		s.publish(session.Returned{Text: c.Text, Reason: untrusted.Text(s.Abilities().NoGoals)})
	case session.SaveSetting:
		s.saveSetting(c)
	default:
		if !Reaches(c) {
			s.publish(event.Note{Level: "warn", Text: untrusted.Text(errNotHere.Error())})
			return
		}
		_ = s.program.write(Input{Command: c, By: s.options.By}) // it can be encoded
	}
}

// errNotHere refuses what needs a session of this machine.
var errNotHere = errors.New("this works only in a session of this machine, not in a run of a worker")

// saveSetting saves a setting of the screen.
func (s *Session) saveSetting(c session.SaveSetting) {
	if s.options.SaveSetting == nil {
		return
	}
	kept := session.SettingSaved{Key: c.Key, Removed: c.Value == nil}
	if c.Value != nil {
		kept.Value = *c.Value
	}
	file, err := s.options.SaveSetting(c.Key, c.Value)
	if err == nil && file == "" {
		return
	}
	kept.File = file
	if err != nil {
		kept.Problem = untrusted.Text(err.Error())
	}
	s.publish(kept)
}

// publish queues news about the session. It never waits, since the reader of the events
// may be the one who sends.
func (s *Session) publish(d event.Data) {
	select {
	case s.news <- d:
	default: // the last ones are not read yet
	}
}

// serve passes on what the program writes until its last line.
func (s *Session) serve(before []event.Data, f feed) {
	defer close(s.ended)
	defer close(s.events)
	out, failed := make(chan Output), make(chan error, 1)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer s.program.close()
	reading.Go(func() {
		for {
			next, err := s.program.next()
			if err == nil && !next.End {
				select {
				case out <- next:
					continue
				case <-s.open.Done():
				}
			}
			failed <- err
			return
		}
	})
	s.deliver(f.own(session.Status{Workspace: "a worker"}))
	for _, d := range before {
		s.deliver(f.own(d))
	}
	for {
		select {
		case next := <-out:
			s.deliver(f.take(next)...)
		case d := <-s.news:
			s.deliver(f.own(d))
		case err := <-failed:
			s.deliver(f.rest()...)
			s.over = err == nil && s.open.Err() == nil
			if s.err = err; err != nil && s.options.Tell {
				s.deliver(f.own(event.Note{Level: "error", Text: untrusted.Text("The screen lost the run: " + err.Error())}))
			}
			return
		case <-s.open.Done():
			return
		}
	}
}

// deliver passes events on, unless the session is closed.
func (s *Session) deliver(events ...event.Event) {
	for _, e := range events {
		select {
		case s.events <- e:
		case <-s.open.Done():
			return
		}
	}
}

// feed puts the events of a run in the order that the screen expects.
type feed struct {
	run, session string
	past         map[string]uint64 // by run: its last event before the request
	resumes      bool              // the run is resumed, not only followed
	last         uint64            // event of the session
	inner        map[string][]event.Event
	reply        *Output // the last word of the session, which may not be its last
}

// own returns an event of the session itself.
func (f *feed) own(d event.Data) event.Event {
	f.last++
	return event.Event{Seq: f.last, Time: time.Now().UTC(), Run: f.session, Data: d}
}

// take returns what to publish for an output.
func (f *feed) take(o Output) (events []event.Event) {
	if o.Note != "" {
		return []event.Event{f.own(event.Note{Level: "info", Text: o.Note})}
	}
	if o.Event == nil {
		return nil
	}
	if f.reply == nil || !f.reply.Past { // a run that continues has made an old answer void
		events = f.rest()
	}
	f.reply = nil
	e := *o.Event
	if e.Run == f.session {
		f.last = max(f.last, e.Seq)
		if _, ok := e.Data.(event.ChatReply); ok {
			f.reply = &o
			return events
		}
		return append(events, e)
	}
	upto := f.past[e.Run]
	switch d := e.Data.(type) {
	case event.RunStarted:
		if e.Run == f.run {
			events = append(events, f.own(session.Status{Workspace: untrusted.Text(d.Workspace), Model: untrusted.Text(d.Model), Tools: len(d.Catalog)}))
		}
		// The screen asks what is open once the last event has arrived, which is therefore new.
		switch {
		case f.resumes && e.Run == f.run && upto > 0:
			events = append(events, f.own(session.Resuming{Run: e.Run, Upto: upto}))
		case !f.resumes && upto > 1:
			events = append(events, f.own(session.Resuming{Run: e.Run, Upto: upto - 1}))
		}
	case event.RunResumed:
		if held := f.inner[e.Run]; len(held) > 0 && e.Seq > upto {
			delete(f.inner, e.Run)
			events = append(events, f.own(session.Resuming{Run: e.Run, Upto: upto}))
			events = append(events, held...)
		}
	}
	if f.resumes && e.Run != f.run && e.Seq <= upto { // until that run is resumed too
		if f.inner == nil {
			f.inner = map[string][]event.Event{}
		}
		f.inner[e.Run] = append(f.inner[e.Run], e)
		return events
	}
	return append(events, e)
}

// rest returns what is held back, at the end.
func (f *feed) rest() []event.Event {
	if f.reply == nil {
		return nil
	}
	reply := *f.reply.Event
	f.reply = nil
	return []event.Event{reply}
}
