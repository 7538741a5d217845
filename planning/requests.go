package planning

import (
	"encoding/json"
	"fmt"
	"strings"
)

// bound says in words how many steps a plan may have.
func bound(most int) string {
	if most <= 0 {
		return "Use as many steps as the work needs and no more."
	}
	return "At most " + plural(most, "step") + ". A plan with more is refused, not cut."
}

// named returns a fenced text, or nothing where there is none.
func named(label, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return fenced(label, text)
}

// analysisRequest is phase 1.
func analysisRequest(b Brief) Request {
	return composition{
		brief: b, purpose: PurposeAnalysis, format: analysisFormat(b),
		last: func(*cutter) string {
			return b.Prompting.prompt("analysis", analysisData{b.Prompting.ForcePlan, bound(b.MaxSteps)})
		},
	}.request()
}

// reviewRequest is phase 2.
func reviewRequest(b Brief, a analysis) Request {
	return composition{
		brief: b, purpose: PurposeReview,
		last: func(cut *cutter) string {
			return b.Prompting.prompt("review", reviewData{named("the analysis of phase 1", cut.text(a.brief, ""))})
		},
	}.request()
}

// planRequest is phase 3.
func planRequest(b Brief, a analysis, review string) Request {
	return composition{
		brief: b, purpose: PurposePlan, format: planFormat(b, b.MaxSteps, false),
		last: func(cut *cutter) string {
			return b.Prompting.prompt("execution", executionData{
				named("the analysis of phase 1", cut.text(a.brief, "")),
				named("the review of phase 2", cut.text(review, "")),
				bound(b.MaxSteps), depth(a.complexity),
			})
		},
	}.request()
}

// depth says how many steps are right for a task.
func depth(complexity string) string {
	switch complexity {
	case complexitySimple:
		return "The task is simple: one to three are right."
	case complexityMedium:
		return "The task is of medium size: five to nine are right."
	case complexityComplex:
		return "The task is complex: eight to fifteen are right."
	default:
		return "One to three are right for a simple task, five to nine for a medium one, eight to fifteen for a complex one."
	}
}

// repairRequest asks for a plan again, with everything that was wrong with it,
// what came of it, and what it was to be made from.
func repairRequest(b Brief, wrong repairs, from repairContext) Request {
	most, s := b.MaxSteps, from.situation
	if s != nil && s.StepsLeft >= 0 && (most <= 0 || s.StepsLeft < most) {
		most = s.StepsLeft
	}
	return composition{
		brief: b, purpose: PurposeRepair, format: planFormat(b, most, s != nil),
		last: func(cut *cutter) string {
			list := clauses(wrong.faults, 24)
			for i, clause := range list {
				list[i] = disarm(oneLine(clause, 600))
			}
			if len(list) > 0 && refuses(stripThinking(wrong.reply)) {
				list[len(list)-1] += "; the user asks for it in their own project: leave out what cannot be done, or say why in a reason"
			}
			situation := ""
			if s != nil {
				situation = situationText(*s, cut)
			}
			return b.Prompting.prompt("repair", repairData{
				list, named("your last reply", cut.text(wrong.reply, "")), named("your reply as far as it came", cut.text(wrong.partly, "")),
				named("the analysis of phase 1", cut.text(from.analysis.brief, "")), named("the review of phase 2", cut.text(from.review, "")),
				situation, bound(most),
			})
		},
	}.request()
}

// replanRequest asks for a plan of what remains after a failure.
func replanRequest(b Brief, s Situation, most int) Request {
	return composition{
		brief: b, purpose: PurposeReplan, format: planFormat(b, most, true),
		last: func(cut *cutter) string {
			budget := bound(most)
			switch {
			case s.ReplansLeft == 0:
				budget += " This is the last new plan there can be."
			case s.ReplansLeft > 0:
				budget += fmt.Sprintf(" After this one, there can be %s.", plural(s.ReplansLeft, "more new plan"))
			}
			return b.Prompting.prompt("replan", replanData{situationText(s, cut), s.Failed != "", budget})
		},
	}.request()
}

