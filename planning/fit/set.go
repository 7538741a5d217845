package fit

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"replan/internal/untrusted"
	"replan/planning/plan"
)

//go:embed goals.json
var goals []byte

// sizes are the numbers of foreign tools beside which goals are planned, in turn.
var sizes = [...]int{5, 20, 60, 200}

// leftOut is the server whose tools are never beside a goal, nor the user's own ones
// of these names: they do the same as operators of the workspace, so a plan with them
// would be right too.
const leftOut = "filesystem"

// Goal is a goal with its known good plans.
type Goal struct {
	Number int // from 1
	Text   string
	Tools  int // foreign tools beside which it is planned

	plans []known
	spare []string // tools that a plan may call beside
}

// known is a known good plan.
type known struct {
	plan plan.Plan
	may  []map[string]any // by step: args that it may have, and their values
}

// Set is the goals and the tools to plan them with.
type Set struct {
	Goals     []Goal
	operators plan.Catalogue
	servers   plan.Catalogue // all that a known good plan may call
	beside    plan.Catalogue // the others are taken from these
	own       bool           // beside are the user's own
}

// NewSet returns the bundled goals for the operators of the workspace. own are the
// user's foreign tools, all of which are then offered for each goal; without any,
// bundled ones are.
func NewSet(operators, own plan.Catalogue) (Set, error) {
	all, err := Servers()
	if err != nil {
		return Set{}, err
	}
	s := Set{operators: operators, servers: all, beside: all, own: len(own) > 0}
	if s.own {
		s.beside = own
	}
	s.beside = slices.DeleteFunc(slices.Clone(s.beside), func(t plan.Tool) bool {
		return slices.ContainsFunc(all, func(other plan.Tool) bool { return other.Server == leftOut && other.Name == t.Name })
	})
	s.Goals, err = readGoals()
	for i := range s.Goals {
		if s.own {
			s.Goals[i].Tools = len(s.beside)
		}
	}
	return s, err
}

// Catalogue returns the tools that a goal is planned with: the operators, the foreign
// tools of its known good plans, and others up to [Goal.Tools].
func (s Set) Catalogue(g Goal) plan.Catalogue {
	var named []string // tools that the goal is scored by
	for _, k := range g.plans {
		for _, step := range k.plan.Steps {
			named = append(named, step.Tool)
		}
	}
	named = append(named, g.spare...)
	catalogue := slices.Clone(s.operators)
	for _, t := range s.servers {
		if slices.Contains(named, t.Name) {
			catalogue = append(catalogue, t)
		}
	}
	// The stride takes tools from all servers alike. It is prime, so that it reaches
	// each of them unless their number is a multiple of it.
	const stride = 37
	for i := range s.beside {
		t := s.beside[i]
		if len(s.beside)%stride != 0 {
			t = s.beside[i*stride%len(s.beside)]
		}
		if !s.own && len(catalogue) >= len(s.operators)+g.Tools {
			break
		}
		if !slices.Contains(named, t.Name) {
			catalogue = append(catalogue, t)
		}
	}
	return catalogue
}

// Version identifies the goals, their tools and their known good plans. Results of
// another version cannot be compared.
func (s Set) Version() string {
	sum := sha256.New()
	sum.Write(goals)
	for _, tools := range []plan.Catalogue{s.operators, s.servers, s.beside} {
		sum.Write([]byte(plan.CanonicalJSON(tools)))
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// goalForm is the form of a goal in goals.json.
type goalForm struct {
	Goal  string       `json:"goal"`
	Steps []stepForm   `json:"steps"`
	Or    [][]stepForm `json:"or"`    // other known good plans
	Spare []string     `json:"spare"` // tools that a plan may call beside, such as to look before a change
}

// stepForm is the form of a step of a known good plan. Its index is its position.
type stepForm struct {
	Tool  string         `json:"tool"`
	Args  map[string]any `json:"args"`  // see [Goal.Score] for how they are compared
	May   map[string]any `json:"may"`   // args that the step may have beside, "*" for any value
	As    string         `json:"as"`    // its result variable
	After []string       `json:"after"` // steps that must be done first, where no reference says so
}

func readGoals() ([]Goal, error) {
	var forms []goalForm
	decoder := json.NewDecoder(bytes.NewReader(goals))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&forms); err != nil {
		return nil, fmt.Errorf("read the bundled goals: %w", err)
	}
	list := make([]Goal, len(forms))
	for i, form := range forms {
		list[i] = Goal{Number: i + 1, Text: form.Goal, Tools: sizes[i%len(sizes)], spare: form.Spare}
		for _, steps := range append([][]stepForm{form.Steps}, form.Or...) {
			list[i].plans = append(list[i].plans, knownPlan(form.Goal, steps))
		}
	}
	return list, nil
}

func knownPlan(goal string, steps []stepForm) known {
	k := known{plan: plan.Plan{Title: untrusted.Text(goal), Goal: untrusted.Text(goal)}}
	for i, form := range steps {
		if form.Args == nil {
			form.Args = map[string]any{}
		}
		k.may = append(k.may, form.May)
		k.plan.Steps = append(k.plan.Steps, plan.Step{
			Index: strconv.Itoa(i + 1), Title: untrusted.Text("Call " + form.Tool), Executor: plan.ExecutorTool,
			Tool: form.Tool, Args: form.Args, DependsOn: form.After, ResultVariable: form.As,
		})
	}
	return k
}

// Plans returns the known good plans of a goal.
func (g Goal) Plans() []plan.Plan {
	plans := make([]plan.Plan, len(g.plans))
	for i, k := range g.plans {
		plans[i] = k.plan
	}
	return plans
}
