package intent

import (
	"strings"
	"sync"
)

// forms is the grammar, compiled on first use.
var forms = sync.OnceValue(func() []form {
	var all []form
	for _, p := range grammar {
		for text := range strings.SplitSeq(p.forms, "\n") {
			all = append(all, form{p.action, compile(text), p.params})
		}
	}
	return all
})

// grammar lists the forms of each action, one a line; compile says how they are
// written.
var grammar = []struct {
	action string
	params map[string]string // implied by the form
	forms  string
}{
	{action: find, forms: `find|locate|grep [for] [<x>]
		search|look [code|codebase|project] for <x>
		$see <x:marks>
		$see <x:marks> in|of|under <in:one>
		what|which <x:marks> $is there
		where $do we|i|you|they <x>
		where <x> happens|lives|is|are
		where $is <x>
		which|what files contain|mention|have <x>`},
	{action: find, params: map[string]string{"raised": "true"}, forms: `where $is <x:name> raised|thrown
		where <x:name> $is raised|thrown
		who|what raises|throws <x:name>`},
	{action: find, params: map[string]string{"of": "tests"}, forms: `list|show tests
		list|show tests in|of|under <in:one>
		which|what tests $is there`},
	{action: find, params: map[string]string{"of": "files"}, forms: `list|show files
		list|show files in|of|under <in>`},
	{action: references, forms: `where $is <x> $used [from]
		where $is <x> $used in|inside <in:one>
		where $is <x> $used <_>
		where <x> $is $used
		where $do we|i|you|they use|call <x>
		who|what calls|uses|imports|call|use <x>
		which|what functions|methods|code|callers|places call|calls|use|uses <x>
		$is <x:name> [still] $used [anywhere]
		$is <x:name> [still] $used in|inside <in:one>
		find|show|list $refs [to|of] <x>`},
	{action: references, params: map[string]string{"of": "tests"}, forms: `which|what tests cover|covers|test|tests|exercise|use|uses|call|calls <x:name>
		which|what tests $is there for <x:name>
		$is <x:name> tested|covered [by] [tests]`},
	{action: definition, forms: `[show|find|see|view] signature of|for <x>
		what $is signature of <x>
		where $is <x> defined|declared|implemented
		where <x> $is defined|declared|implemented
		[in] which|what file $is <x> defined|declared|implemented
		[in] which|what file <x> $is defined|declared|implemented
		which|what file defines|declares|implements <x>
		find|show|go|open [to] definition|declaration|implementation [of] <x>
		go|jump to <x>`},
	{action: symbols, params: map[string]string{"of": "symbols"}, forms: `list|show [exported] $symbols`},
	{action: symbols, forms: `list|show [exported] $symbols in|of <x>
		[show] outline [of] <x>
		what|which $symbols $is in <x>
		what $is in <x:path>`},
	{action: countLines, forms: `how many lines [code] [$is] [there]
		how many lines [code] $do project|repo|repository|it have
		how many lines [code] [$is] [there] in <in:one>
		how many lines [code] $do <in:file> have
		count lines [code]
		count lines [code] in|of <in:one>`},
	{action: folder, forms: `pwd
		where am i
		what|which folder|directory $is this|it
		what|which folder|directory am i in
		what $is current|working [working] folder|directory
		[show] current [working] folder|directory`},
	{action: readFile, forms: `show|read|open [file] <x:file>`},
	{action: explain, forms: `explain|describe|summarise|summarize [<x>]
		what $is <x>
		what $do <x> do|mean|return
		what <x> does|means|returns
		how $do <x> work
		how $do <x> work in|inside <in:one>
		how <x> works in|inside <in:one>
		how <x> works
		tell about <x>`},
	{action: edit, forms: `edit|modify|update|change [<x>]
		replace <x> with|by <with>
		change|update|set|bump|edit <x> to <to>`},
	{action: edit, params: map[string]string{"remove": "true"}, forms: `delete|remove|rm <x:file>`},
	{action: edit, params: map[string]string{"remove": "folder"}, forms: `delete|remove <x:dir>
		delete|remove folder|directory <x:one>
		delete|remove <x:one> folder|directory
		rm -r|-rf <x:one>`},
	{action: fix, forms: `$fix [<x>]
		$fix $bug in|of <x>
		$fix <problem> $bug in|of <x>
		$fix failing|broken|flaky test <x>
		make <x:one> $works`},
	{action: extract, forms: `extract [<x>]
		extract <x> from <in:one>`},
	{action: rename, forms: `rename [<x>]
		rename <x> $arrow <new_name>
		move <x:file> to|into <new_name:path>`},
	{action: refactor, forms: `refactor|restructure|simplify|rewrite [<x>]
		refactor|restructure|rewrite <x> to|into <to>
		clean|tidy [up] <x>`},
	{action: test, forms: `test [everything] [<x>]
		[run] go test [<x>]
		run|rerun|execute [only] [$sort] $tests [suite] [again]
		run|rerun|execute [only] [$sort] $tests [suite] in|for|of <x>
		run|rerun|execute [only] [test] <x:test> [in] [<in:one>]
		[make] $do|$is|sure [that] $tests [still] $works
		[all] [existing] $tests|build|code must|should|shall|need|have [to] [still] [$is|be|stay|keep] $works
		$verify [$sort] $tests [suite]
		$verify [$sort] $tests in|for|of <x>
		$verify [that|whether] $tests|build|code [still] $works
		$verify <x:test>
		$verify package <x:one>
		$verify <x:one> package
		verify|validate build|code
		check build`},
	{action: test, params: map[string]string{"folder": "true"}, forms: `$verify <x:folder>`},
	{action: lint, forms: `lint|vet [everything|project|code] [<x>]
		[run] go vet [on] [<x>]
		check code
		run linter|linters|lint [on] [<x>]`},
	{action: debug, params: map[string]string{"trace": "true"}, forms: `trace <x:name>`},
	{action: debug, forms: `debug|diagnose|investigate|trace [<x>]
		why $do|$is <x> [so|still] $fail
		why $do|$is <x> $fail <_>
		why <x> [$is] $fail
		what is wrong with <x>
		<x> is $fail`},
	{action: create, params: map[string]string{"of": "file"}, forms: `create|make|add [new] [empty] file [called|named] <x:file>
		create|make|add [new] file [called|named] <x:file> with|containing [text|content|contents] <text:text>
		create|make|add [new] file [called|named] <x:file> that says|contains <text:text>
		touch <x:file>`},
	{action: create, params: map[string]string{"of": "folder"}, forms: `create|make|add [new] [empty] folder|directory [called|named] <x:one>
		mkdir [-p] <x:one>`},
	{action: create, forms: `create|implement|add|generate [new] [<x>]
		add [new] <x> to|into <in>`},
	{action: addTests, forms: `$write [$sort] $tests
		$write [$sort] $tests for|of|to <x>`},
	{action: status, forms: `[git] status
		$see [git] status
		what is [git] status|uncommitted|staged
		which|what files [have|has|did] [i|we|you] $changed
		what is not committed [yet]
		$is working|work tree|copy|directory clean|dirty`},
	{action: history, forms: `what [$is|has|have|did] [i|we|you] [$changed] since <since:day>
		[$see] changes|commits since <since:day>
		$see last|latest|recent <max:count> commits`},
	{action: diff, params: map[string]string{"commit": "HEAD"}, forms: `git show
		$see last|latest|newest commit
		$see [git] diff|changes of|for|in|from last|latest|newest commit
		diff|changes [of|for|in] last|latest|newest commit
		what $is in last|latest|newest commit
		what $do last|latest|newest commit $changed
		what [$is|has|have] $changed in|by|with last|latest|newest commit`},
	{action: diff, forms: `$see [commit] <commit:commit>
		$see [git] diff|changes of|for|in|from [commit] <commit:commit>
		diff|changes [of|for|in] [commit] <commit:commit>
		[git] show [commit] <commit:commit>
		what $do [commit] <commit:commit> $changed
		what [$is|has|have] $changed in|by|with [commit] <commit:commit>`},
	{action: diff, forms: `[git] diff [of|for] [<x>]
		$see [git] diff|changes
		$see [git] diff|changes of|for|in|since <x>
		what [is|has|have|did] [i|we|you] $changed
		what [is|has|have|did] [i|we|you] $changed in|since <x>`},
	{action: blame, params: map[string]string{"of": "line"}, forms: `[git] blame
		who wrote|changed|touched|added line
		blame line`},
	{action: blame, forms: `[git] blame <x:file>
		who wrote|changed|touched|added line <line:count> in|of <x:file>
		[git] blame line <line:count> in|of <x:file>
		who wrote <x:place>
		[git] blame <x:place>`},
	{action: history, forms: `[git] log
		log of|for <x>
		git log [of|for] <x>
		$see [git|commit|recent|latest|last] log|history|commits
		$see [git|commit|recent|latest|last] log|history|commits of|for|in <x>
		recent|latest|last commits
		history of <x>
		who changed|wrote <x>`},
	{action: commit, forms: `[git] commit [-a|all]
		[git] commit $change
		[git] commit [$change] with message <message>
		[git] commit [-a] -m|-am <message:one>
		[git] commit <x:path>`},
	{action: branch, params: map[string]string{"create": "true"}, forms: `create|make|start [new] branch [called|named] <x:one>
		create|make|start [new] branch
		[git] checkout|switch -b|-c <x:one>`},
	{action: branch, forms: `[git] branch
		[git] switch|checkout [to] [branch] <x:one>
		[git] switch|checkout [to] <x:one> branch
		$see [current] branch|branches
		what|which branch am|is i|this [on]`},
	{action: build, forms: `build [project|everything|code|it|all]
		compile [project|everything|code|it|all]
		run build`},
	{action: build, params: map[string]string{"how": "true"}, forms: `how do|can|should i|we|you|one build|compile [this|project|everything|code|it|repo|repository]
		how to build|compile [this|project|everything|code|it|repo|repository]
		how $is this|project|it|code built|compiled
		what $is build command`},
	{action: format, forms: `format [project|everything|code|it|all]
		format <x:file>
		run formatter|fmt`},
	{action: dependencies, forms: `list|show dependencies
		what|which dependencies [$do|has|have] [project|repo|repository|it|we|i] [has|have|use|uses|need|needs]
		what|which dependencies $is there
		what $is dependencies
		what $do project|repo|repository|it depend [on]`},
	{action: push, forms: `[git] push
		push $change|branch
		push [$change] to <x:remote>
		git push <x>`},
}
