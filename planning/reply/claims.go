package reply

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
)

// Patterns of what an answer may claim: a path, a name in code, a number.
var (
	claimedPath   = lazyregexp.New(`[\w.-]*(?:[\w-]+/)+[\w.-]*\w|\b[\w-]+\.(?:go|py|ts|tsx|js|jsx|json|toml|ya?ml|md|txt|rs|java|c|h|cpp|rb|sh|sql|csv|html|css|xml|mod|lock)\b`)
	claimedName   = lazyregexp.New("`([A-Za-z_][\\w.]*(?:\\(\\))?)`|\\b([a-z]+[A-Z]\\w*|[A-Z][a-z]+[A-Z]\\w*|[A-Za-z]+_\\w+)\\b")
	claimedNumber = lazyregexp.New(`(?:^|[\s(=:"'` + "`" + `])(\d[\d,]*(?:\.\d+)?)(?:[\s).,;:"'` + "`" + `%]|$)`)
)

// mostClaims bounds what [Unsupported] names.
const mostClaims = 5

// Unsupported returns the files, names and numbers in an answer that stand neither in the
// results nor in the goal, in their order. counts are numbers that the results show
// without writing them, such as how many lines a search found. A number of one digit is
// not checked.
func Unsupported(answer, results, goal string, counts []int) []string {
	evidence := strings.ToLower(results + "\n" + goal)
	var out []string
	add := func(claim string) {
		if !slices.Contains(out, claim) && len(out) < mostClaims {
			out = append(out, claim)
		}
	}
	for _, at := range claimedPath.FindAllString(answer, -1) {
		at = strings.TrimPrefix(strings.Trim(at, "."), "./")
		lower := strings.ToLower(at)
		if strings.Contains(at, "://") || strings.Contains(evidence, lower) || path.Ext(at) == "" {
			continue // without an extension it is as often "and/or"
		}
		add(at)
	}
	for _, m := range claimedName.FindAllStringSubmatch(answer, -1) {
		name := strings.TrimSuffix(m[1]+m[2], "()")
		if len(name) < 3 || strings.Contains(evidence, strings.ToLower(name)) || slices.ContainsFunc(out, func(o string) bool { return strings.Contains(o, name) }) {
			continue
		}
		if last := name[strings.LastIndexByte(name, '.')+1:]; strings.Contains(evidence, strings.ToLower(last)) {
			continue
		}
		add(name)
	}
	for _, m := range claimedNumber.FindAllStringSubmatch(answer, -1) {
		number := strings.Trim(strings.ReplaceAll(m[1], ",", ""), ".")
		if len(number) < 2 || strings.Contains(evidence, number) || slices.ContainsFunc(counts, func(n int) bool { return number == strconv.Itoa(n) }) {
			continue
		}
		add(number)
	}
	return out
}
