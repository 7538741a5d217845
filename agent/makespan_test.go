package agent_test

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// dagSteps is the number of steps in each DAG of the makespan tests.
const dagSteps = 60

// job is one tool call and the time of its return.
type job struct {
	call agent.CallTool
	at   time.Duration
}

// jobs is a heap of running calls, the next to return on top.
type jobs []job

func (j jobs) Len() int           { return len(j) }
func (j jobs) Less(a, b int) bool { return j[a].at < j[b].at }
func (j jobs) Swap(a, b int)      { j[a], j[b] = j[b], j[a] }
func (j *jobs) Push(x any)        { *j = append(*j, x.(job)) }
func (j *jobs) Pop() any {
	last := (*j)[len(*j)-1]
	*j = (*j)[:len(*j)-1]
	return last
}

// dag draws a plan in layers, as people write plans, in which every step calls
// its own tool. It also returns the duration of each call in ms: mostly short,
// sometimes very long.
func dag(random *rand.Rand) (plan.Plan, map[string]int64) {
	p, times := plan.Plan{Title: "DAG"}, map[string]int64{}
	width := 2 + random.IntN(10)
	for i := range dagSteps {
		s := plan.Step{
			Index: fmt.Sprint(i + 1), Title: "Step", Executor: plan.ExecutorTool,
			Tool: fmt.Sprintf("t%d", i+1), Args: map[string]any{},
		}
		if before := i / width * width; before > 0 {
			for range 1 + random.IntN(3) {
				s.DependsOn = append(s.DependsOn, fmt.Sprint(max(1, before-random.IntN(2*width))))
			}
		}
		p.Steps = append(p.Steps, s)
		pareto := 100 * math.Pow(1-random.Float64(), -1/1.5)
		times["w:"+s.Tool] = int64(min(pareto, 60_000))
	}
	return p, times
}

// toolsOf returns the tools with these durations.
func toolsOf(times map[string]int64) plan.Catalog {
	var out plan.Catalog
	for i := range dagSteps {
		tool := plan.Tool{Name: fmt.Sprintf("t%d", i+1), Server: "w", ReadOnly: true, Annotated: true}
		if _, ok := times[tool.QualifiedName()]; ok {
			out = append(out, tool)
		}
	}
	return out
}

// makespan runs a plan in simulated time and returns the time it took.
func makespan(t testing.TB, plan plan.Plan, times, priors map[string]int64, slots int) time.Duration {
	var run agent.Run
	var running jobs
	seq, now := uint64(0), time.Duration(0)
	apply := func(d event.Data) {
		seq++
		if err := run.Apply(event.Event{Seq: seq, Time: time.Unix(0, 0).UTC().Add(now), Run: "r", Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	apply(event.RunStarted{
		Plan: &plan, Limits: event.Limits{MaxConcurrency: slots}, Catalog: toolsOf(times), Priors: priors, SkipSynthesis: true,
		Rules: []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}},
	})
	for run.Active() {
		next := run.Next()
		for _, a := range next {
			if a.Record != nil {
				apply(a.Record)
			}
			if call, ok := a.Effect.(agent.CallTool); ok {
				heap.Push(&running, job{call, now + time.Duration(times[call.Tool.QualifiedName()])*time.Millisecond})
			}
		}
		if len(running) > slots {
			t.Fatalf("%d calls in %d slots", len(running), slots)
		}
		if len(next) == 0 {
			back := heap.Pop(&running).(job)
			now = back.at
			apply(event.StepCompleted{Index: back.call.Index, Attempt: back.call.Attempt})
		}
	}
	if run.Result.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %s", run.Result.Reason, run.Result.Error)
	}
	return now
}

// barrier returns the duration of a plan whose batches wait for each other, in
// the order of the file.
func barrier(p plan.Plan, times map[string]int64, slots int) time.Duration {
	total := int64(0)
	for _, batch := range plan.NewGraph(p).Batches() {
		free := make([]int64, slots)
		for _, index := range batch {
			slices.Sort(free)
			free[0] += times["w:t"+index]
		}
		total += slices.Max(free)
	}
	return time.Duration(total) * time.Millisecond
}

