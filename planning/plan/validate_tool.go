package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replan/internal/english"
)

func (c *checker) checkTool(path string, s Step) {
	if s.Tool == "" {
		c.fault(CodeMissingTool, path, s.Index, "step %s names no tool%s", s.Index, misspelled(s.Extra, "tool"))
		return
	}
	if calls, ok := s.Extra["tool_calls"].([]any); ok && len(calls) > 1 {
		c.warn(CodeIgnoredToolCalls, path+"/tool_calls", s.Index, "step %s lists %d calls, and only %s is made", s.Index, len(calls), s.Tool)
	}
	tool := c.checkCall(plannedCall{referrer: referrer{"step " + s.Index, s.Index, s.ForEach}, path: path, tool: s.Tool, args: s.Args, completed: true})
	if s.Retries > 0 && tool != nil && !tool.ReadOnly {
		c.warn(CodeIgnoredRetries, path+"/retries", s.Index, "step %s asks for retries, but %s is not read-only and is never tried again by itself", s.Index, s.Tool)
	}
}

// plannedCall is a call of a tool in a plan.
type plannedCall struct {
	referrer
	path      string // JSON Pointer to the object with tool and args
	tool      string
	args      map[string]any
	completed bool // a model may fill in missing args
}

// checkCall checks the tool and the args of a call. It returns nil if it knows no such
// tool.
func (c *checker) checkCall(call plannedCall) *Tool {
	if err := checkRoom(call.args, nil); err != nil {
		c.fault(CodeBadArgs, call.path+"/args", call.step, "%s: its arguments have %v", call.who, err)
	}
	if !c.rules.CheckTools {
		if why := nameProblem(call.tool, maxToolName); why != "" && !c.rules.Named {
			c.fault(CodeUnknownTool, call.path+"/tool", call.step, "%s: the name of its tool %s", call.who, why)
		}
		return nil
	}
	tool := c.lookUp(call.tool)
	if tool.missing != "" {
		c.add(Fault{Code: tool.code, Path: call.path + "/tool", Step: call.step, Message: call.who + ": " + tool.missing, Advice: tool.advice})
		return nil
	}
	if tool.unusable != nil && !tool.reported {
		tool.reported = true
		c.warn(CodeUncheckedArgs, call.path+"/tool", call.step, "the args of %s cannot be checked: %v", call.tool, tool.unusable)
	}
	c.checkArgs(call, tool.signature)
	return &tool.tool
}

// namedTool is the tool of a name in a plan.
type namedTool struct {
	missing   string // why it means no tool, with the code and the advice of that fault
	code      string
	advice    string
	tool      Tool
	signature *Signature
	unusable  error // why there is no signature
	reported  bool  // the missing signature was reported
	output    *Output
	compiled  bool // output was
}

// fields returns what is known of the tool's results. Most plans never ask.
func (t *namedTool) fields() *Output {
	if !t.compiled {
		t.compiled = true
		t.output, _ = NewOutput(t.tool) // of an unusable schema nothing is known
	}
	return t.output
}

// lookUp finds a tool, each name once.
func (c *checker) lookUp(name string) *namedTool {
	named, known := c.tools[name]
	if known {
		return named
	}
	tool, err := c.rules.Catalog.Find(name)
	var ambiguous *AmbiguousToolError
	switch {
	case errors.As(err, &ambiguous):
		named = &namedTool{code: CodeAmbiguousTool, missing: err.Error()}
	case err != nil:
		named = &namedTool{code: CodeUnknownTool, missing: err.Error()}
		if changed, err := c.rules.Withheld.Find(name); err == nil {
			named = &namedTool{code: CodeChangedTool, missing: (&ChangedToolError{changed}).Error(), advice: "only the user can accept it: use other tools"}
		}
	case name != tool.QualifiedName():
		named = c.lookUp(tool.QualifiedName()) // the schema is compiled once, the warning given once
	default:
		named = &namedTool{tool: tool}
		named.signature, named.unusable = NewSignature(tool)
	}
	c.tools[name] = named
	return named
}

func (c *checker) checkArgs(call plannedCall, signature *Signature) {
	args := call.args
	if args == nil && call.completed && c.rules.Planned || signature.accepts(args) {
		return
	}
	at := call.path + "/args"
	if args == nil {
		at = call.path
	}
	partial := call.completed && c.rules.PartialArgs && (args == nil || len(args) > 0 || !c.rules.EmptyArgs)
	fitted, coercions := signature.coercePlanned(args)
	if c.rules.Strict {
		fitted = args
	}
	for _, fit := range coercions {
		switch {
		case !c.rules.Strict:
			c.warn(CodeCoerced, at+fit.Arg, call.step, "%s calls %s with another %s than it asks for; %s", call.who, call.tool, fit.Differs(), fit)
		case fit.onlyRespelled(): // the schema does not mind
			c.fault(CodeBadArgs, at+fit.Arg, call.step, "%s calls %s with bad args: %s", call.who, call.tool, fit.refusal())
		}
	}
	faults := signature.check(fitted, argsCheck{partial: partial, strict: c.rules.Strict})
	if partial && !c.rules.Planned && len(faults) == 0 {
		if missing := signature.Missing(args); len(missing) > 0 {
			lacks := "the args"
			if args != nil {
				lacks = "the " + english.List(missing, "and")
			}
			c.warn(CodeArgsFromModel, call.path, call.step, "%s leaves out %s of %s: a model fills that in when the step is ready", call.who, lacks, call.tool)
		}
	}
	for _, f := range faults {
		c.fault(CodeBadArgs, JSONPointer(at, f.path...), call.step, "%s calls %s with bad args: %s", call.who, call.tool, signature.clause(f.message, f))
	}
}

