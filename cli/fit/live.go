package fit

import (
	"fmt"
	"sync"
	"time"

	"replan/cli/ask"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/telling"
)

// beat is the time between two drawings of the live line.
const beat = 100 * time.Millisecond

// Watch draws the progress as a live line until stop is called.
func Watch(out *ask.Output, look *draw.Look, width func() int) (progress func(Progress), stop func()) {
	var mu sync.Mutex
	var now Progress
	began, ended := time.Now(), make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				mu.Lock()
				out.Live(now.live(look, width(), time.Since(began)))
				mu.Unlock()
			}
		}
	})
	progress = func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		now = p
	}
	return progress, func() {
		close(ended)
		drawing.Wait()
		out.EndLive()
	}
}

// live describes the progress in a line that is drawn again and again.
func (p Progress) live(look *draw.Look, width int, elapsed time.Duration) string {
	if p.Model == "" {
		return ""
	}
	look.Beat++
	words := fmt.Sprintf("%s  %d/%d", untrusted.Line(p.Model), p.Done, p.Of)
	ticking := "  " + telling.Ticking(elapsed)
	return look.Running.Render(look.Spinner()) + " " + look.Muted.Render(look.Cut(words, width-3-len(ticking))) + look.Faint.Render(ticking)
}
