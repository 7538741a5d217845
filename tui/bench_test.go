package tui_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui"
	"replan/tui/panetest"
)

// A crowd is the load that the screen must handle: a plan of a thousand steps, of
// which fifty run, and a chat of ten thousand lines.
const (
	crowdSteps   = 1000
	crowdRunning = 50
	crowdDone    = 400
	crowdLines   = 10_000
)

// crowd returns the events of such a session, with a chat of about that many lines.
func crowd(lines, steps int) *story {
	s := newStory().Greeted()
	const each = 50 // lines of a reply
	for i := range max(lines/each, 1) {
		var reply strings.Builder
		fmt.Fprintf(&reply, "## Part %d\n\n", i)
		for j := range min(lines, each)/5 - 1 {
			fmt.Fprintf(&reply, "- point %d of this part says something about `package%d`, in **some** words\n", j, i)
		}
		fmt.Fprintf(&reply, "\n```go\nfunc part%d(n int) int {\n\treturn n * %d\n}\n```\n\n", i, i)
		for j := range min(lines, each) / 2 {
			fmt.Fprintf(&reply, "Line %d of prose, long enough to be a line of its own.\n\n", j)
		}
		s.After(10).Session(event.ChatUser{Text: untrusted.Text("what about part " + strconv.Itoa(i) + "?")}).
			After(10).Session(event.ChatReply{Status: event.StatusCompleted, Text: untrusted.Text(reply.String())})
	}
	plan := crowdPlan(steps)
	s.After(10).Run(event.RunStarted{Goal: untrusted.Text(string(plan.Title)), Workspace: "/src/auth-service", Session: panetest.StorySession, Plan: &plan, Model: "qwen3:8b"},
		event.PlanCreated{Plan: plan, Revision: 1})
	done := crowdEnded(steps)
	for i := range done {
		index := strconv.Itoa(i + 1)
		s.Run(event.StepStarted{Index: index, Attempt: 1, Args: plan.Steps[i].Args}).After(1).
			Run(event.StepCompleted{Index: index, Attempt: 1, Result: "the text of file " + index, MS: 1})
	}
	for i := done; i < done+crowdRunning; i++ {
		s.Run(event.StepStarted{Index: strconv.Itoa(i + 1), Attempt: 1, Args: plan.Steps[i].Args})
	}
	return s
}

// crowdEnded returns how many steps of a crowd's plan have ended.
func crowdEnded(steps int) int { return min(crowdDone, steps-crowdRunning) }

// crowdPlan is layers of fifty steps, each after two of the layer before.
func crowdPlan(steps int) plan.Plan {
	const layer = 50
	p := plan.Plan{Title: "a plan of very many steps"}
	for i := range steps {
		step := plan.Step{
			Index: strconv.Itoa(i + 1), Title: untrusted.Text("Read the file number " + strconv.Itoa(i+1)), Executor: plan.ExecutorTool,
			Tool: "fs.read", Args: map[string]any{"path": "dir/file" + strconv.Itoa(i+1) + ".go"},
		}
		if i >= layer {
			step.DependsOn = []string{strconv.Itoa(i - layer + 1), strconv.Itoa(i - layer + 2 - (i % layer / (layer - 1) * layer))}
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}

// crowded returns a screen of that size that shows a crowd.
func crowded(b *testing.B, lines, steps, width, height int) (*tui.Model, *story) {
	b.Helper()
	st := crowd(lines, steps)
	m := tui.New(newFakeSession(), tui.Options{})
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.Update(tui.Batch(st.Events, st.Now))
	m.Update(tui.Beat(st.Now))
	m.View()
	return m, &story{Now: st.Now, Seq: st.Seq}
}

// BenchmarkFrame measures one frame while fifty steps stream: a beat of the clock,
// a batch of events, and the view. The view should take at most 2 ms.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct {
		name         string
		lines, steps int
	}{{"10 lines, 60 steps", 10, 60}, {"10000 lines, 1000 steps", crowdLines, crowdSteps}} {
		b.Run(c.name, func(b *testing.B) {
			m, st := crowded(b, c.lines, c.steps, 200, 50)
			at := st.Now
			var view time.Duration
			for b.Loop() {
				at = at.Add(100 * time.Millisecond)
				st.Events = st.Events[:0]
				for i := range crowdRunning {
					st.Run(event.StepOutput{Index: strconv.Itoa(crowdEnded(c.steps) + i + 1), Chunk: "one more line\n"})
				}
				m.Update(tui.Batch(st.Events, at))
				m.Update(tui.Beat(at))
				begun := time.Now()
				m.View()
				view += time.Since(begun)
			}
			b.ReportMetric(float64(view.Microseconds())/float64(b.N), "view-µs/op")
		})
	}
}

