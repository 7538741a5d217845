package dialog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panetest"
	"replan/tui/wording"
)

// openServers returns the list of servers with the given ones.
func openServers(servers ...plan.ServerStatus) *dialog.Servers {
	d := dialog.NewServers(panetest.DarkLook(), panetest.Keys(), &live.Runs{})
	d.Open(session.Status{Servers: servers})
	return d
}

func shown(d *dialog.Servers) string {
	return panetest.Stripped(d.View(draw.Rect{W: 120, H: 34}))
}

// pressed runs an action and returns what it requests.
func pressed(t *testing.T, d *dialog.Servers, id string) keymap.Requests {
	t.Helper()
	w, why := d.Actions().Act(id)
	if why != "" {
		t.Fatalf("%s: %s", id, why)
	}
	return w
}

// hinted returns the keys that the footer offers.
func hinted(d *dialog.Servers) string {
	var words []string
	for _, h := range d.Actions().Offered(d.Hints()) {
		words = append(words, h.Label+" "+h.Does)
	}
	return strings.Join(words, ", ")
}

func TestFooterOfRefusedServerOffersWhatCanBeDone(t *testing.T) {
	d := openServers(plan.ServerStatus{Name: "k", State: plan.ServerStopped, Declined: true, Error: "left out: you said no"})
	if got, want := hinted(d), "enter its tools, v log, r ask again, esc close, d disable, up/down choose, / search all tools"; got != want {
		t.Errorf("the list offers %s", got)
	}
	pressed(t, d, "plan.open")
	if got, want := hinted(d), "esc list, tab log, r ask again"; got != want {
		t.Errorf("its tools offer %s", got)
	}
}

func TestRestartOfServerThatCannotStartGivesItsProblem(t *testing.T) {
	for name, test := range map[string]struct {
		server plan.ServerStatus
		want   string
	}{
		"bad entry":        {plan.ServerStatus{Name: "k", State: plan.ServerFailed, BadEntry: true, Error: `.mcp.json:3: "url" must be text`}, "k cannot start: correct its entry, then press F5."},
		"disabled":         {plan.ServerStatus{Name: "k", State: plan.ServerStopped, Disabled: plan.DisabledForGood, Note: "disabled in the configuration"}, "k is disabled: d enables it."},
		"left out":         {plan.ServerStatus{Name: "k", State: plan.ServerStopped, Note: "left out: you said no"}, "k does not start: left out: you said no."},
		"waits for a yes":  {plan.ServerStatus{Name: "k", State: plan.ServerWaiting}, "It waits for your approval"},
		"starting already": {plan.ServerStatus{Name: "k", State: plan.ServerStarting}, "k is starting already."},
	} {
		t.Run(name, func(t *testing.T) {
			d := openServers(test.server)
			if w, why := d.Actions().Act("servers.restart"); len(panetest.Sent(w)) > 0 || !strings.HasPrefix(why, test.want) {
				t.Errorf("it sends %v and says %q", panetest.Sent(w), why)
			}
			if got := hinted(d); strings.Contains(got, "restart") {
				t.Errorf("the footer offers %s", got)
			}
		})
	}
}

