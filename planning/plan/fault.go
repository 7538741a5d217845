package plan

import (
	"fmt"
	"slices"
	"strings"
)

// The codes of faults.
const (
	CodeBadJSON                 = "bad_json"
	CodeBadID                   = "bad_id"
	CodeBadType                 = "bad_type"      // a field of the wrong JSON type, or with a value that it cannot have
	CodeDuplicateKey            = "duplicate_key" // a field occurs in its object more than once
	CodeTooManySteps            = "too_many_steps"
	CodeMissingTitle            = "missing_title"
	CodeMissingTool             = "missing_tool"
	CodeBadExecutor             = "bad_executor"
	CodeBadIndex                = "bad_index" // empty, too long, with blanks or characters that cannot be seen, or neither text nor a whole number
	CodeDuplicateIndex          = "duplicate_index"
	CodeUnknownDependency       = "unknown_dependency"
	CodeSelfDependency          = "self_dependency"
	CodeCycle                   = "cycle"
	CodeUnknownVariable         = "unknown_variable"
	CodeDuplicateResultVariable = "duplicate_result_variable"
	CodeUnknownTool             = "unknown_tool"
	CodeAmbiguousTool           = "ambiguous_tool"
	CodeChangedTool             = "changed_tool" // its server has changed it, and the user has not accepted that
	CodeBadArgs                 = "bad_args"
	CodeBadTimeout              = "bad_timeout"
	CodeBadForEach              = "bad_for_each" // its list is none or too long, or it has no item
	CodeBadUntil                = "bad_until"    // its step does more than read, or its times make no sense
	CodeUnknownProfile          = "unknown_profile"
	CodeBadExpression           = "bad_expression"
	CodeVacuousCheck            = "vacuous_check"   // a check that cannot be refuted, or only by a model's words
	CodePlannedByRule           = "planned_by_rule" // a warning: the model's plan could not be used, so rules made one from what the goal names
	CodeUnwantedEffect          = "unwanted_effect" // of a model's plan: a step may change something, and the goal only asks
)

// The codes of warnings: valid, but probably not meant.
const (
	CodeNoSteps             = "no_steps"
	CodeUncheckedTools      = "unchecked_tools"    // tool names were not looked at
	CodeUncheckedArgs       = "unchecked_args"     // the tool's schema cannot be used
	CodeIgnoredRetries      = "ignored_retries"    // the tool is not read-only
	CodeIgnoredToolCalls    = "ignored_tool_calls" // a step lists more calls than the one it makes
	CodeUnknownMilestone    = "unknown_milestone_step"
	CodeMultilineTitle      = "multiline_title"
	CodeUnreachableVariable = "unreachable_variable" // no reference can name it
	CodeShadowedVariable    = "shadowed_variable"    // a result replaces its value
	CodeUnknownField        = "unknown_field"        // a field that is probably a mistyped one; as a fault, a reference to a field that will not be there
	CodeCoerced             = "coerced"              // an argument is fitted to the tool's schema
	CodeArgsFromModel       = "args_from_model"      // a model fills in missing args
	CodeDenied              = "denied"               // a rule denies the step's call
	CodeVagueStep           = "vague_step"           // a title or an expected outcome without particulars
	CodeUnusableItem        = "unusable_item"        // of a model's plan: an item of the list of steps is no step and was left out
	CodeContentInArgs       = "content_in_args"      // of a model's plan: an argument holds text better written when the step is ready
)

// Fault is one fault of a plan, or, as a warning, a probable one.
type Fault struct {
	Code    string   `json:"code"`
	Path    string   `json:"path"`              // JSON Pointer into the plan; for a missing field, to its object
	Step    string   `json:"step"`              // index of the step; empty where the plan as a whole is meant
	Message string   `json:"message"`           // one clause for people, without a full stop
	Members []string `json:"members,omitempty"` // the steps of a cycle
	Advice  string   `json:"-"`                 // what the model that wrote the plan should do; only its prompt says so
}

// InvalidPlanError says that a plan cannot be used.
type InvalidPlanError struct {
	Faults []Fault // at least one
}

func (e *InvalidPlanError) Error() string {
	messages := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		messages[i] = f.Message
	}
	if len(messages) == 1 {
		return "the plan is not valid: " + messages[0]
	}
	return fmt.Sprintf("the plan has %d faults: %s", len(messages), strings.Join(messages, "; "))
}

// FaultError returns one *InvalidPlanError with the faults, a clause each, or nil
// if there are none.
func FaultError(faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return &InvalidPlanError{Faults: slices.Clone(faults)}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// JSONPointer appends tokens to a JSON Pointer (RFC 6901).
func JSONPointer(base string, tokens ...string) string {
	var b strings.Builder
	b.WriteString(base)
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(t))
	}
	return b.String()
}