// floor returns a lower bound for the duration under any order of the steps.
func floor(p plan.Plan, times map[string]int64, slots int) time.Duration {
	weight := func(s plan.Step) float64 { return float64(times["w:"+s.Tool]) }
	work, longest := 0.0, 0.0
	for _, s := range p.Steps {
		work += weight(s)
	}
	for _, w := range plan.NewGraph(p).Weights(weight) {
		longest = max(longest, w)
	}
	return time.Duration(max(longest, work/float64(slots)) * float64(time.Millisecond))
}

// spread holds durations of the runs of many DAGs relative to the floor.
type spread struct{ known, unknown, barrier []float64 }

func measure(t testing.TB, dags, slots int) spread {
	random := rand.New(rand.NewPCG(1, uint64(slots)))
	var s spread
	for range dags {
		plan, times := dag(random)
		bound := float64(floor(plan, times, slots))
		s.known = append(s.known, float64(makespan(t, plan, times, times, slots))/bound)
		s.unknown = append(s.unknown, float64(makespan(t, plan, times, nil, slots))/bound)
		s.barrier = append(s.barrier, float64(barrier(plan, times, slots))/bound)
	}
	return s
}

// percentile sorts the figures and returns the p-th percentile.
func percentile[T cmp.Ordered](figures []T, p int) T {
	slices.Sort(figures)
	return figures[min(len(figures)*p/100, len(figures)-1)]
}

// TestMakespanIsNearFloor checks that scheduling by dependency, longest remaining
// path first, wastes little time if the durations of tools are known.
func TestMakespanIsNearFloor(t *testing.T) {
	if testing.Short() {
		t.Skip("starts no goroutine for the race detector to watch")
	}
	for _, slots := range []int{4, 8} {
		s := measure(t, 300, slots)
		for name, figures := range map[string][]float64{"durations known": s.known, "durations unknown": s.unknown, "batches with a barrier": s.barrier} {
			t.Logf("%d slots, %s: median %.3f, 95th percentile %.3f of the floor", slots, name, percentile(figures, 50), percentile(figures, 95))
		}
		if got := percentile(s.known, 95); got > 1.2 {
			t.Errorf("with %d slots the 95th percentile is %.3f of the floor, want at most 1.2", slots, got)
		}
		if slices.Min(s.known) < 1-1e-6 {
			t.Errorf("with %d slots a run took %.3f of the floor: the simulation is wrong", slots, slices.Min(s.known))
		}
		if percentile(s.unknown, 50) >= percentile(s.barrier, 50) {
			t.Errorf("with %d slots scheduling by dependency is no better than by batches", slots)
		}
	}
}

// BenchmarkMakespan reports how far runs are above the floor, and how long the
// core takes for a run of 60 steps.
func BenchmarkMakespan(b *testing.B) {
	for _, slots := range []int{4, 8} {
		b.Run(fmt.Sprintf("slots=%d", slots), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, uint64(slots)))
			var figures []float64
			for b.Loop() {
				plan, times := dag(random)
				figures = append(figures, float64(makespan(b, plan, times, times, slots))/float64(floor(plan, times, slots)))
			}
			b.ReportMetric(percentile(figures, 50), "p50-of-floor")
			b.ReportMetric(percentile(figures, 95), "p95-of-floor")
		})
	}
}

func TestToolThatTakesLessThanAMillisecondHasWeight(t *testing.T) {
	if w := agent.Weigh(plan.Step{Executor: plan.ExecutorTool, Tool: "fs.read"}, nil, map[string]int64{"fs.read": 0}); w <= 0 {
		t.Errorf("it weighs %v: a chain of such steps is no longer than one", w)
	}
}

func TestManyItemsAreALongPath(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[
		{"index":"1","title":"Look","tool":"look","args":{}},
		{"index":"2","title":"Look on","tool":"look","args":{},"depends_on":["1"]},
		{"index":"3","title":"Read all","tool":"look","for_each":["a","b","c","d"],"at_once":1,"args":{"at":"${item}"}}]}`)
	start.Limits.MaxConcurrency = 1
	w.play(start)
	if got := w.starts(); got[len(got)-1] != "2" { // step 1 starts while step 3 expands
		t.Errorf("the steps %v started, want the four items before step 2", got)
	}
}