func TestLineAboutStartGoesWhenServerIsReadyOrRefused(t *testing.T) {
	failed := plan.ServerStatus{Name: "k", State: plan.ServerFailed, Error: "gone"}
	with := func(state plan.ServerState) []plan.ServerStatus {
		return []plan.ServerStatus{{Name: "k", State: state}}
	}
	for name, after := range map[string]func(d *dialog.Servers){
		"ready":         func(d *dialog.Servers) { d.Changed(with(plan.ServerStarting)); d.Changed(with(plan.ServerReady)) },
		"failed before": func(d *dialog.Servers) { d.Changed([]plan.ServerStatus{failed}) },
		"refused":       func(d *dialog.Servers) { d.Refused("the tools are closed already") },
	} {
		t.Run(name, func(t *testing.T) {
			d := openServers(failed)
			if w := pressed(t, d, "servers.restart"); !slices.Equal(panetest.Sent(w), []session.Command{session.Restart{Server: "k"}}) {
				t.Fatalf("it sends %v", panetest.Sent(w))
			}
			if got := shown(d); !strings.Contains(got, "Restarting k") {
				t.Fatalf("got\n%s", got)
			}
			after(d)
			if got := shown(d); strings.Contains(got, "Restarting k") || name == "refused" && !strings.Contains(got, "the tools are closed") {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestKeyDisablesAndEnablesServer(t *testing.T) {
	off := func(s session.Command) []session.Command { return []session.Command{s} }
	for name, test := range map[string]struct {
		server plan.ServerStatus
		key    string
		want   []session.Command
	}{
		"for now":               {plan.ServerStatus{Name: "k", State: plan.ServerReady}, "servers.disable", off(session.Disable{Server: "k"})},
		"for good":              {plan.ServerStatus{Name: "k", State: plan.ServerFailed}, "servers.disable_for_good", off(session.Disable{Server: "k", ForGood: true})},
		"from now to for good":  {plan.ServerStatus{Name: "k", State: plan.ServerStopped, Disabled: plan.DisabledForNow}, "servers.disable_for_good", off(session.Disable{Server: "k", ForGood: true})},
		"enabled again":         {plan.ServerStatus{Name: "k", State: plan.ServerStopped, Disabled: plan.DisabledForNow}, "servers.disable", off(session.Enable{Server: "k"})},
		"enabled in the file":   {plan.ServerStatus{Name: "k", State: plan.ServerStopped, Disabled: plan.DisabledForGood}, "servers.disable_for_good", off(session.Enable{Server: "k"})},
		"built-in servers stay": {plan.ServerStatus{Name: "k", State: plan.ServerReady, Transport: "built-in"}, "servers.disable", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if w, _ := openServers(test.server).Actions().Act(test.key); !slices.Equal(panetest.Sent(w), test.want) {
				t.Errorf("got %v, want %v", panetest.Sent(w), test.want)
			}
		})
	}
}

func TestFilesAreReadAgainFromTheServers(t *testing.T) {
	for name, opened := range map[string]string{"list": "", "a page": "plan.open"} {
		t.Run(name, func(t *testing.T) {
			d := openServers(plan.ServerStatus{Name: "k", State: plan.ServerReady})
			if opened != "" {
				pressed(t, d, opened)
			}
			if w := pressed(t, d, "look"); !slices.Equal(panetest.Sent(w), []session.Command{session.Recheck{}}) {
				t.Errorf("it sends %v", panetest.Sent(w))
			}
		})
	}
}

func TestFiguresOfServersKeepTheirColumns(t *testing.T) {
	large := plan.ServerStatus{Name: "a-server-with-a-rather-long-name", State: plan.ServerFailed, NeedsLogin: true, Tools: 12345, Calls: 123456, Failures: 98765, MedianMS: 599900, Source: "command line"}
	for _, width := range []int{72, 80, 110} {
		d := openServers(large)
		d.Update(keymap.AnswerMsg[session.Servers]{Value: session.Servers{Servers: []plan.ServerStatus{large}, Tools: []session.OfferedTool{{Server: large.Name, Name: "t", Tokens: 1234567}}}})
		got := panetest.Stripped(d.View(draw.Rect{W: width, H: 20}))
		for _, figure := range []string{"login", "12345", wording.Tokens(1234567), "123456", wording.DoneIn(599900), "98765"} {
			if !slices.Contains(strings.Fields(got), figure) {
				t.Errorf("%s does not stand alone at width %d:\n%s", figure, width, got)
			}
		}
	}
}

func TestPagesOfChangedServerOfferToSeeTheChange(t *testing.T) {
	d := openServers(plan.ServerStatus{Name: "k", State: plan.ServerReady, Changes: 1})
	for _, id := range []string{"plan.open", "list.other", "list.other"} {
		pressed(t, d, id)
		if got := hinted(d); !strings.Contains(got, "a see what changed") {
			t.Errorf("after %s the footer offers %s", id, got)
		}
	}
}

func TestAddressOfLoginTakesThePlaceOfTheReason(t *testing.T) {
	d := openServers(plan.ServerStatus{Name: "k", State: plan.ServerFailed, NeedsLogin: true, Error: "needs a login"})
	if got := shown(d); !strings.Contains(got, "why      needs a login") {
		t.Errorf("got\n%s", got)
	}
	d.LoggedIn(session.LoginProgress{Server: "k", Address: "https://example.com/authorize"})
	if got := shown(d); strings.Contains(got, "why ") || !strings.Contains(got, "https://example.com/authorize") {
		t.Errorf("got\n%s", got)
	}
}

func TestServerNamesToolsThatRunOnlyAsTasks(t *testing.T) {
	d := openServers(plan.ServerStatus{Name: "k", State: plan.ServerReady, Tools: 2, TaskTools: `"research"`})
	if got, want := shown(d), `without  tools that run only as tasks, which replan does not know: "research"`; !strings.Contains(got, want) {
		t.Errorf("got\n%s", got)
	}
}

func TestDisabledServerOffersToBeEnabled(t *testing.T) {
	for want, disabled := range map[string]plan.DisabledBy{"enable": plan.DisabledForNow, "disable": ""} {
		var does []string
		for _, h := range openServers(plan.ServerStatus{Name: "k", State: plan.ServerStopped, Disabled: disabled}).Hints() {
			if slices.Contains(h.IDs, "servers.disable") {
				does = append(does, h.Does)
			}
		}
		if !slices.Equal(does, []string{want}) {
			t.Errorf("got %v, want %s", does, want)
		}
	}
}

func TestLineAboutDisablingGoesOnceItIsDisabled(t *testing.T) {
	stopped := plan.ServerStatus{Name: "k", State: plan.ServerStopped, Declined: true, Note: "left out: you said no"}
	d := openServers(stopped)
	if got := shown(d); !strings.Contains(got, "refused") {
		t.Errorf("the list does not say that the user refused the server:\n%s", got)
	}
	pressed(t, d, "servers.disable_for_good")
	if got := shown(d); !strings.Contains(got, "Disabling k") {
		t.Fatalf("got\n%s", got)
	}
	stopped.Disabled = plan.DisabledForGood
	d.Changed([]plan.ServerStatus{stopped})
	if got := shown(d); strings.Contains(got, "Disabling k") || !strings.Contains(got, "disabled") {
		t.Errorf("got\n%s", got)
	}
}

func TestServerStaysSelectedWhenOthersCome(t *testing.T) {
	d := openServers(plan.ServerStatus{Name: "a", Error: "of a"}, plan.ServerStatus{Name: "m", Error: "of m"})
	pressed(t, d, "move.down")
	d.Changed([]plan.ServerStatus{{Name: "a", Error: "of a"}, {Name: "b", Error: "of b"}, {Name: "m", Error: "of m"}})
	if got := shown(d); !strings.Contains(got, "why      of m") {
		t.Errorf("got\n%s", got)
	}
}

// thousandTools is the tools of two servers, "many" with 1,000 of them.
func thousandTools() session.Servers {
	many := session.Servers{Servers: []plan.ServerStatus{{Name: "many", State: plan.ServerReady, Tools: 1000}, {Name: "other", State: plan.ServerReady, Tools: 1}}}
	for i := range 1000 {
		many.Tools = append(many.Tools, session.OfferedTool{
			Server: "many", Name: fmt.Sprintf("issues_%03d_list", i), Tokens: 120,
			Description: untrusted.Text(fmt.Sprintf("Lists the issues of board %d of a repository, with labels, milestones and who works on them. "+strings.Repeat("More about it. ", 20), i)),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"owner":{"type":"string","description":"who owns it"},"state":{"enum":["open","closed"]}},"required":["owner"]}`),
		})
	}
	many.Tools = append(many.Tools, session.OfferedTool{Server: "other", Name: "lookup", Description: "Finds issues_777_list by its board.", ReadOnly: true})
	return many
}

// typeText types a text into a dialog.
func typeText(d *dialog.Servers, text string) {
	for _, r := range text {
		d.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func TestSearchFindsToolsOfAllServersByNameFirst(t *testing.T) {
	d := openServers(thousandTools().Servers...)
	d.Update(keymap.AnswerMsg[session.Servers]{Value: thousandTools()})
	pressed(t, d, "list.search")
	if !d.Typing() {
		t.Fatal("letters do not go to the search")
	}
	typeText(d, "777 List")
	got := shown(d)
	byName, byDescription := strings.Index(got, "many:issues_777_list"), strings.Index(got, "other:lookup")
	if byName < 0 || byDescription < byName || strings.Contains(got, "778") || !strings.Contains(got, "2 tools") {
		t.Errorf("got\n%s", got)
	}
	typeText(d, "q")
	if got := shown(d); !strings.Contains(got, "No tool has the words 777 Listq") {
		t.Errorf("got\n%s", got)
	}
	pressed(t, d, "list.erase")
	pressed(t, d, "list.choose")
	pressed(t, d, "plan.open")
	for _, want := range []string{"owner  string, required", "who owns it", "state  open or closed", "about 120 tokens"} {
		if got := shown(d); !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	for range 3 { // the tool, the search, the page
		pressed(t, d, "dialog.leave")
	}
	if got := shown(d); !strings.Contains(got, "Tool servers") {
		t.Errorf("got\n%s", got)
	}
}

func TestToolsOfOneServerExcludeOthers(t *testing.T) {
	d := openServers(thousandTools().Servers...)
	d.Update(keymap.AnswerMsg[session.Servers]{Value: thousandTools()})
	pressed(t, d, "move.down")
	pressed(t, d, "plan.open")
	if got := shown(d); !strings.Contains(got, "1 tool ") || !strings.Contains(got, "lookup") || strings.Contains(got, "issues_000") {
		t.Errorf("got\n%s", got)
	}
}

func TestSelectedToolStaysWhenFiguresAreFetchedAgain(t *testing.T) {
	d := openServers(thousandTools().Servers...)
	d.Update(keymap.AnswerMsg[session.Servers]{Value: thousandTools()})
	pressed(t, d, "plan.open")
	pressed(t, d, "move.down")
	d.Update(keymap.AnswerMsg[session.Servers]{Value: thousandTools()})
	if got := shown(d); !strings.Contains(got, "many:issues_001_list") {
		t.Errorf("got\n%s", got)
	}
}

// BenchmarkSearchOfThousandTools types a letter into the search of 1,000 tools, draws the list, and takes it back.
func BenchmarkSearchOfThousandTools(b *testing.B) {
	d := openServers(thousandTools().Servers...)
	d.Update(keymap.AnswerMsg[session.Servers]{Value: thousandTools()})
	d.Actions().Press("list.search")
	for b.Loop() {
		for _, r := range "board 77" {
			d.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
			d.View(draw.Rect{W: 120, H: 34})
		}
		for range "board 77" {
			d.Actions().Press("list.erase")
			d.View(draw.Rect{W: 120, H: 34})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/16, "µs/key")
}

// BenchmarkListOfThousandTools fetches 1,000 tools and moves through them.
func BenchmarkListOfThousandTools(b *testing.B) {
	tools := thousandTools()
	d := openServers(tools.Servers...)
	d.Actions().Press("plan.open")
	for b.Loop() {
		d.Update(keymap.AnswerMsg[session.Servers]{Value: tools})
		d.View(draw.Rect{W: 120, H: 34})
	}
}

// lines makes numbered lines of a log, from and up to.
func lines(from, upTo int) []untrusted.Text {
	var out []untrusted.Text
	for i := from; i < upTo; i++ {
		out = append(out, untrusted.Text(fmt.Sprintf("line %d", i)))
	}
	return out
}

// logs answers queries for a log.
type logs struct {
	session.Queries
	log   session.ServerLog
	after []int64
}

func (l *logs) ServerLog(_ context.Context, server string, after int64) (session.ServerLog, error) {
	l.after = append(l.after, after)
	l.log.Server = server
	return l.log, nil
}

// answer lets the session answer a query with lines of a log, and returns the query
// for more.
func (l *logs) answer(d *dialog.Servers, q keymap.Query, at int64, lines []untrusted.Text) keymap.Query {
	l.log.At, l.log.Lines = at, lines
	msg := q(context.Background(), l)
	if msg == nil {
		return nil
	}
	return keymap.First[keymap.Query](d.Update(msg))
}

func TestLogFollowsItsEndUntilTheUserScrolls(t *testing.T) {
	d, source := openServers(plan.ServerStatus{Name: "k", State: plan.ServerReady}), &logs{}
	more := source.answer(d, keymap.First[keymap.Query](pressed(t, d, "servers.log")), 10, lines(0, 100))
	if got := shown(d); !strings.Contains(got, "line 99\n") && !strings.Contains(got, "line 99 ") || strings.Contains(got, "line 5 ") {
		t.Fatalf("the end is not shown:\n%s", got)
	}
	more = source.answer(d, more, 20, lines(0, 101))
	if got := shown(d); !strings.Contains(got, "line 100 ") {
		t.Fatalf("the new line is not shown:\n%s", got)
	}
	pressed(t, d, "move.page_up")
	top := shown(d)
	more = source.answer(d, more, 30, lines(20, 130)) // the oldest lines went
	if got := shown(d); firstLine(got) != firstLine(top) || strings.Contains(got, "line 129") {
		t.Errorf("the lines moved from\n%s\nto\n%s", top, got)
	}
	pressed(t, d, "move.last")
	more = source.answer(d, more, 40, lines(20, 131))
	if got := shown(d); !strings.Contains(got, "line 130 ") {
		t.Errorf("it does not follow again:\n%s", got)
	}
	if want := []int64{-1, 10, 20, 30}; !slices.Equal(source.after, want) {
		t.Errorf("it asked after %v, want %v", source.after, want)
	}
	pressed(t, d, "dialog.leave")
	if source.answer(d, more, 50, lines(0, 1)) != nil {
		t.Error("it asks for more after the user left")
	}
}

// firstLine returns the first line of the log on the screen.
func firstLine(shown string) string {
	_, after, _ := strings.Cut(shown, "line ")
	number, _, _ := strings.Cut(after, " ")
	return number
}

func TestLogShowsWhyThereIsNoneAndCleansItsLines(t *testing.T) {
	d, source := openServers(plan.ServerStatus{Name: "k", State: plan.ServerReady}), &logs{}
	source.answer(d, keymap.First[keymap.Query](pressed(t, d, "servers.log")), 1, []untrusted.Text{"a \x1b[31mred\x1b[0m line", untrusted.Text(strings.Repeat("long ", 60))})
	if got := strings.Join(d.View(draw.Rect{W: 60, H: 20}), "\n"); strings.Contains(got, "\x1b[31mred") {
		t.Errorf("control characters reach the screen: %q", got)
	}
	source.log.Problem = "this server has none"
	source.answer(d, keymap.First[keymap.Query](pressed(t, d, "servers.log")), 1, nil)
	if got := shown(d); !strings.Contains(got, "this server has none") {
		t.Errorf("got\n%s", got)
	}
}
