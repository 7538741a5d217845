package planning

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"replan/internal/testfile"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// ruled returns the steps that are still to do after the looks, and why no model has to
// plan them. The reason is "" if a model has to, also where the steps are more than a
// plan may have.
func ruled(b prompt.Brief) (steps []plan.Step, reason string) {
	if steps, reason = byRule(b); b.MaxSteps > 0 && len(b.Looks)+len(steps) > b.MaxSteps {
		return nil, ""
	}
	return steps, reason
}

// byRule returns the steps of the first rule that is for a goal.
func byRule(b prompt.Brief) (steps []plan.Step, reason string) {
	if step, ok := writtenList(b); ok {
		return []plan.Step{step}, "the goal wants the list that was looked up"
	}
	if step, ok := filteredList(b); ok {
		return []plan.Step{step}, "the goal wants the names of files whose content was looked up"
	}
	if steps, ok := commentSteps(b); ok {
		return steps, "the goal wants the same change of each declaration that was looked up"
	}
	if steps, ok := valueSteps(b); ok {
		return steps, "the goal says the new value, and the looks found where it stands"
	}
	if steps, ok := wordSteps(b); ok {
		return steps, "the goal says which word takes the place of which"
	}
	if !b.For(prompt.PurposePlan).Prompting.Small {
		return nil, ""
	}
	if steps, ok := moveSteps(b); ok {
		return steps, "the goal says which files move where"
	}
	if steps, ok := additionSteps(b); ok {
		return steps, "the goal wants something new in a file that was looked up"
	}
	if step, ok := createStep(b); ok {
		return []plan.Step{step}, "the goal wants a new file"
	}
	if steps, ok := editSteps(b); ok {
		return steps, "the goal wants a change of what was looked up"
	}
	return nil, ""
}

// writtenList returns the plan of a goal that wants a list in a new file, if one look has
// made the list. No model is needed to copy it.
func writtenList(b prompt.Brief) (plan.Step, bool) {
	file, ok := intent.ListFile(b.Goal)
	if !ok || len(b.Looked) != 1 || len(b.Looks) != 1 || slices.Contains(b.Prompting.Sketch.Files, file) {
		return plan.Step{}, false
	}
	if _, err := b.Catalog.Find("fs.write"); err != nil {
		return plan.Step{}, false
	}
	text, ok := intent.List(b.Looked[0].Tool, b.Looked[0].Result, intent.ListFormOf(b.Goal, file))
	return writeStep(b, file, text), ok
}

// filteredList returns the plan of a goal that wants the names of files in a new file.
// These files have a key or lack it. The looks must have read all of them.
func filteredList(b prompt.Brief) (plan.Step, bool) {
	if _, err := b.Catalog.Find("fs.write"); err != nil || len(b.Looked) != len(b.Looks) {
		return plan.Step{}, false
	}
	if file, creates := intent.CreatedFile(b.Goal, b.Prompting.Sketch.Files); creates && len(b.Prompting.Sketch.Near) == 0 {
		if files, ok := intent.FilesDeclaring(b.Goal, b.Prompting.Sketch.Files, b.Looked); ok && len(files) > 0 {
			return writeStep(b, file, intent.FilteredList(b.Goal, files, intent.ListFormOf(b.Goal, file))), true
		}
	}
	file, ok := intent.FilterFile(b.Goal)
	if !ok || slices.Contains(b.Prompting.Sketch.Files, file) {
		return plan.Step{}, false
	}
	files, ok := intent.Filtered(b.Goal, b.Looked)
	return writeStep(b, file, intent.FilteredList(b.Goal, files, intent.ListFormOf(b.Goal, file))), ok && len(files) > 0
}

// writeStep returns the step that writes a new file after the looks.
func writeStep(b prompt.Brief, file, text string) plan.Step {
	var looks []string
	for _, look := range b.Looks {
		looks = append(looks, look.Index)
	}
	return plan.Step{
		Index: strconv.Itoa(len(b.Looks) + 1), Title: untrusted.Text("Write the list to " + file), Executor: plan.ExecutorTool, Tool: "fs.write",
		Args: map[string]any{"path": file, "text": text}, DependsOn: looks,
	}
}

