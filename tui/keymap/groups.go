package keymap

import "charm.land/bubbles/v2/key"

// chatKeys are the keys for the contents of the chat.
type chatKeys struct {
	Search, CopyCode, Thinking, AllThinking, Unfold, Cited key.Binding
	FindNext, ToTop, ToBottom, FindPrevious, Export        key.Binding
}

func newChatKeys(bind func(keys []string, shown, does string) key.Binding) chatKeys {
	return chatKeys{
		Search:       bind([]string{"ctrl+f"}, "ctrl+f", "search the chat"),
		CopyCode:     bind([]string{"ctrl+y"}, "ctrl+y", "copy code; again: the previous block"),
		Thinking:     bind([]string{"alt+t"}, "alt+t", "show the model's thinking"),
		AllThinking:  bind([]string{"alt+T"}, "alt+T", "show or fold all thinking"),
		Unfold:       bind([]string{"alt+u"}, "alt+u", "expand the newest card or thinking"),
		Cited:        bind([]string{"alt+j"}, "alt+j", "open a cited step; again: next"),
		Export:       bind([]string{"alt+x"}, "alt+x", "export the chat as Markdown"),
		ToTop:        bind([]string{"ctrl+home"}, "ctrl+home", "start of the chat"),
		ToBottom:     bind([]string{"ctrl+end"}, "ctrl+end", "end of the chat"),
		FindNext:     bind([]string{"enter", "down", "ctrl+n", "ctrl+f"}, "enter", "search: next match (also ctrl+n)"),
		FindPrevious: bind([]string{"up", "ctrl+p", "shift+enter"}, "up", "search: previous match (also ctrl+p)"),
	}
}

// sessionKeys are the keys for views and dialogs outside a run.
type sessionKeys struct {
	Look, Servers, Settings, Restart, Login      key.Binding
	Disable, DisableForGood, ServerLog           key.Binding
	AcceptChanges, TakeBack                      key.Binding
	Pause, Faster, Slower, Forth, Back           key.Binding
	EventForth, EventBack, Start, Finish         key.Binding
	Play, Show, Folders, ListSearch              key.Binding
	RunStatus                                    key.Binding
	Keep, Reset, Zoom                            key.Binding
	Narrower, Wider, Lower, Taller               key.Binding
	PullModel, CancelPull, RemoveModel, PlanWith key.Binding
}

func newSessionKeys(bind func(keys []string, shown, does string) key.Binding) sessionKeys {
	return sessionKeys{
		Look: bind([]string{"f5", "ctrl+l"}, "F5", "reconnect; reread server files"),
		Zoom: bind([]string{"+", "f6"}, "+", "zoom the focused pane (F6 while typing)"),

		Narrower: bind([]string{"<", "f7"}, "<", "chat narrower (F7 while typing)"),
		Wider:    bind([]string{">", "f8"}, ">", "chat wider (F8 while typing)"),
		Lower:    bind([]string{"{", "shift+f7"}, "{", "plan lower (shift+F7 while typing)"),
		Taller:   bind([]string{"}", "shift+f8"}, "}", "plan taller (shift+F8 while typing)"),

		Servers: bind([]string{"alt+s"}, "alt+s", "show tool servers and their tools"),
		Restart: bind([]string{"r"}, "r", "restart the chosen server"),
		Login:   bind([]string{"l"}, "l", "log in to the chosen server"),

		Disable:        bind([]string{"d"}, "d", "disable the chosen server for now, or enable it"),
		DisableForGood: bind([]string{"D"}, "D", "disable the chosen server for good, or enable it"),
		ServerLog:      bind([]string{"v"}, "v", "show the log of the chosen server"),
		AcceptChanges:  bind([]string{"a"}, "a", "see and accept changes of the chosen server"),
		TakeBack:       bind([]string{"w"}, "w", "take back your yes to the chosen server"),

		PullModel:   bind([]string{"alt+m"}, "alt+m", "pull a model"),
		CancelPull:  bind([]string{"alt+z"}, "alt+z", "cancel the pull of a model"),
		PlanWith:    bind([]string{"alt+n", "f3"}, "alt+n", "plan with the chosen model, or no longer"),
		RemoveModel: bind([]string{"delete", "ctrl+x"}, "delete", "remove the chosen model; asks first"),

		Keep:       bind([]string{"y"}, "y", "copy the configuration line of the setting"),
		Reset:      bind([]string{"r"}, "r", "remove the setting from the configuration"),
		Play:       bind([]string{"p"}, "p", "replay the chosen run"),
		Show:       bind([]string{"o"}, "o", "open the chosen run at its end"),
		RunStatus:  bind([]string{"s"}, "s", "list all runs, or those unfinished, done or failed"),
		Folders:    bind([]string{"f"}, "f", "this folder only, or all folders"),
		ListSearch: bind([]string{"/"}, "/", "search the list"),

		Pause:      bind([]string{"space"}, "space", "pause or continue"),
		Faster:     bind([]string{"+", "=", ">"}, "+", "play faster"),
		Slower:     bind([]string{"-", "<"}, "-", "play slower"),
		Forth:      bind([]string{"right"}, "right", "next moment"),
		Back:       bind([]string{"left"}, "left", "previous moment"),
		EventForth: bind([]string{"."}, ".", "next event"),
		EventBack:  bind([]string{","}, ",", "previous event"),
		Start:      bind([]string{"0"}, "0", "start"),
		Finish:     bind([]string{"end", "$"}, "end", "end"),

		Settings: bind([]string{"alt+o"}, "alt+o", "open settings; where each comes from"),
	}
}

