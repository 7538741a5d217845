package planning

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"replan/internal/placeholder"
	"replan/internal/testfile"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// completion adds by rule what a model's plan lacks. These are the steps that looked at
// what the goal names, the steps that apply and check a change, and their order.
type completion struct {
	brief prompt.Brief
	steps []plan.Step
}

// complete returns the steps of a plan with all that rules add.
func complete(b prompt.Brief, steps []plan.Step) []plan.Step {
	c := completion{brief: b, steps: slices.Clone(steps)}
	c.lead()
	c.correctPaths()
	if b.For(prompt.PurposePlan).Prompting.Small {
		c.patchFiles()
		c.dropRepeats()
		c.dropStrays()
		c.dropCommits()
		c.applyTransforms()
		c.joinPatches()
		c.patchAll()
		c.patchOnly()
		c.removeDeclared()
		c.aim()
		c.dropTests()
		c.addTests()
		c.order()
		c.skipMisses()
		c.number()
	} else {
		c.applyTransforms()
	}
	c.leaveOut()
	return c.steps
}

// knows reports whether a path exists, and whether that is known.
func (c *completion) knows(at string) (exists, known bool) {
	sketch := c.brief.Prompting.Sketch
	if len(sketch.Near) > 0 || len(sketch.Files) == 0 {
		return false, false
	}
	clean := strings.TrimPrefix(path.Clean("/"+at), "/")
	return clean == "" || slices.ContainsFunc(sketch.Files, func(f string) bool { return f == clean || strings.HasPrefix(f, clean+"/") }), true
}

// pathOf returns the path that a step is about, "" if it has none or it is not known yet.
func pathOf(s plan.Step) string {
	at, _ := s.Args["path"].(string)
	if strings.Contains(at, "${") {
		return ""
	}
	return at
}

// patchFiles makes a step that writes a whole file that exists patch it. So does one that
// removes a file though the goal names a declaration in it. A small model rewrites files
// from memory, and removes a file for a line.
func (c *completion) patchFiles() {
	for i, s := range c.steps {
		at := pathOf(s)
		exists, _ := c.knows(at)
		if at == "" || !exists || s.Executor != plan.ExecutorTool {
			continue
		}
		removes := s.Tool == "fs.remove" && !strings.Contains(c.brief.Goal, path.Base(at)) && slices.ContainsFunc(c.brief.Prompting.Sketch.Named, func(n string) bool { return strings.Contains(n, ", "+at+":") })
		if s.Tool != "fs.write" && !removes {
			continue
		}
		if _, err := c.brief.Catalog.Find("fs.patch"); err == nil {
			s.Tool, s.Args = "fs.patch", map[string]any{"path": at}
			c.steps[i] = s
		}
	}
}

// dropStrays leaves out steps that read what is not there. Once all that the goal names
// was looked at, it also leaves out what no name of it calls for. Small models pad their
// plans with them.
func (c *completion) dropStrays() {
	looked := c.looked()
	drop := map[string]bool{}
	written := map[string]bool{}
	for _, s := range c.steps {
		at := pathOf(s)
		if c.changes(s) {
			written[at] = true
			continue
		}
		if !c.reads(s) || s.Tool == "code.transform" || slices.ContainsFunc(looked, func(l plan.Step) bool { return l.Index == s.Index }) {
			continue
		}
		if exists, known := c.knows(at); at != "" && known && !exists && !strings.ContainsAny(at, "*?[{") && !written[at] {
			drop[s.Index] = true
			continue
		}
		if len(looked) == 0 || intent.OnlyAsks(c.brief.Goal) {
			continue
		}
		named := false
		for _, name := range []string{"query", "symbol"} {
			word, _ := s.Args[name].(string)
			named = named || word != "" && strings.Contains(strings.ToLower(c.brief.Goal), strings.ToLower(word))
		}
		if s.Tool != "fs.read" && !named && s.Tool != "vcs.log" && s.Tool != "vcs.show" && s.Tool != "vcs.diff" {
			drop[s.Index] = true
		}
	}
	if len(drop) == 0 || len(drop) == len(c.steps) {
		return
	}
	c.steps = without(c.steps, func(s plan.Step) bool { return drop[s.Index] })
}

