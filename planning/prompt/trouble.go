package prompt

import "errors"

// ModelTrouble is the cause of a missing model, for code that helps the user
// instead of repeating the sentence.
type ModelTrouble struct {
	Kind   TroubleKind `json:"kind"`
	Host   string      `json:"host,omitempty"`   // of the model server
	Model  string      `json:"model,omitempty"`  // the requested model; "" for any
	Models []string    `json:"models,omitempty"` // available on the server instead
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

// TroubleOf returns the trouble if err says that there is no model, else the zero
// value.
func TroubleOf(err error) ModelTrouble {
	if !errors.Is(err, ErrNoModel) {
		return ModelTrouble{}
	}
	var told interface{ Trouble() ModelTrouble }
	if errors.As(err, &told) {
		return told.Trouble()
	}
	return ModelTrouble{Kind: TroubleOther}
}