// BenchmarkKey measures a key and its view. With a long chat and a long plan they
// should take at most one and a half times as long as with short ones.
func BenchmarkKey(b *testing.B) {
	for _, c := range []struct {
		name         string
		lines, steps int
		keys         []tea.KeyPressMsg
		first        []tea.KeyPressMsg
	}{
		{name: "typing/10 lines", lines: 10, steps: 60, keys: letters("ab")},
		{name: "typing/10000 lines", lines: crowdLines, steps: 60, keys: letters("ab")},
		{name: "typing/10000 lines, 1000 steps", lines: crowdLines, steps: crowdSteps, keys: letters("ab")},
		{name: "scrolling/10 lines", lines: 10, steps: 60, keys: []tea.KeyPressMsg{{Code: tea.KeyPgUp}, {Code: tea.KeyPgDown}}},
		{name: "scrolling/10000 lines", lines: crowdLines, steps: 60, keys: []tea.KeyPressMsg{{Code: tea.KeyPgUp}, {Code: tea.KeyPgDown}}},
		{name: "plan/60 steps", lines: 10, steps: 60, keys: []tea.KeyPressMsg{{Code: tea.KeyDown}, {Code: tea.KeyUp}}, first: []tea.KeyPressMsg{tabKey}},
		{name: "plan/1000 steps", lines: 10, steps: crowdSteps, keys: []tea.KeyPressMsg{{Code: tea.KeyDown}, {Code: tea.KeyUp}}, first: []tea.KeyPressMsg{tabKey}},
		{name: "dialog/1000 steps", lines: crowdLines, steps: crowdSteps, keys: []tea.KeyPressMsg{{Code: tea.KeyDown}, {Code: tea.KeyUp}}, first: []tea.KeyPressMsg{alt('o')}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m, _ := crowded(b, c.lines, c.steps, 200, 50)
			for _, k := range c.first {
				m.Update(k)
			}
			typed := 0
			for b.Loop() {
				for _, k := range c.keys {
					m.Update(k)
					m.View()
				}
				if typed++; typed%40 == 0 { // keep the typed text short
					m.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
				}
			}
		})
	}
}

// BenchmarkResize measures a change of the width and the view after it. Both
// should take at most 100 ms.
func BenchmarkResize(b *testing.B) {
	m, _ := crowded(b, crowdLines, crowdSteps, 200, 50)
	width := 200
	for b.Loop() {
		width = 380 - width
		m.Update(tea.WindowSizeMsg{Width: width, Height: 50})
		m.View()
	}
}

// BenchmarkFlood measures a second of a thousand events, drawn in batches as they
// come from Forward.
func BenchmarkFlood(b *testing.B) {
	m, st := crowded(b, crowdLines, crowdSteps, 200, 50)
	const events, batches = 1000, 33
	for b.Loop() {
		for range batches {
			st.Events = st.Events[:0]
			for i := range events / batches {
				st.Run(event.StepOutput{Index: strconv.Itoa(crowdDone + i%crowdRunning + 1), Chunk: "line\n"})
			}
			st.After(30)
			m.Update(tui.Batch(st.Events, st.Now))
			m.View()
		}
	}
}

// BenchmarkMemory reports the memory of a screen with a long chat and a long plan.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		m, _ := crowded(b, crowdLines, crowdSteps, 200, 50)
		for range crowdLines / 40 { // all of the chat was drawn
			m.Update(tea.KeyPressMsg{Code: tea.KeyPgUp})
			m.View()
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB-held")
		runtime.KeepAlive(m)
	}
}
