package wording_test

import (
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/tui/panetest"
	"replan/tui/wording"
)

func TestEvidenceIsCountedOnceACheckHasRun(t *testing.T) {
	step := panetest.TimedStep("1", "look")
	step.Checks = []plan.Check{{Title: "it is there", Expect: "result != ''"}}
	started, created := panetest.TimedPlan(step)
	run, _ := panetest.Past{{At: 0, Data: started}, {At: 0, Data: created}}.Folded(t)
	if got := wording.EvidenceWords(run); got != "" {
		t.Errorf("before the first check it says %q", got)
	}
}

func TestLongArgumentIsCut(t *testing.T) {
	if got := wording.ArgsLine(map[string]any{"text": strings.Repeat("é", 500)}, false); len(got) > 250 || !strings.HasPrefix(got, "text") {
		t.Errorf("got %d bytes: %s", len(got), got)
	}
}
