package ask

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/patch"
	"replan/tui/wording"
)

// gateQuestion asks about a gate that the line log has already shown. fits checks
// edited arguments against the tool; it is nil for the session's own gate, which
// is no call. repeats says that the user allowed the same call before. The prompt
// names what it asks, because the log may have shown another gate since.
func gateQuestion(run string, g event.GateRequested, fits func(args map[string]any) error, repeats bool) question {
	resolve := func(decision event.Decision, scope event.Scope) session.Command {
		return session.Resolve{Run: run, Gate: g.Gate, Call: g.Call, Decision: decision, Scope: scope}
	}
	ask := question{id: gateID(run, g.Gate), keys: true, careful: resolve(event.Deny, event.ScopeOnce)}
	answers := map[string]session.Command{"y yes once": resolve(event.Allow, event.ScopeOnce), "n no deny": ask.careful}
	if fits == nil {
		ask.prompt, ask.answer = fmt.Sprintf("  %s? [y]es, [n]o, [?]: ", strings.TrimSuffix(g.Title.Line(), "?")), oneOf(answers)
		ask.help = []string{"y, yes: run the named programs", "n, no: do not run them" + endOfInput}
		return ask
	}
	forRun := ""
	_, notRun := g.ForRun()
	if notRun == "" {
		answers["r run"] = resolve(event.Allow, event.ScopeRun)
		forRun = "[r] for this run" + wording.RunScopeHint(repeats) + ", "
	}
	always := ""
	if g.Always != nil || g.AlwaysTool != nil {
		always = "[a]lways, "
	}
	ask.prompt = fmt.Sprintf("%s  Allow %s in %s? [y]es, %s%s[n]o, [e]dit, [?]: ", head(g), callWords(g), wording.StepWords(g.Step), forRun, always)
	ask.help = gateHelp(g)
	plain := oneOf(answers)
	ask.answer = func(line string) answer {
		switch strings.ToLower(line) {
		case "r", "run":
			if notRun != "" {
				return answer{message: "  not for the run: " + untrusted.Line(notRun) + "\n"}
			}
		case "a", "always":
			return alwaysAnswer(&ask, g, resolve)
		case "b", "because":
			return answer{then: whyQuestion(run, g)}
		case "e", "edit":
			return answer{message: "  " + untrusted.Line(plan.CanonicalJSON(g.Args)) + "\n", then: editQuestion(&ask, run, g, fits)}
		}
		if no, why := refusal(line); no {
			return answer{send: declined(run, g, why)}
		}
		return plain(line)
	}
	return ask
}

// refusal reports whether a line says no, and why: "n", "no, use the tests".
func refusal(line string) (no bool, why string) {
	word, why, _ := strings.Cut(line, " ")
	word = strings.ToLower(strings.TrimRight(word, ",:"))
	return slices.Contains([]string{"n", "no", "deny"}, word), strings.TrimSpace(why)
}

// declined is the no to the call of a gate, with the reason in the user's words.
func declined(run string, g event.GateRequested, why string) session.Command {
	return session.Resolve{Run: run, Gate: g.Gate, Call: g.Call, Decision: event.Deny, Scope: event.ScopeOnce, Reason: why}
}

// whyQuestion asks why the user says no. An empty line gives no reason.
func whyQuestion(run string, g event.GateRequested) *question {
	return &question{
		prompt: "  why not, or what to do instead? (an empty line gives no reason): ", careful: declined(run, g, ""),
		answer: func(line string) answer { return answer{send: declined(run, g, line)} },
	}
}

// callWords names the tool of a call, and the files that it changes.
func callWords(g event.GateRequested) string {
	tool := untrusted.Line(g.Tool)
	switch files := slices.Collect(maps.Keys(g.Hashes)); {
	case !g.Trusted || len(files) == 0:
		return tool
	case len(files) == 1:
		return tool + " on " + untrusted.Line(files[0])
	default:
		return tool + " on " + english.Count(len(files), "file")
	}
}

// head repeats the head of a gate whose long diff has moved it out of the terminal:
// its step, tool and files.
func head(g event.GateRequested) string {
	const long, most = 16, 3 // lines, files
	if strings.Count(g.Diff, "\n") < long {
		return ""
	}
	var files []string
	for _, f := range patch.Parse(g.Diff).Files {
		files = append(files, fmt.Sprintf("%s +%d -%d", untrusted.Line(f.Name()), f.Added, f.Removed))
	}
	return fmt.Sprintf("  %s %s  %s  %s\n", untrusted.Line(g.Step), g.Title.Line(), untrusted.Line(g.Tool), english.Some(files, most, "file"))
}

