package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/testfile"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/plan/jsontype"
	"replan/planning/reply"
)

// bound returns a sentence about how many steps a plan may have.
func bound(most int) string {
	if most <= 0 {
		return "Use as few steps as possible."
	}
	return "Use at most " + english.Count(most, "step") + "."
}

// bound says how many steps there may be. A small model is not told: it would write that
// many. The format bounds its steps.
func (b Brief) bound(most int) string {
	if b.Prompting.Small {
		return ""
	}
	return bound(most)
}

// retrying is the temperature of a request whose last reply cannot be used.
func (b Brief) retrying() float64 {
	if !b.Prompting.Small {
		return 0
	}
	return againTemperature
}

// named returns a fenced text, or nothing without a text.
func named(label, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return fenced(label, text)
}

// AnalysisRequest is phase 1.
func AnalysisRequest(b Brief) Request {
	b = b.For(PurposeAnalysis)
	tools := toolsFor(b, "", "", nil)
	return composition{
		brief: b, purpose: PurposeAnalysis, format: analysisFormat(b, tools), plans: &tools, items: b.Looked,
		last: func(cut *cutter) string {
			return b.Prompting.prompt("analysis", analysisData{b.Prompting.ForcePlan, bound(b.MaxSteps), b.looked(cut), b.first(), acceptance(b)})
		},
	}.request()
}

// looked describes the results of the first steps.
func (b Brief) looked(cut *cutter) []string {
	if len(b.Looked) == 0 {
		return nil
	}
	return cut.results(b.Looked, plan.Plan{}, nil)
}

// first says with which number the steps of a reply begin; "" for the usual one.
func (b Brief) first() string {
	if len(b.Looked) == 0 {
		return ""
	}
	return fmt.Sprintf("Write the plan of what is still to do. The results above are known. Number the steps from %d.", len(b.Looks)+1)
}

// ReviewRequest is phase 2.
func ReviewRequest(b Brief, a reply.Analysis) Request {
	b = b.For(PurposeReview)
	tools := toolsFor(b, "", "", nil)
	return composition{
		brief: b, purpose: PurposeReview, plans: &tools, items: b.Looked,
		last: func(cut *cutter) string {
			return b.Prompting.prompt("review", reviewData{named("an analysis of the goal", cut.text(a.Brief, "")), b.looked(cut)})
		},
	}.request()
}

// PlanRequest is phase 3. chosen are the names of the tools that the model asked
// for, see [SelectionRequest].
func PlanRequest(b Brief, a reply.Analysis, review string, chosen ...string) Request {
	b = b.For(PurposePlan)
	tools := toolsFor(b, a.Brief, "", chosen)
	return composition{
		brief: b, purpose: PurposePlan, format: planFormat(tools, b.MaxSteps, false, b.Prompting.Small), plans: &tools, items: b.Looked,
		last: func(cut *cutter) string {
			return b.Prompting.prompt("execution", executionData{
				named("an analysis of the goal", cut.text(a.Brief, "")),
				named("a review of this analysis", cut.text(review, "")),
				b.bound(b.MaxSteps), depth(a.Complexity), acceptance(b), b.looked(cut), b.first(),
			})
		},
	}.request()
}

// accepts reports whether a plan may have checks of its goal: it may change something,
// and the model is not small.
func accepts(b Brief) bool {
	return !b.Prompting.Small && slices.ContainsFunc(b.Catalog, func(t plan.Tool) bool { return !t.ReadOnly })
}

// acceptance says how the checks of a goal are written, "" if there are none.
func acceptance(b Brief) string {
	if !accepts(b) {
		return ""
	}
	return render("acceptance", acceptanceData{listed(b.Catalog, "fs.search")})
}

// depth says how many steps are right for a task; "" if that is unknown.
func depth(complexity string) string {
	switch complexity {
	case reply.ComplexitySimple:
		return "One to three steps are enough."
	case reply.ComplexityMedium:
		return "Five to nine steps are right."
	case reply.ComplexityComplex:
		return "Eight to fifteen steps are right."
	default:
		return ""
	}
}

// RepairContext is the part of a repair request besides the brief: the faulty
// Reply, its faults and the sources of the plan.
type RepairContext struct {
	Analysis  reply.Analysis // of phase 1; the zero value for none
	Review    string         // of phase 2, "" for none
	Chosen    []string       // the tools that the model asked for
	Situation *Situation     // of a replan; nil for a first plan
	Reply     string         // the last whole reply, "" for none
	Partly    string         // the reply that broke off since, "" for none
	Faults    []plan.Fault
}

