package keymap

import "charm.land/bubbles/v2/key"

// chatKeys are the keys for the contents of the chat.
type chatKeys struct {
	Search, CopyCode, Thinking, AllThinking, Unfold key.Binding
	FindNext, ToTop, ToBottom, FindPrevious, Export key.Binding
}

func newChatKeys(bind func(keys []string, shown, does string) key.Binding) chatKeys {
	return chatKeys{
		Search:       bind([]string{"ctrl+f"}, "ctrl+f", "search the chat"),
		CopyCode:     bind([]string{"ctrl+y"}, "ctrl+y", "copy code; again: the block before"),
		Thinking:     bind([]string{"alt+t"}, "alt+t", "unfold what a model thought"),
		AllThinking:  bind([]string{"alt+T"}, "alt+T", "unfold all thinking"),
		Unfold:       bind([]string{"alt+u"}, "alt+u", "unfold the newest card or thinking"),
		Export:       bind([]string{"alt+x"}, "alt+x", "write the chat to a file, as Markdown"),
		ToTop:        bind([]string{"ctrl+home"}, "ctrl+home", "to the start of the chat"),
		ToBottom:     bind([]string{"ctrl+end"}, "ctrl+end", "to the end of the chat"),
		FindNext:     bind([]string{"enter", "down", "ctrl+n", "ctrl+f"}, "enter", "search: the next (also ctrl+n)"),
		FindPrevious: bind([]string{"up", "ctrl+p", "shift+enter"}, "up", "search: the one before (also ctrl+p)"),
	}
}

// aroundKeys are the keys for views and dialogs outside a run.
type aroundKeys struct {
	Look, Servers, Settings, Restart     key.Binding
	Pause, Faster, Slower, Forth, Back   key.Binding
	EventForth, EventBack, Start, Finish key.Binding
	Play, Show, Folders, ListSearch      key.Binding
	Keep                                 key.Binding
}

func newAroundKeys(bind func(keys []string, shown, does string) key.Binding) aroundKeys {
	return aroundKeys{
		Look:    bind([]string{"f5", "ctrl+l"}, "F5", "look for the model and the servers again"),
		Servers: bind([]string{"alt+s"}, "alt+s", "tool servers and their tools"),
		Restart: bind([]string{"r"}, "r", "start the chosen server anew"),

		Keep:       bind([]string{"y"}, "y", "copy the line that keeps the chosen setting"),
		Play:       bind([]string{"p"}, "p", "play the chosen run again"),
		Show:       bind([]string{"o"}, "o", "show the chosen run as it ended"),
		Folders:    bind([]string{"f"}, "f", "this folder's alone, or all"),
		ListSearch: bind([]string{"/"}, "/", "search what is listed"),

		Pause:      bind([]string{"space"}, "space", "pause, go on"),
		Faster:     bind([]string{"+", "=", ">"}, "+", "faster"),
		Slower:     bind([]string{"-", "<"}, "-", "slower"),
		Forth:      bind([]string{"right"}, "right", "to the next moment"),
		Back:       bind([]string{"left"}, "left", "to the moment before"),
		EventForth: bind([]string{"."}, ".", "one event on"),
		EventBack:  bind([]string{","}, ",", "one event back"),
		Start:      bind([]string{"0"}, "0", "to the start"),
		Finish:     bind([]string{"end", "$"}, "end", "to the end"),

		Settings: bind([]string{"alt+o"}, "alt+o", "settings: what is in force, and from where"),
	}
}

// askKeys are the keys of the queue of pending requests.
type askKeys struct{ ApproveAll, NextAsk, PreviousAsk, Allowed key.Binding }

func newAskKeys(bind func(keys []string, shown, does string) key.Binding) askKeys {
	return askKeys{
		ApproveAll:  bind([]string{"A"}, "A", "allow all that wait like this: lists them first"),
		NextAsk:     bind([]string{"tab"}, "tab", "next of what waits"),
		PreviousAsk: bind([]string{"shift+tab"}, "shift+tab", "the one before it"),
		Allowed:     bind([]string{"alt+a"}, "alt+a", "what is allowed in this run, and was asked"),
	}
}

