package timing

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
)

// Timeline records when the steps of a run waited and ran, computed from the run's
// state. It changes only with the run, or with time while the run is active.
type Timeline struct {
	Tracks  []*Track
	Replans []time.Duration // when a new plan replaced the old one
	Begin   time.Duration   // of the steps: when the plan was ready, or when the first step was tried
	end     time.Duration   // when the last step ended, or now
	Last    time.Duration   // end of the last track
	Total   time.Duration   // active time of the run so far, planning and gates included
	Sum     time.Duration   // sum of the steps' running times
	Gates   time.Duration   // time spent waiting for answers
	Most    int             // maximum number of steps running at once
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
	Stretches
	Kind      trackKind
	Index     string // step index or revision number
	Title     untrusted.Text
	Status    agent.StepStatus
	Ran       time.Duration
	Tries     int
	RemovedIn int    // revision that removed the step; 0 if it is in the plan
	Inner     int    // calls made by the step itself
	Items     int    // of the list that the step runs for
	Critical  bool   // on the critical path
	After     string // what it followed on the critical path; "" at its start

	last AttemptTimes // newest attempt
}

// Label returns the index of a track's step, or its revision number.
func (t *Track) Label() string {
	if t.Kind == TrackReplan {
		return "r" + t.Index
	}
	return untrusted.Line(t.Index)
}

// builder computes a timeline.
type builder struct {
	Axis
	Timeline
	steps   map[string]*Track
	planned *Track // the planning phases
	links   []link // what may be on the critical path
}

// NewTimeline returns the timeline of a run at time now.
func NewTimeline(run *agent.Run, now time.Time) *Timeline {
	c := &builder{Axis: NewAxis(run, now), steps: map[string]*Track{}}
	c.Total = c.Now
	if run.Result != nil {
		c.Total = time.Duration(run.Result.DurationMS) * time.Millisecond
	}
	c.planning()
	c.addSteps()
	c.attempts()
	c.replans()
	if s := run.Synthesis; s.Started && !s.Direct && !s.StartedAt.IsZero() {
		from, to := c.At(s.StartedAt), c.Now
		if s.Done {
			to = from + time.Duration(s.MS)*time.Millisecond
		}
		c.model(TrackAnswer, "", "answer", Stretch{StretchModel, from, to, ""})
	}
	c.decide()
	c.finish()
	return &c.Timeline
}

// model adds a track for what a model did besides the steps.
func (c *builder) model(kind trackKind, index string, title untrusted.Text, stretches ...Stretch) *Track {
	t := &Track{Kind: kind, Index: index, Title: title, Stretches: stretches}
	for _, s := range stretches {
		t.Ran += s.To - s.From
	}
	c.Tracks = append(c.Tracks, t)
	return t
}

// planning adds a track for the phases.
func (c *builder) planning() {
	var phases []Stretch
	for i, p := range c.run.Phases {
		if p.StartedAt.IsZero() {
			continue
		}
		from, to := c.At(p.StartedAt), c.Now
		if p.Status != agent.PhaseRunning {
			to = from + time.Duration(p.MS)*time.Millisecond
		}
		phases = append(phases, Stretch{StretchPhase, from, to, [...]string{"analysis", "review", "plan"}[i]})
	}
	if len(phases) == 0 {
		return
	}
	c.planned = c.model(TrackPlanning, "", "planning", phases...)
	if !c.run.PlannedAt.IsZero() {
		c.links = append(c.links, link{AttemptTimes: AttemptTimes{end: c.At(c.run.PlannedAt)}, track: c.planned, plans: 1})
	}
}

