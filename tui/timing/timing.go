package timing

import (
	"cmp"
	"slices"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
)

// Timeline is when the steps of a run waited and ran, worked out from what the
// run keeps. It changes only when the run does, or with the time while it goes on.
type Timeline struct {
	Tracks  []Track
	Phases  []Stretch // of planning, with their names
	planned bool      // the critical path begins with planning
	Replans []time.Duration
	Begin   time.Duration // of the steps: the plan was there, or the first of them was tried
	end     time.Duration // the last of them ended, or now
	Last    time.Duration // of everything
	Sum     time.Duration // of the times that steps ran
	Gates   time.Duration // in which somebody was waited for
	Most    int           // steps that ran at once
}

// Makespan is how long the steps took from the first to the last.
func (t *Timeline) Makespan() time.Duration { return t.end - t.Begin }

// Parallelism is how many steps ran at once on average.
func (t *Timeline) Parallelism() float64 {
	if t.Makespan() <= 0 {
		return 0
	}
	return float64(t.Sum) / float64(t.Makespan())
}

// trackKind says what a track of the timeline is of.
type trackKind int

// What a track can stand for.
const (
	TrackPlanning trackKind = iota // the phases
	TrackStep
	TrackReplan
	TrackAnswer
)

// Track is one bar: a step, or what the planner or the answer took.
type Track struct {
	Kind      trackKind
	Index     string // of the step
	Title     string
	Status    agent.StepStatus
	Stretches []Stretch
	Tries     int
	Gone      int  // the revision that took the step out, 0 where it is in the plan
	Critical  bool // on the path that decided how long the run took
	After     string
	Lane      int // the same for steps that ran one after the other; from 1
	Inner     int // calls that it made itself

	Needs, Slot, Gate, Pause, Ran time.Duration // it waited for others, for a slot, at its gate, between attempts; it ran
	Beside                        []string      // steps that ran at the same time
}

// stretchKind says what happened in a time.
type stretchKind int

// What a stretch of time can be.
const (
	StretchWait  stretchKind = iota // for a slot, or before it is tried again
	StretchGate                     // for somebody's word
	StretchRun                      // it ran
	StretchPlan                     // a model planned
	stretchPhase                    // of planning
)

// Stretch is a time of one kind.
type Stretch struct {
	Kind     stretchKind
	From, To time.Duration
	Name     string // of a phase
}

// Axis is the time of a run, without those in which it did not go on.
type Axis struct {
	Start  time.Time
	Breaks []agent.Break
}

// At is the time of the run at a moment, without its breaks.
func (a Axis) At(t time.Time) time.Duration {
	if t.IsZero() || t.Before(a.Start) {
		return 0
	}
	d := t.Sub(a.Start)
	for _, b := range a.Breaks {
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
	axis   Axis
	now    time.Duration
	line   *Timeline
	tracks map[string]*Track
	order  []*Track
	tries  []Tried          // attempts of steps, in the order in which they began
	of     map[string][]int // step → its attempts among those
	plans  map[int]planned  // of each revision
	byEnd  []int            // the attempts by when they ended
}

// Tried is an attempt in the time of the run.
type Tried struct {
	*agent.Attempt
	Ready, free, Start, End time.Duration // free: nothing but a slot kept it
	Began                   bool
}

// Took is for how long it ran: as its call was timed, which its row in the plan
// says too, and not with what passed until it was told that it is over.
func (t *Tried) Took() time.Duration {
	if t.Status == agent.StepCompleted || t.Status == agent.StepFailed {
		return min(time.Duration(t.MS)*time.Millisecond, t.End-t.Start)
	}
	return t.End - t.Start
}

// Chronicle is the timeline of a run at a time.
func Chronicle(run *agent.Run, now time.Time) *Timeline {
	if now.Before(run.Now) || run.Result != nil {
		now = run.Now
	}
	c := &chronicler{
		run: run, axis: Axis{run.StartedAt, run.Breaks}, line: &Timeline{},
		tracks: map[string]*Track{}, of: map[string][]int{}, plans: map[int]planned{},
	}
	c.now = c.axis.At(now)
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
		from := c.axis.At(p.StartedAt)
		to := from + time.Duration(p.MS)*time.Millisecond
		if p.Status == agent.PhaseRunning {
			to = c.now
		}
		c.line.Phases = append(c.line.Phases, Stretch{stretchPhase, from, to, names[i]})
		c.line.Last = max(c.line.Last, to)
	}
}

