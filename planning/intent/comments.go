package intent

import (
	"slices"
	"strings"

	"replan/planning/plan"
)

// commentKinds are the kinds of symbols that words of a goal about comments mean. Who says
// functions means methods, too.
var commentKinds = map[string][]string{
	"function": {"function", "method", "constructor"}, "method": {"method", "constructor"},
	"type": {"type", "struct", "interface", "class", "enum", "trait"}, "class": {"class"}, "classes": {"class"}, "struct": {"struct"}, "interface": {"interface"},
	"declaration": commentable, "symbol": commentable, "name": commentable,
}

var commentable = strings.Fields("function method constructor type struct interface class enum trait")

// comments are the words for doc comments; before a word such as "comment" only some may
// stand, since a comment may be any text.
var (
	comments     = strings.Fields("docstring docstrings godoc documentation")
	plainComment = strings.Fields("comment comments string strings")
	ofDocs       = strings.Fields("doc docs documentation a the missing go short brief")
	// aroundComments may stand in such a goal: whatever else it says is left to the model.
	aroundComments = strings.Fields("please then also now a an the of in to for on with and that which have has having none no not yet any without lack lacks lacking missing miss is are it its their them they one " +
		"go python file module package code what does do say says explain explains explaining describe describes describing one-line sentence line short brief run rerun test tests pass passes still check verify make sure ensure afterwards after")
	restricting = strings.Fields("except but only unless if whose where named called first last starting beginning ending larger longer most " +
		"hint hints annotation annotations") // of types
)

// CommentsWanted reports whether a goal wants doc comments for each function, method or
// type of one file, and reads for which. An example is "Add a doc comment to every exported
// function of order/order.go that has none". The tests may be run, too; ok is false for any
// other work.
func CommentsWanted(goal string) (form ListForm, ok bool) {
	tokens := split(goal, 4*maxWords)
	begin := slices.IndexFunc(tokens, func(t token) bool { return !t.is(fillers...) })
	if begin >= 0 && tokens[begin].is("the", "some", "all", "none", "these", "functions", "methods", "types", "classes") {
		tokens, begin = verbFirst(tokens[begin:]), 0
	}
	if begin < 0 || !tokens[begin].is("add", "write", "create", "put", "give", "document", "comment") {
		return ListForm{}, false
	}
	about, all, files := tokens[begin].is("document", "comment"), false, 0
	for i, t := range tokens[begin+1:] {
		before := tokens[begin+i]
		starts := before.after != "" || before.is("and", "then", "please")
		switch {
		case t.is(restricting...), t.quoted, writesTests(goal, t),
			t.is(imperatives...) && starts && !t.is("run", "test"):
			return ListForm{}, false
		case t.is(comments...), t.is(plainComment...) && before.is(ofDocs...):
			about = true
		case t.is("every", "each", "all", "any", "missing"):
			all = true
		case t.is("exported", "public"):
			form.Exported = true
		case isFile(t.text):
			files++
		default:
			kinds, known := commentKinds[t.key]
			if !known {
				kinds, known = commentKinds[strings.TrimSuffix(t.key, "s")]
			}
			if !known && !t.is(aroundComments...) && !t.is(ofDocs...) && !t.is(plainComment...) {
				return ListForm{}, false
			}
			form.Kinds = append(form.Kinds, kinds...)
		}
	}
	if form.Kinds == nil && form.Exported { // every exported name
		form.Kinds = commentable
	}
	return form, about && all && files == 1 && form.Kinds != nil
}

// writesTests reports whether a word is about tests that the goal does not want run.
func writesTests(goal string, t token) bool { return t.is("test", "tests") && !WantsTests(goal) }

// verbFirst moves the verb of a later clause to the beginning, as in "The functions in a.go
// lack comments, please add one to each".
func verbFirst(tokens []token) []token {
	for i, t := range tokens {
		if i > 0 && t.is("add", "write", "give") && (tokens[i-1].after != "" || tokens[i-1].is(fillers...)) {
			return slices.Concat(tokens[i:i+1], tokens[:i], tokens[i+1:])
		}
	}
	return tokens
}

// comments looks at which declarations of the file have comments, where each of them is to
// have one.
func (l *looker) comments(goal string) {
	if len(l.steps) != 1 || l.steps[0].Tool != "fs.read" || l.steps[0].Args["limit"] != nil {
		return
	}
	if _, ok := CommentsWanted(goal); ok {
		at, _ := l.steps[0].Args["path"].(string)
		l.add("List what "+at+" declares", "code.symbols", map[string]any{"path": at})
	}
}

// Uncommented returns the names of the declarations without a comment that a goal wants
// comments for, from the result of code.symbols. ok is false if the result is not whole, or
// if a name does not say which declaration is meant.
func Uncommented(item plan.HistoryItem, form ListForm) (names []string, ok bool) {
	r := resultOf(item.Result)
	if item.Tool != "code.symbols" || item.Status != plan.ItemCompleted || r.Truncated || r.Total != len(r.Symbols) {
		return nil, false
	}
	declared := map[string]int{}
	for _, s := range r.Symbols {
		declared[s.Name]++
	}
	for _, s := range form.symbols(slices.Clone(r.Symbols)) {
		if s.Doc != "" {
			continue
		}
		if declared[s.Name] > 1 {
			return nil, false
		}
		names = append(names, s.Name)
	}
	return names, true
}

// AnswerCommented says that each declaration which a goal wants comments for has one. ok is
// false if one lacks it, or the goal wants anything else.
func AnswerCommented(goal string, history []plan.HistoryItem) (answer string, ok bool) {
	form, wanted := CommentsWanted(goal)
	steps := lastAttempts(history)
	if !wanted || len(steps) == 0 || slices.ContainsFunc(steps, func(s plan.HistoryItem) bool { return s.Tool == "code.comment" }) {
		return "", false
	}
	for _, s := range steps {
		if names, ok := Uncommented(s, form); ok {
			at, _ := s.Args["path"].(string)
			return "There is nothing to add: each " + strings.Join(form.Kinds[:1], "") + " in " + code(at) + " that you mean has a comment.", len(names) == 0
		}
	}
	return "", false
}
