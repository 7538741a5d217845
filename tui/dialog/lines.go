package dialog

import (
	"slices"

	"replan/tui/keymap"
)

// Lines returns the keys and words of the actions that only dialogs have.
func Lines() keymap.Lines {
	return slices.Concat(
		modelActions().Lines(), undoActions().Lines(), changesActions().Lines(), serverActions().Lines(),
		settingActions().Lines(), runActions().Lines(), listActions().Lines(),
	)
}
