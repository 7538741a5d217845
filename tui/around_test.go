package tui_test

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui"
	"replan/tui/panetest"
)

func TestFirstScreenGreetsWideAndNarrow(t *testing.T) {
	st := newStory().Greeted().Session(session.Status{
		Workspace: "/src/auth-service", Model: "qwen3:8b", Tools: 6, Branch: "main", Instructions: "AGENTS.md",
		Servers: []plan.ServerStatus{{Name: "workspace", State: plan.ServerReady, Tools: 6}},
	})
	for _, size := range wideAndNarrow {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			s := open(t, tui.Options{Theme: themes.Dark, Examples: []string{"where is Handler used", "run the tests"}}, size.w, size.h).show(st)
			golden.RequireEqual(t, s.text()+"\n")
		})
	}
}

func TestKeyRetriesUnreachableModel(t *testing.T) {
	for name, keys := range map[string][]tea.KeyPressMsg{
		"F5":                   {{Code: tea.KeyF5}},
		"ctrl+l":               {ctrl('l')},
		"enter on empty input": {enter},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().Session(panetest.NoModel(prompt.TroubleUnreachable, ""))
			s := open(t, tui.Options{}, 120, 36).show(st)
			s.wants("ollama serve")
			s.press(keys...)
			s.sent(session.Recheck{})
			s.wants("Asking again")
			s.show(more(st).Session(session.Status{Workspace: "/src", Model: "qwen3:8b"}))
			s.lacks("ollama serve")
			s.wants("qwen3:8b answers")
		})
	}
}

func TestGoalIsSentWithoutModel(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Session(panetest.NoModel(prompt.TroubleUnreachable, "")))
	s.press(letters("find x")...).press(enter)
	s.sent(session.Submit{Text: "find x"})
}

// serverStatus is a session with one more server.
func serverStatus(state plan.ServerState, problem string) session.Status {
	return session.Status{Workspace: "/src", Model: "m", Servers: []plan.ServerStatus{
		{Name: "workspace", State: plan.ServerReady, Tools: 6}, {Name: "tickets", State: state, Error: untrusted.Text(problem), Tools: 2},
	}}
}

func TestNoticesAppearAndFade(t *testing.T) {
	for name, c := range map[string]struct {
		events []event.Data
		want   string
	}{
		"lost server": {
			[]event.Data{serverStatus(plan.ServerReady, ""), serverStatus(plan.ServerFailed, "it ended")}, "lost the server tickets: it ended",
		},
		"recovered server": {
			[]event.Data{serverStatus(plan.ServerReady, ""), serverStatus(plan.ServerFailed, "it ended"), serverStatus(plan.ServerStarting, ""), serverStatus(plan.ServerReady, "")},
			"the server tickets is ready: 2 tools",
		},
		"server that never started": {
			[]event.Data{
				serverStatus(plan.ServerStarting, ""), serverStatus(plan.ServerFailed, "needs a login"),
				serverStatus(plan.ServerStarting, ""), serverStatus(plan.ServerFailed, "needs a login"), serverStatus(plan.ServerStarting, ""), serverStatus(plan.ServerReady, ""),
			},
			"the server tickets is ready: 2 tools",
		},
		"nearly used budget": {[]event.Data{event.BudgetWarned{Guard: event.GuardTokens, Used: 81_000, Limit: 100_000}}, "81.0k of 100k tokens used"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{}, 80, 24)
			for _, e := range c.events {
				s.show(newStory().Session(e))
			}
			s.wants(c.want)
			if name == "server that never started" {
				s.lacks("lost the server")
			}
			for range c.events {
				s.m.Update(s.m.Faded())
			}
			s.lacks(c.want)
		})
	}
}

func TestKeyDismissesNoticeAndIsTyped(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Session(serverStatus(plan.ServerReady, "")))
	s.show(newStory().Session(serverStatus(plan.ServerFailed, "it ended")))
	s.wants("lost the server tickets")
	s.press(letters("a")...)
	s.lacks("lost the server tickets")
	if s.m.Typed() != "a" {
		t.Errorf("typed %q", s.m.Typed())
	}
}

func TestAtMostThreeNoticesAndNoneOverGateKeys(t *testing.T) {
	st := newStory().Gated()
	s := settled(t, st, 40, 12)
	for _, guard := range []string{event.GuardSteps, event.GuardTokens, event.GuardToolCalls, event.GuardReplans} {
		s.show(more(st).Run(event.BudgetWarned{Guard: guard, Used: 9, Limit: 10}))
	}
	s.wants("deny")
	s.wants("once")
	s = settled(t, newStory().Finished(), 120, 36)
	for _, guard := range []string{event.GuardSteps, event.GuardTokens, event.GuardToolCalls, event.GuardReplans} {
		s.show(newStory().Session(event.BudgetWarned{Guard: guard, Used: 9, Limit: 10}))
	}
	s.wants("9 of 10 replans used")
	s.lacks("9 of 10 steps used")
}

