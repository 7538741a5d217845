package prompt

import "errors"

// ModelTrouble says why no model answers, for those who help with it rather
// than repeat the sentence.
type ModelTrouble struct {
	Kind   TroubleKind `json:"kind"`
	Host   string      `json:"host,omitempty"`   // of the server that was asked
	Model  string      `json:"model,omitempty"`  // that was wanted; "" for any
	Models []string    `json:"models,omitempty"` // that the server has instead
}

// TroubleKind is a kind of trouble with a model.
type TroubleKind string

// The kinds of trouble.
const (
	TroubleUnreachable TroubleKind = "unreachable" // no server answers
	TroubleNoModels    TroubleKind = "no_models"   // it has none at all
	TroubleMissing     TroubleKind = "missing"     // it has others than the one that is wanted
	TroubleUnfit       TroubleKind = "unfit"       // its models cannot chat, or cannot use tools
	TroubleOther       TroubleKind = "other"       // the sentence says more
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