// dropCommits leaves out steps that commit, push or make a branch if no word of the goal can
// ask for it. Small models end their plans with them.
func (c *completion) dropCommits() {
	unasked := func(s plan.Step) bool {
		return strings.HasPrefix(s.Tool, "vcs.") && c.changes(s) && !slices.ContainsFunc([]string{"commit", "push", "branch", "check in", "check out", "checkout", "git", "switch", "merge", "publish", "release", "pull request", "version control"}, func(word string) bool {
			return strings.Contains(strings.ToLower(c.brief.Goal), word)
		})
	}
	if !slices.ContainsFunc(c.steps, func(s plan.Step) bool { return !unasked(s) }) {
		return
	}
	c.steps = without(c.steps, unasked)
}

// patchAll adds the files that a change of "both", "all" or "each" of them has left out.
func (c *completion) patchAll() {
	if !intent.WantsAll(c.brief.Goal) {
		return
	}
	at := slices.IndexFunc(c.steps, func(s plan.Step) bool { return s.Tool == "fs.patch" && pathOf(s) != "" })
	if at < 0 || slices.ContainsFunc(c.steps, func(s plan.Step) bool { return s.Tool == "fs.write" || s.Tool == "code.transform" }) {
		return
	}
	for _, look := range c.looked() {
		file := pathOf(look)
		if look.Tool != "fs.read" || slices.ContainsFunc(c.steps, func(s plan.Step) bool { return c.changes(s) && pathOf(s) == file }) {
			continue
		}
		c.steps = append(c.steps, plan.Step{
			Index: c.free(), Title: untrusted.Text("Change " + file), Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": file}, DependsOn: []string{look.Index},
		})
	}
}

// joinPatches leaves one of several changes of a file whose texts are still to be written.
// A patch would repeat the one before, or the file that was just written.
func (c *completion) joinPatches() {
	open := func(s plan.Step) bool { return s.Tool == "fs.patch" && pathOf(s) != "" && len(s.Args) == 1 }
	first := map[string]string{}
	joined := map[string]string{}
	for _, s := range c.steps {
		if s.Tool == "fs.write" && pathOf(s) != "" && first[pathOf(s)] == "" {
			first[pathOf(s)] = s.Index
		}
		if !open(s) {
			continue
		}
		if to, ok := first[pathOf(s)]; ok {
			joined[s.Index] = to
		} else {
			first[pathOf(s)] = s.Index
		}
	}
	c.steps = slices.DeleteFunc(c.steps, func(s plan.Step) bool { return joined[s.Index] != "" })
	for i, s := range c.steps {
		var needs []string
		for _, d := range s.DependsOn {
			if to := joined[d]; to != "" {
				d = to
			}
			if d != s.Index {
				needs = appendOnce(needs, d)
			}
		}
		c.steps[i].DependsOn = needs
	}
}

