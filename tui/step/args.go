package step

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/wording"
)

// drawArgs draws the arguments of the call: the resolved value, the written one
// if it differs, and the source. Gated means that the gate on the screen shows the change.
func drawArgs(p *draw.SheetPage, run *agent.Run, s *agent.StepState, gated bool) {
	l := p.Styles
	args, named := argsOf(run, s)
	sources := run.Sources(s)
	p.Add("", p.Title(named)) // the facts are above
	if len(args) == 0 && len(sources) == 0 {
		none := "none"
		if s.Step.Executor == plan.ExecutorTool && s.Attempt == 0 && s.Step.Args == nil {
			none = "filled in when the step is ready"
		}
		p.Prose(l.Faint, none)
		return
	}
	from := map[string]agent.Source{}
	for _, source := range sources {
		from[source.Arg] = source
	}
	all := ""
	if s.Parent != "" || len(sources) > 0 && sources[0].By == agent.AuthorPlan {
		all = sharedReads(sources)
	}
	each := s.Step.ForEach
	if of := run.Step(s.Parent); of != nil && each == nil {
		each = of.Step.ForEach
	}
	names, column := p.Order(args)
	for _, name := range names {
		if text, _ := args[name].(string); gated && s.Diff != "" && draw.IsLong(args[name]) {
			p.Member(name, column, english.Count(max(strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, 1), "line")+", see the gate")
		} else {
			writeArgument(p, name, column, args[name], languageOf(s, name, args[name]))
		}
		writeOrigins(p, column, args[name], s.Step.Args[name], from[name], all != "", run, each)
	}
	for _, c := range s.Coerced {
		p.Prose(l.Faint, "Fitted to the tool's "+c.Differs()+"s: "+untrusted.Line(c.String()))
	}
	if len(sources) > 0 && sources[0].By == agent.AuthorUser {
		p.Prose(l.Faint, "You wrote this call in place of the planned one.")
	}
	if all != "" {
		who := "the model that made this plan"
		if s.Parent != "" {
			who = "the model"
		}
		p.Prose(l.Faint, "All of it was written by "+who+", after it had read "+all+".")
	}
}

// argsOf returns the arguments of the call, or as much as is known before it, and
// a title for them.
func argsOf(run *agent.Run, s *agent.StepState) (map[string]any, string) {
	_, item := s.Item()
	switch {
	case s.Step.ForEach != nil:
		return s.Step.Args, "args of each item, as planned"
	case s.DryRun:
		return s.Args, "known args"
	case s.Status == agent.StepWaiting:
		for _, g := range run.Gates {
			if g.Gate == s.Gate && s.Gate != "" && g.Args != nil {
				return g.Args, "args, as they would be sent"
			}
		}
	case s.Attempt > 0 || s.Args != nil:
		return s.Args, "args"
	}
	switch {
	case item:
		return s.Step.Args, "args, as planned"
	case s.Parent != "":
		return s.Step.Args, "args, as the model asks"
	}
	args := map[string]any{}
	for _, source := range run.Sources(s) {
		if source.Written != nil {
			args[source.Arg] = source.Written
		}
	}
	return args, "args, as planned"
}

// sharedReads names the results that a model read before it wrote all of the
// arguments. It returns "" if they differ between arguments.
func sharedReads(sources []agent.Source) string {
	shared := ""
	for i, source := range sources {
		if source.By == agent.AuthorUser || source.By != sources[0].By {
			return ""
		}
		read := readWords(source)
		if i > 0 && read != shared {
			return ""
		}
		shared = read
	}
	return shared
}

// readWords names the results that a model read before it wrote an argument.
func readWords(source agent.Source) string {
	var steps []string
	last := ""
	for _, o := range source.From {
		if o.Read {
			steps, last = append(steps, untrusted.Line(o.Step)), originStep(o)
		}
	}
	switch n := len(steps); n {
	case 0:
		return ""
	case 1:
		return last
	default:
		return "steps " + strings.Join(steps[:n-1], ", ") + " and " + steps[n-1]
	}
}

