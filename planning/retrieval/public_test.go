package retrieval_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/retrieval"
)

// publicSets names a folder with clones of the public data sets.
const publicSets = "REPLAN_PUBLIC"

// The files with the parts of the data sets that are kept here.
var (
	samplePlans = filepath.Join("..", "plan", "testdata", "public.json")
	sampleTools = filepath.Join("testdata", "public", "nestful.json")
	sampleGoals = filepath.Join("testdata", "public", "goals.json")
)

// publicGoal is a goal of NESTFUL with the tools that its plan calls.
type publicGoal struct {
	Goal  string   `json:"goal"`
	Tools []string `json:"tools"`
}

// refusal says why a plan cannot run as it is, "" if it can.
func refusal(p publicPlan, rules plan.Rules) string {
	rules.Catalog, rules.CheckTools = p.Tools, true
	if _, faults, _ := plan.CheckPlan(p.Plan, rules); len(faults) > 0 {
		return faults[0].Code + ": " + faults[0].Message
	}
	return ""
}

// evenly returns so many of the items, at equal distances.
func evenly[T any](items []T, count int) (chosen []T) {
	for i := range count {
		chosen = append(chosen, items[i*len(items)/count])
	}
	return chosen
}

// TestPublicPlansRunAsTheyAre measures 300 plans of public data sets, and the ranking of
// tools for all goals of NESTFUL. With -update it writes the sample again.
//
//	git clone https://github.com/IBM/NESTFUL /tmp/sets/NESTFUL
//	git clone https://github.com/fairyshine/Seal-Tools /tmp/sets/Seal-Tools
//	git clone https://github.com/ShishirPatil/gorilla /tmp/sets/gorilla
//	REPLAN_PUBLIC=/tmp/sets go test ./planning/retrieval -run TestPublicPlansRunAsTheyAre -v
func TestPublicPlansRunAsTheyAre(t *testing.T) {
	folder := os.Getenv(publicSets)
	if folder == "" {
		t.Skip("set " + publicSets + " to a folder with clones of NESTFUL, Seal-Tools and gorilla")
	}
	run, strict := 0, 0
	var sample []publicPlan
	for _, set := range []struct {
		name  string
		plans []publicPlan
	}{
		{"NESTFUL", nestful(t, filepath.Join(folder, "NESTFUL"))},
		{"Seal-Tools", sealTools(t, filepath.Join(folder, "Seal-Tools"))},
		{"BFCL v4", bfcl(t, filepath.Join(folder, "gorilla"))},
	} {
		all := 0
		for _, p := range set.plans {
			if refusal(p, plan.Rules{}) == "" {
				all++
			}
		}
		chosen, now, asWritten := evenly(set.plans, 100), 0, 0
		for _, p := range chosen {
			why := refusal(p, plan.Rules{})
			if why == "" {
				now++
			} else {
				t.Logf("%s: %s", set.name, why)
			}
			if refusal(p, plan.Rules{Strict: true}) == "" {
				asWritten++
			}
		}
		t.Logf("%s: %d of 100 run as they are (%d with --strict), %d of all %d", set.name, now, asWritten, all, len(set.plans))
		run, strict = run+now, strict+asWritten
		sample = append(sample, evenly(chosen, 20)...)
	}
	t.Logf("%d of 300 public plans run as they are, %d with --strict", run, strict)
	plans := nestful(t, filepath.Join(folder, "NESTFUL"))
	tools, goals := nestfulGoals(t, plans)
	recall(t, tools, goals)
	var halves [2][]publicGoal // the constants of the ranking were set by the first
	for i, g := range goals {
		halves[i%2] = append(halves[i%2], g)
	}
	for _, half := range halves {
		recall(t, tools, half)
	}
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		for i, p := range sample { // the tools that it calls are enough
			sample[i].Tools = slices.DeleteFunc(slices.Clone(p.Tools), func(tool plan.Tool) bool { return !slices.Contains(called(t, p), tool.Name) })
		}
		write(t, samplePlans, sample)
		write(t, sampleTools, tools)
		write(t, sampleGoals, evenly(goals, 100))
	}
}

// called lists the tools that a plan calls.
func called(t testing.TB, p publicPlan) []string {
	t.Helper()
	read, faults := plan.DecodePlan(p.Plan)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return read.Tools()
}

// nestfulGoals returns all tools of plans, and the goals with those of them that they
// need: some call a tool that no one offers.
func nestfulGoals(t testing.TB, plans []publicPlan) (tools plan.Catalog, goals []publicGoal) {
	offers := func(name string) bool {
		return slices.ContainsFunc(tools, func(tool plan.Tool) bool { return tool.Name == name })
	}
	for _, p := range plans {
		for _, tool := range p.Tools {
			if !offers(tool.Name) {
				tools = append(tools, tool)
			}
		}
	}
	for _, p := range plans {
		needed := called(t, p)
		slices.Sort(needed)
		needed = slices.DeleteFunc(slices.Compact(needed), func(name string) bool { return !offers(name) })
		goals = append(goals, publicGoal{p.Goal, needed})
	}
	return tools, goals
}

// recall logs and returns the shares of needed tools among the first five, ten and
// sixteen. It logs as well what a perfect ranking has among the first five.
func recall(t testing.TB, tools plan.Catalog, goals []publicGoal) (five, ten, sixteen float64) {
	t.Helper()
	catalog := slices.Concat(plantest.Operators(t), tools)
	all, best := 0.0, 0.0
	for _, g := range goals {
		var needed [][]string
		best += float64(min(len(g.Tools), 5))
		for _, name := range g.Tools {
			needed = append(needed, []string{name})
		}
		for _, at := range places(retrieval.Rank(catalog, retrieval.Query{Goal: g.Goal}), needed) {
			all++
			for least, count := range map[int]*float64{5: &five, 10: &ten, 16: &sixteen} {
				if at < least {
					*count++
				}
			}
		}
	}
	five, ten, sixteen = five/all, ten/all, sixteen/all
	t.Logf("of the %.0f tools that %d goals need, of %d: %.3f are among the first five (%.3f at best), %.3f among the first ten, %.3f among the first sixteen",
		all, len(goals), len(tools), five, best/all, ten, sixteen)
	return five, ten, sixteen
}

func write(t testing.TB, name string, items any) {
	t.Helper()
	text := strings.ReplaceAll(string(jsonText(t, items)), `},{"goal"`, "},\n{\"goal\"")
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, `},{"name"`, "},\n{\"name\"")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestToolsForPublicGoalsRankFirst(t *testing.T) {
	tools, goals := readAll[plan.Catalog](t, sampleTools)[0], readAll[[]publicGoal](t, sampleGoals)[0]
	if five, ten, sixteen := recall(t, tools, goals); five < 0.85 || ten < 0.96 || sixteen < 0.98 {
		t.Error("that is less than 0.85, 0.96 and 0.98")
	}
}
