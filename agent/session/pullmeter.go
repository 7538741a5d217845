package session

import (
	"time"

	"replan/internal/untrusted"
)

const (
	reportInterval = 100 * time.Millisecond // between two reports of a pull
	rateWindow     = 3 * time.Second        // that the rate is measured over, at least
)

// PullMeter measures a pull. It belongs to whoever pulls.
type PullMeter struct {
	model string
	now   func() time.Time
	last  PullProgress // as reported
	at    time.Time    // of last
	marks [2]mark      // the rate counts from the first; the second replaces it
}

// NewPullMeter returns the meter of a pull of a model. Now tells the time.
func NewPullMeter(model string, now func() time.Time) *PullMeter {
	return &PullMeter{model: model, now: now}
}

// Last returns the newest report.
func (m *PullMeter) Last() PullProgress { return m.last }

// mark is how many bytes were downloaded at a time.
type mark struct {
	at   time.Time
	done int64
}

// Read returns the report of what the server says, and whether it is due. It is due not
// too soon after the last one, unless the server does something else.
func (m *PullMeter) Read(step string, done, total int64) (report PullProgress, due bool) {
	now := m.now()
	if step == string(m.last.Step) && done < total && now.Sub(m.at) < reportInterval {
		return report, false
	}
	switch {
	case total == 0:
	case m.marks[0].at.IsZero():
		m.marks = [2]mark{{now, done}, {now, done}} // what earlier pulls left does not count
	case now.Sub(m.marks[1].at) >= rateWindow:
		m.marks = [2]mark{m.marks[1], {now, done}}
	}
	m.at, m.last = now, PullProgress{Model: m.model, Step: untrusted.Text(step), Done: done, Total: total}
	if passed := now.Sub(m.marks[0].at); total > 0 && passed > 0 {
		m.last.Rate = int64(float64(done-m.marks[0].done) / passed.Seconds())
	}
	return m.last, true
}
