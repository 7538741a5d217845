package agent

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/markdown"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Bounds of displayed results without a model's answer, in characters.
const (
	shownOfAll = 12_000
	shownOfOne = 4_000
)

// answers writes what a run answers without a model.
type answers struct {
	terms    termsView
	tools    toolsView
	ledger   ledgerView
	planning planningView
	board    boardView
	outcome  outcomeView
	clock    clockView
	meter    meterView
	evidence *evidence
}

// missingAnswer returns why the model wrote no complete answer, or "" if it did
// or rules replace it.
func (r *answers) missingAnswer() string {
	if !r.outcome.answer().Done || r.outcome.answer().Direct || r.ruleAnswers() {
		return ""
	}
	return string(r.outcome.answer().Error)
}

// ruleAnswers reports whether the answer by rule replaces one that the model
// never began.
func (r *answers) ruleAnswers() bool {
	return r.outcome.answer().Text == "" && r.planning.isRouted() && r.board.revision() == 1
}

// supported returns an answer with a note on what it names and no result holds.
func (r *answers) supported(answer string) string {
	var results strings.Builder
	var counts []int
	for _, item := range r.ledger.history() {
		results.WriteString(plan.CanonicalJSON(item.Args) + "\n" + prompt.Text(item.Result) + "\n" + string(item.Title) + "\n" + string(item.Error) + "\n")
		counts = append(counts, countsIn(item.Result)...)
	}
	sketch := r.terms.prompting().Sketch
	known := string(r.terms.goal()) + "\n" + strings.Join(slices.Concat(sketch.Files, sketch.Near, sketch.Named, sketch.Changed), "\n") + "\n" + plan.CanonicalJSON(r.board.current())
	for _, m := range r.terms.prompting().Conversation {
		known += "\n" + m.Content
	}
	for _, m := range r.terms.prompting().Mentions {
		known += "\n" + m.Text
	}
	var claims []string
	if !r.shownPictures() { // what the model read from one stands in no text
		claims = reply.Unsupported(answer, results.String(), known, counts)
	}
	for i, c := range claims {
		claims[i] = "`" + c + "`"
	}
	if r.terms.prompting().Small {
		answer += r.passage(answer)
	}
	if len(claims) == 0 {
		return answer
	}
	return answer + "\n\n*No result shows " + english.List(claims, "or") + ".*"
}

// shownPictures reports whether the model of the answer saw pictures: of the goal, of the
// conversation, or of results.
func (r *answers) shownPictures() bool {
	p := r.terms.prompting()
	return p.Vision && (len(prompt.WithPictures(p.Mentions)) > 0 ||
		slices.ContainsFunc(p.Conversation, func(m prompt.Message) bool { return len(m.Images) > 0 }) ||
		slices.ContainsFunc(r.ledger.history(), func(item plan.HistoryItem) bool { return slices.ContainsFunc(item.Attachments, prompt.IsPicture) }))
}

// passage quotes the lines that hold what the goal asks, since the words of small models are
// often not the whole answer. It is "" if the answer quotes them, or if no lines hold it.
func (r *answers) passage(answer string) string {
	p, ok := intent.PassageFor(string(r.terms.goal()), r.ledger.history())
	if !ok {
		return ""
	}
	plain := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if strings.Contains(plain(answer), plain(p.Text)) {
		return ""
	}
	return fmt.Sprintf("\n\nFrom `%s`, line %d:\n\n%s", p.Path, p.Line, markdown.Block(p.Text))
}

// unwritten returns the answer if the model gave none or only a part: that part,
// or the steps with their results.
func (r *answers) unwritten() string {
	if r.ruleAnswers() {
		return r.ruledAnswer()
	}
	if r.outcome.answer().Text != "" {
		return r.outcome.answer().Text + "\n\n*The answer was cut off: " + string(r.outcome.answer().Error) + "*"
	}
	return "The steps are done, but the model wrote no answer: " + string(r.outcome.answer().Error) + "\n\n" + r.stepResults(shownOfAll)
}

