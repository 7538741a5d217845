package dialog_test

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/dialog"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panetest"
)

// serving opens the list of servers with their tools.
func serving(t *testing.T, width, height int) (*panetest.Driver, *dialog.Servers) {
	t.Helper()
	k := panetest.Keys()
	d := dialog.NewServers(panetest.DarkLook(), k, &live.Runs{})
	d.Open(session.Status{Servers: panetest.ThreeServers(plan.ServerWaiting)})
	s := panetest.Drive(t, d, k, width, height)
	s.Update(keymap.AnswerMsg[session.Servers]{Value: panetest.OfferedTools()})
	return s, d
}

func TestServersAreDrawnWideAndNarrow(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		for name, keys := range map[string][]string{
			"list": nil, "failed": {"down"}, "asks": {"down", "down"}, "tools": {"enter"}, "details": {"enter", "tab", "tab"}, "log": {"enter", "tab"},
			"tool": {"enter", "down", "enter"}, "search": {"/", "c", "h"},
		} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				s, _ := serving(t, size.w, size.h)
				golden.RequireEqual(t, s.Press(panetest.Named(keys...)...).Front()+"\n")
			})
		}
		for name, c := range map[string]struct {
			now  session.Status
			keys []string
		}{
			"changed":       {panetest.ChangedServers(), []string{"down"}},
			"allowed":       {panetest.ChangedServers(), []string{"down", "down"}},
			"needs a login": {panetest.LockedServers(), []string{"down"}},
		} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				s, d := serving(t, size.w, size.h)
				d.Changed(c.now.Servers)
				golden.RequireEqual(t, s.Press(panetest.Named(c.keys...)...).Front()+"\n")
			})
		}
	}
}

func TestKeyRestartsServer(t *testing.T) {
	s, _ := serving(t, 120, 36)
	s.Press(panetest.Key("down")).Type("r").Sent(session.Restart{Server: "search"})
	s.Wants("Restarting search")
	s.Press(panetest.Key("down")).Type("r").Wants("It waits for your approval")
}

func TestChangedToolIsMarkedInTheListOfTools(t *testing.T) {
	s, _ := serving(t, 120, 36)
	tools := panetest.OfferedTools()
	tools.Tools[0].Changed = true
	s.Update(keymap.AnswerMsg[session.Servers]{Value: tools})
	s.Press(panetest.Key("enter")).Wants("◆ changed")
}

func TestServersWithoutChangesAndWithoutAYesKeepTheirState(t *testing.T) {
	s, _ := serving(t, 120, 36)
	s.Type("a").Wants("workspace has changed nothing since you accepted it")
	s.Type("w").Wants("workspace is no server of the project that you have allowed")
	s.Sent()
}

func TestKeyLogsInToServersAtAnAddress(t *testing.T) {
	none, _ := serving(t, 120, 36)
	none.Type("l").Press(panetest.Named("down", "down")...).Type("l").Sent() // programs have no login
	s, d := serving(t, 120, 36)
	d.Changed(panetest.LockedServers().Servers)
	s.Press(panetest.Key("down")).Type("l").Sent(session.Login{Server: "search"})
	s.Wants("Asking search where to log in")
	d.LoggedIn(session.LoginProgress{Server: "search", Address: "https://login.example.com/authorize"})
	s.Offers("l cancel the login")
	s.Type("l").Sent(session.Login{Server: "search"}, session.CancelLogin{})
	d.LoggedIn(session.LoginProgress{Server: "search", Ended: true, Problem: "logging in to search: the login was refused"})
	s.Wants("the login was refused")
}