// patchOnly adds the change that a plan lacks if only one file can be meant. That is the
// only one that was looked at and is no test.
func (c *completion) patchOnly() {
	if !intent.WantsChange(c.brief.Goal) || slices.ContainsFunc(c.steps, c.changes) {
		return
	}
	file := ""
	for _, look := range c.looked() {
		if at := pathOf(look); look.Tool == "fs.read" && !testfile.Is(at) {
			if file != "" {
				return
			}
			file = at
		}
	}
	if file == "" {
		return
	}
	patch := plan.Step{Index: c.free(), Title: untrusted.Text("Change " + file), Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": file}, DependsOn: []string{}}
	at := slices.IndexFunc(c.steps, c.checks)
	if at < 0 {
		at = len(c.steps)
	}
	c.steps = slices.Insert(c.steps, at, patch)
}

// removeDeclared writes the arguments of a patch that deletes the only declaration that the
// goal names. fs.patch takes the first line of a declaration for the whole.
func (c *completion) removeDeclared() {
	found := c.places()
	if len(found) != 1 || !intent.Deletes(c.brief.Goal, found[0].name) {
		return
	}
	text := c.text(found[0].file)
	lines := strings.Split(text, "\n")
	if text == "" || found[0].line > len(lines) {
		return
	}
	for i, s := range c.steps {
		if s.Tool == "fs.patch" && pathOf(s) == found[0].file && len(s.Args) == 1 {
			c.steps[i].Args = map[string]any{"path": found[0].file, "old": declared(lines, found[0].line-1), "new": ""}
			return
		}
	}
}

// declared returns the line of a declaration, or, if that is all of it, the paragraph that
// it makes with its comment.
func declared(lines []string, at int) string {
	blank := func(i int) bool { return i < 0 || i >= len(lines) || strings.TrimSpace(lines[i]) == "" }
	first := at
	for first > 0 && (strings.HasPrefix(lines[first-1], "//") || strings.HasPrefix(lines[first-1], "#")) {
		first--
	}
	if line := strings.TrimSpace(lines[at]); first == at || !blank(first-1) || !blank(at+1) || !closed(line) || strings.HasSuffix(line, ":") {
		return lines[at]
	}
	old := strings.Join(lines[first:at+1], "\n")
	if first > 0 {
		old = "\n\n" + old // with the blank line before it
	}
	return old
}

// free returns an index that no step has.
func (c *completion) free() string {
	next := 0
	for _, s := range c.steps {
		if n, err := strconv.Atoi(s.Index); err == nil {
			next = max(next, n)
		}
	}
	return strconv.Itoa(next + 1)
}

// number numbers the steps from 1 without gaps.
func (c *completion) number() {
	to := make(map[string]string, len(c.steps))
	for i, s := range c.steps {
		to[s.Index] = strconv.Itoa(i + 1)
	}
	for i, s := range c.steps {
		needs := make([]string, 0, len(s.DependsOn))
		for _, d := range s.DependsOn {
			if n, ok := to[d]; ok {
				d = n
			}
			needs = append(needs, d)
		}
		c.steps[i].Index, c.steps[i].DependsOn = to[s.Index], needs
	}
}

// leaveOut leaves out text that stands for content that is not written yet, so that it is
// written when the step is ready.
func (c *completion) leaveOut() {
	for i, s := range c.steps {
		if s.Executor != plan.ExecutorTool || !c.changes(s) {
			continue
		}
		var args map[string]any
		for name, value := range s.Args {
			text, ok := value.(string)
			if !ok || !slices.Contains([]string{"text", "old", "new", "value"}, name) {
				continue
			}
			if _, stands := placeholder.Find(text, pathOf(s)); stands || name == "text" && strings.TrimSpace(text) == "" {
				if args == nil {
					args = maps.Clone(s.Args)
				}
				delete(args, name)
			}
		}
		if s.Tool == "fs.patch" && s.Args["old"] != nil && (s.Args["old"] == s.Args["new"] || !c.stands(s)) {
			args = maps.Clone(s.Args)
			delete(args, "old")
			delete(args, "new")
		}
		if args != nil {
			c.steps[i].Args = args
		}
	}
}

// stands reports whether the text that a patch replaces may be in its file: it is, or the
// file was not looked at.
func (c *completion) stands(s plan.Step) bool {
	old, _ := s.Args["old"].(string)
	for _, item := range c.brief.Looked {
		if item.Tool != "fs.read" || item.Args["path"] != s.Args["path"] {
			continue
		}
		text, whole := item.Result.(string)
		return !whole || strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(old), " "))
	}
	return true
}

// reads reports whether a step only reads.
func (c *completion) reads(s plan.Step) bool {
	tool, err := c.brief.Catalog.Find(s.Tool)
	return s.Executor == plan.ExecutorTool && err == nil && tool.ReadOnly
}

// checks reports whether a step runs the tests or the linter.
func (c *completion) checks(s plan.Step) bool {
	return s.Executor == plan.ExecutorTool && (s.Tool == "test.run" || s.Tool == "test.lint")
}