// RepairRequest asks for a plan again, with all its faults, the reply, and the
// sources of the plan.
func RepairRequest(b Brief, from RepairContext) Request {
	b = b.For(PurposeRepair)
	most, s := b.MaxSteps, from.Situation
	if s != nil && s.StepsLeft >= 0 && (most <= 0 || s.StepsLeft < most) {
		most = s.StepsLeft
	}
	names := from.Reply + "\n" + from.Partly
	if s != nil {
		names += "\n" + s.toolNames()
	}
	tools := toolsFor(b, from.Analysis.Brief, names, from.Chosen)
	return composition{
		brief: b, purpose: PurposeRepair, format: planFormat(tools, most, s != nil, b.Prompting.Small), plans: &tools, items: b.Looked, temperature: b.retrying(),
		last: func(cut *cutter) string {
			list := Clauses(advised(from.Faults), 24)
			for i, clause := range list {
				list[i] = disarm(plan.OneLine(clause, 600))
			}
			if len(list) > 0 && reply.Refuses(reply.StripThinking(from.Reply)) {
				list[len(list)-1] += "; the user asks for it in their own project: leave out what cannot be done, or say why in a reason"
			}
			situation := ""
			if s != nil {
				situation = situationText(*s, cut)
			}
			return b.Prompting.prompt("repair", repairData{
				list, named("an earlier plan", cut.text(from.Reply, "")), named("the beginning of a plan", cut.text(from.Partly, "")),
				named("an analysis of the goal", cut.text(from.Analysis.Brief, "")), named("a review of this analysis", cut.text(from.Review, "")),
				situation, b.bound(most), b.looked(cut), b.first(),
			})
		},
	}.request()
}

// ReplanRequest asks for a plan of the remaining work after a failure.
func ReplanRequest(b Brief, s Situation, most int) Request {
	b = b.For(PurposeReplan)
	tools := toolsFor(b, s.Error+"\n"+s.Remarks, s.toolNames(), nil)
	return composition{
		brief: b, purpose: PurposeReplan, format: planFormat(tools, most, true, b.Prompting.Small), plans: &tools,
		last: func(cut *cutter) string {
			budget := b.bound(most)
			switch {
			case s.ReplansLeft == 0:
				budget += " There can be no further plan after this one."
			case s.ReplansLeft > 0:
				budget += fmt.Sprintf(" There can be %s after this one.", english.Count(s.ReplansLeft, "further plan"))
			}
			doubt := slices.ContainsFunc(s.History, func(item plan.HistoryItem) bool { return item.Status == plan.ItemInDoubt })
			return b.Prompting.prompt("replan", replanData{situationText(s, cut), s.Failed != "", doubt, strings.TrimSpace(budget)})
		},
	}.request()
}

// toolNames are the names of the tools in the plan, a line each.
func (s Situation) toolNames() string {
	var names []string
	for _, step := range append(slices.Clone(s.Plan.Steps), s.Remaining...) {
		names = append(names, step.Tool)
	}
	return strings.Join(names, "\n")
}

// situationText describes the state of a run: the failure, the finished work, and
// the remaining work. A sub-agent's calls are part of the result of its step;
// without a result, each call is a line.
func situationText(s Situation, cut *cutter) string {
	var done []string
	calls := make(map[string][]string)
	last := -1 // attempt of the failed step
	for i, item := range s.History {
		if item.Index == s.Failed && item.Parent == "" {
			last = i
		}
	}
	for i, item := range s.History {
		if i == last && item.Status == plan.ItemFailed && len(calls[item.Index]) == 0 {
			continue // its error follows
		}
		if item.Parent != "" {
			calls[item.Parent] = append(calls[item.Parent], callLine(item))
			continue
		}
		text := cut.result(item, s.Plan, cut.each)
		if inner := calls[item.Index]; len(inner) > 0 && item.Status != plan.ItemCompleted {
			text += "\n" + named("what its agent called", strings.Join(inner, "\n"))
		}
		delete(calls, item.Index) // a later attempt made calls of its own
		done = append(done, text)
	}
	remaining, err := plan.EncodeJSON(s.Remaining)
	if err != nil {
		// Steps come from JSON and go back to it; this is for the reader alone.
		remaining = []byte(err.Error())
	}
	data := situationData{
		Remarks: disarm(cut.text(s.Remarks, "")), Remaining: fenced("the remaining steps, with the failed one", string(remaining)), Done: done,
	}
	if len(s.Plan.Acceptance) > 0 {
		data.Acceptance = named("the checks that must hold in the end; keep the result variables that they name", plan.CanonicalJSON(s.Plan.Acceptance))
	}
	if s.Failed == "" {
		data.Remarks = disarm(cut.text(strings.TrimSpace(s.Error+"\n"+s.Remarks), ""))
		data.Remaining = fenced("the remaining steps", string(remaining))
		return render("situation", data)
	}
	data.Failed, data.Error = disarm("step "+plan.OneLine(s.Failed, 40)), named("the error", cut.text(readable(s.Error), ""))
	if step, ok := s.Plan.Step(s.Failed); ok {
		data.Failed = disarm(stepLine(step))
	}
	return render("situation", data)
}

