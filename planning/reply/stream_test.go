package reply_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/reply"
)

// chunks cuts text at random places, within characters too.
func chunks(t *rapid.T, text string) []string {
	var all []string
	for len(text) > 0 {
		n := rapid.IntRange(1, min(len(text), 40)).Draw(t, "chunk")
		all = append(all, text[:n])
		text = text[n:]
	}
	return all
}

func feed(stream *reply.StepStream, chunks []string) []plan.Step {
	var steps []plan.Step
	for _, c := range chunks {
		steps = append(steps, stream.Feed(c)...)
	}
	return steps
}

// drawReply writes a plan as models do: a list of texts and objects with some of
// their fields, numbered from 0 or 1, with space and prose around it.
func drawReply(t *rapid.T) string {
	n := rapid.IntRange(0, 6).Draw(t, "steps")
	zero := rapid.IntRange(0, 1).Draw(t, "first index")
	numbered := rapid.Bool().Draw(t, "numbered")
	text := rapid.SampledFrom([]string{"Read", "[todo]", `quote " and \`, "brace } ] , {", "é→ü", "Read → TOOL: fs.read", "a\nb", "<think>", ""})
	items := make([]any, n)
	for i := range items {
		if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
			items[i] = text.Draw(t, "text")
			continue
		}
		step := map[string]any{"title": text.Draw(t, "title")}
		if numbered {
			step["index"] = strconv.Itoa(i + zero)
		}
		if rapid.Bool().Draw(t, "has executor") {
			step["executor"] = rapid.SampledFrom([]string{"tool", "self", "TOOL: fs.read"}).Draw(t, "executor")
			step["tool"] = "fs.read"
			step["args"] = map[string]any{"path": text.Draw(t, "path"), "deep": []any{map[string]any{"steps": []any{1}}}}
		}
		if rapid.Bool().Draw(t, "has dependencies") && i > 0 {
			step["depends_on"] = []any{rapid.IntRange(0, i).Draw(t, "dependency")}
		}
		items[i] = step
	}
	object := map[string]any{"title": text.Draw(t, "plan title"), "steps": items}
	if rapid.Bool().Draw(t, "analysis") {
		object["mode"] = rapid.SampledFrom([]string{"plan", "Plan"}).Draw(t, "mode")
		object["complexity"] = "simple"
		object["reflect"] = false
	}
	reply := plan.CanonicalJSON(object)
	switch rapid.IntRange(0, 5).Draw(t, "around") {
	case 0:
		return "```json\n" + reply + "\n```"
	case 1:
		return "<think>maybe {\"steps\":[\"no\"]}</think> " + reply
	case 2:
		return "Here {it} is [now]: {} " + reply + " {\"steps\":[\"late\"]}"
	case 3:
		return strings.ReplaceAll(reply, `,"`, " ,\n\t\"")
	case 4:
		return plan.CanonicalJSON(items)
	default:
		return reply
	}
}

func TestStreamYieldsStepsOfWholeReply(t *testing.T) {
	some := 0
	rapid.Check(t, func(t *rapid.T) {
		r := drawReply(t)
		want := readSteps(r)
		var stream reply.StepStream
		got := feed(&stream, chunks(t, r))
		some += len(got)
		if plantest.Shape(got) != plantest.Shape(want) {
			t.Fatalf("%s\nstreamed\n%s\nread\n%s", r, plantest.Shape(got), plantest.Shape(want))
		}
	})
	if some == 0 {
		t.Error("no step ever streamed")
	}
}

func TestBrokenStreamYieldsFirstSteps(t *testing.T) {
	tests := []struct{ name, reply, want string }{
		{"cut off in the second step", `{"title":"t","steps":[{"title":"A","tool":"x"},{"title":"B","to`, "1 x <> A"},
		{"broken in the second step", `{"steps":[{"title":"A","tool":"x"},{"title":B},{"title":"C"}]}`, "1 x <> A"},
		{"unknown values", `{"steps":[{"title":"A","tool":"x"},null,7,{"title":"C","tool":"z"}]}`, "1 x <> A\n2 z <> C"},
		{"steps in another object", `{"meta":{"steps":["no"]},"steps":["yes"]}`, "1 self <> yes"},
		{"text instead of a list", `{"steps":"none"}`, ""},
		{"lists in prose", `I see ["a","b"] and more.`, ""},
		{"prose", "1. Look\n2. Act", ""},
		{"an unclosed thought", `<think>{"steps":["a"]}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stream reply.StepStream
			if got := plantest.Shape(stream.Feed(tt.reply)); got != tt.want {
				t.Errorf("streamed\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestStreamAcceptsLeadingListAsPlan(t *testing.T) {
	const step = "1 self <> A"
	tests := []struct{ name, before, want string }{
		{"alone", "", step},
		{"after white space", " \u00a0\n", step},
		{"in a code fence", "```json\n", step},
		{"words in a code fence", "```json\nhere: ", ""},
		{"after words", "My plan: ", ""},
		{"after another list", "[1, 2] ", ""},
		{"after a thought with brackets", "<think>[a] {b} [c]</think>", step},
		{"after two thoughts", "<think>[a]</think> <thinking>{b} </think> [c]</thinking>", step},
		{"within a thought", "<thinking>[a] </think>", ""},
		{"after a thought opened by the template", "I see [a] and {b}. </think>\n", step},
		{"after a template's thought with another inside", "I see </thinking> [a] <think>{b} </think>\n", step},
		{"after a template's thought with a fence inside", "I see </thinking> ```json [a] </think>\n", step},
		{"after words after a thought", "<think>[a]</think> Here [it] is: ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stream reply.StepStream
			if got := plantest.Shape(stream.Feed(tt.before + `["A"]`)); got != tt.want {
				t.Errorf("streamed %q, want %q", got, tt.want)
			}
		})
	}
}

