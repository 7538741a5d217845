package keymap

import (
	"charm.land/bubbles/v2/key"
)

// Map holds every key binding with its description. The action tables define where
// each is active.
type Map struct {
	groups  []Group // every action, without its handler
	ByID    map[string]*key.Binding
	pressed map[string]string // by action: the key that was last pressed for it

	Send, Newline, HistoryBack, HistoryForward                key.Binding
	NextPane, PreviousPane, Gate, Stop, Help, Quit, End       key.Binding
	Up, Down, First, Last, Open, Follow                       key.Binding
	PageUp, PageDown, HalfUp, HalfDown                        key.Binding
	Args, Output, Diff, NextTab, PreviousTab                  key.Binding
	Once, ForRun, Always, Deny, EditCall, Away                key.Binding
	TookEffect, Rerun, Retry, Skip, Replan                    key.Binding
	EditArgs, SendArgs, Abort, Runs, Cancel                   key.Binding
	Yes, No, LeaveReplay                                      key.Binding
	Models, Exchanges, Steer                                  key.Binding
	Fold, FoldAll, ToGate, ToFailure, ToRunning               key.Binding
	Filter, NextMatch, PreviousMatch                          key.Binding
	Choose, ListUp, ListDown, MoreThought, LessThought        key.Binding
	OtherList, Erase                                          key.Binding
	Onward, EraseWord, EraseAll                               key.Binding
	Undo, PutBack, Palette, Sides                             key.Binding
	ChooseChange, TakeChanges, DropChanges                    key.Binding
	Themes                                                    key.Binding
	Take, History, Editor, OpenPaste, DropQueued, SkipServers key.Binding
	chatKeys
	sessionKeys
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
		pressed: map[string]string{},

		chatKeys: newChatKeys(bind), sessionKeys: newSessionKeys(bind),
		inspectKeys: newInspectKeys(bind),
		reviewKeys:  newReviewKeys(bind),
		graphKeys:   newGraphKeys(bind),

		Send:           bind([]string{"enter"}, "enter", "send; queue during a run"),
		Newline:        bind([]string{"alt+enter", "ctrl+j", "shift+enter"}, "alt+enter", "new line (also ctrl+j, or \\ enter)"),
		Steer:          bind([]string{"ctrl+t"}, "ctrl+t", "send the text to the current run"),
		HistoryBack:    bind([]string{"up"}, "up", "previous message; edit the newest queued one"),
		HistoryForward: bind([]string{"down"}, "down", "next message"),

		Take:        bind([]string{"tab"}, "tab", "insert the chosen entry"),
		History:     bind([]string{"alt+r"}, "alt+r", "search the history"),
		Editor:      bind([]string{"alt+e"}, "alt+e", "write in your editor"),
		OpenPaste:   bind([]string{"alt+p"}, "alt+p", "expand pasted text"),
		SkipServers: bind([]string{"alt+w"}, "alt+w", "start without the servers that are not ready"),
		DropQueued:  bind([]string{"alt+q"}, "alt+q", "remove the newest queued message"),

		NextPane:     bind([]string{"tab"}, "tab", "next pane"),
		PreviousPane: bind([]string{"shift+tab"}, "shift+tab", "previous pane"),
		Gate:         bind([]string{"ctrl+g"}, "ctrl+g", "show the open gate or question"),
		Runs:         bind([]string{"ctrl+r"}, "ctrl+r", "open runs; resume, replay, undo"),
		Models:       bind([]string{"ctrl+o"}, "ctrl+o", "switch model or profile"),
		Exchanges:    bind([]string{"ctrl+x"}, "ctrl+x", "show requests to the model"),
		Stop:         bind([]string{"esc"}, "esc", "stop the run"),
		Themes:       bind([]string{"alt+c"}, "alt+c", "switch theme"),
		Palette:      bind([]string{"ctrl+k"}, "ctrl+k", "search everything you can do"),
		Help:         bind([]string{"?", "f1"}, "?", "show help (also F1)"),
		Quit:         bind([]string{"ctrl+c"}, "ctrl+c", "quit; clears the input first"),
		End:          bind([]string{"ctrl+d"}, "ctrl+d", "quit if the input is empty"),

		Up:     bind([]string{"up", "k"}, "up/k", "up"),
		Down:   bind([]string{"down", "j"}, "down/j", "down"),
		First:  bind([]string{"g", "home"}, "g", "first"),
		Last:   bind([]string{"G", "end"}, "G", "last"),
		Open:   bind([]string{"enter", "o"}, "enter", "open the step; retry a failed one"),
		Cancel: bind([]string{"x"}, "x", "cancel the running step"),
		Follow: bind([]string{"f"}, "f", "follow the running step, or stop following"),
		Undo:   bind([]string{"u"}, "u", "undo last run; shows the diff first"),

		Fold:          bind([]string{"space"}, "space", "collapse or expand items, calls, siblings or dependents"),
		FoldAll:       bind([]string{"z"}, "z", "collapse or expand all"),
		ToGate:        bind([]string{"a"}, "a", "go to the next gate"),
		ToFailure:     bind([]string{"e"}, "e", "go to the next failure"),
		ToRunning:     bind([]string{"r"}, "r", "go to the next running step"),
		Filter:        bind([]string{"/"}, "/", "filter steps by words or status:failed"),
		NextMatch:     bind([]string{"n"}, "n", "next match"),
		PreviousMatch: bind([]string{"N"}, "N", "previous match"),

		PageUp:   bind([]string{"pgup"}, "pgup", "page up"),
		PageDown: bind([]string{"pgdown"}, "pgdn", "page down"),
		HalfUp:   bind([]string{"ctrl+u"}, "ctrl+u", "half a page up"),
		HalfDown: bind([]string{"ctrl+d"}, "ctrl+d", "half a page down"),

		Args:        bind([]string{"1"}, "1", "show arguments"),
		Output:      bind([]string{"2"}, "2", "show output"),
		Diff:        bind([]string{"3"}, "3", "show diff"),
		NextTab:     bind([]string{"right", "l"}, "right/l", "next tab"),
		PreviousTab: bind([]string{"left", "h"}, "left/h", "previous tab"),

		Once:   bind([]string{"y"}, "y", "allow once"),
		ForRun: bind([]string{"r"}, "r", "allow this tool for the run"),
		Deny:   bind([]string{"n"}, "n", "deny"),
		Away:   bind([]string{"esc"}, "esc", "close; at a gate: look around first"),

		Always:   bind([]string{"a"}, "a", "allow always; shows the rule first"),
		EditCall: bind([]string{"e"}, "e", "edit the call"),

		editorKeys: newEditorKeys(bind),
		askKeys:    newAskKeys(bind),
		Sides:      bind([]string{"s"}, "s", "toggle side-by-side diff"),

		TookEffect: bind([]string{"d"}, "d", "accept the step in doubt as done"),
		Rerun:      bind([]string{"r"}, "r", "run the step in doubt again"),
		Retry:      bind([]string{"r"}, "r", "retry the failed step"),
		Skip:       bind([]string{"s"}, "s", "skip the failed step"),
		Replan:     bind([]string{"p"}, "p", "replan after the failure"),
		EditArgs:   bind([]string{"e"}, "e", "edit the failed step's arguments"),
		SendArgs:   bind([]string{"ctrl+s"}, "ctrl+s", "send edited arguments"),
		Abort:      bind([]string{"a"}, "a", "abort the run"),

		Choose:      bind([]string{"enter"}, "enter", "use it from now on"),
		ListUp:      bind([]string{"up", "ctrl+p"}, "up", "up"),
		ListDown:    bind([]string{"down", "ctrl+n"}, "down", "down"),
		MoreThought: bind([]string{"right"}, "right", "think harder"),
		LessThought: bind([]string{"left"}, "left", "think less"),
		OtherList:   bind([]string{"tab", "shift+tab"}, "tab", "switch between the two lists"),
		Erase:       bind([]string{"backspace"}, "backspace", "erase a letter of the search"),

		Onward:    bind([]string{"space"}, "space", "page down, unless you type"),
		EraseWord: bind([]string{"ctrl+w", "alt+backspace"}, "ctrl+w", "erase a word of the search"),
		EraseAll:  bind([]string{"ctrl+u"}, "ctrl+u", "erase the search"),

		Yes: bind([]string{"y", "ctrl+c"}, "y", "yes"),
		No:  bind([]string{"n", "esc"}, "n", "no"),

		PutBack: bind([]string{"y"}, "y", "restore the files"),

		ChooseChange: bind([]string{"space"}, "space", "take the change, or leave it out"),
		TakeChanges:  bind([]string{"y"}, "y", "take the chosen changes, drop the others"),
		DropChanges:  bind([]string{"D"}, "D", "drop all changes; press twice"),

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
