package planning

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// completion adds by rule what a model's plan lacks: the steps that looked at what the goal
// names, the steps that apply and check a change, and their order.
type completion struct {
	brief prompt.Brief
	steps []plan.Step
}

// complete returns the steps of a plan with all that rules add.
func complete(b prompt.Brief, steps []plan.Step) []plan.Step {
	c := completion{brief: b, steps: slices.Clone(steps)}
	c.lead()
	c.correctPaths()
	c.applyTransforms()
	if b.For(prompt.PurposePlan).Prompting.Small {
		c.dropRepeats()
		c.addTests()
		c.order()
	}
	return c.steps
}

// reads reports whether a step only reads.
func (c *completion) reads(s plan.Step) bool {
	tool, err := c.brief.Catalogue.Find(s.Tool)
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
	if _, err := c.brief.Catalogue.Find("fs.patch"); err != nil {
		return
	}
	next := 0
	for _, s := range c.steps {
		if n, err := strconv.Atoi(s.Index); err == nil {
			next = max(next, n)
		}
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
		next++
		patch := plan.Step{
			Index: strconv.Itoa(next), Title: "Apply the change" + untrusted.Text(": "+string(s.Title)), Executor: plan.ExecutorTool, Tool: "fs.patch",
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

// addTests adds a run of the tests that the goal asks for.
func (c *completion) addTests() {
	_, err := c.brief.Catalogue.Find("test.run")
	if err != nil || !intent.WantsTests(c.brief.Goal) || !slices.ContainsFunc(c.steps, c.changes) || slices.ContainsFunc(c.steps, c.checks) {
		return
	}
	next := 0
	for _, s := range c.steps {
		if n, err := strconv.Atoi(s.Index); err == nil {
			next = max(next, n)
		}
	}
	c.steps = append(c.steps, plan.Step{Index: strconv.Itoa(next + 1), Title: "Run the tests", Executor: plan.ExecutorTool, Tool: "test.run", Args: map[string]any{}})
}

// order makes a change wait for all that was read before it and for the change of the same
// file before it, and a check for all changes before it. Steps that only read wait for
// nothing that they do not refer to.
func (c *completion) order() {
	producers := map[string]bool{}
	for i, s := range c.steps {
		refers := len(plan.References(s.Args)) > 0
		missing := s.Args == nil
		if tool, err := c.brief.Catalogue.Find(s.Tool); err == nil && s.Executor == plan.ExecutorTool {
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
		producers[s.Index] = true
	}
}

// sameFile reports whether two changes may concern one file.
func sameFile(a, b plan.Step) bool {
	one, ok := a.Args["path"].(string)
	other, ok2 := b.Args["path"].(string)
	return !ok || !ok2 || one == other
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
		tool, err := b.Catalogue.Find(s.Tool)
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
