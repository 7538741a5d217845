package ask

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/rank"
	"replan/tui/plain"
	"replan/tui/plantext"
	"replan/tui/telling"
)

// reviewQuestion asks about a held plan. The user edits it line by line and sees
// it again after each change.
func reviewQuestion(v *agent.Review, ascii bool) question {
	ask := question{
		id:     fmt.Sprintf("%s review %d", v.Run, v.Revision),
		prompt: "  run this plan? [y]es, [n]o, its [g]ates, [x N], [e N], [k N], [j N], [u]ndo, [?]: ",
		help: []string{
			"y, yes: run it",
			"n, no: refuse it, which ends the run" + endOfInput + ". A resume shows the plan again",
			"g: approve every gate that can be approved now, each for exactly the shown call",
			"x 3: remove or restore step 3",
			"e 3: edit its arguments, as JSON",
			"k 3, j 3: move it before the step above or behind the step below; the later one waits for the other",
			"u: undo the last change",
		},
		careful: session.Review{Run: v.Run, Answer: v.Answer(event.ReviewRefuse)},
	}
	if next := v.NextDraft(); next > 0 {
		taken := slices.IndexFunc(v.Drafts, func(d rank.Draft) bool { return d.Taken })
		ask.id += fmt.Sprintf(" draft %d", v.Drafts[taken].Number)
		ask.prompt = strings.Replace(ask.prompt, "[u]ndo", "[u]ndo, [d]raft", 1)
		ask.help = append(ask.help, fmt.Sprintf("d: take draft %d instead (%s); changes to this one are lost", next, telling.DraftWords(v.Drafts[next-1])))
	}
	ask.answer = func(line string) answer {
		word, index, _ := strings.Cut(strings.TrimSpace(line), " ")
		index = strings.TrimSpace(index)
		switch word = strings.ToLower(word); {
		case index == "" && (word == "y" || word == "yes"):
			return answer{send: session.Review{Run: v.Run, Answer: v.Answer(event.ReviewRun)}}
		case index == "" && (word == "n" || word == "no"):
			return answer{send: ask.careful}
		case index == "" && word == "g":
			if v.ApproveAll() == 0 {
				return answer{message: "  no gate can be approved now\n"}
			}
			return answer{message: planLines(v, ascii)}
		case index == "" && word == "u":
			if !v.Undo() {
				return answer{message: "  nothing was changed\n"}
			}
			return answer{message: planLines(v, ascii)}
		case index == "" && word == "d" && v.NextDraft() > 0:
			return answer{send: session.Review{Run: v.Run, Draft: v.NextDraft()}}
		case index != "":
			return changeStep(&ask, v, word, index, ascii)
		}
		return answer{}
	}
	return ask
}

// changeStep changes one step of a held plan.
func changeStep(back *question, v *agent.Review, word, index string, ascii bool) answer {
	var err error
	switch word {
	case "x":
		if _, err = v.Restore(index); err == nil {
			break
		}
		err = v.Remove(index, false)
		if needed, ok := errors.AsType[*agent.DependentsError](err); ok {
			return answer{message: "  " + err.Error() + "\n", then: dependentsQuestion(back, v, needed, ascii)}
		}
	case "k":
		err = v.Move(index, -1)
	case "j":
		err = v.Move(index, 1)
	case "e":
		for _, s := range v.Steps() {
			if s.Step.Index == index && s.Step.Executor == plan.ExecutorTool && !s.Out && !s.Settled {
				return answer{message: "  " + untrusted.Line(plan.CanonicalJSON(s.Step.Args)) + "\n", then: stepArgsQuestion(back, v, s.Step, ascii)}
			}
		}
		err = fmt.Errorf("step %s has no arguments that can be edited", index)
	default:
		return answer{}
	}
	if err != nil {
		return failed(err)
	}
	return answer{message: planLines(v, ascii)}
}

// dependentsQuestion asks whether to remove steps together with the one they
// depend on.
func dependentsQuestion(back *question, v *agent.Review, needed *agent.DependentsError, ascii bool) *question {
	prompt := fmt.Sprintf("  remove %s too? [y]es, [n]o: ", strings.Join(needed.Dependents, ", "))
	return yesOrNo(back, prompt, func() answer {
		if err := v.Remove(needed.Step, true); err != nil {
			return answer{message: failed(err).message, then: back}
		}
		return answer{message: planLines(v, ascii), then: back}
	})
}

// stepArgsQuestion asks for the arguments of a step.
func stepArgsQuestion(back *question, v *agent.Review, step plan.Step, ascii bool) *question {
	return argsQuestion(back, func(args map[string]any) answer {
		if err := v.Edit(step.Index, string(step.Title), args); err != nil {
			return failed(err)
		}
		return answer{message: planLines(v, ascii), then: back}
	})
}

// planLines shows a plan with its changes so far, and the calls that would ask.
func planLines(v *agent.Review, ascii bool) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(plantext.Plan(v.Plan(), ascii)+plain.Asking(v, false), "\n"), "\n") {
		b.WriteString("  " + line + "\n")
	}
	if changed := v.Changes().String(); changed != "" {
		b.WriteString("  " + changed + "\n")
	}
	return b.String()
}