// steps makes a track of each step that is in the plan, or was tried in one
// before.
func (c *chronicler) steps() {
	add := func(s *agent.StepState, gone int) {
		t := c.tracks[s.Step.Index]
		if t == nil {
			t = &Track{Kind: TrackStep, Index: s.Step.Index}
			c.tracks[s.Step.Index] = t
			c.order = append(c.order, t)
		}
		t.Title, t.Status, t.Gone = s.Step.Title, s.Status, gone
		if s.Loop != nil {
			t.Inner = len(s.Loop.Calls)
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
		t := Tried{Attempt: a, Began: !a.StartedAt.IsZero(), End: c.now}
		if !a.EndedAt.IsZero() {
			t.End = c.axis.At(a.EndedAt)
		}
		t.Start = t.End
		if t.Began {
			t.Start = c.axis.At(a.StartedAt)
		}
		t.Ready = t.Start
		if !a.ReadyAt.IsZero() {
			t.Ready = min(c.axis.At(a.ReadyAt), t.Start)
		}
		c.of[a.Step] = append(c.of[a.Step], len(c.tries))
		c.tries = append(c.tries, t)
	}
}

// measure adds up what each step waited for and how long it ran.
func (c *chronicler) measure() {
	begin := c.axis.At(c.run.PlannedAt)
	if c.run.PlannedAt.IsZero() || c.run.Held() {
		begin = c.now
	}
	begin = max(begin, c.reviewed(1))
	for i := range c.tries {
		begin = min(begin, c.tries[i].Ready)
	}
	c.line.Begin = begin
	for _, t := range c.order {
		for n, i := range c.of[t.Index] {
			a := &c.tries[i]
			if before := n - 1; before >= 0 && c.tries[c.of[t.Index][before]].Revision == a.Revision {
				t.wait(&t.Pause, StretchWait, c.tries[c.of[t.Index][before]].End, a.Ready)
			} else if from := c.begins(a.Revision); a.Ready > from {
				t.Needs += a.Ready - from
			}
			a.free = t.Gates(a, c.axis, c.now)
			if a.Began {
				t.wait(&t.Slot, StretchWait, a.free, a.Start)
				t.wait(nil, StretchRun, a.Start, a.End)
				t.Ran += a.Took()
			}
			t.Tries++
			c.line.end = max(c.line.end, a.End)
		}
		if s := c.run.Step(t.Index); s != nil && t.Gone == 0 && s.Status == agent.StepPending && !s.ReadyAt.IsZero() && c.run.Result == nil && !c.run.Held() {
			t.wait(&t.Slot, StretchWait, c.axis.At(s.ReadyAt), c.now)
			c.line.end = max(c.line.end, c.now)
		}
		c.line.Sum += t.Ran
		c.line.Gates += t.Gate
	}
	c.line.end = max(c.line.end, c.line.Begin)
	c.line.Last = max(c.line.Last, c.line.end)
}

// begins is when the plan of a revision was there.
func (c *chronicler) begins(revision int) time.Duration {
	at := c.run.PlannedAt
	if revision >= 2 && revision-2 < len(c.run.Revisions) {
		at = c.run.Revisions[revision-2].At
	}
	return max(c.axis.At(at), c.reviewed(revision))
}

// reviewed is when the plan of a revision was let go that had been held to be
// looked over, 0 where it was not.
func (c *chronicler) reviewed(revision int) (at time.Duration) {
	for i := range c.run.Reviews {
		if r := &c.run.Reviews[i]; r.Revision == revision && r.Decision == event.ReviewRun {
			at = c.axis.At(r.At)
		}
	}
	return at
}

// wait adds a stretch of a track.
func (t *Track) wait(sum *time.Duration, kind stretchKind, from, to time.Duration) {
	if to < from || to == from && kind != StretchRun {
		return
	}
	if sum != nil {
		*sum += to - from
	}
	t.Stretches = append(t.Stretches, Stretch{Kind: kind, From: from, To: to})
}

// Gates adds the times in which an attempt waited for somebody's word, and
// returns when nothing but a slot kept it.
func (t *Track) Gates(a *Tried, at Axis, now time.Duration) (free time.Duration) {
	free = a.Ready
	for _, q := range a.Asked {
		if q.About != agent.AskedGate {
			continue
		}
		to := a.End
		if !q.AnsweredAt.IsZero() {
			to = at.At(q.AnsweredAt)
		} else if a.EndedAt.IsZero() {
			to = now
		}
		t.wait(&t.Gate, StretchGate, free, to) // it had to be made ready too
		free = to
	}
	return free
}

// replans adds a track for each time the planner was asked again.
func (c *chronicler) replans() {
	add := func(number int, from, to time.Duration) {
		c.order = append(c.order, &Track{
			Kind: TrackReplan, Index: Number(number), Title: "replan", Ran: to - from,
			Stretches: []Stretch{{Kind: StretchPlan, From: from, To: to}},
		})
		c.line.Last = max(c.line.Last, to)
	}
	for i := range c.run.Revisions {
		r := &c.run.Revisions[i]
		at := c.axis.At(r.At)
		c.line.Replans = append(c.line.Replans, at)
		add(r.Number, c.axis.At(r.AskedAt), at)
	}
	if r := c.run.Replanning; r != nil {
		add(c.run.Revision+1, c.axis.At(r.StartedAt), c.now)
	}
}

// answer adds a track for the words at the end.
func (c *chronicler) answer() {
	s := c.run.Synthesis
	if !s.Started || s.Direct || s.StartedAt.IsZero() {
		return
	}
	from, to := c.axis.At(s.StartedAt), c.now
	if s.Done {
		to = from + time.Duration(s.MS)*time.Millisecond
	}
	c.line.Last = max(c.line.Last, to)
	c.order = append(c.order, &Track{Kind: TrackAnswer, Title: "answer", Ran: to - from, Stretches: []Stretch{{Kind: StretchPlan, From: from, To: to}}})
}

// lanes finds out what ran beside what: each step goes into the first lane in
// which nothing else runs at that time.
func (c *chronicler) lanes() {
	type run struct {
		from, to time.Duration
		track    *Track
	}
	var runs []run
	for _, t := range c.order {
		if t.Kind != TrackStep {
			continue
		}
		for _, s := range t.Stretches {
			if s.Kind == StretchRun {
				runs = append(runs, run{s.From, s.To, t})
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
				o.track.Beside = addOnce(o.track.Beside, r.track.Index)
				r.track.Beside = addOnce(r.track.Beside, o.track.Index)
			}
		}
		now = append(now, r)
		c.line.Most = max(c.line.Most, len(now))
		lane := slices.IndexFunc(free, func(at time.Duration) bool { return at <= r.from })
		if lane < 0 {
			lane = len(free)
			free = append(free, 0)
		}
		free[lane] = r.to
		if r.track.Lane == 0 {
			r.track.Lane = lane + 1
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
	first := func(t *Track) time.Duration {
		if len(t.Stretches) == 0 {
			return 1 << 62
		}
		return t.Stretches[0].From
	}
	slices.SortStableFunc(c.order, func(a, b *Track) int { return cmp.Compare(first(a), first(b)) })
	if len(c.line.Phases) > 0 {
		t := Track{Kind: TrackPlanning, Title: "planning", Critical: c.line.planned}
		for _, p := range c.line.Phases {
			t.Ran += p.To - p.From
		}
		c.line.Tracks = append(c.line.Tracks, t)
	}
	for _, t := range c.order {
		c.line.Tracks = append(c.line.Tracks, *t)
	}
}

// AtOnce is how many steps ran at once at most in each of so many equal parts of a
// span.
func (t *Timeline) AtOnce(begin, span time.Duration, parts int) []int {
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	for i := range t.Tracks {
		if t.Tracks[i].Kind != TrackStep {
			continue
		}
		for _, s := range t.Tracks[i].Stretches {
			if s.Kind == StretchRun {
				changes = append(changes, change{s.From, 1}, change{max(s.To, s.From+1), -1})
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

// TrackIndex is the index of a track's step, or the number of its revision.
func TrackIndex(t *Track) string {
	if t.Kind == TrackReplan {
		return "r" + t.Index
	}
	return untrusted.Line(t.Index)
}

// Track is that of a step, nil where there is none.
func (t *Timeline) Track(index string) *Track {
	for i := range t.Tracks {
		if t.Tracks[i].Kind == TrackStep && t.Tracks[i].Index == index {
			return &t.Tracks[i]
		}
	}
	return nil
}
