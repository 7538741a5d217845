package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
)

// State is the outcome of a check.
type State string

// The outcomes of a check.
const (
	OK      State = "ok"
	Warning State = "warning" // replan works, but something is missing or unsafe
	Failed  State = "failed"
	Off     State = "off" // disabled by the user, or not there
)

// Check is one finding.
type Check struct {
	Subject string         `json:"subject"` // the heading, such as "Ollama"
	Name    untrusted.Text `json:"name"`
	State   State          `json:"state"`
	Detail  untrusted.Text `json:"detail"`
	Fix     untrusted.Text `json:"fix,omitempty"` // a command, or a sentence that says what to do
}

// Report is the outcome of all checks, in the order of their subjects.
type Report struct {
	OK     bool    `json:"ok"` // no check failed
	Checks []Check `json:"checks"`
}

// Examine makes the checks of all subjects, at the same time.
func Examine(ctx context.Context, subjects ...func(context.Context) []Check) Report {
	found := make([][]Check, len(subjects))
	var work sync.WaitGroup
	for i, examine := range subjects {
		work.Go(func() { found[i] = examine(ctx) })
	}
	work.Wait()
	report := Report{OK: true}
	for _, checks := range found {
		for _, c := range checks {
			report.OK = report.OK && c.State != Failed
			report.Checks = append(report.Checks, c)
		}
	}
	return report
}

// Without returns the report without what hide takes out of texts, such as secrets.
func (r Report) Without(hide func(string) string) Report {
	r.Checks = slices.Clone(r.Checks)
	for i, c := range r.Checks {
		r.Checks[i].Detail, r.Checks[i].Fix = untrusted.Text(hide(string(c.Detail))), untrusted.Text(hide(string(c.Fix)))
	}
	return r
}

// Text returns the report as lines, with the checks under their subjects. Lines of more
// than room cells are broken between words; 0 breaks none. Sign returns the sign of a
// state.
func (r Report) Text(room int, sign func(State) string) string {
	width := 0
	for _, c := range r.Checks {
		width = max(width, len(c.Name.Line()))
	}
	var b strings.Builder
	counts, subject := map[State]int{}, ""
	for _, c := range r.Checks {
		if c.Subject != subject {
			if subject != "" {
				b.WriteByte('\n')
			}
			subject = c.Subject
			b.WriteString(subject + "\n")
		}
		counts[c.State]++
		line := func(lead, text string) {
			lines := []string{text}
			if room > 0 {
				lines = draw.Wrap(text, max(room-draw.VisibleWidth(lead), 20))
			}
			b.WriteString(strings.Join(draw.Hang(lead, lines), "\n") + "\n")
		}
		line(fmt.Sprintf("  %s %-*s  ", sign(c.State), width, c.Name.Line()), c.Detail.Line())
		if c.Fix != "" {
			line(fmt.Sprintf("    %-*s  fix: ", width, ""), c.Fix.Line())
		}
	}
	b.WriteByte('\n')
	summary := "No problems found"
	if failed := counts[Failed]; failed > 0 {
		summary = english.Count(failed, "problem")
	}
	if warned := counts[Warning]; warned > 0 {
		summary += ", " + english.Count(warned, "warning")
	}
	b.WriteString(summary + ".\n")
	return b.String()
}