// callLine tells one call of a sub-agent in a line.
func callLine(item plan.HistoryItem) string {
	line := "- " + plan.OneLine(item.Index, 40) + " " + plan.OneLine(item.Tool, 80) + plan.OneLine(readable(plan.CanonicalJSON(item.Args)), 160) + ": " + itemStatus(item.Status)
	if item.Error != "" {
		line += ", " + plan.OneLine(readable(string(item.Error)), 200)
	}
	return line
}

// stepLine names a step in one line.
func stepLine(s plan.Step) string {
	line := "step " + plan.OneLine(s.Index, 40) + ", " + plan.OneLine(string(s.Title), 200)
	if s.Tool != "" && !strings.HasSuffix(line, "("+s.Tool+")") { // models copy it into titles
		line += " (" + plan.OneLine(s.Tool, 80) + ")"
	}
	if s.ResultVariable != "" {
		line += ", result ${" + plan.OneLine(s.ResultVariable, 80) + "}"
	}
	return line
}

// Outline lists the steps of a plan, a line each.
func Outline(p plan.Plan) string {
	lines := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		lines[i] = "- " + stepLine(s)
	}
	return named("the plan", strings.Join(lines, "\n"))
}

// dataOf holds the parts of a step that the prompts about it show.
func dataOf(s plan.Step, p plan.Plan, inputs []plan.HistoryItem, cut *cutter) stepData {
	return stepData{
		plan.OneLine(s.Index, 80), disarm(strings.TrimSuffix(plan.OneLine(string(s.Title), 400), ".")), disarm(plan.OneLine(string(s.ExpectedOutcome), 400)), Outline(p), cut.results(inputs, p, neededResults(s, p)),
	}
}

// StepRequest asks the model to do a step in its own words: executor self. inputs
// are the completed steps before it, oldest first: its dependencies, and theirs.
func StepRequest(b Brief, p plan.Plan, step plan.Step, inputs []plan.HistoryItem) Request {
	return composition{
		brief: b, purpose: PurposeStep, step: step.Index, timeout: step.Timeout, budgets: stepBudgets, items: inputs,
		last: func(cut *cutter) string { return b.Prompting.prompt("step", dataOf(step, p, inputs, cut)) },
	}.request()
}