// askKeys are the keys of the queue of pending requests.
type askKeys struct{ ApproveAll, LeaveOut, NextAsk, PreviousAsk, Allowed, Details, EditFile key.Binding }

func newAskKeys(bind func(keys []string, shown, does string) key.Binding) askKeys {
	return askKeys{
		LeaveOut:    bind([]string{"space"}, "space", "leave a call out of all similar ones, or take it back"),
		ApproveAll:  bind([]string{"A"}, "A", "allow all similar calls; lists them first"),
		NextAsk:     bind([]string{"tab"}, "tab", "next gate or question"),
		PreviousAsk: bind([]string{"shift+tab"}, "shift+tab", "previous gate or question"),
		Details:     bind([]string{"i"}, "i", "show why it asks, and the call"),
		EditFile:    bind([]string{"alt+e", "f4"}, "alt+e", "edit the file of the call in your editor (also F4)"),
		Allowed:     bind([]string{"alt+a"}, "alt+a", "show answers and rules"),
	}
}

// editorKeys are the keys of the argument editor.
type editorKeys struct{ UndoEdit, NextField, PreviousField key.Binding }

func newEditorKeys(bind func(keys []string, shown, does string) key.Binding) editorKeys {
	return editorKeys{
		UndoEdit:      bind([]string{"ctrl+z"}, "ctrl+z", "undo an edit of arguments"),
		NextField:     bind([]string{"tab"}, "tab", "edit the next argument"),
		PreviousField: bind([]string{"shift+tab"}, "shift+tab", "edit the previous argument"),
	}
}

// graphKeys are the keys of the plan graph.
type graphKeys struct {
	Map, AsGraph, GraphLeft, GraphRight key.Binding
	PanLeft, PanRight, PanUp, PanDown   key.Binding
	ZoomIn, ZoomOut                     key.Binding
}

func newGraphKeys(bind func(keys []string, shown, does string) key.Binding) graphKeys {
	return graphKeys{
		Map:        bind([]string{"m"}, "m", "show graph on the whole screen"),
		AsGraph:    bind([]string{"b"}, "b", "show plan as graph or list"),
		GraphLeft:  bind([]string{"left", "h"}, "left/h", "graph: box on the left"),
		GraphRight: bind([]string{"right", "l"}, "right/l", "graph: box on the right"),
		PanLeft:    bind([]string{"H", "shift+left"}, "H", "graph: move the view left"),
		PanRight:   bind([]string{"L", "shift+right"}, "L", "graph: move the view right"),
		PanUp:      bind([]string{"K", "shift+up"}, "K", "graph: move the view up"),
		PanDown:    bind([]string{"J", "shift+down"}, "J", "graph: move the view down"),
		ZoomIn:     bind([]string{"]"}, "]", "graph: zoom in"),
		ZoomOut:    bind([]string{"["}, "[", "graph: zoom out"),
	}
}

// inspectKeys are the keys that inspect a step or the whole run.
type inspectKeys struct {
	Story, Timing, CopyShown        key.Binding
	OpenFile                        key.Binding
	Timeline, Revisions, PlanBefore key.Binding
}

func newInspectKeys(bind func(keys []string, shown, does string) key.Binding) inspectKeys {
	return inspectKeys{
		Story:      bind([]string{"4"}, "4", "show story; attempts, decisions"),
		Timing:     bind([]string{"5"}, "5", "show timing; waits and duration"),
		CopyShown:  bind([]string{"y"}, "y", "copy the step's tab"),
		OpenFile:   bind([]string{"O"}, "O", "open the first file of the step's result"),
		PlanBefore: bind([]string{"v"}, "v", "show revisions of the plan"),
		Timeline:   bind([]string{"t"}, "t", "open timeline; what ran when"),
		Revisions:  bind([]string{"alt+v"}, "alt+v", "show revisions of the plan"),
	}
}

// reviewKeys are the keys for reviewing a plan.
type reviewKeys struct {
	HoldPlans                                   key.Binding
	RunPlan, RefusePlan, EditStep, TakeOut      key.Binding
	MoveUp, MoveDown, PassGate, PassAll, Unmake key.Binding
	NextDraft, EditAcceptance                   key.Binding
}

func newReviewKeys(bind func(keys []string, shown, does string) key.Binding) reviewKeys {
	return reviewKeys{
		HoldPlans:  bind([]string{"alt+l"}, "alt+l", "toggle plan review"),
		RunPlan:    bind([]string{"y", "enter"}, "y", "run the plan"),
		RefusePlan: bind([]string{"n"}, "n", "refuse the plan; ends the run"),
		EditStep:   bind([]string{"e"}, "e", "edit title, arguments and checks of a step"),
		TakeOut:    bind([]string{"x", "d"}, "x", "remove or restore a step"),
		MoveUp:     bind([]string{"K", "shift+up"}, "K", "move a step up"),
		MoveDown:   bind([]string{"J", "shift+down"}, "J", "move a step down"),
		PassGate:   bind([]string{"space"}, "space", "approve a step's gate, or take that back"),
		PassAll:    bind([]string{"A"}, "A", "approve every gate"),
		Unmake:     bind([]string{"u"}, "u", "undo the last change of the plan"),
		NextDraft:  bind([]string{"t"}, "t", "take the next draft of the plan"),

		EditAcceptance: bind([]string{"E"}, "E", "edit the acceptance of the plan"),
	}
}