func (c *checker) checkProfile(path string, s Step) {
	if c.rules.Profiles == nil && !c.rules.Planned || slices.Contains(c.rules.Profiles, s.Profile) {
		return
	}
	known := "there are none"
	if len(c.rules.Profiles) > 0 {
		known = "there is " + english.Some(c.rules.Profiles, mostNamed, "")
	}
	switch {
	case s.Profile == "":
		c.fault(CodeUnknownProfile, path, s.Index, "step %s is for an agent and names no profile; %s", s.Index, known)
	case slices.Contains(c.rules.Toolless, s.Profile):
		c.fault(CodeUnknownProfile, path+"/profile", s.Index, "step %s names the profile %q, whose sub-agent has to call tools, which this model cannot; %s", s.Index, s.Profile, known)
	default:
		c.fault(CodeUnknownProfile, path+"/profile", s.Index, "step %s names the profile %q, which does not exist; %s", s.Index, s.Profile, known)
	}
}

// absent returns the part of a reference of the step at position i that leads nowhere,
// whatever the tools return. It is nil if there is none, or it is not certain.
func (c *checker) absent(i int, r Reference) *absence {
	if !c.rules.CheckTools || len(r.Path) == 0 || r.Malformed != "" {
		return nil
	}
	at, produced := c.producerFor(i, r)
	if !produced {
		if value, given := c.plan.Variables[r.Name]; given {
			return absentFrom(value, r.Path)
		}
		return nil
	}
	if value, known := c.rules.Known[r.Name]; known {
		return absentFrom(value, r.Path)
	}
	if c.plan.Steps[at].ForEach != nil {
		if _, err := strconv.Atoi(r.Path[0]); err != nil {
			return &absence{within: typeName([]any{})}
		}
		return nil
	}
	if producer := &c.plan.Steps[at]; ExecutorOf(*producer) == ExecutorTool {
		return c.absentFromResult(producer.Tool, r)
	}
	return absentFrom("", r.Path) // a model writes text
}

// afterwards is in place of a position for references that are filled in after a step, or
// after all. They may mean the results of any.
const afterwards = -1

// producerFor returns the position of the step whose result a reference of the step at
// position i means. ok is false if it means a variable of the plan, or nothing.
func (c *checker) producerFor(i int, r Reference) (at int, ok bool) {
	at, ok = c.producers[r.Name]
	return at, ok && (i == afterwards || c.plan.Steps[at].Index != c.plan.Steps[i].Index)
}

// absentFromResult is absent for a result of a tool, each reference once.
func (c *checker) absentFromResult(tool string, r Reference) *absence {
	output := c.lookUp(tool).fields()
	if output == nil {
		return nil
	}
	a, known := c.absences[r.Text]
	if !known {
		a = output.absent(r.Path)
		if t := c.lookUp(tool).tool; a != nil {
			a.seen = len(t.OutputSchema) == 0
		}
		if a != nil && a.seen && a.at == 0 && a.within == typeName("") {
			a = nil // a text result is parsed if it is JSON, see the values of steps
		}
		c.absences[r.Text] = a
	}
	return a
}

// unknownField tells of a reference to a field that will not be there.
func (c *checker) unknownField(at string, i int, by referrer, r Reference, a *absence) {
	field, within := r.Path[a.at], "the variable "+strconv.Quote(r.Name)
	if producer, produced := c.producerFor(i, r); produced {
		within = "the result of step " + c.from.name(c.plan, producer)
	}
	if a.at > 0 {
		within = strings.Join(r.Path[:a.at], ".") + " in " + within
	}
	f := Fault{Code: CodeUnknownField, Path: at, Step: by.step, Advice: "refer to a field that is there, or to ${" + r.Name + "} as a whole"}
	f.Message = fmt.Sprintf("%s refers to %s, but %s ", by.who, r, within)
	switch {
	case len(a.there) > 0:
		f.Message += fmt.Sprintf("has no field %q, only %s%s", field, english.Some(a.there, mostNamed, ""), english.DidYouMean(field, a.there))
	case a.within == typeName([]any{}):
		f.Message += fmt.Sprintf("is a list, and %q is no position in it", field)
		if _, err := strconv.Atoi(field); err != nil {
			path := slices.Insert(slices.Clone(r.Path), a.at, "0")
			f.Message += "; did you mean ${" + r.Name + "." + strings.Join(path, ".") + "}?"
		}
	case a.within == "":
		f.Message += fmt.Sprintf("has no field %q", field)
	default:
		f.Message += fmt.Sprintf("is %s, which has no field %q", orEmpty(a.within), field)
	}
	if a.seen {
		c.warn(f.Code, f.Path, f.Step, "%s; that is what earlier runs have seen, the server declares nothing", f.Message)
		return
	}
	c.add(f)
}
