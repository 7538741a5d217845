package planning_test

import (
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// FuzzReplies checks what holds for every reply: planning ends, an accepted plan
// is valid, every other outcome has a reason, and a stream yields whole steps.
func FuzzReplies(f *testing.F) {
	for _, r := range jsonCorpus {
		f.Add(r.reply, r.cut)
	}
	for _, r := range proseCorpus {
		f.Add(r.reply, r.cut)
	}
	for _, r := range emptyCorpus {
		f.Add(r.reply, r.cut)
	}
	f.Add(plantest.Analysis, false)
	f.Add(`{"mode":"plan","complexity":"simple","reflect":false,"steps":["a"]}`, true)
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		answer := reply.Reply{Text: text, CutOff: cut}
		for _, prompt := range []prompt.Prompting{{}, {SkipAnalysis: true}} {
			b := prompttest.Brief()
			b.Prompting = prompt
			p := planning.NewPipeline(b)
			for range 5 {
				p.Absorb(answer)
			}
			out := p.Outcome()
			if _, asks := p.Next(); asks || out.Kind == planning.OutcomePending {
				t.Fatalf("planning does not end: %+v", out)
			}
			if out.Kind != planning.OutcomePlanned {
				if out.Reason == "" {
					t.Fatalf("%s without a reason", out.Kind)
				}
				continue
			}
			if faults, _ := plan.Validate(out.Plan, plan.Rules{Catalog: b.Catalog, CheckTools: true, MaxSteps: b.MaxSteps, Planned: true, PartialArgs: true}); len(faults) > 0 {
				t.Fatalf("planned an invalid plan: %v", faults)
			}
		}
		var stream reply.StepStream
		for _, s := range stream.Feed(text) {
			if s.Index == "" || s.Executor == "" {
				t.Fatalf("got half a step: %+v", s)
			}
		}
	})
}
