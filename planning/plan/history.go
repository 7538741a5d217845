package plan

import "replan/internal/untrusted"

// HistoryItem is one ended attempt of a step, as the replanner, the
// synthesiser and the result of a run read it.
type HistoryItem struct {
	Index           string         `json:"index"`
	Parent          string         `json:"parent,omitempty"` // the agent step of this call, or ChatParent
	Title           untrusted.Text `json:"title"`
	Tool            string         `json:"tool"`
	Args            map[string]any `json:"args"` // as resolved
	ExpectedOutcome untrusted.Text `json:"expected_outcome"`
	Status          ItemStatus     `json:"status"`
	Attempt         int            `json:"attempt"`
	Result          any            `json:"result"` // JSON value, numbers as json.Number
	Beside
	Error untrusted.Text `json:"error"`
	MS    int64          `json:"ms"` // wall clock, milliseconds
}

// ItemStatus says how an attempt of a step ended.
type ItemStatus string

// How an attempt of a step can end.
const (
	ItemCompleted ItemStatus = "completed"
	ItemFailed    ItemStatus = "failed"
	ItemSkipped   ItemStatus = "skipped"
	ItemInDoubt   ItemStatus = "in_doubt" // started, and may or may not have taken effect
)

// DeniedAtGate is the error of a step whose gate the user denied.
const DeniedAtGate = "denied at the gate"