// originStep names a step as the source of a result.
func originStep(o agent.Origin) string {
	words := wording.StepWords(o.Step)
	if o.Tool != "" {
		words += " (" + untrusted.Line(o.Tool) + ")"
	}
	return words
}

// writeArgument adds a member of an object, on one line or as a highlighted
// block below its name.
func writeArgument(p *draw.SheetPage, name string, column int, value any, language string) {
	if !draw.IsLong(value) {
		writeWorded(p, name, column, value)
		return
	}
	p.Add(draw.Paint(p.Styles.Accent, draw.WrapCode(untrusted.Line(name), p.Width))...)
	written, _ := value.(string)
	if written == "" {
		written, language = wording.JSONText(value, "  "), "json"
	}
	p.Put(guidedCode(p, written, language))
}

// writeWorded adds a word-wrapped member that starts on the line of its name.
func writeWorded(p *draw.SheetPage, name string, column int, value any) {
	label, text := untrusted.Line(name), ""
	if text, _ = wording.ValueText(value); ansi.StringWidth(label) > column {
		p.Member(name, column, value)
		return
	}
	lead := p.Styles.Accent.Render(p.Styles.Fit(label, column)) + " "
	p.Add(draw.Hang(lead, draw.WrapKept(untrusted.Visible(text), max(p.Width-column-1, 1)))...)
}

// guidedCode returns a leaf of code at the right of a vertical line.
func guidedCode(p *draw.SheetPage, s, language string) *draw.Text {
	if language == languageTest {
		return draw.NewStyledCode(p.Styles, testStyle(p.Styles), s).Guided()
	}
	return draw.NewCode(p.Styles, language, s).Guided()
}

// writeOrigins adds the sources of an argument, one per line. It also adds the
// written value if the final one differs.
func writeOrigins(p *draw.SheetPage, column int, value, planned any, source agent.Source, shared bool, run *agent.Run, each *plan.ForEach) {
	l := p.Styles
	lead := strings.Repeat(" ", min(column+1, p.Width/3))
	addLine := func(text string) {
		for i, line := range draw.Wrap(untrusted.Visible(text), p.Width-len(lead)-2) {
			mark := l.Glyphs.Blocker + " "
			if i > 0 || ansi.StringWidth(mark) > 3 {
				mark = "  "
			}
			p.Add(lead + l.Faint.Render(l.Cut(mark+line, p.Width-len(lead))))
		}
	}
	was, named := source.Written, "as written "
	if source.By == agent.AuthorUser {
		was, named = planned, "as planned "
	}
	if was != nil && !plan.EqualValues(was, value) {
		written, _ := wording.ValueText(was)
		for _, line := range draw.WrapCode(untrusted.Visible(named+written), max(p.Width-len(lead), 1)) {
			p.Add(lead + l.Muted.Render(line))
		}
	}
	if source.By == agent.AuthorModel {
		if shared {
			return
		}
		words := "the model wrote it when the step was ready"
		if read := readWords(source); read != "" {
			words += ", after it had read " + read
		}
		addLine(words)
		return
	}
	var lines []string
	for _, o := range source.From {
		words := ""
		switch {
		case o.Read && shared:
			continue
		case o.Read:
			words = "written after the model had read " + originStep(o)
		case each.Own(o.Variable):
			words = o.Reference + " is from the item"
			if o.Variable != each.As {
				words = o.Reference + " is the place of the item, from 0"
			}
		case o.Variable != "":
			words = o.Reference + " is the variable " + o.Variable + " of the plan"
		default:
			words = o.Reference + " is from the result of " + originStep(o)
			if s := run.Step(o.Step); s != nil && s.Status != agent.StepCompleted {
				words += ", which is not there yet"
			}
		}
		if !slices.Contains(lines, words) {
			lines = append(lines, words)
			addLine(words)
		}
	}
}

// argsText returns the call as text to copy.
func argsText(run *agent.Run, s *agent.StepState) string {
	args, _ := argsOf(run, s)
	if len(args) == 0 {
		return ""
	}
	return fmt.Sprintln(wording.JSONText(args, "  "))
}