// gateHelp describes the answers to a gate.
func gateHelp(g event.GateRequested) []string {
	run := "r, run: allow this call and every later one of " + wording.RunScope(g) + " in this run"
	if _, why := g.ForRun(); why != "" {
		run = "r, run: unavailable: " + untrusted.Line(why)
	}
	always := "a, always: show the rule that allows such calls from now on, and ask whether to save it"
	if g.Always == nil && g.AlwaysTool == nil {
		always = "a, always: unavailable: " + g.NoAlways.Line()
	}
	return []string{
		"y, yes, once: allow this call once",
		run,
		always,
		"n, no, deny: do not make the call; words on the same line are the reason" + endOfInput,
		"b, because: do not make the call, and say why or what to do instead",
		"e, edit: type other arguments as JSON; the gate then asks again",
	}
}

// ruleLines shows the rule that an answer of always saves, as it will appear in
// the configuration.
func ruleLines(a event.Always) string {
	var b strings.Builder
	b.WriteString("  this rule will be added to your configuration, before the other rules:\n")
	for line := range strings.SplitSeq(strings.TrimRight(a.Text, "\n"), "\n") {
		b.WriteString("    " + untrusted.Visible(line) + "\n")
	}
	return b.String()
}

// alwaysAnswer shows the rules that "always" can save: for this call, for this tool,
// or the reason why there is none.
func alwaysAnswer(back *question, g event.GateRequested, resolve func(event.Decision, event.Scope) session.Command) answer {
	this, tool := resolve(event.Allow, event.ScopeAlways), resolve(event.Allow, event.ScopeTool)
	switch {
	case g.Always == nil && g.AlwaysTool == nil:
		return answer{message: "  not always: " + g.NoAlways.Line() + "\n"}
	case g.AlwaysTool == nil:
		return answer{message: ruleLines(*g.Always), then: savingQuestion(back, this)}
	case g.Always == nil:
		return answer{message: ruleLines(*g.AlwaysTool), then: savingQuestion(back, tool)}
	}
	choose := &question{prompt: "  always [c] this call, [t] this tool with any arguments, [n] neither: ", keys: true, careful: back.careful}
	choose.answer = func(line string) answer {
		switch strings.ToLower(line) {
		case "c", "call":
			return answer{message: ruleLines(*g.Always), then: savingQuestion(back, this)}
		case "t", "tool":
			return answer{message: ruleLines(*g.AlwaysTool), then: savingQuestion(back, tool)}
		case "n", "no", "neither":
			return answer{then: back}
		}
		return answer{}
	}
	return answer{then: choose}
}

// savingQuestion asks whether to save a displayed rule. A no returns to the
// question back.
func savingQuestion(back *question, save session.Command) *question {
	return yesOrNo(back, "  save it, and allow this call? [y]es, [n]o: ", func() answer { return answer{send: save} })
}

// editQuestion asks for the arguments of a call as one line of JSON. An empty line keeps
// them and returns to the question back.
func editQuestion(back *question, run string, g event.GateRequested, fits func(args map[string]any) error) *question {
	return &question{
		prompt: "  the arguments, as one line of JSON (empty keeps them): ", careful: back.careful,
		answer: func(line string) answer {
			if line == "" {
				return answer{then: back}
			}
			args, problem := readArgs(line)
			if problem != "" {
				return answer{message: problem}
			}
			if err := fits(args); err != nil {
				return failed(err)
			}
			return answer{send: session.Edit{Run: run, Gate: g.Gate, Call: g.Call, Args: args}}
		},
	}
}

// yesOrNo asks a follow-up question. A no returns to the question back.
func yesOrNo(back *question, prompt string, yes func() answer) *question {
	return &question{prompt: prompt, keys: true, careful: back.careful, answer: func(line string) answer {
		switch strings.ToLower(line) {
		case "y", "yes":
			return yes()
		case "n", "no":
			return answer{then: back}
		}
		return answer{}
	}}
}

// failed reports why an answer cannot be accepted.
func failed(err error) answer { return answer{message: "  " + untrusted.Line(err.Error()) + "\n"} }

// readArgs parses arguments from a line, or says why it contains none.
func readArgs(line string) (args map[string]any, problem string) {
	value, err := plan.DecodeValue([]byte(line))
	if err != nil {
		return nil, notJSON(err)
	}
	args, ok := value.(map[string]any)
	if !ok {
		return nil, "  arguments are a JSON object such as {\"name\": \"value\"}\n"
	}
	return args, ""
}

// oneOf parses one of the answers: a word or its letter. A key of the map holds
// both, separated by a blank.
func oneOf(answers map[string]session.Command) func(string) answer {
	return func(line string) answer {
		for words, command := range answers {
			if slices.Contains(strings.Fields(words), strings.ToLower(line)) {
				return answer{send: command}
			}
		}
		return answer{}
	}
}

// notJSON says where a line is not JSON.
func notJSON(err error) string {
	return "  this is not JSON" + untrusted.Line(strings.TrimPrefix(err.Error(), "decode JSON")) + "\n"
}
