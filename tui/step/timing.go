package step

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/timing"
	"replan/tui/wording"
)

// drawTiming draws what the step waited for and how long it ran, each with a
// bar of its share.
func drawTiming(p *draw.SheetPage, run *agent.Run, s *agent.StepState) {
	l := p.Styles
	if s.Parent != "" || run.StartedAt.IsZero() {
		drawCallTiming(p, run, s)
		return
	}
	line := timing.NewTimeline(run, l.Now)
	t := line.Track(s.Step.Index)
	if t == nil || t.Tries == 0 && len(t.Stretches) == 0 {
		p.Prose(l.Faint, "It is not ready yet: it waits for its dependencies.")
		return
	}
	parts := []struct {
		name     string
		duration time.Duration
		style    lipgloss.Style
		bar      string
	}{
		{"waited for other steps", t.Time(timing.StretchNeeds), l.Faint, l.Glyphs.Bars.Wait},
		{"waited for a slot", t.Time(timing.StretchSlot), l.Faint, l.Glyphs.Bars.Wait},
		{"waited at its gate", t.Time(timing.StretchGate), l.Warning, l.Glyphs.Bars.Gate},
		{"waited for a retry", t.Time(timing.StretchPause), l.Faint, l.Glyphs.Bars.Wait},
		{"ran", t.Ran, l.Running, l.Glyphs.Bars.Critical},
	}
	total, named := time.Duration(0), 0
	for _, part := range parts {
		total += part.duration
		named = max(named, len(part.name))
	}
	for _, part := range parts {
		if part.duration == 0 && part.name != "ran" && part.name != parts[0].name {
			continue
		}
		text := l.Fit(part.name, min(named, max(p.Width-9, 1))) + " " + fmt.Sprintf("%7s", wording.Shortly(part.duration))
		room := p.Width - draw.VisibleWidth(text) - 2
		bar := ""
		if room >= 4 && total > 0 && part.duration > 0 {
			bar = "  " + part.style.Render(strings.Repeat(part.bar, max(int(int64(room)*int64(part.duration)/int64(total)), 1)))
		}
		p.Add(l.Cut(l.Text.Render(text)+bar, p.Width))
	}
	p.Add(l.Muted.Render(l.Cut(l.Fit("altogether", min(named, max(p.Width-9, 1)))+" "+fmt.Sprintf("%7s", wording.Seconds(total)), p.Width)))
	p.Blank()
	for _, f := range timingFacts(run, s, t, line.Beside(t)) {
		p.Field(f[0], l.Text, f[1])
	}
}

// timingFacts returns further facts about a step's time, as pairs of name and
// text.
func timingFacts(run *agent.Run, s *agent.StepState, t *timing.Track, beside []string) [][2]string {
	var facts [][2]string
	add := func(name, words string) {
		if words != "" {
			facts = append(facts, [2]string{name, words})
		}
	}
	if t.Critical {
		words := "on the critical path"
		if t.After != "" {
			words += "; it waited for " + t.After
		}
		add("critical", words)
	}
	add("beside", strings.Join(beside, ", "))
	if t.Tries > 1 {
		add("attempts", fmt.Sprint(t.Tries))
	}
	var ms int64
	for _, x := range run.Exchanges {
		if x.Step == s.Step.Index && x.Attempt == 0 && x.Purpose == prompt.PurposeStep && x.Done {
			ms += x.Reply.MS
		}
	}
	if ms > 0 {
		add("args", "the model wrote them in "+wording.Milliseconds(ms))
	}
	if s.Tokens > 0 {
		add("tokens", wording.Tokens(s.Tokens))
	}
	if s.Items != nil {
		add("items", wording.ItemsWords(s))
	} else if t.Inner > 0 {
		add("calls", wording.CallsWords(run, s.Loop))
	}
	return facts
}

// drawCallTiming draws the times of a model's own call, which has no place in
// the plan.
func drawCallTiming(p *draw.SheetPage, run *agent.Run, s *agent.StepState) {
	at := timing.NewAxis(run, p.Styles.Now)
	attempts := run.AttemptsOf(s.Step.Index)
	if len(attempts) == 0 {
		p.Prose(p.Styles.Faint, "There is no attempt yet.")
		return
	}
	for i := range attempts {
		try := at.Try(&attempts[i])
		for _, f := range []struct {
			name     string
			duration time.Duration
		}{{"slot", try.Time(timing.StretchSlot)}, {"gate", try.Time(timing.StretchGate)}, {"ran", try.Ran}} {
			if f.duration > 0 || f.name == "ran" {
				p.Field(f.name, p.Styles.Text, wording.Seconds(f.duration))
			}
		}
	}
}
