package tui

import (
	"slices"

	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/dialog"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/replay"
	"replan/tui/review"
	"replan/tui/step"
)

// Keys returns the default keys of every action of the screen, with their words.
func Keys() *keymap.Map { return keymap.New(sections()...) }

// CheckKeys returns an error for keys that [keymap.Map.Rebind] refuses.
func CheckKeys(keys keymap.Keys) error { return Keys().Rebind(keys) }

// sections are the actions of all parts, in the order of the help dialog.
func sections() []keymap.Section {
	return []keymap.Section{
		{Place: keymap.PlaceEverywhere, Title: "Everywhere", Lines: everywhere()},
		{Place: keymap.PlaceChat, Title: "Chat", Lines: slices.Concat(input.Lines(), chat.OrderLines())},
		{Place: keymap.PlaceEverywhere, Title: "Conversation", Lines: chat.Lines()},
		{Place: keymap.PlaceWriting, Title: "Writing", Lines: input.ListLines()},
		{Place: keymap.PlacePlan, Title: "Plan", Lines: slices.Concat(dag.StepLines(), undoActions().Lines(), dag.GraphLines(), step.TabLines(), runActions().Lines())},
		{Place: keymap.PlaceStep, Title: "Step", Lines: slices.Concat(step.TabLines(), runActions().Lines(), step.Lines())},
		{Place: keymap.PlaceMoving, Title: "Moving", Lines: keymap.MovingLines()},
		{Place: keymap.PlaceGate, Title: "Gate", Lines: ask.GateLines()},
		{Place: keymap.PlaceQuestion, Title: "Question", Lines: ask.QuestionLines()},
		{Place: keymap.PlaceReview, Title: "Review of a plan", Lines: review.Lines()},
		{Place: keymap.PlaceDialog, Title: "Dialogs", Lines: slices.Concat(keymap.Shared(), keymap.SearchingLines(), chat.SearchLines(), dialog.Lines(), keymap.SharedSearch())},
		{Place: keymap.PlaceReplay, Title: "Replay", Lines: replay.Lines()},
		{Place: keymap.PlaceQuit, Title: "Quitting", Lines: quitActions().Lines()},
		{Fixed: true, Lines: slices.Concat(keymap.OnwardLines(), chat.ErasingLines())},
	}
}

// everywhere are the actions that have their key in every pane.
func everywhere() keymap.Lines {
	return slices.Concat(
		paletteActions().Lines(), panes.Lines(), waitingActions().Lines(), openActions().Lines(), redoActions().Lines(), holdActions().Lines(),
		input.RunLines(), exitActions().Lines(), recheckActions().Lines(), setupActions().Lines(),
	)
}