// situationText says where a run stands: what failed, what was done, and what
// remains. Of what a sub-agent called, the result of its step tells, unless it
// came to none: then each call is a line.
func situationText(s Situation, cut *cutter) string {
	var done []string
	calls := make(map[string][]string)
	for _, item := range s.History {
		if item.Parent != "" {
			calls[item.Parent] = append(calls[item.Parent], callLine(item))
			continue
		}
		text := itemText(item, s.Plan, cut)
		if inner := calls[item.Index]; len(inner) > 0 && item.Status != ItemCompleted {
			text += "\n" + named("what its agent called", strings.Join(inner, "\n"))
		}
		delete(calls, item.Index) // a later attempt made calls of its own
		done = append(done, text)
	}
	remaining, err := EncodeJSON(s.Remaining)
	if err != nil {
		// Steps come from JSON and go back to it; this is for the reader alone.
		remaining = []byte(err.Error())
	}
	data := situationData{
		Said: disarm(cut.text(s.Said, "")), Remaining: fenced("the steps that remain, the failed one among them", string(remaining)), Done: done,
	}
	if s.Failed == "" {
		data.Said = disarm(cut.text(strings.TrimSpace(s.Error+"\n"+s.Said), ""))
		data.Remaining = fenced("the steps that remain", string(remaining))
		return render("situation", data)
	}
	data.Failed, data.Error = disarm("step "+oneLine(s.Failed, 40)), named("the error", cut.text(s.Error, ""))
	if step, ok := s.Plan.Step(s.Failed); ok {
		data.Failed = disarm(stepLine(step))
	}
	return render("situation", data)
}

// callLine tells one call of a sub-agent in a line.
func callLine(item HistoryItem) string {
	line := "- " + oneLine(item.Index, 40) + " " + oneLine(item.Tool, 80) + oneLine(CanonicalJSON(item.Args), 160) + ": " + itemStatus(item.Status)
	if item.Error != "" {
		line += ", " + oneLine(item.Error, 200)
	}
	return line
}

// stepLine names a step in one line.
func stepLine(s Step) string {
	line := "step " + oneLine(s.Index, 40) + ", " + oneLine(s.Title, 200)
	if s.Tool != "" {
		line += " (" + oneLine(s.Tool, 80) + ")"
	}
	if s.ResultVariable != "" {
		line += ", result ${" + oneLine(s.ResultVariable, 80) + "}"
	}
	return line
}

// argsBound is how much of the args of a call that went well a prompt holds, in
// characters: what they held of earlier results is not told twice.
const argsBound = 300

// itemText tells one ended attempt of a step, with what came of it.
func itemText(item HistoryItem, p Plan, cut *cutter) string {
	step, ok := p.Step(item.Index)
	if !ok {
		step = Step{Index: item.Index}
	}
	step.Title, step.Tool = item.Title, item.Tool
	if item.Status != ItemCompleted {
		step.ResultVariable = ""
	}
	line := stepLine(step) + ": " + itemStatus(item.Status)
	if item.Attempt > 1 {
		line += fmt.Sprintf(", attempt %d", item.Attempt)
	}
	if item.ExpectedOutcome != "" {
		line += "; expected was " + oneLine(item.ExpectedOutcome, 300)
	}
	text := "- " + strings.ToUpper(line[:1]) + disarm(line[1:])
	whole := "the result of step " + oneLine(item.Index, 40)
	if step.ResultVariable != "" {
		whole = "${" + oneLine(step.ResultVariable, 80) + "}"
	}
	var parts []string
	if len(item.Args) > 0 {
		args := cut
		if item.Status == ItemCompleted {
			args = &cutter{bound: min(cut.bound, argsBound)} // nothing is lost that should be told of
		}
		parts = append(parts, "args: "+args.text(CanonicalJSON(item.Args), ""))
	}
	if item.Error != "" {
		parts = append(parts, "error: "+cut.text(item.Error, ""))
	}
	if item.Result != nil {
		parts = append(parts, "result: "+cut.text(resultText(item.Result), whole))
	}
	if len(parts) == 0 {
		return text
	}
	return text + "\n" + fenced("what came back", strings.Join(parts, "\n"))
}

func itemStatus(s ItemStatus) string {
	switch s {
	case ItemCompleted:
		return "done"
	case ItemInDoubt:
		return "in doubt, it may or may not have taken effect"
	default:
		return string(s)
	}
}

// resultText writes a result as a model reads it best: text as it is, all else
// as JSON, and base64 left out.
func resultText(v any) string {
	if text, ok := v.(string); ok {
		return withoutBase64(text)
	}
	return withoutBase64(CanonicalJSON(v))
}

// outline lists the steps of a plan, a line each.
func outline(p Plan) string {
	lines := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		lines[i] = "- " + stepLine(s)
	}
	return named("the plan", strings.Join(lines, "\n"))
}

// data is what the prompts about one step know of it.
func (s Step) data(p Plan, inputs []HistoryItem, cut *cutter) stepData {
	return stepData{
		oneLine(s.Index, 80), disarm(oneLine(s.Title, 400)), disarm(oneLine(s.ExpectedOutcome, 400)), outline(p), itemTexts(inputs, p, cut),
	}
}

// StepRequest has the model carry out a step in its own words: executor self.
// inputs are the ended steps that it depends on.
func StepRequest(b Brief, p Plan, step Step, inputs []HistoryItem) Request {
	return composition{
		brief: b, purpose: PurposeStep, step: step.Index, timeout: step.Timeout, bounds: stepBounds,
		last: func(cut *cutter) string { return b.Prompting.prompt("step", step.data(p, inputs, cut)) },
	}.request()
}