// setting opens the settings dialog and delivers inForce.
func setting(t *testing.T, width, height int) *screen {
	t.Helper()
	st := newStory().Greeted()
	s := open(t, tui.Options{Theme: themes.Dark}, width, height).show(st).press(alt('o'))
	s.sent(asks("settings"))
	return s.show(more(st).Session(panetest.SettingsInForce()))
}

func TestChangedSettingIsSaved(t *testing.T) {
	s := setting(t, 120, 36).press(downKey, enter)
	s.sent(asks("settings"), session.Choose{Think: new(prompt.ThinkOff)})
	s.show(newStory().Session(session.Status{Workspace: "/src", Model: "qwen3:8b", Think: prompt.ThinkOff}))
	s.wants("this session")
	s.press(downKey, enter).wants("limits.max_steps = 12")
	s.press(letters("0")...).press(enter)
	s.sent(asks("settings"), session.Choose{Think: new(prompt.ThinkOff)}, session.SaveSetting{Key: "limits.max_steps", Value: new("120")})
	s.press(downKey).wants("true · false after a restart")
	s.wants("Takes effect after a restart.")
	s.press(downKey).wants("The user file says paper.")
	s.press(downKey, enter).wants("It cannot be changed here.")
	s.press(upKey, enter).lacks("Settings")
}

func TestSavedSettingIsAnnouncedAndShown(t *testing.T) {
	s := setting(t, 120, 36).press(downKey, downKey, downKey, enter)
	s.sent(asks("settings"), session.SaveSetting{Key: "planning.eager", Value: new("true")})
	_, cmd := s.m.Update(tui.Batch(newStory().Session(session.SettingSaved{Key: "planning.eager", Value: "true", File: "/etc/replan/config.toml"}).Events, newStory().Now))
	s.carryOut(cmd)
	s.wants("Eager on saved in config.toml")
	s.sent(asks("settings"), session.SaveSetting{Key: "planning.eager", Value: new("true")}, asks("settings"))
	s.press(upKey).press(letters("r")...)
	s.wants("The file does not name limits.max_steps.")
	s.press(downKey).press(letters("r")...)
	s.show(newStory().Session(session.SettingSaved{Key: "planning.eager", Removed: true, File: "/etc/replan/config.toml"}))
	s.wants("Eager as by default: removed from config.toml")
	s.show(newStory().Session(session.SettingSaved{Key: "planning.eager", Problem: "planning.eager is not saved in /etc/replan/config.toml: the file is read-only"}))
	s.wants("the file is read-only")
}

func TestScreenSettingsApplyImmediately(t *testing.T) {
	st := newStory().Greeted()
	s := open(t, tui.Options{Theme: themes.Dark}, 120, 36).show(st).press(alt('o'))
	s.show(more(st).Session(session.Settings{Settings: []session.Setting{
		{Key: "screen.ascii", Value: "false", Literal: "false", Source: "default"},
		{Key: "screen.reduced_motion", Value: "false", Literal: "false", Source: "default"},
		{Key: "screen.review", Value: "false", Literal: "false", Source: "default"},
		{Key: "keys", Value: "2 changed", Source: "user file", About: "under [keys]: gate, models"},
	}}))
	saved := func(key, value string) session.SaveSetting {
		return session.SaveSetting{Key: "screen." + key, Value: &value}
	}
	s.press(enter).lacks("╭")
	s.press(enter).wants("╭")
	s.press(downKey, enter).wants("this session")
	s.press(downKey, enter).sent(asks("settings"), saved("ascii", "true"), saved("ascii", "false"), saved("reduced_motion", "true"), session.Hold{On: true})
	s.show(newStory().Session(session.Status{Workspace: "/src", Model: "qwen3:8b", Review: true}))
	s.wants("this session")
	s.press(downKey).wants("under [keys]: gate, models")
	s.press(enter).wants("Change keys under [keys]")
}

// serversStory is a session with three servers.
func serversStory() *story {
	return newStory().Session(session.Status{Workspace: "/src", Model: "m", Tools: 3, Servers: panetest.ThreeServers(plan.ServerWaiting)})
}

// serving opens the list of servers and delivers their tools.
func serving(t *testing.T, width, height int) *screen {
	t.Helper()
	s := open(t, tui.Options{Theme: themes.Dark}, width, height).show(serversStory())
	s.press(alt('s'))
	s.sent(asks("servers"))
	return s.show(newStory().Session(panetest.OfferedTools()))
}

func alt(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Mod: tea.ModAlt} }

