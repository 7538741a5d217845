package wording_test

import (
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/wording"
)

func TestPartialRunSaysThatItsAnswerIsMissing(t *testing.T) {
	result := event.Result{Status: event.StatusCompleted, Reason: event.ReasonPartial, Unanswered: "Ollama does not answer", DurationMS: 2000, History: []plan.HistoryItem{{Index: "1", Status: plan.ItemCompleted}}}
	if got, want := wording.EndWords(nil, result), "Done in 2.0s: the steps are done, the answer is missing"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
