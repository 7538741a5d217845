package timing

import (
	"cmp"
	"slices"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
)

// Timeline records when the steps of a run waited and ran, computed from the run's
// state. It changes only with the run, or with time while the run is active.
type Timeline struct {
	Tracks  []Track
	Phases  []Stretch // planning phases, with names
	planned bool      // the critical path starts with planning
	Replans []time.Duration
	Begin   time.Duration // of the steps: when the plan was ready, or when the first step was tried
	end     time.Duration // when the last step ended, or now
	Last    time.Duration // end of the last track
	Sum     time.Duration // sum of the steps' running times
	Gates   time.Duration // time spent waiting for somebody
	Most    int           // maximum number of steps running at once
}

// Makespan returns the time from the first step's start to the last step's end.
func (t *Timeline) Makespan() time.Duration { return t.end - t.Begin }

// Parallelism returns the average number of steps running at once.
func (t *Timeline) Parallelism() float64 {
	if t.Makespan() <= 0 {
		return 0
	}
	return float64(t.Sum) / float64(t.Makespan())
}

// trackKind is the kind of a track.
type trackKind int

// The kinds of tracks.
const (
	TrackPlanning trackKind = iota // the planning phases
	TrackStep
	TrackReplan
	TrackAnswer
)

// Track is one bar of the timeline: a step, a replan, planning or the answer.
type Track struct {
	Kind      trackKind
	Index     string // step index
	Title     untrusted.Text
	Status    agent.StepStatus
	Stretches []Stretch
	Tries     int
	Gone      int  // revision that removed the step; 0 if it is in the plan
	Critical  bool // on the critical path
	After     string
	Lane      int // shared by steps that ran one after another; starts at 1
	Inner     int // calls made by the step itself

	Needs, Slot, Gate, Pause, Ran time.Duration // time waiting for other steps, for a slot, at a gate and between attempts; running time
	Beside                        []string      // steps that ran at the same time
}

// stretchKind is the kind of a stretch of time.
type stretchKind int

// The kinds of stretches.
const (
	StretchWait  stretchKind = iota // waiting for a slot or a retry
	StretchGate                     // waiting for somebody's answer
	StretchRun                      // running
	StretchPlan                     // a model planning
	stretchPhase                    // a planning phase
)

// Stretch is a period of one kind.
type Stretch struct {
	Kind     stretchKind
	From, To time.Duration
	Name     string // phase name
}

// Axis measures the time of a run without its breaks.
type Axis struct {
	Start  time.Time
	Breaks []agent.Break
}

// At returns the run time at t, without the breaks.
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

// chronicler computes a timeline.
type chronicler struct {
	run    *agent.Run
	axis   Axis
	now    time.Duration
	line   *Timeline
	tracks map[string]*Track
	order  []*Track
	tries  []Tried          // attempts of steps, in start order
	of     map[string][]int // step → indexes of its attempts in tries
	plans  map[int]planned  // by revision
	byEnd  []int            // indexes of the attempts, by end time
}

// Tried is an attempt, in run time.
type Tried struct {
	*agent.Attempt
	Ready, free, Start, End time.Duration // free: from here on only a slot was missing
	Began                   bool
}

// Took returns how long the attempt ran: the time measured for its call, which its
// row in the plan shows too. It excludes the delay until the end was reported.
func (t *Tried) Took() time.Duration {
	if t.Status == agent.StepCompleted || t.Status == agent.StepFailed {
		return min(time.Duration(t.MS)*time.Millisecond, t.End-t.Start)
	}
	return t.End - t.Start
}

// Chronicle returns the timeline of a run at time now.
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

// planning records the durations of the phases.
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

// steps creates a track for each step that is in the plan or was tried in an
// earlier plan.
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

// measure sums up the waiting and running times of each step.
func (c *chronicler) measure() {
	begin := c.axis.At(c.run.PlannedAt)
	if c.run.PlannedAt.IsZero() || c.run.AwaitsReview() {
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
		if s := c.run.Step(t.Index); s != nil && t.Gone == 0 && s.Status == agent.StepPending && !s.ReadyAt.IsZero() && c.run.Result == nil && !c.run.AwaitsReview() {
			t.wait(&t.Slot, StretchWait, c.axis.At(s.ReadyAt), c.now)
			c.line.end = max(c.line.end, c.now)
		}
		c.line.Sum += t.Ran
		c.line.Gates += t.Gate
	}
	c.line.end = max(c.line.end, c.line.Begin)
	c.line.Last = max(c.line.Last, c.line.end)
}

// begins returns the time at which the plan of a revision was ready.
func (c *chronicler) begins(revision int) time.Duration {
	at := c.run.PlannedAt
	if revision >= 2 && revision-2 < len(c.run.Revisions) {
		at = c.run.Revisions[revision-2].At
	}
	return max(c.axis.At(at), c.reviewed(revision))
}

// reviewed returns the time at which the user released the plan of a revision after
// review, or 0 if there was no review.
func (c *chronicler) reviewed(revision int) (at time.Duration) {
	for i := range c.run.Reviews {
		if r := &c.run.Reviews[i]; r.Revision == revision && r.Decision == event.ReviewRun {
			at = c.axis.At(r.At)
		}
	}
	return at
}

// wait adds a stretch to a track.
func (t *Track) wait(sum *time.Duration, kind stretchKind, from, to time.Duration) {
	if to < from || to == from && kind != StretchRun {
		return
	}
	if sum != nil {
		*sum += to - from
	}
	t.Stretches = append(t.Stretches, Stretch{Kind: kind, From: from, To: to})
}

// Gates adds the periods in which an attempt waited for an answer. It returns the
// time from which only a slot was missing.
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
		t.wait(&t.Gate, StretchGate, free, to) // includes time to get ready
		free = to
	}
	return free
}

// replans adds a track for each replan.
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

// answer adds a track for the final answer.
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

// lanes shows which steps ran in parallel: each step goes into the first lane that
// is free at that time.
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
	var free []time.Duration // when each lane becomes free
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

// finish sorts the tracks by start time, with those that have not started last.
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

// AtOnce divides a span into equal parts and returns the maximum number of steps
// running at once in each.
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

// TrackIndex returns the index of a track's step, or its revision number.
func TrackIndex(t *Track) string {
	if t.Kind == TrackReplan {
		return "r" + t.Index
	}
	return untrusted.Line(t.Index)
}

// Track returns the track of a step, or nil if there is none.
func (t *Timeline) Track(index string) *Track {
	for i := range t.Tracks {
		if t.Tracks[i].Kind == TrackStep && t.Tracks[i].Index == index {
			return &t.Tracks[i]
		}
	}
	return nil
}
