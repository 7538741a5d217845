package panetest

import (
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// HandlerDiff and HelperDiff are the changes of the two gates of a rename.
const (
	HandlerDiff = `--- a/auth/handler.go
+++ b/auth/handler.go
@@ -12,7 +12,7 @@
 // ServeHTTP answers one request.
 func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
 	token := r.Header.Get("Authorization")
-	user, err := authenticate(r.Context(), token)
+	user, err := verifyUser(r.Context(), token)
 	if err != nil {
 		http.Error(w, "unauthorized", http.StatusUnauthorized)
 		return
@@ -24,6 +24,6 @@
-// authenticate returns the user that a token belongs to.
-func authenticate(ctx context.Context, token string) (User, error) {
+// verifyUser returns the user that a token belongs to.
+func verifyUser(ctx context.Context, token string) (User, error) {
 	claims, err := parse(token)
`
	HelperDiff = `--- a/auth/jwt.go
+++ b/auth/jwt.go
@@ -31,5 +31,5 @@
 func (s *Session) refresh(ctx context.Context) error {
-	user, err := authenticate(ctx, s.token)
+	user, err := verifyUser(ctx, s.token)
 	if err != nil {
`
)

// RenameSteps are the steps of a plan that renames a function.
func RenameSteps() []plan.Step {
	return []plan.Step{
		{Index: "1", Title: "Find every use of the name", Executor: plan.ExecutorTool, Tool: "fs.search", Args: map[string]any{"query": "authenticate", "glob": "**/*.go"}, ResultVariable: "uses", ExpectedOutcome: "the files and lines that say authenticate"},
		{Index: "2", Title: "Read the handler", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "auth/handler.go"}, DependsOn: []string{"1"}, ResultVariable: "handler"},
		{Index: "3", Title: "Read its tests", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "auth/handler_test.go"}, DependsOn: []string{"1"}},
		{Index: "4", Title: "Rename in the handler", Executor: plan.ExecutorTool, Tool: "fs.patch", DependsOn: []string{"2", "3"}, ExpectedOutcome: "definition and caller say verifyUser"},
		{Index: "5", Title: "Run the tests", Executor: plan.ExecutorTool, Tool: "test.run", Args: map[string]any{"path": "./..."}, DependsOn: []string{"4"}, ExpectedOutcome: "all tests pass"},
		{Index: "6", Title: "Sum up the change", Executor: plan.ExecutorSelf, DependsOn: []string{"5"}},
	}
}

// HandlerGate is the gate of its step 4, which offers no rule.
func HandlerGate() event.GateRequested {
	return event.GateRequested{
		Gate: "4.1.1", Step: "4", Title: "Rename in the handler", Tool: "fs.patch", Server: "workspace", Trusted: true,
		Rule:   rule.Rule{Tool: "fs.patch", Verdict: rule.VerdictAsk, Source: "built-in", Why: "it changes files of the workspace"},
		Args:   map[string]any{"path": "auth/handler.go", "old": "func authenticate(ctx context.Context, token string) (User, error) {", "new": "func verifyUser(ctx context.Context, token string) (User, error) {", "all": true},
		Diff:   HandlerDiff,
		Hashes: map[string]string{"auth/handler.go": "0f"},
		Provenance: []rule.Provenance{
			{Arg: "new", Step: "2", Tool: "fs.read"},
		},
		NoAlways: "the arguments come from a result that can change",
	}
}

// HelperGate is the gate of a step 7 of the revised plan, which offers a rule.
func HelperGate() event.GateRequested {
	return event.GateRequested{
		Gate: "7.2.1", Step: "7", Title: "Rename in the token helper", Tool: "fs.patch", Server: "workspace", Trusted: true,
		Rule: rule.Rule{Tool: "fs.patch", Verdict: rule.VerdictAsk, Source: "built-in", Why: "it changes files of the workspace"},
		Args: map[string]any{"path": "auth/jwt.go", "old": "authenticate(ctx, s.token)", "new": "verifyUser(ctx, s.token)"}, Diff: HelperDiff, Always: HelperRule(),
	}
}

// HelperRule is the rule that [HelperGate] offers to save.
func HelperRule() *event.Always {
	return &event.Always{
		Rule: rule.Rule{Tool: "workspace:fs.patch", Args: map[string]string{"path": "auth/jwt.go", "all": "", "diff": ""}, Verdict: rule.VerdictRun, Source: rule.SourceConfiguration},
		Text: "[[policy]]\ntool = 'workspace:fs.patch'\nargs = {path = 'auth/jwt.go', all = '', diff = ''}\nworkspace = '/src/auth-service'\naction = 'allow'\n",
	}
}

// PatchRule asks about every change, OwnRule about one folder.
var (
	PatchRule = rule.Rule{Tool: "*", When: rule.WhenDestructive, Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: "it can change or delete data"}
	OwnRule   = rule.Rule{Tool: "fs.patch", Args: map[string]string{"path": "secret/**"}, Verdict: rule.VerdictAsk, Source: rule.SourceConfiguration, Why: "secrets are looked at"}
)

