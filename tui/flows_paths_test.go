package tui_test

import (
	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/tui/panetest"
)

// paths are flows that take more than the key of one action, by name, each with
// its last key.
var paths = map[string]flow{
	"abort step in doubt":       {from: (*story).Resumed, keys: []string{"a"}, sends: session.ResolveDoubt{Run: panetest.StoryPlanRun, Step: "3", Decision: event.DoubtAbort}},
	"show rule and save":        {from: (*story).Revised, first: []string{"a"}, keys: []string{"y"}, lacks: "[[policy]]", sends: session.Resolve{Run: panetest.StoryRun, Gate: "7.2.1", Decision: event.Allow, Scope: event.ScopeAlways}},
	"show rule and cancel":      {from: (*story).Revised, first: []string{"a"}, keys: []string{"esc"}, lacks: "[[policy]]"},
	"refuse plan":               {from: (*story).Reviewing, first: []string{"n"}, keys: []string{"y"}, lacks: "Refuse this plan?", sends: session.Review{Run: panetest.StoryRun, Answer: agent.ReviewAnswer{Revision: 1, Decision: event.ReviewRefuse}}},
	"cancel refusal":            {from: (*story).Reviewing, first: []string{"n"}, keys: []string{"n"}, lacks: "Refuse this plan?"},
	"save unchanged step":       {from: (*story).Reviewing, first: []string{"e"}, keys: []string{"ctrl+s"}, lacks: "Edit step 1", wants: "No edits yet."},
	"approve all gates and run": {from: (*story).Reviewing, first: []string{"A"}, keys: []string{"y"}, lacks: "1 gate approved", sends: session.Review{Run: panetest.StoryRun, Answer: agent.ReviewAnswer{Revision: 1, Decision: event.ReviewRun, Approved: []string{"2"}}}},
	"approve similar gates":     {from: (*story).Crowded, first: []string{"A"}, keys: []string{"y"}, wants: "Gate 1 of 2", sends: allow("3")},
	"message of two lines":      {from: (*story).Greeted, first: []string{"@one", "ctrl+j", "@two"}, keys: []string{"enter"}, sends: session.Submit{Text: "one\ntwo"}},
	"clear filter":              {first: []string{"tab", "/", "@read"}, keys: []string{"esc"}, wants: "Sum up the change"},
	"esc closes the map":        {first: []string{"tab", "m"}, keys: []string{"esc"}, wants: "Chat ─"},
	"return from step to map":   {from: (*story).Finished, first: []string{"tab", "m", "enter"}, keys: []string{"esc"}, lacks: "Chat ─", focus: "plan"},
	"open map from palette":     {first: []string{"ctrl+k", "@whole screen"}, keys: []string{"enter"}, lacks: "Chat ─"},
	"toggle diff twice":         {from: (*story).Gated, first: []string{"s"}, keys: []string{"s"}, lacks: "│ 12  // ServeHTTP"},
}