// ArgsRequest has the model write the arguments of a tool step that came
// without them, or without all of them; the reply is for [ParseArgs]. Its
// format is the tool's own input schema, as far as a grammar can follow it.
func ArgsRequest(b Brief, p Plan, step Step, tool Tool, inputs []HistoryItem) Request {
	shown := tool.InputSchema
	if len(strings.TrimSpace(string(shown))) == 0 {
		shown = json.RawMessage(`{"type":"object"}`)
	}
	return composition{
		brief: b, purpose: PurposeStep, step: step.Index, format: encodeSchema(callFormat(tool)), timeout: step.Timeout, bounds: stepBounds,
		last: func(cut *cutter) string {
			given := ""
			if len(step.Args) > 0 {
				given = named("the arguments that are settled", CanonicalJSON(step.Args))
			}
			return b.Prompting.prompt("args", argsData{
				step.data(p, inputs, cut), disarm(oneLine(tool.Name, 120)), named("what the tool's server says about it", tool.Description),
				fenced("the schema of its arguments", string(shown)), given,
			})
		},
	}.request()
}

func itemTexts(items []HistoryItem, p Plan, cut *cutter) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = itemText(item, p, cut)
	}
	return all
}

// SynthesisRequest has the model write the answer from what a run found out;
// items are what it is to see, as chosen by [SynthesisItems]. Of the other steps
// it sees the titles.
func SynthesisRequest(b Brief, p Plan, items []HistoryItem) Request {
	return composition{
		brief: b, purpose: PurposeSynthesis,
		last: func(cut *cutter) string {
			seen := make(map[string]bool, len(items))
			for _, item := range items {
				seen[item.Index] = true
			}
			var others []string
			for _, s := range p.Steps {
				if !seen[s.Index] {
					others = append(others, "- "+oneLine(s.Index, 40)+" "+oneLine(s.Title, 120))
				}
			}
			return b.Prompting.prompt("synthesis", synthesisData{itemTexts(items, p, cut), named("the other steps of the plan", strings.Join(others, "\n"))})
		},
	}.request()
}

// ChatRequest is a plain turn of the conversation: the goal is the last message,
// but for what was said since, see [Said] and [Answered]. In the last turn
// nothing can be called.
func ChatRequest(b Brief, last bool, talk ...Message) Request {
	c := composition{brief: b, purpose: PurposeChat, talk: talk}
	if !last {
		c.tools = ChatTools(b)
	}
	return c.request()
}

// SynthesisItems chooses what the synthesiser sees: the results that nothing
// else consumed, those of steps that ask for it, and the errors that were never
// made good. What a sub-agent called is part of its step's result. A result is consumed
// by a completed step that refers to its variable, or that a model carried out
// or filled in from the results it depends on. An error is made good by a later
// success of the same step, or by a new plan without it.
func SynthesisItems(p Plan, history []HistoryItem) []HistoryItem {
	last := make(map[string]int, len(history))
	ended := make(map[string]HistoryItem, len(history))
	for i, item := range history {
		last[item.Index] = i
		ended[item.Index] = item
	}
	consumed, steps := consumedSteps(p, ended), byIndex(p.Steps)
	var items []HistoryItem
	for i, item := range history {
		if last[item.Index] != i || item.Parent != "" {
			continue
		}
		step, planned := steps[item.Index]
		switch item.Status {
		case ItemCompleted:
			if !consumed[item.Index] || step.Synthesize {
				items = append(items, item)
			}
		case ItemFailed, ItemInDoubt:
			if planned {
				items = append(items, item)
			}
		case ItemSkipped:
		}
	}
	return items
}

// consumedSteps returns the steps whose results other completed steps worked on;
// ended is the last attempt of each.
func consumedSteps(p Plan, ended map[string]HistoryItem) map[string]bool {
	producers := make(map[string]string, len(p.Steps))
	for _, s := range p.Steps {
		if s.ResultVariable != "" {
			producers[s.ResultVariable] = s.Index
		}
	}
	consumed := make(map[string]bool)
	for _, s := range p.Steps {
		item := ended[s.Index]
		if item.Status != ItemCompleted {
			continue
		}
		for _, ref := range References(s.Args) {
			if from, ok := producers[ref.Name]; ok && from != s.Index {
				consumed[from] = true
			}
		}
		if executorOf(s) != ExecutorTool || wasFilledIn(s, item) {
			for _, from := range s.DependsOn {
				consumed[from] = true
			}
		}
	}
	return consumed
}

// wasFilledIn reports whether a step was called with arguments that its plan
// left out.
func wasFilledIn(s Step, item HistoryItem) bool {
	for name := range item.Args {
		if _, planned := s.Args[name]; !planned {
			return true
		}
	}
	return false
}