// ArgsRequest has the model write the arguments of a tool step that came
// without them, or without all of them; the reply is for [reply.ParseArgs]. Its
// format is the part of the tool's input schema that a grammar can express. refused are
// arguments that the tool has refused, and why; "" for none.
func ArgsRequest(b Brief, p plan.Plan, step plan.Step, tool plan.Tool, inputs []plan.HistoryItem, refused string) Request {
	inputs = forChange(b, step, inputs, rewrites(tool, step))
	about, schema, hint := "", "", hints[tool.Name] // the system prompt describes the built-in operators
	var lines []string
	if b.Prompting.Small {
		lines = patchable(tool, step, inputs)
	}
	switch {
	case tool.Name == "code.insert" && isOwn(tool) && !codeFile.MatchString(pathArg(step)):
		hint = "`text` is only what is new: a heading alone is not enough. It is put below what the file has."
	case len(lines) > 0:
		hint = "`" + ReasonArg + "` says in one sentence what must change. `old` is the line to change. `new` takes its place, and may have several lines."
		if slices.ContainsFunc(lines, head.MatchString) {
			hint = "`" + ReasonArg + "` says in one sentence what must change. `old` is the line to change, or the first line of the function to change. `new` takes its place: write the whole function again, with the change that the goal wants."
		}
	case rewrites(tool, step):
		hint = "`new` takes the place of `old`. Write the whole of it again, with the change that the goal wants."
		if b.Prompting.Small {
			hint = "`" + ReasonArg + "` says in one sentence what must change in `old`. " + hint
		}
	case !isOwn(tool):
		hint = ""
		shown := tool.InputSchema
		if len(strings.TrimSpace(string(shown))) == 0 {
			shown = json.RawMessage(`{"type":"object"}`)
		}
		about, schema = named("what the tool's server says about it", tool.Description), fenced("the schema of its arguments", string(shown))
	}
	temperature := 0.0
	if refused != "" {
		temperature = b.retrying()
	}
	if b.Prompting.Small && tool.Name == "code.comment" && isOwn(tool) { // it would write the goal as the comment
		b.Goal = string(step.Title)
	}
	return composition{
		brief: b, purpose: PurposeStep, step: step.Index, format: argsFormat(b, tool, step, lines), temperature: temperature, timeout: step.Timeout, budgets: stepBudgets,
		last: func(cut *cutter) string {
			given := ""
			if len(step.Args) > 0 {
				given = named("the arguments that are known already", plan.CanonicalJSON(step.Args))
			}
			return b.Prompting.prompt("args", argsData{
				dataOf(step, p, inputs, cut), disarm(plan.OneLine(tool.Name, 120)), about, schema, given, hint, named("arguments that were refused, and why", cut.text(refused, "")),
			})
		},
	}.request()
}

// hints say how the arguments of an operator are written.
var hints = map[string]string{
	"fs.patch": "`old` is the text to replace, copied exactly from the file. `new` is the text that takes its place.",
	"fs.write": "`text` is the whole text of the file.",

	"code.insert": "`text` is only the new code or text, complete. It is put below what the file has.",

	"code.comment": "`text` is one sentence of at most 12 words: what this one does or returns. Write no code.",
}

// argsFormat is the format of the arguments that a step lacks. A small model writes of a
// built-in operator only those that the list of tools names. lines are those that old may
// be; nil for any text.
func argsFormat(b Brief, tool plan.Tool, step plan.Step, lines []string) json.RawMessage {
	form := callFormat(tool)
	if !b.Prompting.Small || !isOwn(tool) || tool.Name == "code.transform" {
		return paddedFormat(form)
	}
	read, err := jsontype.Read(tool.InputSchema)
	if err != nil {
		return paddedFormat(form)
	}
	own := ownArguments(tool.Name)
	fields := schema{Type: jsontype.Object, Properties: properties{}}
	if rewrites(tool, step) || lines != nil {
		fields.Properties, fields.Required = properties{{ReasonArg, schema{Type: jsontype.Text}}}, []string{ReasonArg}
	}
	for _, name := range own { // in the order of the list: what to replace comes before what takes its place
		at := slices.IndexFunc(read.Flat().Fields, func(f jsontype.Field) bool { return f.Name == name })
		if at < 0 || step.Args[name] != nil || tool.Name == "code.insert" && name != "text" {
			continue
		}
		value := grammar{}.value(read.Flat().Fields[at].Type, false)
		if name == "old" && lines != nil {
			value = choice(lines...)
		}
		fields.Properties = append(fields.Properties, property{name, value})
		if slices.Contains(writtenLater, name) || read.Flat().Fields[at].Required {
			fields.Required = append(fields.Required, name)
		}
	}
	return paddedFormat(fields)
}

// forChange orders the results for the arguments of a change: those of the file that it
// changes come last, right before the request. Where the same change is wanted in several
// files, a small model sees no other: it would change the first one again. Nor does it see
// a test, unless the text to replace is known: it would copy that from the test.
func forChange(b Brief, step plan.Step, inputs []plan.HistoryItem, known bool) []plan.HistoryItem {
	at, _ := step.Args["path"].(string)
	if at == "" {
		return inputs
	}
	var others, own []plan.HistoryItem
	for _, item := range inputs {
		from, _ := item.Args["path"].(string)
		switch {
		case from == at:
			own = append(own, item)
		case b.Prompting.Small && testfile.Is(from) && !testfile.Is(at) && !known:
		default:
			others = append(others, item)
		}
	}
	if len(own) > 0 && b.Prompting.Small && intent.WantsAll(b.Goal) {
		return own
	}
	return append(others, own...)
}

