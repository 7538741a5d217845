package runner_test

import (
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/planning/fit"
	"replan/planning/prompt"
)

func TestRecordOfARunNamesTheFindingThatDrivesIt(t *testing.T) {
	found := &fit.Finding{Source: fit.SourceLoaded, Settings: fit.Settings{Short: true, Loops: true, Think: fit.ThinkOff}, Measured: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)}
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.info.Tools, s.model.info.Small, s.model.info.Loops, s.model.info.Fit = true, true, prompt.LoopsManaged, found
		s.model.others = map[string]prompt.ModelInfo{"big": {Name: "big", ContextWindow: 8192, Tools: true}}
	})
	p := s.run(t, "one").Prompting
	if p.Measured == nil || *p.Measured != *found.Record() || !p.Small || !p.ManagesLoops() || p.Think != prompt.ThinkOff {
		t.Errorf("with a finding: %+v", p)
	}
	s.Send(session.Choose{Model: new("big")})
	until[session.Chosen](t, s)
	if p := s.run(t, "two").Prompting; p.Measured != nil || p.Small || p.Loops != prompt.LoopsUnknown || p.Think != prompt.ThinkAuto {
		t.Errorf("without one: %+v", p)
	}
}

func TestResumedRunFollowsTheFindingOfNow(t *testing.T) {
	found := &fit.Finding{Source: fit.SourceMeasured, Settings: fit.Settings{Short: true}, Measured: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)}
	k := newSavedJournals()
	id := k.failed(t)
	s := k.session(t, policy.ApproveAll, func(s *stage) {
		s.model.info.Small, s.model.info.Loops, s.model.info.Fit = true, prompt.LoopsFailed, found
	})
	s.Send(session.Resume{Run: id})
	if d := until[event.RunResumed](t, s); d.Measured == nil || *d.Measured != *found.Record() || d.Loops != prompt.LoopsFailed || !d.Small {
		t.Errorf("got %+v", d)
	}
	until[event.ChatReply](t, s)
	if m := k.fold(t, id).Measured(); m == nil || *m != *found.Record() {
		t.Errorf("the run is driven by %+v", m)
	}
}