// emptyReplies are units of long replies without a step: each of their brackets
// could start a value or a list of steps.
var emptyReplies = []struct{ name, before, unit string }{
	{"braces", "", "{"},
	{"brackets", "", "["},
	{"lists in words", "", "x ["},
	{"objects", "", "{}"},
	{"code", "", "f() {x}\n"},
	{"code in a thought", "", "<think>{"},
	{"ends of thoughts", "", "</think>["},
	{"ends of thoughts with the other tag", "", "</thinking>["},
	{"whole thoughts", "", "<thinking>a</think>[</thinking>"},
	{"open fence", "```", "a["},
	{"fence and white space", "```" + strings.Repeat("\n", 10_000), "["},
	{"white space", strings.Repeat("\u00a0", 10_000), "["},
	{"steps without a list", `{"steps":` + strings.Repeat("\u00a0", 10_000) + "x", "[]"},
}

// Allocations measure the work: reading all earlier text at each bracket would
// copy it.
func TestStreamDoesNotRereadText(t *testing.T) {
	const units = 2000
	for _, tt := range emptyReplies {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.before + strings.Repeat(tt.unit, units)
			allocations := testing.AllocsPerRun(1, func() {
				var stream reply.StepStream
				stream.Feed(text)
			})
			if allocations > units/10 {
				t.Errorf("%.0f allocations for %d times %q", allocations, units, tt.unit)
			}
		})
	}
}

// BenchmarkStreamWithoutSteps feeds long replies without steps: the time per byte
// must not grow with their length.
func BenchmarkStreamWithoutSteps(b *testing.B) {
	for _, r := range emptyReplies {
		for _, n := range []int{60_000, 240_000} {
			b.Run(fmt.Sprintf("%s/%d", r.name, n), func(b *testing.B) {
				text := r.before + strings.Repeat(r.unit, n/len(r.unit))
				for b.Loop() {
					var stream reply.StepStream
					if steps := stream.Feed(text); len(steps) > 0 {
						b.Fatal(steps)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(text)), "ns/byte")
			})
		}
	}
}

func TestStreamHoldsAnalysisStepsUntilTheyCount(t *testing.T) {
	head := `{"mode":"plan","task":"t",`
	steps := `"steps":[{"index":"1","title":"A","tool":"x"},{"index":"2","title":"B","tool":"y"}]`
	tests := []struct {
		name  string
		parts []string
		want  []int // steps yielded after each part
	}{
		{"steps last", []string{head + `"complexity":"simple","reflect":false,` + `"steps":[{"title":"A","tool":"x"}`, `,{"title":"B","tool":"y"}`, `]}`}, []int{0, 1, 1}},
		{"steps first", []string{head + steps, `,"complexity":"simple","reflect":false`, `}`}, []int{0, 0, 2}},
		{"review requested", []string{head + `"complexity":"simple","reflect":true,` + steps, `}`}, []int{0, 0}},
		{"not simple", []string{head + steps, `,"complexity":"complex","reflect":false}`}, []int{0, 0}},
		{"direct mode", []string{`{"mode":"direct","complexity":"simple","reflect":false,` + steps + `}`}, []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stream reply.StepStream
			for i, part := range tt.parts {
				if got := len(stream.Feed(part)); got != tt.want[i] {
					t.Errorf("after part %d: %d steps, want %d", i, got, tt.want[i])
				}
			}
		})
	}
}

func TestCutStreamYieldsFirstSteps(t *testing.T) {
	for _, r := range []string{
		plantest.FullPlan, plantest.NewTail, "```json\n" + plantest.FullPlan + "\n```", "<think>{\"steps\":[1]}</think>" + plantest.FullPlan,
		`{"mode":"plan","task":"t","goal":"g","complexity":"simple","reflect":false,` + plantest.FullPlan[1:], `["Look → TOOL: fs.read","[todo]","Say"]`,
	} {
		want := strings.Split(plantest.Shape(readSteps(r)), "\n")
		most := 0
		for cut := range len(r) + 1 {
			var stream reply.StepStream
			got := stream.Feed(r[:cut])
			if len(got) < most {
				t.Fatalf("cut at byte %d: got %d steps, but %d one byte earlier", cut, len(got), most)
			}
			most = len(got)
			for i, line := range strings.Split(plantest.Shape(got), "\n") {
				if len(got) > 0 && line != want[i] {
					t.Fatalf("cut at byte %d: step %d is %q, want %q", cut, i, line, want[i])
				}
			}
		}
		if most != len(want) {
			t.Errorf("got %d steps, want %d:\n%s", most, len(want), r)
		}
	}
}

func TestBadByteInStreamKeepsEarlierSteps(t *testing.T) {
	whole := plantest.Shape(readSteps(plantest.FullPlan))
	first, _, _ := strings.Cut(whole, "\n")
	end := strings.Index(plantest.FullPlan, `{"index":"2"`)
	for at := range len(plantest.FullPlan) {
		for _, wrong := range []string{"", "\x00", `"`, "}", "]", ",", "\\", "\xff", "{", "\n\n\n"} {
			var stream reply.StepStream
			got := stream.Feed(plantest.FullPlan[:at] + wrong + plantest.FullPlan[at+1:])
			if at > end && (len(got) == 0 || plantest.Shape(got[:1]) != first) {
				t.Fatalf("%q at byte %d: got the first step %q, want %q", wrong, at, plantest.Shape(got), first)
			}
			for _, s := range got {
				if s.Index == "" || s.Executor == "" {
					t.Fatalf("%q at byte %d: got half a step: %+v", wrong, at, s)
				}
			}
		}
	}
}
