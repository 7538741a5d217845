package intent

import (
	"slices"
	"strings"
)

// The words of the grammar, all in lower case.
var (
	questions = strings.Fields("what who where why how which when whose")

	// asking words may stand before a question without changing it.
	asking = strings.Fields("tell show explain describe find figure out see check know understand debug i want need to do")

	// articles may stand before any word of a form, and before a target.
	articles = strings.Fields("the a an my our your his her their this that these those all every any some each me us of")

	pronouns = strings.Fields("it this that them these those here there everything something all the yourself myself you me things stuff")

	fillers = strings.Fields("too also again instead yet currently actually exactly anyway")

	// joins stand between two tasks.
	joins = strings.Fields("and then but also afterwards finally next or & + plus")

	// kinds are kinds of code. They stand before or after a name. Those of holders
	// do so beside a name that cannot be an ordinary word.
	kinds   = strings.Fields("function functions func method struct class interface variable constant const var identifier package module")
	holders = strings.Fields("type field symbol helper file files folder directory dir test tests string text word error message page branch commit code")

	// verbs begin tasks.
	verbs = strings.Fields("find locate search grep show list explain describe summarise summarize edit modify update change " +
		"fix repair correct extract rename refactor restructure simplify rework rewrite tidy clean " +
		"test lint vet debug diagnose investigate create implement add write generate introduce run rerun execute commit " +
		"push switch checkout delete remove replace move verify check make build deploy merge rebase pull revert undo format " +
		"release publish install open read bump increase decrease tell optimize optimise improve swap set outline")

	// limits restrict a task, and must not be ignored; conditions do so outside
	// searches, whose text may contain any word.
	limits     = strings.Fields("without except excluding unless only but outside")
	conditions = append(strings.Fields("if when where not until before after just solely ignoring skipping"), limits...)

	// endings may follow a name without being part of it.
	endings = append(strings.Fields("and or because so since for across using as with throughout everywhere which that"), conditions...)

	// shells stand between two commands of a shell.
	shells = strings.Fields("&& || | ;")

	// characters name characters, or stand for themselves.
	characters = strings.Fields("tab tabs space spaces newline newlines whitespace quotes commas semicolons nothing")

	// remotes are the names that remotes go by.
	remotes = strings.Fields("origin upstream github gitlab fork backup mirror")

	greetings = phrases("please | pls | hey | hi | hello | ok | okay | so | now | first | just | also | can you | could you | would you | will you | can we | " +
		"i want to | i want you to | i would like to | i would like you to | i'd like to | i'd like you to | i need to | i need you to | we need to | we should | " +
		"let's | let us | help me | help me to | go ahead and | then | and | next | finally | replan")

	farewells = phrases("please | pls | thanks | thank you | thx | for me | to me | now | right now | asap | if possible | everywhere | anywhere | " +
		"across the codebase | in the codebase | in the whole codebase | in the project | in this project | in the repo | in this repo | " +
		"in the repository | in the code | in all files | first | ever")

	// groups are the lists that forms name with a dollar sign.
	groups = map[string][]string{
		"is":    strings.Fields("is are was were gets get"),
		"do":    strings.Fields("does do did"),
		"deny":  strings.Fields("don't dont never not no stop avoid cannot"),
		"arrow": strings.Fields("to into as -> => →"),
		"used":  strings.Fields("used called referenced imported needed read written returned thrown"),
		"uses":  strings.Fields("use uses call calls reference references import imports need needs"),
		"refs":  strings.Fields("references reference usages usage use uses callers caller calls"),
		"def":   strings.Fields("def definition declaration implementation"),
		"symbols": strings.Fields("symbols functions methods types classes structs interfaces constants variables exports " +
			"function method type"),
		"thing": strings.Fields("file files function functions method methods type types code place places line lines package packages " +
			"module modules class classes test tests symbol symbols"),
		"changed": strings.Fields("changed change modified modify touched edited"),
		"bug":     strings.Fields("bug bugs issue problem error errors typo typos mistake crash panic regression failure race leak warning warnings deadlock"),
		"fix":     strings.Fields("fix repair mend resolve correct solve"),
		"fail":    strings.Fields("fail fails failing failed crash crashes crashing break breaks broken broke panic panics hang hangs slow red flaky wrong"),
		"adjust":  strings.Fields("edit modify update change set bump increase decrease raise lower reduce"),
		"works":   strings.Fields("work works working pass passes passing green compile build succeed"),
		"tests":   strings.Fields("tests test suite specs"),
		"sort":    strings.Fields("unit integration regression missing more new property fuzz table whole entire go failing failed"),
		"write":   strings.Fields("add write create generate implement"),
		"on":      strings.Fields("in for of on under against to"),
		"linter":  strings.Fields("linter linters lint vet golangci-lint staticcheck eslint ruff mypy clippy"),
		"see":     strings.Fields("show view see list check"),
		"change":  strings.Fields("changes change work edits everything code files fix rest it"),
		"past":    strings.Fields("log history commits"),
	}
)

// phrases splits phrases that stand between bars, the longest first.
func phrases(text string) [][]string {
	var all [][]string
	for p := range strings.SplitSeq(text, "|") {
		all = append(all, strings.Fields(p))
	}
	slices.SortStableFunc(all, func(a, b []string) int { return len(b) - len(a) })
	return all
}
