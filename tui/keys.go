package tui

import "charm.land/bubbles/v2/key"

// keyMap is every key the screen knows. Help and footer are made from it.
type keyMap struct {
	Send, Newline, HistoryBack, HistoryForward          key.Binding
	NextPane, PreviousPane, Gate, Stop, Help, Quit, End key.Binding
	Up, Down, First, Last, Open, Follow                 key.Binding
	PageUp, PageDown, HalfUp, HalfDown                  key.Binding
	Args, Output, Diff, NextTab, PreviousTab            key.Binding
	Once, ForRun, Deny, Away                            key.Binding
	TookEffect, Rerun, Retry, Skip, Replan              key.Binding
	EditArgs, SendArgs, Abort, Runs, Cancel             key.Binding
	Yes, No, LeaveReplay                                key.Binding
}

func newKeyMap() keyMap {
	bind := func(keys []string, shown, does string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, does))
	}
	return keyMap{
		Send:           bind([]string{"enter"}, "enter", "send"),
		Newline:        bind([]string{"alt+enter", "ctrl+j", "shift+enter"}, "alt+enter", "new line (also ctrl+j)"),
		HistoryBack:    bind([]string{"up"}, "up", "what you sent before"),
		HistoryForward: bind([]string{"down"}, "down", "what you sent after that"),

		NextPane:     bind([]string{"tab"}, "tab", "next pane"),
		PreviousPane: bind([]string{"shift+tab"}, "shift+tab", "previous pane"),
		Gate:         bind([]string{"ctrl+g"}, "ctrl+g", "the open gate or question"),
		Runs:         bind([]string{"ctrl+r"}, "ctrl+r", "the runs there are, to resume one"),
		Stop:         bind([]string{"esc"}, "esc", "stop what runs"),
		Help:         bind([]string{"?"}, "?", "help (F1 also while you type)"),
		Quit:         bind([]string{"ctrl+c"}, "ctrl+c", "clear the input, else quit"),
		End:          bind([]string{"ctrl+d"}, "ctrl+d", "quit, where the input is empty"),

		Up:     bind([]string{"up", "k"}, "up/k", "one up"),
		Down:   bind([]string{"down", "j"}, "down/j", "one down"),
		First:  bind([]string{"g", "home"}, "g", "to the first"),
		Last:   bind([]string{"G", "end"}, "G", "to the last"),
		Open:   bind([]string{"enter", "o"}, "enter", "look in; go on from a failed step (also o)"),
		Cancel: bind([]string{"x"}, "x", "cancel the running step"),
		Follow: bind([]string{"f"}, "f", "follow what runs"),

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
		Away:   bind([]string{"esc"}, "esc", "look around first"),

		TookEffect: bind([]string{"d"}, "d", "in doubt: it took effect"),
		Rerun:      bind([]string{"r"}, "r", "in doubt: run it again"),
		Retry:      bind([]string{"r"}, "r", "failed: try it again"),
		Skip:       bind([]string{"s"}, "s", "failed: leave it out"),
		Replan:     bind([]string{"p"}, "p", "failed: make a new plan"),
		EditArgs:   bind([]string{"e"}, "e", "failed: edit its arguments"),
		SendArgs:   bind([]string{"ctrl+s"}, "ctrl+s", "send edited arguments"),
		Abort:      bind([]string{"a"}, "a", "abort, which ends the run"),

		Yes: bind([]string{"y", "ctrl+c"}, "y", "yes"),
		No:  bind([]string{"n", "esc"}, "n", "no"),

		LeaveReplay: bind([]string{"q"}, "q", "quit a replay"),
	}
}

// keyGroup is a part of the help.
type keyGroup struct {
	title string
	keys  []key.Binding
}

// groups is the whole key map as help shows it.
func (k keyMap) groups() []keyGroup {
	return []keyGroup{
		{"Everywhere", []key.Binding{k.NextPane, k.PreviousPane, k.Gate, k.Runs, k.Stop, k.Help, k.Quit, k.End, k.LeaveReplay}},
		{"Chat", []key.Binding{k.Send, k.Newline, k.HistoryBack, k.HistoryForward, k.PageUp, k.PageDown}},
		{"Plan", []key.Binding{k.Up, k.Down, k.First, k.Last, k.Open, k.Cancel, k.Follow}},
		{"Step", []key.Binding{k.Args, k.Output, k.Diff, k.NextTab, k.PreviousTab, k.HalfUp, k.HalfDown}},
		{"Gate", []key.Binding{k.Once, k.ForRun, k.Deny, k.Away}},
		{"Question", []key.Binding{k.TookEffect, k.Rerun, k.Retry, k.Skip, k.Replan, k.EditArgs, k.SendArgs, k.Abort}},
	}
}
