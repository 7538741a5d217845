package untrusted_test

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const (
	textType = "replan/internal/untrusted.Text"
	module   = "replan/"
)

// rawAllowed names the functions of the screen and the command line that need text as
// it came, with the reason.
var rawAllowed = map[string]string{
	"cli/lines.Ended":          "returns an error, which is cleaned where it is printed",
	"cli/lines.Failure":        "fills an error that --output json writes as it came",
	"cli/plans.withoutSecrets": "writes a plan file",
	"cli/tools.completed":      "fills an error that --output json writes as it came",
	"cli/doctor.Without":       "takes secrets out, and stays text from outside",
	"tui.apply":                "the history of the input keeps what was typed",
	"tui.userSent":             "the history of the input keeps what was typed",
	"tui/chat.closeTurn":       "code is copied as it came; Markdown is cleaned where it is drawn, once",
	"tui/chat.drawTurn":        "Markdown is cleaned where it is drawn, once",
	"tui/chat.pieces":          "code is copied as it came; Markdown is cleaned where it is drawn, once",
	"tui/plain.entry":          "Markdown is cleaned where it is drawn, once",
	"tui/step.filesText":       "copies the text beside a result",
	"tui/step.outputText":      "copies the error of a failed call",
}

// sentences are the names of fields that hold text from outside wherever data
// reaches the screen.
var sentences = map[string]bool{
	"Title": true, "Reason": true, "Error": true, "Unanswered": true,
	"Problem": true, "Branch": true, "Instructions": true, "Host": true,
	"Why": true, "NoAlways": true, "Outdated": true, "Closed": true,
	"Goal": true, "DoneWhen": true, "Answer": true, "Results": true, "ExpectedOutcome": true, "Said": true, "Summary": true,
	"LastError": true, "Detail": true, "Description": true, "First": true, "Last": true,
}

// ownWords names the fields that have such a name and yet are strings, with the
// reason.
var ownWords = map[string]string{
	"planning/plan.Tool.Description":   "goes to models as it came; session.OfferedTool is what the screen draws",
	"planning/plan.ToolError.Outdated": "becomes event.StepFailed.Outdated",
	"planning/plan.PendingServer.Why":  "becomes the rule of a gate",
	"agent/session.Create.Goal":        "what the user typed; it goes to the planner",
	"agent/session.Resolve.Reason":     "what the user typed; it becomes event.GateResolved.Reason",
}

// load type-checks packages of this module without their tests.
func load(t *testing.T, patterns ...string) []*packages.Package {
	t.Helper()
	all, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedImports, Dir: "../.."}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		for _, e := range p.Errors {
			t.Fatalf("load %s: %v", p.PkgPath, e)
		}
	}
	return all
}

func TestCodeThatDrawsDoesNotConvertTextToString(t *testing.T) {
	used := map[string]bool{}
	for _, p := range load(t, "./tui/...", "./cli/...") {
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				place := strings.TrimPrefix(p.PkgPath, module)
				if fn, ok := d.(*ast.FuncDecl); ok {
					place += "." + fn.Name.Name
				}
				ast.Inspect(d, func(n ast.Node) bool {
					call, ok := n.(*ast.CallExpr)
					if !ok || len(call.Args) != 1 || !p.TypesInfo.Types[call.Fun].IsType() {
						return true
					}
					to, from := p.TypesInfo.Types[call].Type, p.TypesInfo.Types[call.Args[0]].Type
					if from == nil || from.String() != textType || to.String() == textType {
						return true
					}
					used[place] = true
					if rawAllowed[place] == "" {
						t.Errorf("%s: %s converts untrusted.Text to %s; call one of its methods, or say in rawAllowed why it needs the text as it came",
							p.Fset.Position(call.Pos()), place, to)
					}
					return true
				})
			}
		}
	}
	for place := range rawAllowed {
		if !used[place] {
			t.Errorf("%s is in rawAllowed and converts nothing", place)
		}
	}
}

func TestFieldsWithTextFromOutsideHaveTheTypeText(t *testing.T) {
	used := map[string]bool{}
	for _, p := range load(t, "./planning/plan", "./agent", "./agent/event", "./agent/rule", "./agent/session") {
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			fields, ok := scope.Lookup(name).Type().Underlying().(*types.Struct)
			if _, is := scope.Lookup(name).(*types.TypeName); !ok || !is {
				continue
			}
			for f := range fields.Fields() {
				if !sentences[f.Name()] || f.Type() != types.Typ[types.String] {
					continue
				}
				place := strings.TrimPrefix(p.PkgPath, module) + "." + name + "." + f.Name()
				used[place] = true
				if ownWords[place] == "" {
					t.Errorf("%s: %s is a string; make it an untrusted.Text, or say in ownWords why it is one", p.Fset.Position(f.Pos()), place)
				}
			}
		}
	}
	for place := range ownWords {
		if !used[place] {
			t.Errorf("%s is in ownWords and is no string", place)
		}
	}
}
