package ask

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/plantext"
)

// reviewQuestion asks about a held plan. The user edits it line by line and sees
// it again after each change.
func reviewQuestion(v *agent.Review, ascii bool) question {
	ask := question{
		id:     fmt.Sprintf("%s review %d", v.Run, v.Revision),
		prompt: "  run this plan? [y]es, [n]o, its [g]ates, [x N], [e N], [c]hecks, [k N], [j N], [u]ndo, [?]: ",
		help: []string{
			"y, yes: run it",
			"n, no: refuse it, which ends the run" + endOfInput + ". A resume shows the plan again",
			"g: approve every gate that can be approved now, each for exactly the shown call",
			"x 3: remove or restore step 3",
			"e 3: edit its title, args, when, for_each, until and check, as JSON",
			"c: edit the acceptance of the plan, as JSON",
			"k 3, j 3: move it before the step above or behind the step below; the later one waits for the other",
			"u: undo the last change",
		},
		careful: session.Review{Run: v.Run, Answer: v.Answer(event.ReviewRefuse)},
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
		case index == "" && word == "c":
			return editAcceptance(&ask, v, ascii)
		case index == "" && word == "u":
			if !v.Undo() {
				return answer{message: "  nothing was changed\n"}
			}
			return answer{message: planLines(v, ascii)}
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
			if s.Step.Index == index && !s.Out && !s.Settled {
				return editStep(back, v, s.Step, ascii)
			}
		}
		err = fmt.Errorf("the plan has no step %s that can be edited", index)
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

// editStep shows the fields of a step and asks for others. A field that is not entered
// stays.
func editStep(back *question, v *agent.Review, step plan.Step, ascii bool) answer {
	fields := plan.EditableFields(step)
	return editJSON(back, v, "its fields that change", fields, ascii, func(entered any) error {
		changed, ok := entered.(map[string]any)
		if !ok {
			return errors.New(`its fields are an object such as {"when": "found.total > 0"}`)
		}
		shown, _ := plan.DecodeValue([]byte(plan.CanonicalJSON(fields)))
		all, _ := shown.(map[string]any)
		maps.Copy(all, changed)
		edited, err := plan.ReadFields(step, all)
		if err != nil {
			return err
		}
		return v.Edit(edited)
	})
}

// editAcceptance shows the acceptance of the plan and asks for another.
func editAcceptance(back *question, v *agent.Review, ascii bool) answer {
	checks := v.Plan().Acceptance
	if checks == nil {
		checks = []plan.Check{}
	}
	return editJSON(back, v, "the checks", checks, ascii, func(entered any) error {
		edited, faults := plan.ReadChecks(entered, "acceptance")
		if len(faults) > 0 {
			return plan.FaultError(faults)
		}
		return v.EditAcceptance(edited)
	})
}

// editJSON shows a part of the plan and asks for another as one line of JSON. An empty line
// keeps it.
func editJSON(back *question, v *agent.Review, what string, now any, ascii bool, take func(entered any) error) answer {
	ask := &question{prompt: "  " + what + ", as one line of JSON (empty keeps all): ", careful: back.careful}
	ask.answer = func(line string) answer {
		if line == "" {
			return answer{then: back}
		}
		entered, err := plan.DecodeValue([]byte(line))
		if err != nil {
			return answer{message: notJSON(err)}
		}
		if err := take(entered); err != nil {
			return failed(err)
		}
		return answer{message: planLines(v, ascii), then: back}
	}
	return answer{message: "  " + untrusted.Line(plan.CanonicalJSON(now)) + "\n", then: ask}
}

// planLines shows a plan with its changes so far, and the calls that would ask.
func planLines(v *agent.Review, ascii bool) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(plantext.Plan(v.Plan(), ascii)+plain.Asking(v, false)+plain.Conditions(v.Plan()), "\n"), "\n") {
		b.WriteString("  " + line + "\n")
	}
	if changed := v.Changes().String(); changed != "" {
		b.WriteString("  " + changed + "\n")
	}
	return b.String()
}
