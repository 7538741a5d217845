package tui

import (
	"cmp"
	"slices"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/untrusted"
)

// timeline is when the steps of a run waited and ran, worked out from what the
// run keeps. It changes only when the run does, or with the time while it goes on.
type timeline struct {
	tracks  []track
	phases  []stretch // of planning, with their names
	planned bool      // the critical path begins with planning
	replans []time.Duration
	begin   time.Duration // of the steps: the plan was there, or the first of them was tried
	end     time.Duration // the last of them ended, or now
	last    time.Duration // of everything
	sum     time.Duration // of the times that steps ran
	gates   time.Duration // in which somebody was waited for
	most    int           // steps that ran at once
}

// makespan is how long the steps took from the first to the last.
func (t *timeline) makespan() time.Duration { return t.end - t.begin }

// parallelism is how many steps ran at once on average.
func (t *timeline) parallelism() float64 {
	if t.makespan() <= 0 {
		return 0
	}
	return float64(t.sum) / float64(t.makespan())
}

// trackKind says what a track of the timeline is of.
type trackKind int

const (
	trackPlanning trackKind = iota // the phases
	trackStep
	trackReplan
	trackAnswer
)

// track is one bar: a step, or what the planner or the answer took.
type track struct {
	kind      trackKind
	index     string // of the step
	title     string
	status    agent.StepStatus
	stretches []stretch
	tries     int
	gone      int  // the revision that took the step out, 0 where it is in the plan
	critical  bool // on the path that decided how long the run took
	after     string
	lane      int // the same for steps that ran one after the other; from 1
	inner     int // calls that it made itself

	needs, slot, gate, pause, ran time.Duration // it waited for others, for a slot, at its gate, between attempts; it ran
	beside                        []string      // steps that ran at the same time
}

// stretchKind says what happened in a time.
type stretchKind int

const (
	stretchWait  stretchKind = iota // for a slot, or before it is tried again
	stretchGate                     // for somebody's word
	stretchRun                      // it ran
	stretchPlan                     // a model planned
	stretchPhase                    // of planning
)

// stretch is a time of one kind.
type stretch struct {
	kind     stretchKind
	from, to time.Duration
	name     string // of a phase
}

// axis is the time of a run, without those in which it did not go on.
type axis struct {
	start  time.Time
	breaks []agent.Break
}

func (a axis) at(t time.Time) time.Duration {
	if t.IsZero() || t.Before(a.start) {
		return 0
	}
	d := t.Sub(a.start)
	for _, b := range a.breaks {
		switch {
		case !t.After(b.From):
		case t.Before(b.To):
			d -= t.Sub(b.From)
		default:
			d -= b.To.Sub(b.From)
		}
	}
	return max(d, 0)
}

// chronicler works a timeline out.
type chronicler struct {
	run    *agent.Run
	axis   axis
	now    time.Duration
	line   *timeline
	tracks map[string]*track
	order  []*track
	tries  []tried          // attempts of steps, in the order in which they began
	of     map[string][]int // step → its attempts among those
	plans  map[int]planned  // of each revision
	byEnd  []int            // the attempts by when they ended
}

// tried is an attempt in the time of the run.
type tried struct {
	*agent.Attempt
	ready, free, start, end time.Duration // free: nothing but a slot kept it
	began                   bool
}

// took is for how long it ran: as its call was timed, which its row in the plan
// says too, and not with what passed until it was told that it is over.
func (t *tried) took() time.Duration {
	if t.Status == agent.StepDone || t.Status == agent.StepBroken {
		return min(time.Duration(t.MS)*time.Millisecond, t.end-t.start)
	}
	return t.end - t.start
}

// chronicle is the timeline of a run at a time.
func chronicle(run *agent.Run, now time.Time) *timeline {
	if now.Before(run.Now) || run.Result != nil {
		now = run.Now
	}
	c := &chronicler{
		run: run, axis: axis{run.StartedAt, run.Breaks}, line: &timeline{},
		tracks: map[string]*track{}, of: map[string][]int{}, plans: map[int]planned{},
	}
	c.now = c.axis.at(now)
	c.planning()
	c.steps()
	c.measure()
	c.replans()
	c.answer()
	c.decide()
	c.lanes()
	c.finish()
	return c.line
}

// planning notes how long the phases took.
func (c *chronicler) planning() {
	names := [len(c.run.Phases)]string{"analysis", "review", "plan"}
	for i, p := range c.run.Phases {
		if p.StartedAt.IsZero() {
			continue
		}
		from := c.axis.at(p.StartedAt)
		to := from + time.Duration(p.MS)*time.Millisecond
		if p.Status == agent.PhaseActive {
			to = c.now
		}
		c.line.phases = append(c.line.phases, stretch{stretchPhase, from, to, names[i]})
		c.line.last = max(c.line.last, to)
	}
}