// addSteps adds a track for each step that is in the plan or was removed from it.
func (c *builder) addSteps() {
	add := func(s *agent.StepState, removedIn int) {
		t := c.steps[s.Step.Index]
		if t == nil {
			t = c.model(TrackStep, s.Step.Index, "")
			c.steps[s.Step.Index] = t
		}
		t.Title, t.Status, t.RemovedIn = s.Step.Title, s.Status, removedIn
		t.Items = len(s.Items)
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
}

// attempts adds the times of the attempts to the tracks of their steps.
func (c *builder) attempts() {
	c.Begin = c.writtenAt(1)
	reviewing := c.run.AwaitsReview()
	if c.run.PlannedAt.IsZero() || reviewing {
		c.Begin = c.Now
	}
	for i := range c.run.Attempts {
		a := &c.run.Attempts[i]
		t := c.steps[a.Step]
		if t == nil || a.Parent != "" {
			continue
		}
		try := c.Try(a)
		if t.Tries > 0 && t.last.Revision == a.Revision {
			t.add(StretchPause, t.last.end, try.ready)
		} else {
			t.add(StretchNeeds, c.writtenAt(a.Revision), try.ready)
		}
		t.Stretches = append(t.Stretches, try.Stretches...)
		t.Ran += try.Ran
		t.Tries++
		t.last = try
		c.links = append(c.links, link{AttemptTimes: try, track: t})
		c.Begin, c.end = min(c.Begin, try.ready), max(c.end, try.end)
	}
	for _, s := range c.run.Steps {
		if s.Status == agent.StepPending && !s.ReadyAt.IsZero() && c.run.Result == nil && !reviewing {
			c.steps[s.Step.Index].add(StretchSlot, c.At(s.ReadyAt), c.Now)
			c.end = max(c.end, c.Now)
		}
	}
	c.end = max(c.end, c.Begin)
}

// writtenAt returns the time from which the plan of a revision could run: when it was
// ready, or when the user released it after review.
func (c *builder) writtenAt(revision int) time.Duration {
	at := c.run.PlannedAt
	if revision >= 2 && revision-2 < len(c.run.Revisions) {
		at = c.run.Revisions[revision-2].At
	}
	for i := range c.run.Reviews {
		if r := &c.run.Reviews[i]; r.Revision == revision && r.Decision == event.ReviewRun && r.At.After(at) {
			at = r.At
		}
	}
	return c.At(at)
}

// replans adds a track for each replan.
func (c *builder) replans() {
	add := func(number int, from, to time.Duration) {
		t := c.model(TrackReplan, strconv.Itoa(number), "replan", Stretch{StretchModel, from, to, ""})
		c.links = append(c.links, link{AttemptTimes: AttemptTimes{start: from, end: to}, track: t, plans: number})
	}
	for i := range c.run.Revisions {
		r := &c.run.Revisions[i]
		add(r.Number, c.At(r.AskedAt), c.At(r.At))
		c.Replans = append(c.Replans, c.At(r.At))
	}
	if r := c.run.Replanning; r != nil {
		add(c.run.Revision+1, c.At(r.StartedAt), c.Now)
	}
}

// finish sorts the tracks by start time, with those that have not started last,
// and sums them up.
func (c *builder) finish() {
	first := func(t *Track) time.Duration {
		for _, s := range t.Stretches {
			if s.Kind != StretchNeeds {
				return s.From
			}
		}
		return math.MaxInt64
	}
	slices.SortStableFunc(c.Tracks, func(a, b *Track) int { return cmp.Compare(first(a), first(b)) })
	c.Last = c.end
	for _, t := range c.Tracks {
		for _, s := range t.Stretches {
			c.Last = max(c.Last, s.To)
		}
		if t.Kind == TrackStep {
			c.Sum += t.Ran
			c.Gates += t.Time(StretchGate)
		}
	}
	c.Most = c.AtOnce(c.Begin, c.Last-c.Begin, 1)[0]
}

// AtOnce divides a span into equal parts and returns the maximum number of steps
// running at once in each.
func (t *Timeline) AtOnce(begin, span time.Duration, parts int) []int {
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	for _, track := range t.Tracks {
		for _, s := range track.Stretches {
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

// Beside returns the indexes of the steps that ran at the same time as a step.
func (t *Timeline) Beside(track *Track) (steps []string) {
	for _, other := range t.Tracks {
		if other != track && other.overlaps(track.Stretches) {
			steps = append(steps, other.Index)
		}
	}
	return steps
}

// overlaps reports whether the track ran at the same time as others.
func (s Stretches) overlaps(others Stretches) bool {
	for _, a := range s {
		for _, b := range others {
			if a.Kind == StretchRun && b.Kind == StretchRun && a.From < b.To && b.From < a.To {
				return true
			}
		}
	}
	return false
}

// Track returns the track of a step, or nil if there is none.
func (t *Timeline) Track(index string) *Track {
	for _, track := range t.Tracks {
		if track.Kind == TrackStep && track.Index == index {
			return track
		}
	}
	return nil
}
