package prompt

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"replan/internal/english"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// prompts holds every prompt under its file name. It is never written to.
var prompts = template.Must(template.ParseFS(promptFiles, "prompts/*.md"))

// The data of the prompt templates. Fields that are not lists may be empty.
// Untrusted text is fenced already.
type (
	analysisData struct {
		Force   bool     // a direct answer is not wanted
		Bound   string   // how many steps there may be, a sentence
		Results []string // of the first steps, which looked at what the goal names
		First   string   // the number of the next step, a sentence; empty without results

		Acceptance string // how the checks of the goal are written; empty if there are none
	}
	reviewData struct {
		Analysis string   // of phase 1
		Results  []string // of the first steps
	}
	executionData struct {
		Analysis, Review string // of phases 1 and 2
		Bound            string
		Depth            string   // how many steps are right, a sentence
		Acceptance       string   // how the checks of the goal are written; empty if there are none
		Results          []string // of the first steps, which looked at what the goal names
		First            string   // the number of the next step, a sentence; empty without results
	}
	toolsData struct {
		Tools string // the names of tools
		Most  int    // how many may be named
	}
	repairData struct {
		Faults    []string // a clause each
		Reply     string   // the faulty one; empty where none came
		Partly    string   // one that broke off; empty if none did
		Analysis  string   // of phase 1
		Review    string   // of phase 2
		Situation string   // of a replan
		Bound     string
		Results   []string // of the first steps
		First     string   // the number of the next step, a sentence; empty without results
	}
	replanData struct {
		Situation string // the failure or the user's words, the finished work, the remaining work
		Failed    bool   // a step did; else the user's word calls for a new plan
		InDoubt   bool   // a step may have taken effect
		Bound     string
	}
	situationData struct {
		Failed, Error, Remarks, Remaining string
		Acceptance                        string   // the checks of the goal
		Done                              []string // the ended steps and their results
	}
	stepData struct {
		Index, Title, Expected string
		Plan                   string   // the plan's steps, a line each
		Inputs                 []string // its dependencies and their results
	}
	argsData struct {
		stepData
		Tool, About, Schema string // the tool, its server's description, its input schema
		Given               string // the arguments that are known already
		Hint                string // how the arguments of this tool are written; empty if nothing is special
		Refused             string // arguments that the tool refused, and why; empty for none
	}
	agentData struct {
		stepData
		Goal    string // the user's
		Outline string // of the sub-agent's own plan
	}
	synthesisData struct {
		Items    []string // the steps whose results count
		Plan     string   // the other steps that were done, a line each
		Evidence string   // of a plan with checks: what they show, a line each
		Small    bool     // the model has few parameters
	}
	planData struct {
		Tools       string // the built-in operators, a line each
		Small       bool   // the model has few parameters
		Profiles    string // the sub-agents, a line each
		Read, Write string // the names of the tools of the memory
	}
	aboutData struct {
		Goal     string   // of the run that a side question is about; empty for none
		State    string   // of that run
		Plan     string   // its steps, a line each
		Waits    string   // the call that the user is asked to allow
		Results  []string // of the steps that have ended
		Question string
		Tools    bool // tools can be called
		Small    bool // the model has few parameters
	}
	acceptanceData struct {
		Search string // the name of the tool that searches in files
	}
	noData struct{}
)

// replaceable is every prompt that a profile may replace, by its name, with data
// to try one out on.
var replaceable = []struct {
	name   string
	sample any
}{
	{"analysis", analysisData{true, "b", []string{"r"}, "f", "c"}},
	{"review", reviewData{"a", []string{"r"}}},
	{"tools", toolsData{"t", 1}},
	{"execution", executionData{"a", "r", "b", "d", "c", []string{"r"}, "f"}},
	{"repair", repairData{[]string{"f"}, "r", "p", "a", "r", "s", "b", []string{"r"}, "f"}},
	{"replan", replanData{"s", true, true, "b"}},
	{"step", sampleStep},
	{"args", argsData{sampleStep, "t", "a", "s", "g", "h", "r"}},
	{"agent", agentData{sampleStep, "g", "o"}},
	{"synthesis", synthesisData{[]string{"i"}, "p", "e", true}},
	{"plan", planData{"t", true, "p", "r", "w"}},
	{"system", noData{}},
	{"compaction", noData{}},
}

var sampleStep = stepData{"1", "t", "e", "p", []string{"i"}}

// Names lists the prompts that [Prompting].Prompts can replace. Each is a
// text/template. These are the fields that the templates can use:
//
//	analysis    .Force .Bound .Results (list) .First .Acceptance
//	review      .Analysis .Results (list)
//	tools       .Tools .Most
//	execution   .Analysis .Review .Bound .Depth .Acceptance .Results (list) .First
//	repair      .Faults (list) .Reply .Partly .Analysis .Review .Situation .Bound .Results (list) .First
//	replan      .Situation .Failed .Bound
//	step        .Index .Title .Expected .Plan .Inputs (list)
//	args        those of step, and .Tool .About .Schema .Given .Hint .Refused
//	agent       those of step, and .Goal .Outline
//	synthesis   .Items (list) .Plan .Evidence .Small
//	plan        .Tools .Small .Profiles .Read .Write
//	system      none
//	compaction  none
func Names() []string {
	names := make([]string, len(replaceable))
	for i, p := range replaceable {
		names[i] = p.name
	}
	return names
}

// CheckPrompt reports the fault in a text meant to replace the prompt of this
// name. It reports an unknown name, an empty text, no valid text/template, or a
// field that the data of that prompt does not have.
func CheckPrompt(name, text string) error {
	at := slices.IndexFunc(replaceable, func(p struct {
		name   string
		sample any
	},
	) bool {
		return p.name == name
	})
	if at < 0 {
		return fmt.Errorf("there is no prompt %q to replace; there are %s", name, english.List(Names(), "and"))
	}
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("the prompt %q is empty; leave it out to keep the built-in one", name)
	}
	parsed, err := template.New(name).Parse(text)
	if err != nil {
		return fmt.Errorf("read the prompt %q as a text/template: %w", name, err)
	}
	if err := parsed.Execute(io.Discard, replaceable[at].sample); err != nil {
		return fmt.Errorf("fill in the prompt %q: %w; %s", name, err, fieldsOf(replaceable[at].sample))
	}
	return nil
}

// fieldsOf names the fields that a template can use.
func fieldsOf(sample any) string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeOf(sample)) {
		if !field.Anonymous {
			names = append(names, "."+field.Name)
		}
	}
	if len(names) == 0 {
		return "it has no fields"
	}
	return "its fields are " + english.List(names, "and")
}

// render fills in a built-in prompt. The files are part of the program and every
// one is rendered by a test, so an error is a mistake in the program itself.
func render(name string, data any) string {
	var out strings.Builder
	if err := prompts.ExecuteTemplate(&out, name+".md", data); err != nil {
		panic(fmt.Sprintf("render the prompt %s: %v", name, err))
	}
	return strings.TrimSpace(out.String())
}

// prompt fills in the prompt of a name: the one that replaces it, else the built-in one.
// It also takes the latter where the other cannot be filled in with this data.
func (p Prompting) prompt(name string, data any) string {
	if text, err := replaced(p.Prompts[name], data); err == nil {
		return text
	}
	return render(name, data)
}

var errNoPrompt = errors.New("there is no such text")

func replaced(text string, data any) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", errNoPrompt
	}
	parsed, err := template.New("").Parse(text)
	if err != nil {
		return "", fmt.Errorf("read a prompt: %w", err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, data); err != nil {
		return "", fmt.Errorf("fill a prompt in: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}