// Patching is a gate about a patch of a file in a step.
func Patching(step, path string, rule rule.Rule) event.GateRequested {
	return event.GateRequested{
		Gate: step + ".1.1", Step: step, Title: untrusted.Text("Patch " + path), Tool: "fs.patch", Server: "workspace", Trusted: true, Rule: rule,
		Args: map[string]any{"path": path, "old": "authenticate(r.Context(), token)", "new": "verifyUser(r.Context(), token)"},
		Diff: strings.ReplaceAll(HandlerDiff, "auth/handler.go", path),
	}
}

// Reading is a gate about a short call.
func Reading(step string) event.GateRequested {
	return event.GateRequested{
		Gate: step + ".1.1", Step: step, Title: untrusted.Text("Step " + step), Tool: "vcs.push", Server: "workspace", Rule: PatchRule,
		Args: map[string]any{"remote": "origin"},
	}
}

// Abreast is a plan for a goal whose calls wait at gates, in the given order.
func Abreast(goal untrusted.Text, gates ...string) []event.Data {
	var steps []plan.Step
	for i := 1; i <= 4; i++ {
		steps = append(steps, plan.Step{Index: fmt.Sprint(i), Title: untrusted.Text(fmt.Sprintf("Step %d", i)), Executor: plan.ExecutorTool, Tool: "vcs.push"})
	}
	all := []event.Data{event.PlanCreated{Plan: plan.Plan{ID: "p", Title: "Pushes", Goal: goal, Steps: steps}, Revision: 1}}
	for _, step := range gates {
		all = append(all, Reading(step))
	}
	return all
}

// Crowd is a plan for a goal of which five calls wait at once, three of them similar. One
// tool was allowed for the run before.
func Crowd(goal untrusted.Text) []event.Data {
	var steps []plan.Step
	for i := 1; i <= 6; i++ {
		steps = append(steps, plan.Step{Index: fmt.Sprint(i), Title: untrusted.Text(fmt.Sprintf("Step %d", i)), Executor: plan.ExecutorTool, Tool: "fs.patch"})
	}
	third := Patching("3", "auth/jwt.go", PatchRule)
	third.Provenance = []rule.Provenance{{Arg: "new", Step: "1", Tool: "fs.write"}}
	return []event.Data{
		event.PlanCreated{Plan: plan.Plan{ID: "p", Title: "Patches", Goal: goal, Steps: steps}, Revision: 1},
		event.GateRequested{Gate: "1.1.1", Step: "1", Title: "Step 1", Tool: "fs.write", Server: "workspace", Rule: PatchRule, Args: map[string]any{"path": "notes.md"}},
		event.GateResolved{Gate: "1.1.1", Decision: event.Allow, Scope: event.ScopeRun, By: "user"},
		Patching("2", "auth/handler.go", PatchRule), third, Patching("4", "secret/key.go", OwnRule),
		event.GateRequested{Gate: "5.1.1", Step: "5", Title: "Push it", Tool: "vcs.push", Server: "workspace", Rule: PatchRule, Args: map[string]any{"remote": "origin"}},
		Patching("6", "auth/user.go", PatchRule),
	}
}

// NotesPlan is a plan from a file.
func NotesPlan() plan.Plan {
	return plan.Plan{ID: "release-notes", Title: "Publish the release notes", Steps: []plan.Step{
		{Index: "1", Title: "Read the release notes", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "NOTES.md"}, ResultVariable: "notes"},
		{Index: "2", Title: "Count the changes", Executor: plan.ExecutorTool, Tool: "code.count", Args: map[string]any{"text": "${notes}"}, DependsOn: []string{"1"}},
		{Index: "3", Title: "Open the ticket", Executor: plan.ExecutorTool, Tool: "tickets.open", Args: map[string]any{"title": "Release 1.4", "labels": []any{"release", "docs"}, "body": "Notes:\n${notes}"}, DependsOn: []string{"2"}, ExpectedOutcome: "the number of the new ticket"},
		{Index: "4", Title: "Tell the team", Executor: plan.ExecutorTool, Tool: "chat.post", Args: map[string]any{"channel": "releases"}, DependsOn: []string{"3"}},
	}, OnFailure: plan.OnFailureAbort}
}

// TicketArgs are the arguments of its step 3, and TicketError is why that fails.
func TicketArgs() map[string]any {
	return map[string]any{"title": "Release 1.4", "labels": []any{"release", "docs"}, "body": "Notes:\n- faster\n- smaller\n"}
}

// TicketError is why step 3 of [NotesPlan] fails.
const TicketError = "the server answered 422: unprocessable\nfield \"labels\": \"docs\" is not a label of this project\nthe labels are: release, bug, feature"