// results carries out [Run.Results]. window is the size of the context window, in tokens.
func (r *answers) results(window int) string {
	hasResult := func(s stepView) bool { return resultText(s) != "" }
	if final, over := r.outcome.final(); !over || final.Status != event.StatusCompleted || final.Answer != "" || r.terms.DryRun() || !slices.ContainsFunc(r.board.steps(), hasResult) {
		return ""
	}
	bound := shownOfAll
	if window > 0 {
		bound = min(bound, window/2)
	}
	return r.stepResults(bound)
}

// stepResults lists the steps with their results as Markdown, with at most bound
// characters of results.
func (r *answers) stepResults(bound int) string {
	sizes := make([]int, len(r.board.steps()))
	for i, s := range r.board.steps() {
		sizes[i] = min(utf8.RuneCountInString(resultText(s)), shownOfOne)
	}
	shares := prompt.Shares(sizes, bound)
	var text strings.Builder
	text.WriteString("What the steps brought:\n")
	for i, s := range r.board.steps() {
		fmt.Fprintf(&text, "\n**%s. %s**: %s\n", s.index(), s.title(), s.status())
		if result := resultText(s); result != "" {
			shown, left := firstCharacters(result, shares[i])
			if left > 0 {
				shown += fmt.Sprintf("\n… %d more characters", left)
			}
			text.WriteString("\n" + markdown.Block(shown) + "\n")
		}
	}
	return text.String()
}

// firstModelStep returns the first step that was skipped because there was no model, or
// nil.
func (r *answers) firstModelStep() stepView {
	for _, s := range r.board.steps() {
		if s.skipReason() == needsModelReason {
			return s
		}
	}
	return nil
}

// answersByRule reports whether the answer is put together from the results. This
// requires a routed plan, for which a model would add nothing or is not available.
func (r *answers) answersByRule() bool {
	taken, ok := r.planning.taken()
	if !ok {
		_, ok := r.answeredByRule()
		return ok && !r.terms.DryRun()
	}
	if r.terms.DryRun() || r.board.revision() > 1 && r.terms.model() != "" {
		return false
	}
	return r.terms.model() == "" || !wantsWords(taken)
}

// answeredByRule returns the intent whose answer needs no model, of a goal that no words
// have planned. Such a goal asks for a list that one look made. Or a small model has
// changed what the goal wants changed, and would only repeat it.
func (r *answers) answeredByRule() (intent.Intent, bool) {
	if r.terms.isGiven() || r.terms.skipSynthesis() || r.planning.hasOwn() || r.board.revision() == 0 {
		return intent.Intent{}, false
	}
	goal := prompt.Unmentioned(string(r.terms.goal()), r.terms.prompting().Mentions)
	pictures := len(prompt.WithPictures(r.terms.prompting().Mentions)) > 0
	if looks := r.terms.surveyed().Look(goal, r.tools.catalog()); looks.Whole && !pictures && len(looks.Steps) == len(r.board.current().Steps) && r.board.revision() == 1 {
		if in, ok := intent.AnsweredByLooks(goal, r.board.current().Steps); ok {
			return in, true
		}
		if _, ok := answerFromData(goal, r.ledger.history()); ok {
			return intent.Intent{}, true
		}
	}
	if !r.terms.prompting().Small || r.terms.PlanOnly() {
		return intent.Intent{}, false
	}
	return intent.AnsweredByChanges(goal)
}

// ruledIntent returns the intent that the answer by rule is about.
func (r *answers) ruledIntent() intent.Intent {
	if taken, ok := r.planning.taken(); ok {
		return taken.Intent
	}
	in, _ := r.answeredByRule()
	return in
}

// ruledAnswer returns the answer by rule.
func (r *answers) ruledAnswer() string {
	left := ""
	if s := r.firstModelStep(); s != nil {
		left = fmt.Sprintf("Step %s needs a model, and there is none: start Ollama and pull one (`ollama pull`), or choose one with `--host` and `--model`.", s.index())
	}
	if answer, ok := answerFromData(string(r.terms.goal()), r.ledger.history()); ok && !r.planning.isRouted() {
		return answer
	}
	return intent.Answer(r.ruledIntent(), r.ledger.history(), left)
}

// synthesisItems carries out [Run.SynthesisItems].
func (r *answers) synthesisItems() []plan.HistoryItem {
	partial := map[string][]string{}
	for _, s := range r.board.steps() {
		partial[s.index()] = s.partlySeen()
	}
	return prompt.SynthesisItems(r.board.current(), r.ledger.history(), partial)
}

