package tui_test

import "replan/tui/panetest"

// story builds the events of one session.
type story = panetest.Story

func newStory() *story { return panetest.NewStory() }
