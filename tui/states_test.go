package tui_test

import (
	"maps"
	"slices"
	"testing"

	"replan/agent/event"
	"replan/themes"
	"replan/tui"
)

// states are the moments of the story that are drawn: those of [mainViews] as whole
// screens, those of [otherStates] pane by pane.
var states = map[string]func() *story{
	"empty":      func() *story { return newStory().greeted() },
	"analyzing":  func() *story { return newStory().asked() },
	"drafting":   func() *story { return newStory().drafting() },
	"branching":  func() *story { return newStory().branching() },
	"gated":      func() *story { return newStory().gated() },
	"replanning": func() *story { return newStory().replanning() },
	"revised":    func() *story { return newStory().revised() },
	"tested":     func() *story { return newStory().tested() },
	"answering":  func() *story { return newStory().answering() },
	"finished":   func() *story { return newStory().finished() },
	"stopped":    func() *story { return newStory().stopped() },
	"servers":    func() *story { return newStory().servers() },
	"reviewing":  func() *story { return newStory().reviewing() },
}

// moments are further states, not drawn at every size, for which the same rules
// hold.
var moments = map[string]func() *story{
	"failing": func() *story { return newStory().failing() },
	"ended":   func() *story { return newStory().ended() },
	"done":    func() *story { return newStory().done() },
	"retold":  func() *story { return newStory().restored() },
	"resumed": func() *story { return newStory().resumed() },
	"rerun":   func() *story { return newStory().rerun() },
	"dry run": func() *story { return newStory().dryRun() },
	"listed":  func() *story { return newStory().listed() },
	"crowded": func() *story { return newStory().crowded() },

	"exploring":  func() *story { return newStory().exploring() },
	"patching":   func() *story { return newStory().patching() },
	"calling":    func() *story { return newStory().calling() },
	"delegating": func() *story { return newStory().delegating() },
	"returned":   func() *story { return newStory().returned() },
	"told":       func() *story { return newStory().chatAnswered() },
	"spoken":     func() *story { return newStory().spoken() },
	"choosing":   func() *story { return newStory().choosing() },
	"halted": func() *story {
		return newStory().halted(event.Result{Status: event.StatusFailed, Reason: event.ReasonGuard, Error: "no more"})
	},
}

// everyState returns states and moments, with their names in order.
func everyState() (map[string]func() *story, []string) {
	all := maps.Clone(states)
	maps.Copy(all, moments)
	return all, slices.Sorted(maps.Keys(all))
}

// mainViews are the states whose whole screen is a golden. The other states differ
// from them in a pane or a dialog only.
var mainViews = []string{"answering", "branching", "empty", "finished", "gated", "replanning", "reviewing", "revised", "stopped"}

// otherStates are the names of the states that are no main views, in order.
func otherStates() []string {
	names := slices.Sorted(maps.Keys(states))
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(mainViews, name) })
}

// stateSizes are the sizes at which the states are drawn.
var stateSizes = []struct{ w, h int }{{200, 60}, {120, 36}, {80, 24}, {40, 12}}

// inState opens a screen that shows a state after the grace time of its dialog.
func inState(t *testing.T, st *story, width, height int) *screen {
	t.Helper()
	s := open(t, tui.Options{Theme: themes.Dark, Intro: intro, Version: "1.0"}, width, height).show(st)
	s.m.Update(s.m.Rested())
	return s
}