// ruledPlan returns the plan that begins with the looks and goes on with steps that rules
// have made, to which nothing is to be added.
func ruledPlan(b prompt.Brief, steps []plan.Step) plan.Plan {
	c := completion{brief: b, steps: reply.FinishSteps(b.Catalog, b.Prompting.ProfileNames(), steps)}
	c.lead()
	return titled(b, plan.Plan{Steps: c.steps}, "", "")
}

// valueSteps returns the patches of a goal that wants one value changed, and the run of the
// tests. Each file that was looked at must have one place for it. A model is needed neither
// to find it nor to copy it.
func valueSteps(b prompt.Brief) (steps []plan.Step, ok bool) {
	change, wanted := intent.ValueWanted(b.Goal)
	if !wanted || !lookedAtAll(b) {
		return nil, false
	}
	if _, err := b.Catalog.Find("fs.patch"); err != nil {
		return nil, false
	}
	type file struct{ look, path, text string }
	var files []file
	for _, item := range b.Looked {
		at, _ := item.Args["path"].(string)
		switch text := fileText(item); {
		case item.Tool == "fs.search":
		case item.Tool != "fs.read" || item.Args["limit"] != nil || text == "":
			return nil, false
		case change.Of != "" && (at == change.Of || path.Base(at) == change.Of):
			if change.To != "" { // another file of that name has given it
				return nil, false
			}
			if change.To, ok = change.Value(text); !ok {
				return nil, false
			}
		case !names(b, at):
			return nil, false
		default:
			files = append(files, file{item.Index, at, text})
		}
	}
	next := func(title, tool string, args map[string]any, after ...string) {
		steps = append(steps, plan.Step{
			Index: strconv.Itoa(len(b.Looks) + len(steps) + 1), Title: untrusted.Text(title), Executor: plan.ExecutorTool, Tool: tool, Args: args, DependsOn: after,
		})
	}
	for _, f := range files {
		old, changed, ok := change.Patch(f.text)
		if !ok {
			return nil, false
		}
		next("Set "+change.Name+" in "+f.path, "fs.patch", map[string]any{"path": f.path, "old": old, "new": changed}, f.look)
	}
	if _, err := b.Catalog.Find("test.run"); err == nil && intent.WantsTests(b.Goal) && len(steps) > 0 {
		after := make([]string, len(steps))
		for i, s := range steps {
			after[i] = s.Index
		}
		next("Run the tests", "test.run", map[string]any{}, after...)
	}
	return steps, len(steps) > 0
}

// wordSteps returns the patches of a goal that wants a word of code replaced in each file
// that it names. It adds the run of the tests if the goal wants them. Names that the code
// declares are renamed by what they mean, and not as words.
func wordSteps(b prompt.Brief) (steps []plan.Step, ok bool) {
	from, to, ok := intent.WordReplaced(b.Goal)
	if _, err := b.Catalog.Find("fs.patch"); err != nil || !ok || slices.ContainsFunc((&completion{brief: b}).places(), func(p place) bool { return p.name == from }) {
		return nil, false
	}
	var patches []plan.Step
	for _, item := range b.Looked {
		at, _ := item.Args["path"].(string)
		if item.Tool == "fs.search" {
			continue
		}
		old, changed, ok := intent.ReplaceWord(fileText(item), from, to)
		if !ok || item.Tool != "fs.read" || item.Args["limit"] != nil || !names(b, at) {
			return nil, false
		}
		patches = append(patches, plan.Step{Title: untrusted.Text("Replace " + from + " in " + at), Tool: "fs.patch", Args: map[string]any{"path": at, "old": old, "new": changed}})
	}
	c := completion{brief: b}
	if len(patches) == 0 || !lookedAtAll(b) {
		return nil, false
	}
	return c.changing(false, patches...), true
}

// lookedAtAll reports whether the looks have read each file that the goal names. All looks are
// done, none was one too many, and each name is that of a file that was read.
func lookedAtAll(b prompt.Brief) bool {
	var files []string
	for _, item := range b.Looked {
		if at, _ := item.Args["path"].(string); item.Tool == "fs.read" {
			files = append(files, at)
		}
	}
	return len(b.Looked) == len(b.Looks) && len(b.Looks) < intent.MostLooks && !intent.NamesNew(b.Goal, files)
}

