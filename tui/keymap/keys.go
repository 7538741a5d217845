package keymap

import (
	"charm.land/bubbles/v2/key"
)

// Map holds every key binding with its description. The action tables define where
// each is active.
type Map struct {
	groups []Group // every action, without its handler
	ByID   map[string]*key.Binding

	Send, Newline, HistoryBack, HistoryForward          key.Binding
	NextPane, PreviousPane, Gate, Stop, Help, Quit, End key.Binding
	Up, Down, First, Last, Open, Follow                 key.Binding
	PageUp, PageDown, HalfUp, HalfDown                  key.Binding
	Args, Output, Diff, NextTab, PreviousTab            key.Binding
	Once, ForRun, Always, Deny, EditCall, Away          key.Binding
	TookEffect, Rerun, Retry, Skip, Replan              key.Binding
	EditArgs, SendArgs, Abort, Runs, Cancel             key.Binding
	Yes, No, LeaveReplay                                key.Binding
	Models, Exchanges, Steer                            key.Binding
	Fold, FoldAll, ToGate, ToFailure, ToRunning         key.Binding
	Filter, NextMatch, PreviousMatch                    key.Binding
	Choose, ListUp, ListDown, MoreThought, LessThought  key.Binding
	OtherList, Erase                                    key.Binding
	Onward, EraseWord, EraseAll                         key.Binding
	Undo, PutBack, Palette, Sides                       key.Binding
	Themes                                              key.Binding
	Take, History, Editor, OpenPaste, DropQueued        key.Binding
	chatKeys
	aroundKeys
	askKeys
	editorKeys
	graphKeys
	inspectKeys
	reviewKeys
}