// editorKeys are the keys of the argument editor.
type editorKeys struct{ UndoEdit key.Binding }

func newEditorKeys(bind func(keys []string, shown, does string) key.Binding) editorKeys {
	return editorKeys{UndoEdit: bind([]string{"ctrl+z"}, "ctrl+z", "take back an edit of arguments")}
}

// graphKeys are the keys of the plan graph.
type graphKeys struct {
	Map, AsGraph, GraphLeft, GraphRight key.Binding
	PanLeft, PanRight, PanUp, PanDown   key.Binding
	ZoomIn, ZoomOut                     key.Binding
}

func newGraphKeys(bind func(keys []string, shown, does string) key.Binding) graphKeys {
	return graphKeys{
		Map:        bind([]string{"m"}, "m", "map: the plan as a graph on the whole screen"),
		AsGraph:    bind([]string{"b"}, "b", "the plan as a graph of boxes, or as a list"),
		GraphLeft:  bind([]string{"left", "h"}, "left/h", "graph: to the box on the left"),
		GraphRight: bind([]string{"right", "l"}, "right/l", "graph: to the box on the right"),
		PanLeft:    bind([]string{"H", "shift+left"}, "H", "graph: move the view left"),
		PanRight:   bind([]string{"L", "shift+right"}, "L", "graph: move the view right"),
		PanUp:      bind([]string{"K", "shift+up"}, "K", "graph: move the view up"),
		PanDown:    bind([]string{"J", "shift+down"}, "J", "graph: move the view down"),
		ZoomIn:     bind([]string{"]"}, "]", "graph: show more of each step"),
		ZoomOut:    bind([]string{"["}, "[", "graph: show less of each step"),
	}
}

// inspectKeys are the keys that inspect a step or the whole run.
type inspectKeys struct {
	Story, Timing, CopyShown        key.Binding
	Timeline, Revisions, PlanBefore key.Binding
}

func newInspectKeys(bind func(keys []string, shown, does string) key.Binding) inspectKeys {
	return inspectKeys{
		Story:      bind([]string{"4"}, "4", "story: attempts, and who decided"),
		Timing:     bind([]string{"5"}, "5", "timing: what it waited for"),
		CopyShown:  bind([]string{"y"}, "y", "copy what the step shows"),
		PlanBefore: bind([]string{"v"}, "v", "revisions of this plan"),
		Timeline:   bind([]string{"t"}, "t", "timeline: what ran beside what"),
		Revisions:  bind([]string{"alt+v"}, "alt+v", "revisions: how the plan changed"),
	}
}

// reviewKeys are the keys for reviewing a plan.
type reviewKeys struct {
	HoldPlans                                   key.Binding
	RunPlan, RefusePlan, EditStep, TakeOut      key.Binding
	MoveUp, MoveDown, PassGate, PassAll, Unmake key.Binding
}

func newReviewKeys(bind func(keys []string, shown, does string) key.Binding) reviewKeys {
	return reviewKeys{
		HoldPlans:  bind([]string{"alt+l"}, "alt+l", "look the next plans over before they run, or not"),
		RunPlan:    bind([]string{"y", "enter"}, "y", "run the plan as it is now"),
		RefusePlan: bind([]string{"n"}, "n", "refuse the plan, which ends the run"),
		EditStep:   bind([]string{"e"}, "e", "edit a step: its title and arguments"),
		TakeOut:    bind([]string{"x", "d"}, "x", "take a step out, or bring it back"),
		MoveUp:     bind([]string{"K", "shift+up"}, "K", "move a step before the one above it"),
		MoveDown:   bind([]string{"J", "shift+down"}, "J", "move a step behind the one below it"),
		PassGate:   bind([]string{"space"}, "space", "approve a step's gate, or not"),
		PassAll:    bind([]string{"A"}, "A", "approve every gate that can be"),
		Unmake:     bind([]string{"u"}, "u", "take back the last change of the plan"),
	}
}
