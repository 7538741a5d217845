package intake

import (
	"context"
	"slices"

	"replan/agent/session"
	"replan/planning/prompt"
)

// Action is what a session does for a job.
type Action int

// The actions, in the order in which a job meets them.
const (
	Nothing Action = iota // until something happens
	Show                  // publish the queue, which has changed
	Read                  // read what the job mentions, then call TakeMentions
	Prepare               // prepare the job, then call Prepared
	Restore               // restore the conversation, then call Prepared
)

// Step is the next thing to do for a job.
type Step struct {
	Action Action
	Job    Job
}

// Intake holds the jobs of a session on their way to a run. A job arrives, has its
// mentions read, waits in the queue, and is prepared, one at a time. Next says what to
// do; the same calls give the same steps.
//
// The mentions of a job that waited are read again, since the files may have changed.
type Intake struct {
	reads     bool // the files of mentions can be read
	numbered  int  // jobs so far that had a place in the queue
	arriving  []Job
	reading   *underway // its mentions are being read
	waiting   []Job     // the queue
	preparing *underway
	servers   []string // that the preparation waits for
	skip      func()   // ends that wait; nil if there is none
	unshown   bool     // the queue has changed since it was shown
}

// underway is a job for which something is being done.
type underway struct {
	job    Job
	within context.Context
	stop   context.CancelFunc
}

// New returns an empty intake. reads tells whether mentions can be read; otherwise they
// are plain text.
func New(reads bool) *Intake { return &Intake{reads: reads} }

// Add takes a job. Those with text begin in the order in which they came, however long
// it takes to read what they mention.
func (in *Intake) Add(j Job) {
	if j.Typed != "" {
		in.arriving = append(in.arriving, j)
		return
	}
	in.queue(j)
}

// Append puts a job at the end of the queue, as it is. It is shown with the next change.
func (in *Intake) Append(j Job) {
	in.numbered++
	j.ID = in.numbered
	in.waiting = append(in.waiting, j)
}

// Next returns what to do now. A job is prepared only while the session is free. The
// context ends when the job is stopped, or with ctx.
func (in *Intake) Next(ctx context.Context, free bool) (within context.Context, step Step) {
	for {
		if free && len(in.waiting) > 0 {
			if at, step := in.begin(ctx); step.Action != Nothing {
				return at, step
			}
		}
		switch {
		case in.unshown:
			return ctx, Step{Action: Show}
		case in.reading != nil || len(in.arriving) == 0:
			return ctx, Step{}
		}
		j := in.arriving[0]
		in.arriving = in.arriving[1:]
		if in.mustRead(j) {
			in.reading = underwayOf(ctx, j)
			return in.reading.within, Step{Read, j}
		}
		in.queue(j)
	}
}

// begin takes the first job out of the queue, unless another one is underway.
func (in *Intake) begin(ctx context.Context) (context.Context, Step) {
	j := in.waiting[0]
	again := in.mustRead(j)
	if in.preparing != nil || in.reading != nil && (again || in.reading.job.ID != 0) {
		return ctx, Step{}
	}
	in.waiting, in.unshown = in.waiting[1:], true
	u := underwayOf(ctx, j)
	if again {
		in.reading = u
		return u.within, Step{Read, j}
	}
	in.preparing = u
	if j.Restore {
		return u.within, Step{Restore, j}
	}
	return u.within, Step{Prepare, j}
}

func underwayOf(ctx context.Context, j Job) *underway {
	u := &underway{job: j}
	u.within, u.stop = context.WithCancel(ctx)
	return u
}

// mustRead reports whether the mentions of a job are to be read.
func (in *Intake) mustRead(j Job) bool { return in.reads && !j.fresh && j.mentions() }

// queue puts a job into the queue: at the end, or at its head if it has waited before.
func (in *Intake) queue(j Job) {
	in.unshown = true
	if j.ID != 0 {
		in.waiting = append([]Job{j}, in.waiting...)
		return
	}
	in.Append(j)
}

// TakeMentions takes what the job mentions whose mentions were to be read. busy tells
// that the job has to wait, so that they will be read again. It returns the job.
func (in *Intake) TakeMentions(mentions []prompt.Mention, err error, busy bool) Job {
	j := in.reading.job
	in.reading.stop()
	in.reading = nil
	if err == nil {
		j.Mentions, j.fresh = mentions, !busy
		in.queue(j)
	}
	return j
}

// Await notes which servers the preparation waits for. skip ends the wait.
func (in *Intake) Await(servers []string, skip func()) {
	in.servers, in.skip, in.unshown = servers, skip, true
}

// SkipServers ends the wait of the preparation for servers.
func (in *Intake) SkipServers() {
	if in.skip != nil {
		in.skip()
	}
}

// Prepared ends the preparation. The error says that the job was stopped meanwhile.
func (in *Intake) Prepared() (stopped error) {
	stopped = in.preparing.within.Err()
	in.preparing.stop()
	in.preparing, in.servers, in.skip, in.unshown = nil, nil, nil, true
	return stopped
}

// Preparing reports whether a job is being prepared.
func (in *Intake) Preparing() bool { return in.preparing != nil }

// Idle reports whether nothing is underway.
func (in *Intake) Idle() bool {
	return in.preparing == nil && in.reading == nil && len(in.waiting) == 0
}

// Waits reports whether jobs wait in the queue.
func (in *Intake) Waits() bool { return len(in.waiting) > 0 }

// Remove takes a job out of the queue.
func (in *Intake) Remove(id int) (j Job, found bool) {
	at := slices.IndexFunc(in.waiting, func(j Job) bool { return j.ID == id })
	if at < 0 {
		return j, false
	}
	j = in.waiting[at]
	in.waiting, in.unshown = slices.Delete(in.waiting, at, at+1), true
	return j, true
}

// Stop stops what is underway, and returns the jobs that waited in the queue and those
// whose turn to be read had not come. None of them will begin.
func (in *Intake) Stop() (queued, unread []Job) {
	queued, unread = in.waiting, in.arriving
	in.waiting, in.arriving = nil, nil
	for _, u := range []*underway{in.reading, in.preparing} {
		if u != nil {
			u.stop()
		}
	}
	return queued, unread
}

// Clear drops the jobs that wait, when the session ends.
func (in *Intake) Clear() { in.waiting, in.arriving = nil, nil }

// Queue returns the job in preparation and the queue, which then counts as shown.
func (in *Intake) Queue() session.Queue {
	in.unshown = false
	q := session.Queue{Servers: in.servers, Waiting: make([]string, len(in.waiting)), Jobs: make([]session.QueuedJob, len(in.waiting))}
	if in.preparing != nil {
		q.Doing = in.preparing.job.Name()
	}
	for i, j := range in.waiting {
		q.Waiting[i], q.Jobs[i] = j.Name(), session.QueuedJob{ID: j.ID, Text: j.Words}
	}
	return q
}