// steps makes a track of each step that is in the plan, or was tried in one
// before.
func (c *chronicler) steps() {
	add := func(s *agent.StepState, gone int) {
		t := c.tracks[s.Step.Index]
		if t == nil {
			t = &track{kind: trackStep, index: s.Step.Index}
			c.tracks[s.Step.Index] = t
			c.order = append(c.order, t)
		}
		t.title, t.status, t.gone = s.Step.Title, s.Status, gone
		if s.Loop != nil {
			t.inner = len(s.Loop.Calls)
		}
	}
	for i := range c.run.Revisions {
		r := &c.run.Revisions[i]
		for j := range r.Removed {
			add(&r.Removed[j], r.Number)
		}
	}
	for _, s := range c.run.Steps {
		add(s, 0)
	}
	for i := range c.run.Attempts {
		a := &c.run.Attempts[i]
		if a.Parent != "" || c.tracks[a.Step] == nil {
			continue
		}
		t := tried{Attempt: a, began: !a.StartedAt.IsZero(), end: c.now}
		if !a.EndedAt.IsZero() {
			t.end = c.axis.at(a.EndedAt)
		}
		t.start = t.end
		if t.began {
			t.start = c.axis.at(a.StartedAt)
		}
		t.ready = t.start
		if !a.ReadyAt.IsZero() {
			t.ready = min(c.axis.at(a.ReadyAt), t.start)
		}
		c.of[a.Step] = append(c.of[a.Step], len(c.tries))
		c.tries = append(c.tries, t)
	}
}

// measure adds up what each step waited for and how long it ran.
func (c *chronicler) measure() {
	begin := c.axis.at(c.run.PlannedAt)
	if c.run.PlannedAt.IsZero() || c.run.Held() {
		begin = c.now
	}
	begin = max(begin, c.reviewed(1))
	for i := range c.tries {
		begin = min(begin, c.tries[i].ready)
	}
	c.line.begin = begin
	for _, t := range c.order {
		for n, i := range c.of[t.index] {
			a := &c.tries[i]
			if before := n - 1; before >= 0 && c.tries[c.of[t.index][before]].Revision == a.Revision {
				t.wait(&t.pause, stretchWait, c.tries[c.of[t.index][before]].end, a.ready)
			} else if from := c.begins(a.Revision); a.ready > from {
				t.needs += a.ready - from
			}
			a.free = t.gates(a, c.axis, c.now)
			if a.began {
				t.wait(&t.slot, stretchWait, a.free, a.start)
				t.wait(nil, stretchRun, a.start, a.end)
				t.ran += a.took()
			}
			t.tries++
			c.line.end = max(c.line.end, a.end)
		}
		if s := c.run.Step(t.index); s != nil && t.gone == 0 && s.Status == agent.StepPending && !s.ReadyAt.IsZero() && c.run.Result == nil && !c.run.Held() {
			t.wait(&t.slot, stretchWait, c.axis.at(s.ReadyAt), c.now)
			c.line.end = max(c.line.end, c.now)
		}
		c.line.sum += t.ran
		c.line.gates += t.gate
	}
	c.line.end = max(c.line.end, c.line.begin)
	c.line.last = max(c.line.last, c.line.end)
}

// begins is when the plan of a revision was there.
func (c *chronicler) begins(revision int) time.Duration {
	at := c.run.PlannedAt
	if revision >= 2 && revision-2 < len(c.run.Revisions) {
		at = c.run.Revisions[revision-2].At
	}
	return max(c.axis.at(at), c.reviewed(revision))
}

// reviewed is when the plan of a revision was let go that had been held to be
// looked over, 0 where it was not.
func (c *chronicler) reviewed(revision int) (at time.Duration) {
	for i := range c.run.Reviews {
		if r := &c.run.Reviews[i]; r.Revision == revision && r.Decision == event.ReviewRun {
			at = c.axis.at(r.At)
		}
	}
	return at
}

// wait adds a stretch of a track.
func (t *track) wait(sum *time.Duration, kind stretchKind, from, to time.Duration) {
	if to < from || to == from && kind != stretchRun {
		return
	}
	if sum != nil {
		*sum += to - from
	}
	t.stretches = append(t.stretches, stretch{kind: kind, from: from, to: to})
}

