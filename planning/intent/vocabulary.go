package intent

import "strings"

// The words of tasks and forms, all in lower case.
var (
	questions = strings.Fields("what who where why how which when whose")

	// asking may stand before a question without changing it.
	asking = strings.Fields("tell show explain describe find figure out see look up work check know understand locate learn " +
		"debug investigate diagnose i you want need to wonder let do exactly know")

	// articles may stand before any word of a form, and before a target.
	articles = strings.Fields("the a an my our your his her their this that these those all every any some each me us of")

	people = strings.Fields("i we you they")

	pronouns = strings.Fields("it this that them these those here there everything something all the yourself myself you me things stuff")

	fillers = strings.Fields("too also again instead yet currently actually exactly anyway either once")

	// joins stand between two tasks.
	joins = strings.Fields("and then but also afterwards afterward finally next or & + plus")

	// kinds are kinds of named things, before or after the name.
	kinds = strings.Fields("function functions func method struct class interface variable constant const var identifier package module")

	// looseKinds count before a likely name, and after anything.
	looseKinds = strings.Fields("type field symbol helper")

	// holders count beside a likely name.
	holders = strings.Fields("file files folder directory dir test tests string text word phrase command error message line " +
		"endpoint page branch commit code")

	// places are the kinds that things lie in.
	places = strings.Fields("package packages module modules folder folders directory directories dir dirs file files")

	// verbs begin tasks of their own.
	verbs = strings.Fields("find locate search grep show list explain describe summarise summarize edit modify update change " +
		"alter adjust fix repair mend resolve correct extract rename refactor restructure simplify rework rewrite tidy clean " +
		"test retest lint vet debug trace diagnose troubleshoot investigate create implement add write generate introduce " +
		"run rerun execute commit push switch checkout delete remove replace move verify check make build deploy merge " +
		"rebase pull revert undo format release publish install open read bump increase decrease swap substitute dedupe tell optimize optimise")

	// conditions limit a task, and may not be ignored.
	conditions = strings.Fields("without except excluding unless only if when where but not besides until before after outside just solely ignoring skipping")

	// shells stand between two commands of a shell.
	shells = strings.Fields("&& || | ;")

	greetings = phrases(`please | pls | kindly | hey | hi | hello | ok | okay | so | well | now | first | just | also | maybe | perhaps
		can you | could you | would you | will you | can we | could we | can i | could i | may i
		i want to | i want you to | i would like to | i would like you to | i'd like to | i'd like you to | i need to
		i need you to | i need | we need to | we should | you should | we must | you must | let's | let us | let me
		help | help me | help me to | help us | help us to | try to | go ahead and | go ahead | would you mind | be so kind to
		is it possible to | time to | it is time to | it's time to | your task is to | the task is to | i think we should
		i think you should | replan | then | and | next | finally | quickly | simply | yes | sure | git please`)

	farewells = phrases(`please | pls | thanks | thank you | thx | cheers | for me | for us | to me | to us | now | right now | asap | quickly | ok | okay
		if possible | if you can | when you can | will you | would you | thanks a lot | many thanks | everywhere | anywhere | somewhere
		across the codebase | across the whole codebase | across the entire codebase | across the code | across the project
		across the repo | across the repository | throughout | throughout the codebase | throughout the code
		throughout the project | throughout the repo | throughout the repository | in the codebase | in this codebase
		in the whole codebase | in the entire codebase | in our codebase | in the code | in our code | in the project
		in this project | in the whole project | in our project | in the repo | in this repo | in the whole repo | in our repo
		in the repository | in this repository | in the source | in the source code | in all files | in every file
		in the code base | first | immediately | already | ever | find out why | figure out why | tell me why`)

	// groups are the lists that forms name with a dollar sign.
	groups = map[string][]string{
		"is":    strings.Fields("is are was were gets get got being"),
		"do":    strings.Fields("does do did"),
		"deny":  strings.Fields("don't dont never not no stop avoid cannot"),
		"arrow": strings.Fields("to into as -> => → ~>"),
		"used": strings.Fields("used called referenced invoked imported needed consumed instantiated applied accessed " +
			"read written returned thrown raised emitted"),
		"uses": strings.Fields("use uses call calls reference references invoke invokes import imports need needs consume " +
			"consumes access accesses using calling invoking importing"),
		"refs": strings.Fields("references reference usages usage uses callers caller callsites call-sites calls invocations " +
			"usings consumers"),
		"defined": strings.Fields("defined declared implemented located"),
		"define":  strings.Fields("define defines declare declares implement implements"),
		"def":     strings.Fields("def defs definition definitions declaration declarations implementation implementations"),
		"symbols": strings.Fields("symbols functions methods types classes structs interfaces identifiers constants variables exports " +
			"function method type names"),
		"thing": strings.Fields("file files function functions method methods type types code place places line lines package " +
			"packages module modules class classes struct structs test tests symbol symbols part parts string strings variable variables constant constants everything anything something"),
		"holding": strings.Fields("containing mentioning named called matching with"),
		"changed": strings.Fields("changed change modified modify touched touch edited edit"),
		"holds":   strings.Fields("contain contains mention mentions have has include includes hold holds match matches"),
		"bug": strings.Fields("bug bugs issue issues problem problems error errors typo typos mistake mistakes defect defects crash " +
			"panic regression failure failures race leak warning warnings deadlock deadlocks bottleneck flakiness vulnerability"),
		"fix": strings.Fields("fix repair mend resolve correct solve hotfix"),
		"fail": strings.Fields("fail fails failing failed crash crashes crashing crashed break breaks broken broke panic panics panicking " +
			"panicked hang hangs hanging error errors slow red flaky wrong stuck leak leaks leaking deadlock deadlocks " +
			"timeout timeouts unresponsive"),
		"nots":   strings.Fields("doesn't don't didn't isn't aren't wasn't won't can't cannot hasn't"),
		"each":   strings.Fields("occurrence occurrences instance instances use uses usage usages mention mentions"),
		"adjust": strings.Fields("edit modify update change alter adjust tweak set bump increase decrease raise lower reduce"),
		"works":  strings.Fields("work works working pass passes passing green compile compiles build builds succeed succeeds ok okay"),
		"tests":  strings.Fields("tests test testsuite suite specs spec"),
		"sort":   strings.Fields("unit integration regression missing more better new property fuzz table table-driven e2e end-to-end full whole entire go failing failed relevant same slow"),
		"write":  strings.Fields("add write create generate implement make include introduce need provide"),
		"on":     strings.Fields("in for of on under inside from against to around covering over"),
		"linter": strings.Fields("linter linters lint vet golangci-lint staticcheck eslint ruff flake8 pylint mypy clippy revive checks"),
		"see":    strings.Fields("show view see print display get give list check"),
		"change": strings.Fields("changes change work edits everything code files modifications fix fixes rest it progress stuff refactoring"),
		"past":   strings.Fields("log logs history commits"),
	}
)

// phrases reads phrases that stand between bars or on lines of their own.
func phrases(text string) [][]string {
	var all [][]string
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == '\n' }) {
		if words := strings.Fields(p); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}
