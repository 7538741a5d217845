package trust_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/config"
	"replan/mcpclient/trust"
	"replan/planning/plan"
)

var web = config.Server{Name: "web", URL: "https://example.com"}

// says compares what a server says of its tools; each text is the text of the tool with
// the name before "=".
func says(t *testing.T, pins *trust.Pins, instructions string, texts ...string) (trust.Description, []string) {
	t.Helper()
	var tools []plan.Tool
	all := map[string]string{}
	for _, text := range texts {
		name, text, _ := strings.Cut(text, "=")
		tools, all[name] = append(tools, plan.Tool{Server: "web", Name: name}), text
	}
	said, news, err := pins.Compare(t.Context(), web, tools, instructions, all)
	if err != nil {
		t.Fatal(err)
	}
	return said, news
}

func TestChangedToolIsRefusedUntilItsChangeIsAccepted(t *testing.T) {
	t.Parallel()
	pins := trust.OpenPins("", "/w")
	first, news := says(t, pins, "", "search=finds", "fetch=loads")
	if len(first.Changes()) > 0 || len(news) > 0 || first.Note() != "" {
		t.Fatalf("at first use: %+v, new %q", first, news)
	}
	known := first.Tools()[0]
	said, news := says(t, pins, "", "search=finds and sends", "fetch=loads", "post=writes")
	changes := said.Changes()
	if len(changes) != 1 || changes[0].Tool != "search" || !strings.Contains(string(changes[0].Diff), "+finds and sends") || !slices.Equal(news, []string{"post"}) {
		t.Fatalf("changes %+v, new %q", changes, news)
	}
	tools := said.Tools()
	if tools[0].Changed == "" || tools[1].Changed != "" || said.Note() != "search has changed; models do not see it until you accept the change: replan tools accept web" {
		t.Errorf("tools %+v, note %q", tools, said.Note())
	}
	if failure, ok := errors.AsType[*plan.ToolError](said.Refuses(tools[0])); !ok || !failure.NotCalled {
		t.Errorf("a changed tool: %v", said.Refuses(tools[0]))
	}
	if err := said.Refuses(tools[1]); err != nil {
		t.Errorf("a tool that stays: %v", err)
	}
	if after := said.WithoutTools(); len(after.Changes()) != 1 || len(after.Tools()) != 0 {
		t.Errorf("while the server restarts: %+v", after)
	}
	if err := pins.Accept(t.Context(), web, said, changes[0]); err != nil {
		t.Fatal(err)
	}
	after, changed := said.Accepted(changes[0])
	if !changed || len(after.Changes()) > 0 || after.Tools()[0].Changed != "" || after.Refuses(after.Tools()[0]) != nil {
		t.Errorf("after it was accepted: %+v", after)
	}
	if tools[0].Changed == "" {
		t.Error("the earlier value has changed, too")
	}
	if err := after.Refuses(known); err == nil {
		t.Error("a run that began before the change calls the tool as it is now")
	}
	if err := pins.Accept(t.Context(), web, after, changes[0]); err != nil {
		t.Errorf("accepted by another step: %v", err)
	}
	if again, _ := says(t, pins, "", "search=finds and sends"); len(again.Changes()) > 0 {
		t.Errorf("later: %+v", again.Changes())
	}
}

func TestAnotherChangeThanTheOneSeenIsNotAccepted(t *testing.T) {
	t.Parallel()
	pins := trust.OpenPins("", "/w")
	says(t, pins, "be quick", "search=finds")
	seen, _ := says(t, pins, "be slow", "search=finds and sends")
	if !seen.InstructionsChanged() || len(seen.Changes()) != 2 {
		t.Fatalf("got %+v", seen.Changes())
	}
	now, _ := says(t, pins, "be quick", "search=deletes")
	if now.InstructionsChanged() {
		t.Error("the accepted instructions are a change")
	}
	if err := pins.Accept(t.Context(), web, now, seen.Changes()[1]); err == nil {
		t.Error("a change that nobody has seen was accepted")
	}
}

func TestServersOfTwoProjectsHaveTheirOwnPins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := config.Server{Name: "own", Command: "serve", Source: config.SourceProject}
	for workspace, want := range map[string]string{"/a": "finds", "/b": "deletes"} {
		said, _, err := trust.OpenPins(dir, workspace).Compare(t.Context(), own, []plan.Tool{{Server: "own", Name: "search"}}, "", map[string]string{"search": want})
		if err != nil || len(said.Changes()) > 0 {
			t.Errorf("%s: %+v, %v", workspace, said.Changes(), err)
		}
	}
}

func TestToolsOfThisProgramAreNotCompared(t *testing.T) {
	t.Parallel()
	tool := plan.Tool{Server: "workspace", Name: "fs.read"}
	said := trust.Unpinned("workspace", []plan.Tool{tool})
	tool.Pin = "of another server with the name"
	if err := said.Refuses(tool); err != nil {
		t.Error(err)
	}
}
