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
	"empty":      func() *story { return newStory().Greeted() },
	"analyzing":  func() *story { return newStory().Asked() },
	"drafting":   func() *story { return newStory().Drafting() },
	"branching":  func() *story { return newStory().Branching() },
	"gated":      func() *story { return newStory().Gated() },
	"replanning": func() *story { return newStory().Replanning() },
	"revised":    func() *story { return newStory().Revised() },
	"tested":     func() *story { return newStory().Tested() },
	"answering":  func() *story { return newStory().Answering() },
	"finished":   func() *story { return newStory().Finished() },
	"stopped":    func() *story { return newStory().Stopped() },
	"servers":    func() *story { return newStory().Servers() },
	"reviewing":  func() *story { return newStory().Reviewing() },
}

// moments are further states, not drawn at every size, for which the same rules
// hold.
var moments = map[string]func() *story{
	"failing": func() *story { return newStory().Failing() },
	"ended":   func() *story { return newStory().Ended() },
	"done":    func() *story { return newStory().Done() },
	"retold":  func() *story { return newStory().Restored() },
	"resumed": func() *story { return newStory().Resumed() },
	"rerun":   func() *story { return newStory().Rerun() },
	"dry run": func() *story { return newStory().DryRun() },
	"listed":  func() *story { return newStory().Listed() },
	"crowded": func() *story { return newStory().Crowded() },

	"exploring":  func() *story { return newStory().Exploring() },
	"patching":   func() *story { return newStory().Patching() },
	"calling":    func() *story { return newStory().Calling() },
	"delegating": func() *story { return newStory().Delegating() },
	"returned":   func() *story { return newStory().Returned() },
	"told":       func() *story { return newStory().ChatAnswered() },
	"spoken":     func() *story { return newStory().Spoken() },
	"choosing":   func() *story { return newStory().Choosing() },
	"halted": func() *story {
		return newStory().Halted(event.Result{Status: event.StatusFailed, Reason: event.ReasonGuard, Error: "no more"})
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
