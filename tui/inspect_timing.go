package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/planning/prompt"
)

// drawTiming draws what the step waited for and how long it ran, each beside a
// bar of its share.
func (d *detailPane) drawTiming(p *sheetPage, s *agent.StepState) {
	l := d.look
	if s.Parent != "" || d.run.StartedAt.IsZero() {
		d.drawCallTiming(p, s)
		return
	}
	line := chronicle(d.run, l.now)
	t := line.track(s.Step.Index)
	if t == nil || t.tries == 0 && len(t.stretches) == 0 {
		p.prose(l.Faint, "It has not been ready yet: it waits for what it depends on.")
		return
	}
	parts := []struct {
		name  string
		took  time.Duration
		style lipgloss.Style
		bar   string
	}{
		{"waited for other steps", t.needs, l.Faint, l.glyphs.Bars.Wait},
		{"waited for a slot", t.slot, l.Faint, l.glyphs.Bars.Wait},
		{"waited at its gate", t.gate, l.Warning, l.glyphs.Bars.Gate},
		{"waited to be tried again", t.pause, l.Faint, l.glyphs.Bars.Wait},
		{"ran", t.ran, l.Running, l.glyphs.Bars.Critical},
	}
	total, named := time.Duration(0), 0
	for _, part := range parts {
		total += part.took
		named = max(named, len(part.name))
	}
	for _, part := range parts {
		if part.took == 0 && part.name != "ran" && part.name != parts[0].name {
			continue
		}
		text := l.fit(part.name, min(named, max(p.width-9, 1))) + " " + fmt.Sprintf("%7s", shortly(part.took))
		room := p.width - visibleWidth(text) - 2
		bar := ""
		if room >= 4 && total > 0 && part.took > 0 {
			bar = "  " + part.style.Render(strings.Repeat(part.bar, max(int(int64(room)*int64(part.took)/int64(total)), 1)))
		}
		p.lines = append(p.lines, l.cut(l.Text.Render(text)+bar, p.width))
	}
	p.lines = append(p.lines, l.Muted.Render(l.cut(l.fit("altogether", min(named, max(p.width-9, 1)))+" "+fmt.Sprintf("%7s", seconds(total)), p.width)))
	p.blank()
	for _, f := range d.timingFacts(s, t) {
		p.field(f[0], l.Text, f[1])
	}
}

// timingFacts are what else there is to say of a step's time.
func (d *detailPane) timingFacts(s *agent.StepState, t *track) [][2]string {
	var facts [][2]string
	add := func(name, words string) {
		if words != "" {
			facts = append(facts, [2]string{name, words})
		}
	}
	if t.critical {
		words := "on the path that decided how long the steps took"
		if t.after != "" {
			words += "; it waited for " + t.after
		}
		add("critical", words)
	}
	add("beside", strings.Join(t.beside, ", "))
	if t.tries > 1 {
		add("attempts", fmt.Sprint(t.tries))
	}
	var ms int64
	for _, x := range d.run.Exchanges {
		if x.Step == s.Step.Index && x.Attempt == 0 && x.Purpose == prompt.PurposeStep && x.Done {
			ms += x.Reply.MS
		}
	}
	if ms > 0 {
		add("args", "the model wrote them in "+milliseconds(ms))
	}
	if s.Tokens > 0 {
		add("tokens", tokens(s.Tokens))
	}
	if t.inner > 0 {
		add("calls", callsWords(d.run, s.Loop))
	}
	return facts
}

// drawCallTiming draws the times of a call that a model made itself, which has no
// place in the plan.
func (d *detailPane) drawCallTiming(p *sheetPage, s *agent.StepState) {
	l := d.look
	at := axis{d.run.StartedAt, d.run.Breaks}
	attempts := d.run.AttemptsOf(s.Step.Index)
	if len(attempts) == 0 {
		p.prose(l.Faint, "It has not been tried yet.")
		return
	}
	now := l.now
	if now.Before(d.run.Now) || d.run.Result != nil {
		now = d.run.Now
	}
	for i := range attempts {
		a := &attempts[i]
		t, try := &track{}, tried{Attempt: a, ready: at.at(a.ReadyAt), end: at.at(now)}
		if !a.EndedAt.IsZero() {
			try.end = at.at(a.EndedAt)
		}
		try.start, try.began = try.end, !a.StartedAt.IsZero()
		if try.began {
			try.start = at.at(a.StartedAt)
		}
		if a.ReadyAt.IsZero() {
			try.ready = try.start
		}
		free := t.gates(&try, at, at.at(now))
		for _, f := range []struct {
			name string
			took time.Duration
		}{{"slot", try.start - free}, {"gate", t.gate}, {"ran", try.took()}} {
			if f.took > 0 || f.name == "ran" {
				p.field(f.name, l.Text, seconds(max(f.took, 0)))
			}
		}
	}
}

// track is that of a step, nil where there is none.
func (t *timeline) track(index string) *track {
	for i := range t.tracks {
		if t.tracks[i].kind == trackStep && t.tracks[i].index == index {
			return &t.tracks[i]
		}
	}
	return nil
}