// orUnverified returns how a run ends that requires everything to be verified.
func (r *answers) orUnverified(e ending) ending {
	if !r.terms.requireVerified() || e.status != event.StatusCompleted || r.board.revision() == 0 || r.terms.PlanOnly() || r.terms.DryRun() {
		return e
	}
	evidence := r.evidence.all()
	for _, v := range evidence {
		if v.State != plan.StateVerified {
			e.status, e.reason = event.StatusFailed, event.ReasonUnverified
			e.error = fmt.Sprintf("%d of %d verified; --require-verified needs all, and %q is %s", plan.CountVerified(evidence), len(evidence), v.Title, v.State)
			return e
		}
	}
	if len(evidence) == 0 {
		e.status, e.reason, e.error = event.StatusFailed, event.ReasonUnverified, "the plan has no check, and --require-verified needs at least one"
	}
	return e
}

// result returns the result of the run.
func (r *answers) result(e ending) event.Result {
	out := event.Result{
		Run: r.terms.id(), Status: e.status, Reason: e.reason, Answer: untrusted.Text(e.answer), Error: untrusted.Text(e.error),
		Variables: r.board.Variables(), History: r.ledger.history(), Revisions: r.board.revisions(),
		Usage: r.meter.used(), Evidence: r.evidence.all(), DurationMS: r.clock.Elapsed().Milliseconds(),
	}
	out.Verified, out.Of = plan.CountVerified(out.Evidence), len(out.Evidence)
	if e.status == event.StatusCompleted {
		out.Unanswered = untrusted.Text(r.missingAnswer())
	}
	if out.History == nil {
		out.History = []plan.HistoryItem{}
	}
	if r.board.revision() > 0 {
		plan := r.board.current()
		out.Plan = &plan
	}
	return out
}

// incomplete reports whether a step of the current plan was skipped, or none of those
// with a condition was taken.
func (r *answers) incomplete() bool {
	conditions, taken := 0, 0
	for _, s := range r.board.steps() {
		if s.status() != StepCompleted && !s.notTaken() || s.fanOutState().unfinished() {
			return true
		}
		if s.planned().When != "" {
			if conditions++; !s.notTaken() {
				taken++
			}
		}
	}
	return conditions > 0 && taken == 0
}

// countsIn returns the lengths of the lists in a result.
func countsIn(v any) []int {
	object, _ := v.(map[string]any)
	var counts []int
	for _, field := range object {
		if list, ok := field.([]any); ok {
			counts = append(counts, len(list))
		}
	}
	return counts
}

// firstCharacters returns the first n characters of a text, and how many more it has.
func firstCharacters(text string, n int) (first string, left int) {
	for at := range text {
		if n == 0 {
			return strings.ToValidUTF8(text[:at], "\uFFFD"), utf8.RuneCountInString(text[at:])
		}
		n--
	}
	return text, 0
}

// resultText returns the result of a step as text, or "" if it has none.
func resultText(s stepView) string {
	switch result := s.result().(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(result)
	default:
		return plan.CanonicalJSON(result)
	}
}

// noTestsRun reports whether the words of the goal ask for tests, and none ran.
func (r *answers) noTestsRun() bool {
	taken, ok := r.planning.taken()
	return ok && intent.NoTestsRun(taken.Intent, r.ledger.history())
}

// endingByRule returns how a run ends whose answer is put together from the results.
func (r *answers) endingByRule() ending {
	e := ending{status: event.StatusCompleted, reason: event.ReasonGoalMet, answer: r.ruledAnswer()}
	switch s := r.firstModelStep(); {
	case s != nil: // the user did not ask to skip it, so the order was not carried out
		e.status, e.reason = event.StatusFailed, event.ReasonStepFailed
		e.error = fmt.Sprintf("step %s (%s) needs a model, and there is none", s.index(), s.title())
	case r.incomplete(), r.noTestsRun():
		e.reason = event.ReasonPartial
	case intent.NothingFound(r.ruledIntent(), r.ledger.history()):
		e.reason = event.ReasonNothingFound
	case intent.NothingToCommit(r.ruledIntent(), r.ledger.history()):
		e.reason = event.ReasonNothingToCommit
	}
	return e
}
