package prompt

import (
	"errors"

	"replan/internal/untrusted"
)

// ModelTrouble is the cause of a missing model, for code that helps the user
// instead of repeating the sentence.
type ModelTrouble struct {
	Kind   TroubleKind      `json:"kind"`
	Host   untrusted.Text   `json:"host,omitempty"`   // of the model server
	Model  untrusted.Text   `json:"model,omitempty"`  // the requested model; "" for any
	Models []untrusted.Text `json:"models,omitempty"` // available on the server instead
}

// TroubleKind is a kind of trouble with a model.
type TroubleKind string

// Kinds of trouble.
const (
	TroubleUnreachable TroubleKind = "unreachable" // no server answers
	TroubleNoModels    TroubleKind = "no_models"   // the server has no models
	TroubleMissing     TroubleKind = "missing"     // the server lacks the requested model
	TroubleUnfit       TroubleKind = "unfit"       // its models cannot chat, or cannot use tools
	TroubleOther       TroubleKind = "other"       // the sentence has the details
)

// TroubleOf returns the trouble if err wraps ErrNoModel, else the zero value.
func TroubleOf(err error) ModelTrouble {
	if !errors.Is(err, ErrNoModel) {
		return ModelTrouble{}
	}
	var carrier interface{ Trouble() ModelTrouble }
	if errors.As(err, &carrier) {
		return carrier.Trouble()
	}
	return ModelTrouble{Kind: TroubleOther}
}
