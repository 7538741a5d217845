package fit

import (
	"fmt"
	"sync"
	"time"

	"replan/cli/ask"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

// beat is the time between two drawings of the live line.
const beat = 100 * time.Millisecond

// Watch draws the progress as a live line until stop is called.
func Watch(out *ask.Output, styles *draw.Styles, width func() int) (progress func(Progress), stop func()) {
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
				out.Live(now.live(styles, width(), time.Since(began)))
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
func (p Progress) live(styles *draw.Styles, width int, elapsed time.Duration) string {
	if p.Model == "" {
		return ""
	}
	styles.Advance()
	words := fmt.Sprintf("%s  %d/%d", untrusted.Line(p.Model), p.Done, p.Of)
	ticking := "  " + wording.Ticking(elapsed)
	return styles.Running.Render(styles.Spinner()) + " " + styles.Muted.Render(styles.Cut(words, width-3-len(ticking))) + styles.Faint.Render(ticking)
}