// gates adds the times in which an attempt waited for somebody's word, and
// returns when nothing but a slot kept it.
func (t *track) gates(a *tried, at axis, now time.Duration) (free time.Duration) {
	free = a.ready
	for _, q := range a.Asked {
		if q.About != agent.AskedGate {
			continue
		}
		to := a.end
		if !q.AnsweredAt.IsZero() {
			to = at.at(q.AnsweredAt)
		} else if a.EndedAt.IsZero() {
			to = now
		}
		t.wait(&t.gate, stretchGate, free, to) // it had to be made ready too
		free = to
	}
	return free
}

// replans adds a track for each time the planner was asked again.
func (c *chronicler) replans() {
	add := func(number int, from, to time.Duration) {
		c.order = append(c.order, &track{
			kind: trackReplan, index: itoa(number), title: "replan", ran: to - from,
			stretches: []stretch{{kind: stretchPlan, from: from, to: to}},
		})
		c.line.last = max(c.line.last, to)
	}
	for i := range c.run.Revisions {
		r := &c.run.Revisions[i]
		at := c.axis.at(r.At)
		c.line.replans = append(c.line.replans, at)
		add(r.Number, c.axis.at(r.AskedAt), at)
	}
	if r := c.run.Replanning; r != nil {
		add(c.run.Revision+1, c.axis.at(r.StartedAt), c.now)
	}
}

// answer adds a track for the words at the end.
func (c *chronicler) answer() {
	s := c.run.Synthesis
	if !s.Started || s.Direct || s.StartedAt.IsZero() {
		return
	}
	from, to := c.axis.at(s.StartedAt), c.now
	if s.Done {
		to = from + time.Duration(s.MS)*time.Millisecond
	}
	c.line.last = max(c.line.last, to)
	c.order = append(c.order, &track{kind: trackAnswer, title: "answer", ran: to - from, stretches: []stretch{{kind: stretchPlan, from: from, to: to}}})
}

// lanes finds out what ran beside what: each step goes into the first lane in
// which nothing else runs at that time.
func (c *chronicler) lanes() {
	type run struct {
		from, to time.Duration
		track    *track
	}
	var runs []run
	for _, t := range c.order {
		if t.kind != trackStep {
			continue
		}
		for _, s := range t.stretches {
			if s.kind == stretchRun {
				runs = append(runs, run{s.from, s.to, t})
			}
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.from, b.from) })
	var free []time.Duration // when each lane is
	var now []run
	for _, r := range runs {
		now = slices.DeleteFunc(now, func(o run) bool { return o.to <= r.from })
		for _, o := range now {
			if o.track != r.track {
				o.track.beside = addOnce(o.track.beside, r.track.index)
				r.track.beside = addOnce(r.track.beside, o.track.index)
			}
		}
		now = append(now, r)
		c.line.most = max(c.line.most, len(now))
		lane := slices.IndexFunc(free, func(at time.Duration) bool { return at <= r.from })
		if lane < 0 {
			lane = len(free)
			free = append(free, 0)
		}
		free[lane] = r.to
		if r.track.lane == 0 {
			r.track.lane = lane + 1
		}
	}
}

func addOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// finish puts the tracks in the order in which they began, what has not begun
// last.
func (c *chronicler) finish() {
	first := func(t *track) time.Duration {
		if len(t.stretches) == 0 {
			return 1 << 62
		}
		return t.stretches[0].from
	}
	slices.SortStableFunc(c.order, func(a, b *track) int { return cmp.Compare(first(a), first(b)) })
	if len(c.line.phases) > 0 {
		t := track{kind: trackPlanning, title: "planning", critical: c.line.planned}
		for _, p := range c.line.phases {
			t.ran += p.to - p.from
		}
		c.line.tracks = append(c.line.tracks, t)
	}
	for _, t := range c.order {
		c.line.tracks = append(c.line.tracks, *t)
	}
}

// atOnce is how many steps ran at once at most in each of so many equal parts of a
// span.
func (t *timeline) atOnce(begin, span time.Duration, parts int) []int {
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	for i := range t.tracks {
		if t.tracks[i].kind != trackStep {
			continue
		}
		for _, s := range t.tracks[i].stretches {
			if s.kind == stretchRun {
				changes = append(changes, change{s.from, 1}, change{max(s.to, s.from+1), -1})
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	counts := make([]int, parts)
	now, next := 0, 0
	for i := range counts {
		counts[i] = now
		end := begin + span*time.Duration(i+1)/time.Duration(parts)
		for ; next < len(changes) && (changes[next].at < end || i == parts-1 && changes[next].at == end); next++ {
			now += changes[next].by
			counts[i] = max(counts[i], now)
		}
	}
	return counts
}

// trackIndex is the index of a track's step, or the number of its revision.
func trackIndex(t *track) string {
	if t.kind == trackReplan {
		return "r" + t.index
	}
	return untrusted.Line(t.index)
}
