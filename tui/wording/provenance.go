package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// computed reports whether an argument carries no written text, only a change
// computed by the workspace's own operator. The gate shows the whole change.
func computed(p rule.Provenance, tools plan.Catalog) bool {
	t, err := tools.Find(p.Tool)
	return err == nil && t.Trusted && t.Name == "code.transform" && !p.Written
}

// CarriesUntrustedText reports whether a call carries text that an outsider may
// have written.
func CarriesUntrustedText(from []rule.Provenance, tools plan.Catalog) bool {
	return slices.ContainsFunc(from, func(p rule.Provenance) bool { return !computed(p, tools) })
}

// resultText is the text of a result that the arguments of a call carry.
type resultText struct {
	from  rule.Provenance // the first of them
	args  []string        // "" stands for all arguments
	words bool            // some of it was computed from words
}

// writtenText is an argument that a model wrote after reading results.
type writtenText struct {
	arg   string // "" stands for all arguments
	after []rule.Provenance
}

// groupText groups the text in a call. It goes by message that mentions it, by the step
// whose result it is, and by the argument that a model wrote. The text that decides
// whether the call is made is none of these.
func groupText(from []rule.Provenance) (mentions []rule.Provenance, results []resultText, written []writtenText) {
	for _, p := range from {
		switch {
		case p.Decides:
		case p.Mention != "":
			mentions = append(mentions, p)
		case p.Written:
			i := slices.IndexFunc(written, func(w writtenText) bool { return w.arg == p.Arg })
			if i < 0 {
				i, written = len(written), append(written, writtenText{arg: p.Arg})
			}
			written[i].after = append(written[i].after, p)
		default:
			i := slices.IndexFunc(results, func(r resultText) bool { return r.from.Step == p.Step && r.from.Tool == p.Tool })
			if i < 0 {
				i, results = len(results), append(results, resultText{from: p})
			}
			results[i].args, results[i].words = append(results[i].args, p.Arg), results[i].words || p.Words
		}
	}
	return mentions, results, written
}

// TextSources describes the sources of text in a call. It returns a sentence for
// each step whose result the arguments carry, and for each argument that a model
// wrote after reading results.
func TextSources(from []rule.Provenance, tools plan.Catalog) []string {
	mentions, results, written := groupText(from)
	var out []string
	for _, p := range mentions {
		out = append(out, mentionSource(argWords(p.Arg), p))
	}
	for _, r := range results {
		words := english.List(mapped(r.args, argWords), "and") + " " + english.Agree(len(r.args), "includes", "include")
		if computed(r.from, tools) {
			words += " what was computed by " + sourceStep(r.from)
			if r.words {
				words += ", matched by name only: some matches may be wrong or missing"
			}
		} else {
			words += " output of " + sourceStep(r.from) + ", an untrusted result"
		}
		out = append(out, words)
	}
	if words := decidingWords(from, sourceStep); words != "" {
		out = append(out, words)
	}
	for _, w := range written {
		result := english.Agree(len(w.after), "result", "results")
		out = append(out, fmt.Sprintf("a model wrote %s after reading the untrusted %s of %s", argWords(w.arg), result, strings.Join(mapped(w.after, sourceStep), ", ")))
	}
	return out
}

// SourceLines is TextSources in the words of the line log.
func SourceLines(from []rule.Provenance) []string {
	mentions, results, written := groupText(from)
	name := func(arg string) string { return cmp.Or(arg, "the call") }
	var out []string
	for _, p := range mentions {
		out = append(out, mentionSource(name(p.Arg), p))
	}
	for _, r := range results {
		out = append(out, english.List(mapped(r.args, name), "and")+" "+english.Agree(len(r.args), "includes", "include")+" output of step "+r.from.Step)
	}
	if words := decidingWords(from, func(p rule.Provenance) string { return "step " + p.Step }); words != "" {
		out = append(out, words)
	}
	slices.SortStableFunc(written, func(a, b writtenText) int { return strings.Compare(a.arg, b.arg) })
	for _, w := range written {
		result := english.Agree(len(w.after), "result", "results")
		out = append(out, fmt.Sprintf("a model wrote %s after reading the %s of %s", name(w.arg), result, stepsAndRuns(w.after)))
	}
	return out
}

