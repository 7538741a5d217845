package tui_test

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui"
)

// live is the real program on a terminal that counts bytes.
type live struct {
	program *tea.Program
	sent    atomic.Int64 // bytes
	over    chan struct{}
	stop    context.CancelFunc
	events  chan event.Event
	fed     chan struct{}
}

// Write counts.
func (l *live) Write(p []byte) (int, error) {
	l.sent.Add(int64(len(p)))
	return len(p), nil
}

// startLive starts the program on a screen of 200 x 60 that shows a story.
func startLive(b *testing.B, st *story) *live {
	b.Helper()
	l := &live{over: make(chan struct{}), events: make(chan event.Event, 4096), fed: make(chan struct{})}
	in, keys := io.Pipe()
	m := &watchedModel{tui.New(newFakeSession(), tui.Options{})}
	l.program = tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(l), tea.WithWindowSize(200, 60),
		tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}), tea.WithoutSignals())
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	go func() {
		defer close(l.over)
		_, _ = l.program.Run()
	}()
	go func() {
		defer close(l.fed)
		tui.Forward(ctx, l.events, l.program.Send)
	}()
	b.Cleanup(func() {
		l.stop()
		l.program.Quit()
		<-l.over
		<-l.fed
		_ = keys.Close()
	})
	for _, e := range st.Events {
		l.events <- e
	}
	l.look(func(*tui.Model) {})
	return l
}

// look runs a function in the screen's own goroutine and waits for it.
func (l *live) look(at func(m *tui.Model)) {
	done := make(chan struct{})
	l.program.Send(asked(func(m *tui.Model) tea.Msg {
		at(m)
		close(done)
		return nil
	}))
	<-done
}

// BenchmarkOutput reports the bytes sent to the terminal in a second: none while
// nothing happens, and at most 15 KB while fifty steps spin.
func BenchmarkOutput(b *testing.B) {
	for _, c := range []struct {
		name  string
		story *story
	}{{"idle", newStory().Finished()}, {"fifty spinners", crowd(10, 60)}} {
		b.Run(c.name, func(b *testing.B) {
			l := startLive(b, c.story)
			time.Sleep(time.Second) // the first frames are drawn
			before, begun := l.sent.Load(), time.Now()
			for b.Loop() {
				time.Sleep(time.Second)
			}
			b.ReportMetric(float64(l.sent.Load()-before)/time.Since(begun).Seconds(), "bytes/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkKeysInAFlood types while a thousand events arrive in a second, a tenth
// of which must not be lost. It reports how long a key takes until it is in a
// frame, and the number of lost events.
func BenchmarkKeysInAFlood(b *testing.B) {
	st := crowd(crowdLines, crowdSteps)
	l := startLive(b, st)
	next := &story{Now: st.Now, Seq: st.Seq}
	var latencies []time.Duration
	notes := 0
	for b.Loop() {
		for tick := range 20 { // of 50 ms
			next.Events = nil
			for i := range 45 {
				next.Run(event.StepOutput{Index: strconv.Itoa(crowdDone + i%crowdRunning + 1), Chunk: "line\n"})
			}
			for range 5 {
				notes++
				next.Run(event.Note{Level: "info", Text: untrusted.Text("note " + strconv.Itoa(notes) + ".")})
			}
			for _, e := range next.After(50).Events {
				l.events <- e
			}
			letter := string(rune('a' + tick))
			begun := time.Now()
			l.program.Send(tea.KeyPressMsg{Code: rune(letter[0]), Text: letter})
			l.look(func(m *tui.Model) {
				if !strings.HasSuffix(m.Typed(), letter) {
					b.Errorf("%q is not in the input", letter)
				}
				m.View()
			})
			latencies = append(latencies, time.Since(begun))
			time.Sleep(max(50*time.Millisecond-time.Since(begun), 0))
		}
	}
	slices.Sort(latencies)
	b.ReportMetric(float64(latencies[len(latencies)*95/100].Microseconds())/1000, "p95-ms")
	lost := 0
	for seen, limit := false, time.Now().Add(10*time.Second); !seen && time.Now().Before(limit); {
		l.look(func(m *tui.Model) {
			text := m.Transcript()
			seen = strings.Contains(text, "note "+strconv.Itoa(notes)+".")
			if lost = 0; seen {
				for i := range notes {
					if !strings.Contains(text, "note "+strconv.Itoa(i+1)+".") {
						lost++
					}
				}
			}
		})
	}
	b.ReportMetric(float64(lost), "lost")
	b.ReportMetric(0, "ns/op")
}