// changes reports whether a step may change something.
func (c *completion) changes(s plan.Step) bool {
	return s.Executor == plan.ExecutorAgent || s.Executor == plan.ExecutorTool && !c.reads(s) && !c.checks(s)
}

// lead puts the steps that looked at what the goal names before the others. A step of the
// model that repeats one of them is left out.
func (c *completion) lead() {
	looked := c.looked()
	if len(looked) == 0 {
		return
	}
	own := map[string]string{} // index in the reply → index in the plan
	var rest []plan.Step
	shift := 0
	for _, s := range c.steps {
		if at := slices.IndexFunc(looked, func(l plan.Step) bool { return sameCall(l, s) }); at >= 0 {
			own[s.Index] = looked[at].Index
			looked[at].ResultVariable, looked[at].Synthesize = cmp.Or(looked[at].ResultVariable, s.ResultVariable), looked[at].Synthesize || s.Synthesize
			looked[at].ExpectedOutcome = cmp.Or(looked[at].ExpectedOutcome, s.ExpectedOutcome)
			continue
		}
		if n, err := strconv.Atoi(s.Index); err != nil || n <= len(c.brief.Looks) {
			shift = len(c.brief.Looks)
		}
		rest = append(rest, s)
	}
	for _, s := range rest {
		own[s.Index] = s.Index
		if n, err := strconv.Atoi(s.Index); err == nil {
			own[s.Index] = strconv.Itoa(n + shift)
		}
	}
	for i, s := range rest {
		rest[i].Index = own[s.Index]
		rest[i].DependsOn = nil
		for _, d := range s.DependsOn {
			if to, ok := own[d]; ok {
				d = to
			}
			rest[i].DependsOn = appendOnce(rest[i].DependsOn, d)
		}
		if c.changes(s) || s.Executor == plan.ExecutorSelf { // its model has to see the results
			for _, l := range looked {
				rest[i].DependsOn = appendOnce(rest[i].DependsOn, l.Index)
			}
		}
		slices.SortFunc(rest[i].DependsOn, plan.CompareIndices)
	}
	c.steps = append(looked, rest...)
}

// looked returns the looks that are done.
func (c *completion) looked() []plan.Step {
	var done []plan.Step
	for _, look := range c.brief.Looks {
		if slices.ContainsFunc(c.brief.Looked, func(item plan.HistoryItem) bool { return item.Index == look.Index }) {
			done = append(done, look)
		}
	}
	return done
}

// sameCall reports whether two steps make one call.
func sameCall(a, b plan.Step) bool {
	return a.Executor == plan.ExecutorTool && b.Executor == plan.ExecutorTool && a.Tool == b.Tool && b.Args != nil && plan.CanonicalJSON(a.Args) == plan.CanonicalJSON(b.Args)
}

