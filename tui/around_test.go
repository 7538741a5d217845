package tui_test

import (
	"encoding/json"
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/rule"
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

// inForce returns a few settings.
func inForce() session.Settings {
	return session.Settings{File: "/home/me/.config/replan/config.toml", Settings: []session.Setting{
		{Key: "model.name", Value: "qwen3:8b", Literal: `"qwen3:8b"`, Source: "user file", Saved: new("qwen3:8b"), About: "the model that answers"},
		{Key: "model.think", Value: "auto", Literal: `"auto"`, Source: "default", Choices: prompt.ThinkLevels(), About: "how hard the model thinks"},
		{Key: "limits.max_steps", Value: "12, grows with the plan", Literal: "12", Source: "default", About: "most step executions of a run"},
		{Key: "planning.eager", Value: "true", Literal: "true", Source: "default", Saved: new("false"), About: "steps that read start while the plan is written"},
		{Key: "screen.theme", Value: "dark", Literal: `"dark"`, Source: "flag --theme", Saved: new("paper"), About: "colors of the screen"},
		{Key: "policy", Value: "2 rules of flags", Source: "flags --allow, --deny", About: "rules on calls"},
	}}
}

// setting opens the settings dialog and delivers inForce.
func setting(t *testing.T, width, height int) *screen {
	t.Helper()
	st := newStory().Greeted()
	s := open(t, tui.Options{Theme: themes.Dark}, width, height).show(st).press(alt('o'))
	s.sent(asks("settings"))
	return s.show(more(st).Session(inForce()))
}

func TestTheSettingsAreDrawnWideAndNarrow(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			golden.RequireEqual(t, setting(t, size.w, size.h).front()+"\n")
		})
	}
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

func TestTypedSettingCanBeDiscarded(t *testing.T) {
	s := setting(t, 120, 36).press(downKey, downKey, enter, backspace).press(letters("5")...)
	s.wants("limits.max_steps = 15")
	s.press(escape).wants("Settings")
	s.lacks("limits.max_steps = 15")
	s.sent(asks("settings"))
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
	return newStory().Session(session.Status{Workspace: "/src", Model: "m", Tools: 3, Servers: threeServers(plan.ServerWaiting)})
}

func threeServers(tickets plan.ServerState) []plan.ServerStatus {
	return []plan.ServerStatus{
		{Name: "workspace", State: plan.ServerReady, Tools: 3, Source: "built-in", Transport: "built-in", StartMS: 120, Calls: 128, MedianMS: 12, LastMS: 34},
		{Name: "search", State: plan.ServerFailed, Error: "did not answer within 20s", LastError: "did not answer within 20s", Source: "user configuration", Transport: "http", URL: "https://search.example.com/mcp", Calls: 12, Failures: 3, MedianMS: 1240, LastMS: 20000},
		{Name: "tickets", State: tickets, Source: "project", Transport: "stdio", Command: []string{"npx", "-y", "@example/tickets-mcp", "--project", "auth tokens"}},
	}
}

