package prompt_test

import (
	"strings"
	"testing"

	"replan/planning/prompt"
	"replan/planning/prompttest"
)

func TestSlowMachineReadsFewerResults(t *testing.T) {
	p, items := completed(4, 4000)
	size := func(speed float64) (characters int, shortened string) {
		b := prompttest.Brief()
		b.Prompting.ContextWindow, b.Prompting.ReadSpeed = 16384, speed
		req := prompt.StepRequest(b, p, p.Steps[4], items)
		for _, m := range req.Messages {
			characters += strings.Count(m.Content, "x")
		}
		return characters, req.Shortened
	}
	for speed, most := range map[float64]int{10: 1500, 25: 3000, 100: 11_000} {
		got, shortened := size(speed)
		if got > most || got < most/4 {
			t.Errorf("at %v tokens a second the results have %d characters, want at most %d", speed, got, most)
		}
		if !strings.Contains(shortened, "so that this machine reads it in time") {
			t.Errorf("at %v tokens a second the request says %q", speed, shortened)
		}
	}
	for _, speed := range []float64{0, 500} {
		if got, shortened := size(speed); got < 16_000 || shortened != "" {
			t.Errorf("at %v tokens a second the results have %d characters, want all: %q", speed, got, shortened)
		}
	}
}

func TestModelThatPlansHasItsOwnSpeed(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.ReadSpeed = 25
	b.Prompting.Models.Planner = prompt.PlanModel{Name: "large", ReadSpeed: 9}
	if got := b.For(prompt.PurposePlan).Prompting.ReadSpeed; got != 9 {
		t.Errorf("the planner reads %v tokens a second, want 9", got)
	}
	if got := b.For(prompt.PurposeStep).Prompting.ReadSpeed; got != 25 {
		t.Errorf("the run's model reads %v tokens a second, want 25", got)
	}
}