func TestKeyLogsInToServer(t *testing.T) {
	const address = "https://login.example.com/authorize?client_id=replan"
	s := serving(t, 120, 36).show(newStory().Session(panetest.LockedServers())).press(downKey).press(letters("l")...)
	s.sent(asks("servers"), session.Login{Server: "search"})
	s.wants("Asking search where to log in")
	_, cmd := s.m.Update(tea.Msg(tui.Batch(newStory().Session(session.LoginProgress{Server: "search"}, session.LoginProgress{Server: "search", Address: address}).Events, newStory().Now)))
	if got := clipboard(cmd); got != address {
		t.Errorf("copied %q", got)
	}
	s.wants(address)
	s.wants("l cancel the login")
	s.press(letters("l")...)
	s.sent(asks("servers"), session.Login{Server: "search"}, session.CancelLogin{})
	s.show(newStory().Session(session.LoginProgress{Server: "search", Ended: true, Canceled: true}))
	s.press(letters("l")...).show(newStory().Session(session.LoginProgress{Server: "search", Ended: true, Problem: "logging in to search: the login was refused"}))
	s.wants("the login was refused")
	s.show(newStory().Session(session.LoginProgress{Server: "search", Ended: true}))
	s.wants("logged in to search")
}

func TestServerListUpdatesLive(t *testing.T) {
	s := serving(t, 120, 36)
	_, cmd := s.m.Update(tui.Batch(newStory().Session(session.Status{Workspace: "/src", Model: "m", Servers: panetest.ThreeServers(plan.ServerReady)}).Events, newStory().Now))
	s.carryOut(cmd)
	s.sent(asks("servers"), asks("servers")) // their tools may have changed
	s.lacks("asks")
}

func TestFiguresOfServersAreFetchedAgainWhenCallsEnd(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Branching())
	s.press(alt('s'))
	ended := newStory()
	_, cmd := s.m.Update(tui.Batch(ended.Run(event.StepCompleted{Index: "2", Attempt: 1, MS: 3}).Events, ended.Now))
	s.carryOut(cmd)
	s.sent(asks("servers"), asks("servers"))
	s.press(escape)
	_, cmd = s.m.Update(tui.Batch(newStory().Run(event.StepFailed{Index: "3", Attempt: 1, Error: "no"}).Events, ended.Now))
	s.carryOut(cmd)
	s.sent(asks("servers"), asks("servers"))
}

func TestLostServerNamesStepsThatLoseTheirTool(t *testing.T) {
	s := open(t, tui.Options{}, 110, 36).show(newStory().Greeted().Run(
		event.RunStarted{Goal: panetest.StoryGoal, Workspace: "/src", Session: panetest.StorySession, Model: "m", Limits: event.DefaultLimits(), Catalog: panetest.StoryCatalog()},
		event.PlanCreated{Plan: plan.Plan{ID: "rename", Title: "Rename", Goal: panetest.StoryGoal, Steps: panetest.RenameSteps()}, Revision: 1}))
	s.show(newStory().Session(session.Status{Workspace: "/src", Model: "m", Servers: []plan.ServerStatus{{Name: "workspace", State: plan.ServerFailed, Error: "exited with exit status 9 after a long time: panic: out of cheese"}}}))
	s.wants("lost the server workspace; steps 1, 2, 3 and 4 lose their tool: exited")
	s.wants("no tool")
	s.press(alt('s'))
	s.wants("lose their tool")
}

func TestRefusalOfSessionIsShownInServersView(t *testing.T) {
	s := serving(t, 120, 36).press(downKey).press(letters("D")...)
	s.show(newStory().Session(event.Note{Level: "warn", Text: "nothing is saved in this session"}))
	s.wants("nothing is saved in this session")
	s.lacks("Disabling search")
}

func TestServerListOpensServerGate(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Servers())
	s.m.Update(s.m.Rested())
	s.press(escape, alt('s')).show(newStory().Session(panetest.OfferedTools()))
	s.press(downKey, downKey, enter)
	if !s.m.GateOpen() {
		t.Errorf("the gate is not open:\n%s", s.text())
	}
}

func TestNotesBelowTheGreetingAreSelectedAndFound(t *testing.T) {
	for _, size := range wideAndNarrow {
		const note = "broken does not start"
		s := open(t, tui.Options{}, size.w, size.h).show(newStory().Greeted().Session(event.Note{Level: "warn", Text: note}))
		x, y := s.find(note)
		s.mouse(tea.MouseClickMsg(left(x, y)))
		s.mouse(tea.MouseMotionMsg(left(x+5, y)))
		if got := s.mouse(tea.MouseReleaseMsg(left(x+5, y))); got != "broken" {
			t.Errorf("selected %q:\n%s", got, s.text())
		}
		s.press(ctrlF).press(letters("broken")...).wants("1 of 1")
	}
}

func TestGreetingStaysAboveNotesUntilFirstMessage(t *testing.T) {
	for _, size := range wideAndNarrow {
		st := newStory().Greeted().Session(event.Note{Level: "warn", Text: "the MCP server broken cannot be started"})
		s := open(t, tui.Options{}, size.w, size.h).show(st)
		s.wants("explain what this project does")
		s.wants("! the MCP server")
		s.show(more(st).Session(event.ChatUser{Text: "run the tests"}))
		s.lacks("explain what this project does")
		s.wants("! the MCP server")
	}
}
