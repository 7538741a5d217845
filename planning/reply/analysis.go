package reply

import (
	"strings"

	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// The words of an analysis that decide how planning continues.
const (
	ModeDirect = "direct"
	ModePlan   = "plan"

	ComplexitySimple  = "simple"
	ComplexityMedium  = "medium"
	ComplexityComplex = "complex"
)

// Analysis is the result of phase 1.
type Analysis struct {
	Direct     bool
	Reflect    bool
	Simple     bool   // the steps sent with it may count
	Task       string // one line
	Goal       string
	Unknowns   []string // one line each
	Complexity string   // as of a plan's size: simple, medium, complex; "" for anything else
	Markdown   string   // the whole of it, for people
	Brief      string   // a short form for later phases: each new word of a request costs time
	Flaw       string   // why there is none
}

// ReadAnalysis reads the reply to phase 1: JSON as asked for, or prose with
// its fields as labels.
func ReadAnalysis(reply Reply) Analysis {
	text := StripThinking(reply.Text)
	for _, f := range findJSON(text) {
		if object, ok := f.value.(map[string]any); ok && isAnalysis(object) {
			return analysisFrom(object)
		}
	}
	if fault, ok := Wordless(reply); ok {
		return Analysis{Flaw: fault.Message} // no ground to plan on
	}
	return analysisInWords(text)
}

func isAnalysis(object map[string]any) bool {
	for _, key := range []string{"mode", "task", "subtasks", "complexity", "reflect"} {
		if _, ok := object[key]; ok {
			return true
		}
	}
	return false
}

// analysisFrom reads the usable fields of an analysis.
func analysisFrom(object map[string]any) Analysis {
	a := Analysis{
		Direct:  word(object["mode"]) == ModeDirect,
		Reflect: affirms(object["reflect"]),
		Simple:  stepsCount(object["mode"], object["complexity"], object["reflect"]),
		Task:    plan.OneLine(textOf(object["task"]), 400),
		Goal:    plan.OneLine(textOf(object["goal"]), 400),
	}
	var out strings.Builder
	var short []string
	line := func(label, text string) {
		if text != "" {
			out.WriteString("**" + label + ":** " + text + "\n\n")
			short = append(short, label+": "+text)
		}
	}
	list := func(label string, v any) {
		items := textsOf(v)
		if len(items) == 0 {
			return
		}
		out.WriteString("**" + label + ":**\n\n")
		lines := make([]string, len(items))
		for i, item := range items {
			lines[i] = plan.OneLine(item.(string), 600)
			out.WriteString("- " + lines[i] + "\n")
		}
		out.WriteByte('\n')
		short = append(short, label+": "+strings.Join(lines, "; "))
	}
	line("Task", a.Task)
	line("Goal", a.Goal)
	for _, item := range textsOf(object["unknowns"]) {
		a.Unknowns = append(a.Unknowns, plan.OneLine(item.(string), 600))
	}
	list("Unknowns", object["unknowns"])
	list("Resources", object["resources"])
	switch knowledge := object["knowledge"].(type) {
	case map[string]any:
		list("To read", knowledge["read"])
		list("To keep", knowledge["keep"])
	default:
		list("Knowledge", knowledge)
	}
	line("Complexity", plan.OneLine(textOf(object["complexity"]), 40))
	list("Subtasks", object["subtasks"])
	a.Markdown, a.Brief = strings.TrimSpace(out.String()), strings.Join(short, "\n")
	switch size := word(object["complexity"]); size {
	case ComplexitySimple, ComplexityMedium, ComplexityComplex:
		a.Complexity = size
	}
	if a.Markdown == "" {
		a.Flaw = "it fills in none of its fields"
	}
	return a
}

// stepsCount reports whether the steps of an analysis are the plan: the task is
// simple and asks for no review.
func stepsCount(mode, complexity, reflect any) bool {
	return word(mode) == ModePlan && word(complexity) == ComplexitySimple && !affirms(reflect)
}

func word(v any) string {
	return strings.ToLower(strings.Trim(textOf(v), " \t\r\n.*_`\"'"))
}

func affirms(v any) bool {
	if flag, ok := v.(bool); ok {
		return flag
	}
	w := word(v)
	return w == "yes" || w == "true" || strings.HasPrefix(w, "yes ") || strings.HasPrefix(w, "yes,")
}

// Fields of an analysis in prose: "TASK: …", with or without bold marks.
var (
	modeField    = fieldPattern("MODE")
	taskField    = fieldPattern("TASK")
	goalField    = fieldPattern("GOAL")
	reflectField = fieldPattern("REFLECT")
)

func fieldPattern(name string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?im)^[ \t]*(?:[-+•]\s+|#{1,6}\s+|\d+[.)]\s+)?[*_]*` + name + `[*_]*[ \t]*:[ \t]*[*_]*[ \t]*(.*?)[ \t\r]*$`)
}

func field(pattern *lazyregexp.Regexp, text string) string {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.TrimSpace(strings.Trim(m[1], "*_"))
}

// analysisInWords reads an analysis written as prose. Its steps never count: it
// did not mark them as the whole plan in the agreed form.
func analysisInWords(text string) Analysis {
	first, _, _ := strings.Cut(strings.TrimLeft(strings.Trim(text, " \t\r\n`"), "\n"), "\n")
	lone := strings.Trim(strings.TrimSpace(first), "*_`\"'.!:#-> \t\r")
	return Analysis{
		Direct:   strings.EqualFold(lone, ModeDirect) || word(field(modeField, text)) == ModeDirect,
		Reflect:  affirms(field(reflectField, text)),
		Task:     plan.OneLine(field(taskField, text), 400),
		Goal:     plan.OneLine(field(goalField, text), 400),
		Markdown: text,
		Brief:    text,
	}
}
