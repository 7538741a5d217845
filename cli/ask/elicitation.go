package ask

import (
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/form"
	"replan/planning/plan"
)

// elicitationID returns the id of the question of a server.
func elicitationID(run, id string) string { return run + " elicitation " + id }

// elicitationQuestion asks the question of a server, which the line log has already shown.
// It asks whether to open its page, or to fill in its form, field by field.
func elicitationQuestion(run string, d event.ElicitationRequested) question {
	answered := func(action plan.ElicitationAction, content map[string]any) session.Command {
		return session.AnswerElicitation{Run: run, ID: d.ID, Action: action, Content: content}
	}
	decline, cancel := answered(plan.ElicitationDecline, nil), answered(plan.ElicitationCancel, nil)
	ask := question{id: elicitationID(run, d.ID), keys: true, careful: cancel}
	help := []string{"n, no, decline: tell the server that you do not answer", "c, cancel: tell it that you leave the question open" + endOfInput}
	fields, _ := form.Parse(d.Schema) // checked when it came
	server := untrusted.Line(d.Server)
	switch {
	case d.URL != "":
		ask.prompt = fmt.Sprintf("  %s asks to open %s: [y]es, open it in the browser, [n]o, [c]ancel, [?]: ", server, untrusted.Line(d.URL))
		ask.help = append([]string{"y, yes: open the page"}, help...)
		ask.answer = oneOf(map[string]session.Command{"y yes": answered(plan.ElicitationAccept, nil), "n no decline": decline, "c cancel": cancel})
	case len(fields) == 0:
		ask.prompt = fmt.Sprintf("  %s asks: accept? [y]es, [n]o, [c]ancel, [?]: ", server)
		ask.help = append([]string{"y, yes: accept"}, help...)
		ask.answer = oneOf(map[string]session.Command{"y yes": answered(plan.ElicitationAccept, nil), "n no decline": decline, "c cancel": cancel})
	default:
		ask.prompt = fmt.Sprintf("  Answer %s? [f]ill in the form, [n]o, [c]ancel, [?]: ", server)
		ask.help = append([]string{"f, fill: answer its fields one by one"}, help...)
		others := oneOf(map[string]session.Command{"n no decline": decline, "c cancel": cancel})
		ask.answer = func(line string) answer {
			if word := strings.ToLower(line); word == "f" || word == "fill" {
				first := fieldQuestion(fields, map[string]any{}, cancel, func(content map[string]any) session.Command {
					return answered(plan.ElicitationAccept, content)
				})
				return answer{then: &first}
			}
			return others(line)
		}
	}
	return ask
}

// fieldQuestion asks for the first of the fields, then for the others. The last answer
// sends all.
func fieldQuestion(fields []form.Field, content map[string]any, careful session.Command, send func(map[string]any) session.Command) question {
	f := fields[0]
	hint := f.Hint()
	if text := f.DefaultText(); text != "" {
		hint = strings.TrimPrefix(hint+"; empty is "+untrusted.Line(text), "; ")
	}
	prompt := "    " + f.Label()
	if hint != "" {
		prompt += " (" + hint + ")"
	}
	return question{prompt: prompt + ": ", careful: careful, answer: func(line string) answer {
		if line == "" {
			line = f.DefaultText()
		}
		value, set, err := f.Read(line)
		switch {
		case err != nil:
			return failed(err)
		case set:
			content[f.Name] = value
		case f.Required:
			return answer{message: "  " + f.Label() + " is required\n"}
		}
		if len(fields) == 1 {
			return answer{send: send(content)}
		}
		next := fieldQuestion(fields[1:], content, careful, send)
		return answer{then: &next}
	}}
}
