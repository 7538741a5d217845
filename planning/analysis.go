package planning

import (
	"regexp"
	"strings"
)

// The words of an analysis that decide what follows.
const (
	modeDirect = "direct"
	modePlan   = "plan"

	complexitySimple  = "simple"
	complexityMedium  = "medium"
	complexityComplex = "complex"
)

// analysis is what phase 1 found out.
type analysis struct {
	direct     bool
	reflect    bool
	simple     bool   // the steps that came with it may count
	task       string // one line
	goal       string
	complexity string // as a plan's size is told: simple, medium, complex; "" for anything else
	markdown   string // the whole of it, for people
	brief      string // the same for the phases that follow: what a request says anew costs time
	flaw       string // why there is none
}

// readAnalysis reads the reply to phase 1: JSON as asked for, or prose with
// its fields as labels.
func readAnalysis(reply Reply) analysis {
	text := stripThinking(reply.Text)
	for _, f := range findJSON(text) {
		if object, ok := f.value.(map[string]any); ok && isAnalysis(object) {
			return analysisFrom(object)
		}
	}
	if fault, ok := wordless(reply); ok {
		return analysis{flaw: fault.Message} // no ground to plan on
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

// analysisFrom reads the fields of an analysis as far as they make sense.
func analysisFrom(object map[string]any) analysis {
	a := analysis{
		direct:  word(object["mode"]) == modeDirect,
		reflect: affirms(object["reflect"]),
		simple:  stepsCount(object["mode"], object["complexity"], object["reflect"]),
		task:    oneLine(textOf(object["task"]), 400),
		goal:    oneLine(textOf(object["goal"]), 400),
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
			lines[i] = oneLine(item.(string), 600)
			out.WriteString("- " + lines[i] + "\n")
		}
		out.WriteByte('\n')
		short = append(short, label+": "+strings.Join(lines, "; "))
	}
	line("Task", a.task)
	line("Goal", a.goal)
	list("Unknowns", object["unknowns"])
	list("Resources", object["resources"])
	switch knowledge := object["knowledge"].(type) {
	case map[string]any:
		list("To read", knowledge["read"])
		list("To keep", knowledge["keep"])
	default:
		list("Knowledge", knowledge)
	}
	line("Complexity", oneLine(textOf(object["complexity"]), 40))
	list("Subtasks", object["subtasks"])
	a.markdown, a.brief = strings.TrimSpace(out.String()), strings.Join(short, "\n")
	switch size := word(object["complexity"]); size {
	case complexitySimple, complexityMedium, complexityComplex:
		a.complexity = size
	}
	if a.markdown == "" {
		a.flaw = "it fills in none of its fields"
	}
	return a
}

// stepsCount reports whether the steps that came with an analysis are the plan:
// the task is simple and asks for no review.
func stepsCount(mode, complexity, reflect any) bool {
	return word(mode) == modePlan && word(complexity) == complexitySimple && !affirms(reflect)
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

// Fields of an analysis in words, "TASK: …" with or without bold marks.
var (
	modeField    = fieldPattern("MODE")
	taskField    = fieldPattern("TASK")
	goalField    = fieldPattern("GOAL")
	reflectField = fieldPattern("REFLECT")
)

func fieldPattern(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?im)^[ \t]*(?:[-+•]\s+|#{1,6}\s+|\d+[.)]\s+)?[*_]*` + name + `[*_]*[ \t]*:[ \t]*[*_]*[ \t]*(.*?)[ \t\r]*$`)
}

func field(pattern *regexp.Regexp, text string) string {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.TrimSpace(strings.Trim(m[1], "*_"))
}

// analysisInWords reads an analysis that a model wrote as prose. Its steps
// never count: it did not say in the agreed form that they are all.
func analysisInWords(text string) analysis {
	first, _, _ := strings.Cut(strings.TrimLeft(strings.Trim(text, " \t\r\n`"), "\n"), "\n")
	lone := strings.Trim(strings.TrimSpace(first), "*_`\"'.!:#-> \t\r")
	return analysis{
		direct:   strings.EqualFold(lone, modeDirect) || word(field(modeField, text)) == modeDirect,
		reflect:  affirms(field(reflectField, text)),
		task:     oneLine(field(taskField, text), 400),
		goal:     oneLine(field(goalField, text), 400),
		markdown: text,
		brief:    text,
	}
}