// New returns the key map with its default bindings.
func New() *Map {
	bind := func(keys []string, shown, does string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, does))
	}
	k := &Map{
		chatKeys: newChatKeys(bind), aroundKeys: newAroundKeys(bind),
		inspectKeys: newInspectKeys(bind),
		reviewKeys:  newReviewKeys(bind),
		graphKeys:   newGraphKeys(bind),

		Send:           bind([]string{"enter"}, "enter", "send (in a run: queue)"),
		Newline:        bind([]string{"alt+enter", "ctrl+j", "shift+enter"}, "alt+enter", "new line (also ctrl+j, or \\ enter)"),
		Steer:          bind([]string{"ctrl+t"}, "ctrl+t", "steer the run that goes on"),
		HistoryBack:    bind([]string{"up"}, "up", "what you sent before; the newest queued, to edit"),
		HistoryForward: bind([]string{"down"}, "down", "what you sent after that"),

		Take:       bind([]string{"tab"}, "tab", "take what the list over the input shows"),
		History:    bind([]string{"alt+r"}, "alt+r", "search what you sent before"),
		Editor:     bind([]string{"alt+e"}, "alt+e", "write in your editor"),
		OpenPaste:  bind([]string{"alt+p"}, "alt+p", "open what was pasted, in the input"),
		DropQueued: bind([]string{"alt+q"}, "alt+q", "take the newest out of the queue"),

		NextPane:     bind([]string{"tab"}, "tab", "next pane"),
		PreviousPane: bind([]string{"shift+tab"}, "shift+tab", "previous pane"),
		Gate:         bind([]string{"ctrl+g"}, "ctrl+g", "the open gate or question"),
		Runs:         bind([]string{"ctrl+r"}, "ctrl+r", "the runs there are, to resume"),
		Models:       bind([]string{"ctrl+o"}, "ctrl+o", "models and profiles"),
		Exchanges:    bind([]string{"ctrl+x"}, "ctrl+x", "exchanges with the model"),
		Stop:         bind([]string{"esc"}, "esc", "stop what runs"),
		Themes:       bind([]string{"alt+c"}, "alt+c", "themes, tried on as you move"),
		Palette:      bind([]string{"ctrl+k"}, "ctrl+k", "all that can be done, to choose from"),
		Help:         bind([]string{"?", "f1"}, "?", "help (F1 also while you type)"),
		Quit:         bind([]string{"ctrl+c"}, "ctrl+c", "clear the input, else quit"),
		End:          bind([]string{"ctrl+d"}, "ctrl+d", "quit, where the input is empty"),

		Up:     bind([]string{"up", "k"}, "up/k", "one up"),
		Down:   bind([]string{"down", "j"}, "down/j", "one down"),
		First:  bind([]string{"g", "home"}, "g", "to the first"),
		Last:   bind([]string{"G", "end"}, "G", "to the last"),
		Open:   bind([]string{"enter", "o"}, "enter", "look in; go on from a failure"),
		Cancel: bind([]string{"x"}, "x", "cancel the running step"),
		Follow: bind([]string{"f"}, "f", "follow what runs, or stay"),
		Undo:   bind([]string{"u"}, "u", "undo the run: shows the diff first"),

		Fold:          bind([]string{"space"}, "space", "fold or unfold: calls, siblings, what a step leads to"),
		FoldAll:       bind([]string{"z"}, "z", "fold all, or unfold all"),
		ToGate:        bind([]string{"a"}, "a", "to the next gate"),
		ToFailure:     bind([]string{"e"}, "e", "to the next failure"),
		ToRunning:     bind([]string{"r"}, "r", "to the next step that runs"),
		Filter:        bind([]string{"/"}, "/", "filter the steps: a word, or status:failed"),
		NextMatch:     bind([]string{"n"}, "n", "next step that the filter found"),
		PreviousMatch: bind([]string{"N"}, "N", "the one before"),

		PageUp:   bind([]string{"pgup"}, "pgup", "page up"),
		PageDown: bind([]string{"pgdown"}, "pgdn", "page down"),
		HalfUp:   bind([]string{"ctrl+u"}, "ctrl+u", "half a page up"),
		HalfDown: bind([]string{"ctrl+d"}, "ctrl+d", "half a page down"),

		Args:        bind([]string{"1"}, "1", "args"),
		Output:      bind([]string{"2"}, "2", "output"),
		Diff:        bind([]string{"3"}, "3", "diff"),
		NextTab:     bind([]string{"right", "l"}, "right/l", "next tab"),
		PreviousTab: bind([]string{"left", "h"}, "left/h", "previous tab"),

		Once:   bind([]string{"y"}, "y", "allow once"),
		ForRun: bind([]string{"r"}, "r", "allow this tool for the run"),
		Deny:   bind([]string{"n"}, "n", "deny"),
		Away:   bind([]string{"esc"}, "esc", "leave it; at a gate: look around first"),

		Always:   bind([]string{"a"}, "a", "allow always: shows the rule first"),
		EditCall: bind([]string{"e"}, "e", "edit the call, and look again"),

		editorKeys: newEditorKeys(bind),
		askKeys:    newAskKeys(bind),
		Sides:      bind([]string{"s"}, "s", "diff side by side, or unified"),

		TookEffect: bind([]string{"d"}, "d", "in doubt: it took effect"),
		Rerun:      bind([]string{"r"}, "r", "in doubt: run it again"),
		Retry:      bind([]string{"r"}, "r", "failed: try it again"),
		Skip:       bind([]string{"s"}, "s", "failed: leave it out"),
		Replan:     bind([]string{"p"}, "p", "failed: make a new plan"),
		EditArgs:   bind([]string{"e"}, "e", "failed: edit its arguments"),
		SendArgs:   bind([]string{"ctrl+s"}, "ctrl+s", "send edited arguments"),
		Abort:      bind([]string{"a"}, "a", "abort, which ends the run"),

		Choose:      bind([]string{"enter"}, "enter", "work with it from now on"),
		ListUp:      bind([]string{"up", "ctrl+p"}, "up", "one up"),
		ListDown:    bind([]string{"down", "ctrl+n"}, "down", "one down"),
		MoreThought: bind([]string{"right"}, "right", "think harder"),
		LessThought: bind([]string{"left"}, "left", "think less"),
		OtherList:   bind([]string{"tab", "shift+tab"}, "tab", "models or profiles"),
		Erase:       bind([]string{"backspace"}, "backspace", "take back a letter of the search"),

		Onward:    bind([]string{"space"}, "space", "page down, where nothing is typed"),
		EraseWord: bind([]string{"ctrl+w", "alt+backspace"}, "ctrl+w", "take back a word of the search"),
		EraseAll:  bind([]string{"ctrl+u"}, "ctrl+u", "take back all of the search"),

		Yes: bind([]string{"y", "ctrl+c"}, "y", "yes"),
		No:  bind([]string{"n", "esc"}, "n", "no"),

		PutBack: bind([]string{"y"}, "y", "put it back"),

		LeaveReplay: bind([]string{"q"}, "q", "quit a replay"),
	}
	k.groups = append(k.Actions(), k.fixedActions())
	k.ByID = map[string]*key.Binding{}
	for _, g := range k.groups {
		for _, a := range g.Actions {
			k.ByID[a.ID] = a.Key
		}
	}
	return k
}
