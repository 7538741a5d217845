package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/wording"
)

// routeWords says which order a goal was matched as without a model.
func routeWords(d event.RouteMatched, model string) string {
	words := fmt.Sprintf("matched as %q", strings.ReplaceAll(d.Intent.Action, "_", " "))
	switch {
	case model == "":
		return "no model: " + words
	case !asksModel(d.Chain):
		return words + ", no model was asked"
	default:
		return words
	}
}

// asksModel reports whether part of a chain is for a model. Tool names contain a
// dot, so a name without one means a model.
func asksModel(chain []string) bool {
	for _, name := range chain {
		if !strings.Contains(name, ".") {
			return true
		}
	}
	return false
}

// cutOffWords says why the answer of a run is incomplete, or returns "" if it is
// complete.
func cutOffWords(run *agent.Run) string {
	for _, x := range slices.Backward(run.Exchanges) {
		if x.Purpose != prompt.PurposeSynthesis && x.Purpose != prompt.PurposeChat {
			continue
		}
		if !x.Reply.CutOff || x.Error != "" {
			return ""
		}
		return fmt.Sprintf("the answer was cut off at %s", english.Count(cmp.Or(x.Reply.CompletionTokens, x.Request.MaxTokens), "token"))
	}
	return ""
}

// repeatsFailure reports whether the error of a run says no more than that a step
// failed, for the given reason.
func repeatsFailure(runError, reason untrusted.Text) bool {
	line, text := runError.Line(), ": "+reason.FirstLine()
	return text != ": " && (strings.HasSuffix(line, text) || strings.HasSuffix(line, text+" …"))
}

// inDoubtWords says why a step is in doubt.
func inDoubtWords(d event.StepInDoubt) string {
	return wording.StepWords(d.Index) + " is in doubt: " + d.Reason.Visible()
}

// refusedWords says why a new plan was refused.
func refusedWords(d event.ReplanRefused) string {
	return "the new plan was refused: " + d.Reason.Visible()
}

// damagedWords says that a line of the journal is lost.
func damagedWords(d event.JournalDamaged) string {
	return fmt.Sprintf("line %d of the journal is damaged, and its event is lost", d.Line)
}

// undoneWords says which run was undone or redone, and how many files that restored.
func undoneWords(d event.ChatUndone) string {
	what, back := "undone", "put back"
	if d.Redo {
		what, back = "redone", "brought back"
	}
	return fmt.Sprintf("%s: %s, %s %s", what, d.Run, english.Count(len(d.Files), "file"), back)
}

// budgetWarning says how much of a budget is used.
func budgetWarning(d event.BudgetWarned) string {
	return fmt.Sprintf("%s: %d of %d used", untrusted.Line(d.Guard), d.Used, d.Limit)
}

// unofferedWords says how many tools have no room in a model's window, and how they
// are called all the same.
func unofferedWords(u prompt.Unoffered) string {
	const most = 3
	servers := make([]string, len(u.Servers))
	for i, name := range u.Servers {
		servers[i] = untrusted.Line(name)
	}
	words := english.Count(u.Tools, "tool") + " of " + english.Some(servers, most, "server") + " " + english.Agree(u.Tools, "is", "are") +
		" not offered in this window of " + wording.WindowSize(u.Window) + " tokens: "
	if u.Tools == u.Of {
		return words + "give the model a larger one"
	}
	return words + "ask for one by name, or the model finds it with " + prompt.ToolsFind
}

// untypedWords says that plans may give tools any arguments, by the fault of their
// own schemas.
func untypedWords(tools []string) string {
	const most = 3
	names := make([]string, len(tools))
	for i, name := range tools {
		names[i] = untrusted.Line(name)
	}
	return "a plan may give any arguments to " + english.Some(names, most, "tool") + ": the " + english.Agree(len(tools), "schema is", "schemas are") +
		" too large for the format of plans, or cannot be read"
}

// repeatsPhase reports whether the error of a run is that of a planning phase.
func repeatsPhase(run *agent.Run, r event.Result) bool {
	return run != nil && r.Error != "" && slices.ContainsFunc(run.Phases[:], func(p agent.Phase) bool {
		return p.Status == agent.PhaseFailed && p.Reason == r.Error
	})
}

// unusedResults returns the completed steps of a plan whose results no other step
// used. They stand for the answer if no model wrote one.
func unusedResults(run *agent.Run) []*agent.StepState {
	var out []*agent.StepState
	for _, item := range run.SynthesisItems() {
		s := run.Step(item.Index)
		if item.Status == plan.ItemCompleted && s != nil && s.Result != nil && !s.DryRun {
			out = append(out, s)
		}
	}
	return out
}

// checkedWords says what a check found: "verified: nothing failed (result.failed is 0)".
func checkedWords(d event.CheckCompleted) string {
	words := string(d.State) + ": " + d.Title.Line()
	if why := cmp.Or(d.Reason.Line(), plan.SawWords(d.Saw)); why != "" {
		words += " (" + why + ")"
	}
	return words
}

// grantedWords says which earlier answer lets a call pass for longer than once, or
// returns "" if the call passes for another reason.
func grantedWords(r *agent.Run, d event.StepStarted) string {
	if d.Rule == nil || !slices.ContainsFunc(r.Rules(), func(matched rule.Rule) bool {
		return matched.Source == rule.SourceUser && matched.Verdict == rule.VerdictRun && matched.Equal(*d.Rule)
	}) {
		return ""
	}
	return "allowed without a gate: " + untrusted.Line(d.Tool) + " in step " + untrusted.Line(d.Index) + " (" + d.Rule.Why.Line() + ")"
}