func offered() session.Servers {
	return session.Servers{Servers: threeServers(plan.ServerWaiting), Tools: []session.OfferedTool{
		{Server: "workspace", Name: "fs.read", Description: "Reads a file of the workspace, whole or by lines.\nMore.", ReadOnly: true, Tokens: 180, Verdict: rule.VerdictRun},
		{Server: "workspace", Name: "fs.patch", Description: "Changes a file by replacing text.", Tokens: 1240, Verdict: rule.VerdictAsk, InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"relative to the folder"},"edits":{"type":"array","items":{"type":"object"}},"mode":{"enum":["first","all"]}},"required":["path"]}`)},
		{Server: "workspace", Name: "test.run", Description: "Runs the tests.", Destructive: true},
		{Server: "other", Name: "not.this"},
	}}
}

// serving opens the list of servers and delivers their tools.
func serving(t *testing.T, width, height int) *screen {
	t.Helper()
	s := open(t, tui.Options{Theme: themes.Dark}, width, height).show(serversStory())
	s.press(alt('s'))
	s.sent(asks("servers"))
	return s.show(newStory().Session(offered()))
}

func alt(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Mod: tea.ModAlt} }

func TestTheServersAreDrawnWideAndNarrow(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		for name, keys := range map[string][]tea.KeyPressMsg{
			"list": nil, "failed": {downKey}, "asks": {downKey, downKey}, "tools": {enter}, "details": {enter, tabKey, tabKey}, "log": {enter, tabKey}, "tool": {enter, downKey, enter}, "search": {{Text: "/", Code: '/'}, {Text: "c", Code: 'c'}, {Text: "h", Code: 'h'}},
		} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				golden.RequireEqual(t, serving(t, size.w, size.h).press(keys...).front()+"\n")
			})
		}
	}
}

func TestKeyRestartsServer(t *testing.T) {
	s := serving(t, 120, 36).press(downKey).press(letters("r")...)
	s.sent(asks("servers"), session.Restart{Server: "search"})
	s.wants("Restarting search")
	s.press(downKey).press(letters("r")...)
	s.wants("It waits for your approval")
}

// locked is a session with a server that needs a login.
func locked() session.Status {
	servers := threeServers(plan.ServerWaiting)
	servers[1].NeedsLogin, servers[1].Error, servers[1].LastError = true, "needs a login: run replan mcp login search, or use the login key in the servers view", ""
	return session.Status{Workspace: "/src", Model: "m", Servers: servers}
}

// changedServer is a session with a server that has changed two texts, and one of the
// project that the user has allowed.
func changedServer() session.Status {
	servers := threeServers(plan.ServerReady)
	servers[1].State, servers[1].Note, servers[1].LastError, servers[1].Changes = plan.ServerReady, "its instructions, search have changed; models do not see them until you accept the changes: replan tools accept search", "", 2
	servers[2].Allowed = true
	return session.Status{Workspace: "/src", Model: "m", Servers: servers}
}

func TestServerThatHasChangedIsDrawnWideAndNarrow(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		for name, keys := range map[string][]tea.KeyPressMsg{"changed": {downKey}, "allowed": {downKey, downKey}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				s := serving(t, size.w, size.h).show(newStory().Session(changedServer()))
				golden.RequireEqual(t, s.press(keys...).front()+"\n")
			})
		}
	}
}

func TestChangedToolIsMarkedInTheListOfTools(t *testing.T) {
	s := serving(t, 120, 36)
	tools := offered()
	tools.Tools[0].Changed = true
	s.show(newStory().Session(tools)).press(enter)
	s.wants("◆ changed")
}

func TestServersWithoutChangesAndWithoutAYesKeepTheirState(t *testing.T) {
	s := serving(t, 120, 36).press(letters("a")...)
	s.wants("workspace has changed nothing since you accepted it")
	s.press(letters("w")...).wants("workspace is no server of the project that you have allowed")
	s.sent(asks("servers"))
}

func TestServerThatNeedsALoginIsDrawnWideAndNarrow(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			s := serving(t, size.w, size.h).show(newStory().Session(locked()))
			golden.RequireEqual(t, s.press(downKey).front()+"\n")
		})
	}
}

func TestKeyLogsInToServer(t *testing.T) {
	const address = "https://login.example.com/authorize?client_id=replan"
	s := serving(t, 120, 36).show(newStory().Session(locked())).press(downKey).press(letters("l")...)
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

func TestProgramsHaveNoLoginKey(t *testing.T) {
	s := serving(t, 120, 36).press(letters("l")...).press(downKey, downKey).press(letters("l")...)
	s.sent(asks("servers"))
}

func TestServerListUpdatesLive(t *testing.T) {
	s := serving(t, 120, 36)
	_, cmd := s.m.Update(tui.Batch(newStory().Session(session.Status{Workspace: "/src", Model: "m", Servers: threeServers(plan.ServerReady)}).Events, newStory().Now))
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
		event.RunStarted{Goal: panetest.StoryGoal, Workspace: "/src", Session: panetest.StorySession, Model: "m", Limits: event.DefaultLimits(), Catalogue: panetest.StoryCatalogue()},
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
	s.press(escape, alt('s')).show(newStory().Session(offered()))
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
