package tui_test

import (
	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
)

// paths are flows that are longer than the key of one action: by name, each with
// its last key.
var paths = map[string]flow{
	"a step in doubt is given up":      {from: (*story).resumed, keys: []string{"a"}, sends: runner.Settle{Run: storyPlanRun, Step: "3", Decision: event.DoubtAbort}},
	"a rule is looked at and saved":    {from: (*story).revised, first: []string{"a"}, keys: []string{"y"}, lacks: "[[policy]]", sends: runner.Resolve{Run: storyRun, Gate: "7.2.1", Decision: event.Allow, Scope: event.ScopeAlways}},
	"a rule is looked at and left":     {from: (*story).revised, first: []string{"a"}, keys: []string{"esc"}, lacks: "[[policy]]"},
	"a plan is refused":                {from: (*story).reviewing, first: []string{"n"}, keys: []string{"y"}, lacks: "Refuse this plan?", sends: runner.Review{Run: storyRun, Answer: agent.ReviewAnswer{Revision: 1, Decision: event.ReviewRefuse}}},
	"a refusal is taken back":          {from: (*story).reviewing, first: []string{"n"}, keys: []string{"n"}, lacks: "Refuse this plan?"},
	"an edited step of a plan is kept": {from: (*story).reviewing, first: []string{"e"}, keys: []string{"ctrl+s"}, lacks: "Edit step 1", wants: "Nothing is changed yet."},
	"a plan runs with its gates":       {from: (*story).reviewing, first: []string{"A"}, keys: []string{"y"}, lacks: "1 gate approved", sends: runner.Review{Run: storyRun, Answer: agent.ReviewAnswer{Revision: 1, Decision: event.ReviewRun, Approved: []string{"2"}}}},
	"all gates that are alike":         {from: (*story).crowded, first: []string{"A"}, keys: []string{"y"}, wants: "Gate 1 of 2", sends: allow("3")},
	"a message of two lines":           {from: (*story).greeted, first: []string{"@one", "ctrl+j", "@two"}, keys: []string{"enter"}, sends: runner.Submit{Text: "one\ntwo"}},
	"a filter that is cleared":         {first: []string{"tab", "/", "@read"}, keys: []string{"esc"}, wants: "Sum up the change"},
	"esc leaves the map, and the run":  {first: []string{"tab", "m"}, keys: []string{"esc"}, wants: "Chat ─"},
	"a step leads back to the map":     {from: (*story).finished, first: []string{"tab", "m", "enter"}, keys: []string{"esc"}, lacks: "Chat ─", focus: "plan"},
	"the map is chosen in the palette": {first: []string{"ctrl+k", "@map:"}, keys: []string{"enter"}, wants: "╭─ Plan"},
	"a diff stands side by side":       {from: (*story).gated, first: []string{"s"}, keys: []string{"s"}, lacks: "│ 12  // ServeHTTP"},
}