// smallAnswer bounds the answer of a small model, in tokens: three sentences and a list. At a
// low temperature it may repeat itself until the limit of all replies.
const smallAnswer = 500

// SynthesisRequest asks the model for the answer from the results of a run; items
// are those it sees, as chosen by [SynthesisItems]. Of the other steps it sees the
// titles, and of a plan with checks the evidence.
func SynthesisRequest(b Brief, p plan.Plan, items []plan.HistoryItem, evidence []plan.Evidence) Request {
	tokens := 0
	if b.Prompting.Small {
		tokens = smallAnswer
	}
	return composition{
		brief: b, purpose: PurposeSynthesis, tokens: tokens, items: items,
		last: func(cut *cutter) string {
			seen := make(map[string]bool, len(items))
			for _, item := range items {
				seen[item.Index] = true
			}
			var others []string
			for _, s := range p.Steps {
				if !seen[s.Index] {
					others = append(others, "- "+plan.OneLine(s.Index, 40)+" "+plan.OneLine(string(s.Title), 120))
				}
			}
			first := unusedSteps(p, items)
			return b.Prompting.prompt("synthesis", synthesisData{
				cut.results(items, p, first), named("the other steps of the plan", strings.Join(others, "\n")),
				named("what is verified, and what is not", cut.text(evidenceLines(evidence), "")), b.Prompting.Small,
			})
		},
	}.request()
}

// HeldAnswer is the same request for a model that has replied with a plan or a call: a
// format holds its reply, for [ReadReply].
func HeldAnswer(req Request) Request {
	req.Format = paddedFormat(schema{Type: jsontype.Object, Properties: properties{{"answer", textSchema}}, Required: []string{"answer"}})
	req.Think, req.Level = false, ThinkAuto
	return req
}

// Repeats reports whether a reply begins with what was asked, as those of the smallest
// models do.
func Repeats(req Request, text string) bool {
	const telling = 40 // bytes of a sentence
	if len(req.Messages) == 0 {
		return false
	}
	asked := req.Messages[len(req.Messages)-1].Content
	asked = asked[strings.LastIndex(asked, "```")+1:]
	for line := range strings.Lines(asked) {
		if line = strings.TrimSpace(line); len(line) >= telling && strings.HasPrefix(strings.TrimSpace(text), line[:telling]) {
			return true
		}
	}
	return false
}

// evidenceLines tells what is known about each check, a line each; "" for a plan
// without checks.
func evidenceLines(evidence []plan.Evidence) string {
	checked := false
	lines := make([]string, len(evidence))
	for i, e := range evidence {
		checked = checked || e.State != plan.StateClaimed
		of := "the whole plan"
		if e.Step != "" {
			of = "step " + plan.OneLine(e.Step, 40)
		}
		lines[i] = string(e.State) + ": " + of + ", " + plan.OneLine(string(e.Title), 120)
		if words := plan.SawWords(e.Saw); words != "" {
			lines[i] += " (" + plan.OneLine(words, 160) + ")"
		}
	}
	if !checked {
		return ""
	}
	return strings.Join(lines, "\n")
}

// ChatRequest is a plain turn of the conversation: the goal is the last message,
// except for the turns since, see [ReplyMessage] and [Answered]. In the last turn nothing
// can be called. A side question comes after the state of its run, see [About].
func ChatRequest(b Brief, last bool, turns ...Message) Request {
	tools := ChatTools(b)
	c := composition{brief: b, purpose: PurposeChat, turns: turns, notes: notesOn(b, tools)}
	c.offer(tools, last)
	c.askAbout(b.Prompting.About)
	return c.request()
}

// advised returns faults whose messages also say what the model should do.
func advised(faults []plan.Fault) []plan.Fault {
	out := slices.Clone(faults)
	for i, f := range out {
		if f.Advice != "" {
			out[i].Message += "; " + f.Advice
		}
	}
	return out
}

// Clauses lists faults, at most so many of them.
func Clauses(faults []plan.Fault, most int) []string {
	var parts []string
	for _, f := range faults[:min(len(faults), most)] {
		parts = append(parts, f.Message)
	}
	if rest := len(faults) - most; rest > 0 {
		parts = append(parts, "and "+english.Count(rest, "more fault"))
	}
	return parts
}