// moveSteps returns the moves of the files that a goal names to the folder that it names.
func moveSteps(b prompt.Brief) (steps []plan.Step, ok bool) {
	files, folder, ok := intent.MoveWanted(b.Goal, b.Prompting.Sketch.Files)
	if _, err := b.Catalog.Find("fs.move"); err != nil || !ok || len(b.Prompting.Sketch.Near) > 0 {
		return nil, false
	}
	moves := make([]plan.Step, len(files))
	for i, file := range files {
		to := path.Join(folder, path.Base(file))
		moves[i] = plan.Step{Title: untrusted.Text("Move " + file + " to " + to), Tool: "fs.move", Args: map[string]any{"from": file, "to": to}}
	}
	c := completion{brief: b}
	return c.changing(false, moves...), true
}

// additionSteps returns the insertion of what a goal wants added to a file, and the run of
// the tests. The model writes the text when the step is ready.
func additionSteps(b prompt.Brief) (steps []plan.Step, ok bool) {
	wanted, ok := intent.AdditionWanted(b.Goal)
	if _, err := b.Catalog.Find("code.insert"); err != nil || !ok {
		return nil, false
	}
	c := completion{brief: b}
	var files []string
	for _, file := range c.files() {
		_, prose := proseExtensions[path.Ext(file)]
		switch {
		case wanted.Kind == intent.AddedTest && !testfile.Is(file):
			for _, test := range b.Prompting.Sketch.Files {
				if testfile.Tests(test, file) {
					files = appendOnce(files, test)
				}
			}
		case wanted.Kind == intent.AddedCode && (testfile.Is(file) || prose), wanted.Kind == intent.AddedText && !prose:
		default:
			files = appendOnce(files, file)
		}
	}
	if len(files) != 1 {
		return nil, false
	}
	args := map[string]any{"path": files[0]}
	if wanted.In != "" && slices.ContainsFunc(c.places(), func(p place) bool { return p.name == wanted.In && p.file == files[0] }) {
		args["symbol"], args["where"] = wanted.In, "inside"
	}
	return c.changing(wanted.Kind == intent.AddedTest, plan.Step{Title: untrusted.Text("Add to " + files[0]), Tool: "code.insert", Args: args}), true
}

// proseExtensions are those of files for people.
var proseExtensions = map[string]bool{".md": true, ".txt": true, ".rst": true, ".adoc": true, "": true}

// createStep returns the writing of the new file that a goal wants, whose text the model
// writes when the step is ready.
func createStep(b prompt.Brief) (plan.Step, bool) {
	file, ok := intent.CreatedFile(b.Goal, b.Prompting.Sketch.Files)
	if _, err := b.Catalog.Find("fs.write"); err != nil || !ok || len(b.Looked) != len(b.Looks) || len(b.Prompting.Sketch.Near) > 0 || intent.WantsTests(b.Goal) {
		return plan.Step{}, false
	}
	step := writeStep(b, file, "")
	step.Title = untrusted.Text("Write " + file)
	delete(step.Args, "text")
	return step, true
}

// mostEdited is how many files a plan by rule changes.
const mostEdited = 4

// editSteps returns the patches of the files that a goal names which only wants these
// changed, and the run of the tests. The model writes what changes when a step is ready.
func editSteps(b prompt.Brief) (steps []plan.Step, ok bool) {
	if _, err := b.Catalog.Find("fs.patch"); err != nil || !intent.EditsInPlace(b.Goal) || len(b.Looked) != len(b.Looks) {
		return nil, false
	}
	c := completion{brief: b}
	files := c.files()
	named := slices.ContainsFunc(c.places(), func(p place) bool { return testfile.Is(p.file) })
	if named { // that test says what is wrong elsewhere, and whether it is right
		files = files[:0]
		for _, item := range b.Looked {
			if at, _ := item.Args["path"].(string); item.Tool == "fs.read" && !testfile.Is(at) && fileText(item) != "" {
				files = appendOnce(files, at)
			}
		}
	}
	if len(files) == 0 || len(files) > mostEdited || intent.NamesNew(b.Goal, b.Prompting.Sketch.Files) {
		return nil, false
	}
	patches := make([]plan.Step, len(files))
	for i, file := range files {
		patches[i] = plan.Step{Title: untrusted.Text("Change " + file), Tool: "fs.patch", Args: map[string]any{"path": file}}
	}
	return c.changing(named, patches...), true
}