// decidingWords says which results decide whether, or how often, a call is made; "" if
// none does.
func decidingWords(from []rule.Provenance, name func(rule.Provenance) string) string {
	deciding := slices.DeleteFunc(slices.Clone(from), func(p rule.Provenance) bool { return !p.Decides })
	if len(deciding) == 0 {
		return ""
	}
	return "whether it is called depends on output of " + english.List(mapped(deciding, name), "and")
}

// stepsAndRuns names the steps that produced texts: "steps 1 and 2", "step 3 of run f1dcf2".
func stepsAndRuns(from []rule.Provenance) string {
	var own, all []string
	for _, p := range from {
		switch {
		case p.Run == "":
			own = append(own, p.Step)
		case p.Step == "":
			all = append(all, "run "+ShortID(p.Run))
		default:
			all = append(all, "step "+p.Step+" of run "+ShortID(p.Run))
		}
	}
	if len(own) > 0 {
		all = append([]string{english.Agree(len(own), "step", "steps") + " " + english.List(own, "and")}, all...)
	}
	return english.List(all, "and")
}

// mentionSource says that a model wrote an argument after reading an attachment of
// the message.
func mentionSource(arg string, p rule.Provenance) string {
	if p.Notes {
		return "a model wrote " + arg + " after reading " + untrusted.Line(p.Mention) + ", the notes of this folder"
	}
	return "a model wrote " + arg + " after reading " + untrusted.Line(p.Mention) + ", which your message mentions"
}

func mapped[T any](all []T, words func(T) string) []string {
	out := make([]string, len(all))
	for i, item := range all {
		out[i] = words(item)
	}
	return out
}

// argWords names an argument; "" stands for all arguments.
func argWords(name string) string {
	if name == "" {
		return "the call"
	}
	return fmt.Sprintf("%q", name)
}

// AlwaysNote says why a gate whose call carries text from results offers no rule for every later
// call, and what skips the gate instead. It returns "" for other gates.
func AlwaysNote(g event.GateRequested) string {
	fromResults := slices.ContainsFunc(g.Provenance, func(p rule.Provenance) bool { return !p.Notes })
	ways := skips(g)
	switch {
	case g.Always != nil || g.AlwaysTool != nil || !fromResults:
		return ""
	case g.NoAlways == "" || ways == "":
		return ways
	default:
		return "always is off, since results change: " + ways // short, for narrow screens
	}
}

// skips says in plain words what lets a call like that of a gate pass without one; "" if
// nothing does, since its plan asks for the gate or its tool has changed.
func skips(g event.GateRequested) string {
	if g.Planned || g.Rule.Source == rule.SourcePlan || g.Changed != "" {
		return ""
	}
	byRule := "a rule that allows " + untrusted.Line(g.Tool)
	exact, written, decides := textKinds(g)
	switch {
	case len(exact)+len(decides) > 0:
		byRule = "a rule with untrusted = true"
	case len(written) > 0:
		byRule = "a rule with a pattern for " + strings.Join(written, ", ")
	}
	if _, why := g.ForRun(); why != "" || len(written)+len(decides) > 0 {
		return byRule + " skips this gate"
	}
	return "r skips this gate in this run, " + byRule + " from now on"
}

// textKinds returns the arguments of a call that hold text of a result as it is, and those that
// a model wrote after reading one, as far as a rule for the tool alone does not cover them; and
// the steps whose results decide about the call.
func textKinds(g event.GateRequested) (exact, written, decides []string) {
	from := func(p rule.Provenance) string { return "step " + untrusted.Line(p.Step) }
	for _, p := range g.Provenance {
		arg := untrusted.Line(cmp.Or(p.Arg, "the call"))
		switch {
		case p.Decides:
			if g.Undoable() || slices.Contains(decides, from(p)) {
				continue
			}
			decides = append(decides, from(p))
		case p.Written && !slices.Contains(written, arg) && !g.Undoable():
			written = append(written, arg)
		case !p.Written && !slices.Contains(exact, arg) && (!g.Undoable() || p.Tool != "code.transform"):
			exact = append(exact, arg)
		}
	}
	return exact, written, decides
}