func appendOnce(list []string, one string) []string {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

// correctPaths gives a file its folder if only one file of the workspace has that name.
func (c *completion) correctPaths() {
	files := c.brief.Prompting.Sketch.Files
	if len(c.brief.Prompting.Sketch.Near) > 0 { // not all are known
		return
	}
	for i, s := range c.steps {
		at, ok := s.Args["path"].(string)
		if !ok || at == "" || strings.Contains(at, "${") || s.Tool == "fs.write" || s.Tool == "fs.mkdir" {
			continue
		}
		clean := strings.TrimPrefix(path.Clean("/"+at), "/")
		known := slices.ContainsFunc(files, func(f string) bool { return f == clean || strings.HasPrefix(f, clean+"/") })
		var named []string
		for _, f := range files {
			if path.Base(f) == path.Base(clean) || strings.TrimSuffix(f, path.Ext(f)) == clean {
				named = append(named, f)
			}
		}
		if known || clean == "" || len(named) != 1 || slices.ContainsFunc(c.steps[:i], func(w plan.Step) bool { return w.Tool == "fs.write" && w.Args["path"] == at }) {
			continue
		}
		args := map[string]any{}
		for name, value := range s.Args {
			args[name] = value
		}
		args["path"] = named[0]
		c.steps[i].Args = args
	}
}

// applyTransforms adds the step that applies a computed change that no other step applies.
func (c *completion) applyTransforms() {
	if _, err := c.brief.Catalog.Find("fs.patch"); err != nil {
		return
	}
	for i := 0; i < len(c.steps); i++ {
		s := c.steps[i]
		if s.Tool != "code.transform" || s.Executor != plan.ExecutorTool || c.applied(s) {
			continue
		}
		if s.ResultVariable == "" {
			s.ResultVariable = "change" + s.Index
			c.steps[i] = s
		}
		patch := plan.Step{
			Index: c.free(), Title: "Apply the change" + untrusted.Text(": "+string(s.Title)), Executor: plan.ExecutorTool, Tool: "fs.patch",
			Args:      map[string]any{"diff": "${" + s.ResultVariable + ".diff}", "hashes": "${" + s.ResultVariable + ".hashes}"},
			DependsOn: []string{s.Index},
		}
		for k, other := range c.steps { // what waits for the change waits for its application
			if k != i && slices.Contains(other.DependsOn, s.Index) {
				c.steps[k].DependsOn = appendOnce(slices.DeleteFunc(slices.Clone(other.DependsOn), func(d string) bool { return d == s.Index }), patch.Index)
			}
		}
		c.steps = slices.Insert(c.steps, i+1, patch)
		i++
	}
}

// applied reports whether another step refers to the result of a step, or patches right
// after it without saying what.
func (c *completion) applied(s plan.Step) bool {
	for _, other := range c.steps {
		for _, ref := range plan.References(other.Args) {
			if s.ResultVariable != "" && ref.Name == s.ResultVariable {
				return true
			}
		}
		if other.Tool == "fs.patch" && slices.Contains(other.DependsOn, s.Index) && other.Args["diff"] == nil && other.Args["old"] == nil {
			return true
		}
	}
	return false
}

// dropRepeats leaves out a step that repeats the call of an earlier one with nothing
// changed in between.
func (c *completion) dropRepeats() {
	var kept []plan.Step
	instead := map[string]string{}
	for _, s := range c.steps {
		at := slices.IndexFunc(kept, func(k plan.Step) bool { return c.reads(s) && sameCall(k, s) })
		if at >= 0 && !slices.ContainsFunc(kept[at:], c.changes) {
			instead[s.Index] = kept[at].Index
			continue
		}
		kept = append(kept, s)
	}
	for i, s := range kept {
		var needs []string
		for _, d := range s.DependsOn {
			if to, ok := instead[d]; ok {
				d = to
			}
			if d != s.Index {
				needs = appendOnce(needs, d)
			}
		}
		kept[i].DependsOn = needs
	}
	c.steps = kept
}

// skipMisses lets a plan that only reads go on without what a step does not find, but for
// its first step. What the other steps find is often enough for the answer. A new plan of
// a small model is seldom better.
func (c *completion) skipMisses() {
	if !intent.OnlyAsks(c.brief.Goal) || slices.ContainsFunc(c.steps, func(s plan.Step) bool { return !c.reads(s) }) {
		return
	}
	for i := 1; i < len(c.steps); i++ {
		if c.steps[i].OnFailure == plan.OnFailureDefault {
			c.steps[i].OnFailure = plan.OnFailureSkip
		}
	}
}

// dropTests leaves out a run of the tests that the goal does not ask for in a project that
// has none: it would fail.
func (c *completion) dropTests() {
	sketch := c.brief.Prompting.Sketch
	if len(sketch.Near) > 0 || len(sketch.Files) == 0 || intent.WantsTests(c.brief.Goal) || slices.ContainsFunc(sketch.Files, testfile.Is) {
		return
	}
	c.steps = without(c.steps, func(s plan.Step) bool { return s.Tool == "test.run" && s.Executor == plan.ExecutorTool })
}

// without returns steps without some of them, and without the waiting for those.
func without(steps []plan.Step, out func(plan.Step) bool) []plan.Step {
	removed := map[string]bool{}
	for _, s := range steps {
		removed[s.Index] = out(s)
	}
	steps = slices.DeleteFunc(steps, func(s plan.Step) bool { return removed[s.Index] })
	for i, s := range steps {
		steps[i].DependsOn = slices.DeleteFunc(slices.Clone(s.DependsOn), func(d string) bool { return removed[d] })
	}
	return steps
}

// addTests adds a run of the tests that the goal asks for.
func (c *completion) addTests() {
	_, err := c.brief.Catalog.Find("test.run")
	if err != nil || !intent.WantsTests(c.brief.Goal) || !slices.ContainsFunc(c.steps, c.changes) || slices.ContainsFunc(c.steps, c.checks) {
		return
	}
	c.steps = append(c.steps, plan.Step{Index: c.free(), Title: "Run the tests", Executor: plan.ExecutorTool, Tool: "test.run", Args: map[string]any{}})
}

// order makes a change wait for all that was read before it and for the change of the same
// file before it. A check waits for all changes before it. Steps that only read wait for
// nothing that they do not refer to.
func (c *completion) order() {
	for i, s := range c.steps {
		refers := len(plan.References(s.Args)) > 0
		missing := s.Args == nil
		if tool, err := c.brief.Catalog.Find(s.Tool); err == nil && s.Executor == plan.ExecutorTool {
			missing = missing || len(plan.MissingArgs(tool, s.Args)) > 0
		}
		var needs []string
		for _, before := range c.steps[:i] {
			listed := slices.Contains(s.DependsOn, before.Index)
			switch {
			case c.changes(s) && (c.reads(before) || listed || c.changes(before) && sameFile(before, s)),
				c.checks(s) && (c.changes(before) || listed && !c.reads(before)),
				!c.changes(s) && !c.checks(s) && listed && (refers || missing || c.changes(before)):
				needs = append(needs, before.Index)
			}
		}
		if needs == nil {
			needs = []string{}
		}
		c.steps[i].DependsOn = needs
	}
}

// sameFile reports whether two changes may concern one file.
func sameFile(a, b plan.Step) bool {
	one, ok := a.Args["path"].(string)
	other, ok2 := b.Args["path"].(string)
	return !ok || !ok2 || one == other
}

// idle returns the fault of a small model's plan that changes nothing though the goal wants
// a change.
func idle(b prompt.Brief, p plan.Plan) []plan.Fault {
	c := completion{brief: b}
	if !b.For(prompt.PurposePlan).Prompting.Small || !intent.WantsChange(b.Goal) || slices.ContainsFunc(p.Steps, c.changes) {
		return nil
	}
	return []plan.Fault{{
		Code: plan.CodeNoSteps, Path: "/steps",
		Message: "no step changes a file, and the goal asks for a change", Advice: "add a step with fs.patch or fs.write",
	}}
}

// unwanted returns the faults of steps that change something though the goal only asks. Of
// another server's tool that nothing is known of, the rules of the run decide.
func unwanted(b prompt.Brief, p plan.Plan) []plan.Fault {
	if !intent.OnlyAsks(b.Goal) {
		return nil
	}
	c := completion{brief: b}
	var faults []plan.Fault
	for i, s := range p.Steps {
		tool, err := b.Catalog.Find(s.Tool)
		if s.Gate || !c.changes(s) || s.Executor != plan.ExecutorTool || err != nil || !tool.Trusted && !tool.Annotated && !tool.Destructive {
			continue
		}
		faults = append(faults, plan.Fault{
			Code: plan.CodeUnwantedEffect, Path: plan.JSONPointer("/steps", strconv.Itoa(i), "tool"), Step: s.Index,
			Message: fmt.Sprintf("step %s calls %s, which may change something, and the goal only asks", plan.OneLine(s.Index, 40), plan.OneLine(s.Tool, 80)),
			Advice:  "use only tools that read",
		})
	}
	return faults
}