// files are those that were read whole since the goal names them or something in them.
func (c *completion) files() []string {
	var files []string
	for _, item := range c.brief.Looked {
		if at, _ := item.Args["path"].(string); item.Tool == "fs.read" && item.Args["limit"] == nil && fileText(item) != "" && names(c.brief, at) {
			files = appendOnce(files, at)
		}
	}
	changed := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return intent.OnlyRead(c.brief.Goal, f) })
	if len(changed) > 0 {
		return changed
	}
	return files
}

// changing returns steps that come after the looks, each after all looks. It adds the run
// of the tests if it is needed or the goal wants it.
func (c *completion) changing(tested bool, changes ...plan.Step) []plan.Step {
	var looks []string
	for _, look := range c.brief.Looks {
		looks = append(looks, look.Index)
	}
	for i := range changes {
		changes[i].Index, changes[i].Executor = strconv.Itoa(len(looks)+i+1), plan.ExecutorTool
		changes[i].DependsOn = slices.Clone(looks)
	}
	c.steps = changes
	c.removeDeclared()
	c.aim()
	if c.addTests(); tested && !c.checks(c.steps[len(c.steps)-1]) {
		c.steps = append(c.steps, plan.Step{Title: "Run the tests", Executor: plan.ExecutorTool, Tool: "test.run", Args: map[string]any{}})
	}
	if last := len(c.steps) - 1; c.checks(c.steps[last]) {
		for _, s := range c.steps[:last] {
			c.steps[last].DependsOn = append(c.steps[last].DependsOn, s.Index)
		}
		c.steps[last].Index = strconv.Itoa(len(looks) + last + 1)
	}
	return c.steps
}

// names reports whether the goal names a file, its folder or a declaration in it. Other
// files were only looked at since they hold words of the goal.
func names(b prompt.Brief, file string) bool {
	goal, base, folder := strings.ToLower(b.Goal), path.Base(file), path.Base(path.Dir(file))
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.Contains(goal, strings.ToLower(base)) || folder != "." && strings.Contains(goal, strings.ToLower(folder)) ||
		stem == strings.ToUpper(stem) && strings.Contains(goal, strings.ToLower(stem)) || // such as README
		slices.ContainsFunc(b.Prompting.Sketch.Named, func(n string) bool { return strings.Contains(n, ", "+file+":") })
}

// fileText returns the text of a file that a step has read whole.
func fileText(item plan.HistoryItem) string {
	if text, ok := item.Result.(string); ok {
		return text
	}
	return string(item.Text)
}

// maxComments is how many comments a plan by rule writes.
const maxComments = 12

// commentSteps returns a step for each declaration of a file that lacks the comment that
// the goal wants, and the run of the tests. The steps follow one another, since each
// changes the file. The model writes the words of each comment when its step is ready.
func commentSteps(b prompt.Brief) (steps []plan.Step, ok bool) {
	form, wanted := intent.CommentsWanted(b.Goal)
	if !wanted || len(b.Looks) != 2 || len(b.Looked) != 2 {
		return nil, false
	}
	if _, err := b.Catalog.Find("code.comment"); err != nil {
		return nil, false
	}
	symbols := b.Looked[1]
	names, ok := intent.Uncommented(symbols, form)
	if !ok || len(names) > maxComments || b.MaxSteps > 0 && len(names)+len(b.Looks)+1 > b.MaxSteps {
		return nil, false
	}
	add := func(title, tool string, args map[string]any) {
		s := plan.Step{
			Index: strconv.Itoa(len(b.Looks) + len(steps) + 1), Title: untrusted.Text(title), Executor: plan.ExecutorTool, Tool: tool, Args: args, DependsOn: []string{symbols.Index},
		}
		if len(steps) > 0 {
			s.DependsOn = []string{steps[len(steps)-1].Index}
		}
		steps = append(steps, s)
	}
	for _, name := range names {
		add("Describe "+name, "code.comment", map[string]any{"path": symbols.Args["path"], "symbol": name})
	}
	if _, err := b.Catalog.Find("test.run"); err == nil && intent.WantsTests(b.Goal) && len(steps) > 0 {
		add("Run the tests", "test.run", map[string]any{})
	}
	return steps, true
}
