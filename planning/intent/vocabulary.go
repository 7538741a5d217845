package intent

import (
	"slices"
	"strings"
)

// The words of the grammar, all in lower case.
var (
	questions = strings.Fields("what who where why how which when")

	// asking words may stand before a question without changing it.
	asking = strings.Fields("tell show explain describe find figure out see check know understand debug trace")

	// articles may stand before any word of a form, and before a target.
	articles = strings.Fields("the a an my our your this that these those all every any some me us of")

	pronouns = strings.Fields("it this that them these those here there everything something all you yourself me things")

	// joins stand between two tasks.
	joins = strings.Fields("and then but also afterwards finally next or & + plus")

	// kinds are kinds of code. They stand before or after a name. Those of holders
	// do so beside a name that cannot be an ordinary word.
	kinds   = strings.Fields("function func method struct class interface variable constant const package module")
	holders = strings.Fields("type field helper file folder directory test tests message branch")

	// verbs begin tasks.
	verbs = strings.Fields("find locate search grep show list explain describe summarise summarize edit modify update change " +
		"fix repair correct extract rename refactor restructure simplify rewrite tidy clean test lint vet debug diagnose investigate " +
		"create implement add write generate run rerun execute commit push switch checkout delete remove replace move verify check " +
		"make build deploy merge rebase pull revert undo format release publish install open read bump tell optimize improve set outline")

	// limits restrict a task, and must not be ignored; conditions do so outside
	// searches, whose text may contain any word.
	limits     = strings.Fields("without except excluding unless only but outside")
	conditions = append(strings.Fields("if when not until before after and or because so across throughout"), limits...)

	// shells stand between two commands of a shell.
	shells = strings.Fields("&& || | ;")

	// characters name characters, or stand for themselves.
	characters = strings.Fields("tab tabs space spaces newline newlines whitespace quotes commas semicolons nothing")

	// remotes are the names that remotes go by.
	remotes = strings.Fields("origin upstream github gitlab fork")

	greetings = phrases("please | hey | hi | hello | ok | so | now | first | can you | could you | can we | i want to | i want you to | " +
		"i'd like to | i'd like you to | we need to | let's | help me | then | and | next | finally")

	farewells = phrases("please | pls | thanks | thx | thank you | for me | to me | now | first | everywhere | anywhere | " +
		"in the codebase | across the codebase | in the project | in this project | in the whole project | in the repo | in this repo | in all files | in every file | in detail | in depth | briefly | " +
		"also where it is used | and where it is used | where it is used | wherever it is used | everywhere it is used | throughout | throughout the project | throughout the codebase | afterwards | after that | after it")

	// groups are the lists that forms name with a dollar sign.
	groups = map[string][]string{
		"is":      strings.Fields("is are was were"),
		"do":      strings.Fields("does do did"),
		"deny":    strings.Fields("don't dont never not no stop avoid cannot"),
		"arrow":   strings.Fields("to into as -> => →"),
		"used":    strings.Fields("used called referenced imported returned needed"),
		"refs":    strings.Fields("references usages usage uses callers"),
		"symbols": strings.Fields("symbols functions methods types classes structs interfaces constants variables"),
		"changed": strings.Fields("changed change"),
		"bug":     strings.Fields("bug bugs issue problem error errors typo typos crash panic race leak deadlock"),
		"fix":     strings.Fields("fix repair mend correct solve"),
		"fail":    strings.Fields("fail fails failing failed crash crashes crashing break breaks broken panic panics hang hangs slow red flaky"),
		"works":   strings.Fields("work pass passing green compile build"),
		"tests":   strings.Fields("tests test"),
		"sort":    strings.Fields("unit integration regression missing more new whole failing failed"),
		"verify":  strings.Fields("verify check validate"),
		"write":   strings.Fields("add write create generate"),
		"see":     strings.Fields("show view see list check"),
		"change":  strings.Fields("changes change work everything fix it"),
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
