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
			all = append(all, form{p.category, p.action, compile(text), p.params})
		}
	}
	return all
})

// grammar lists the forms of each action, one a line; compile says how they are
// written.
var grammar = []struct {
	category, action string
	params           map[string]string // implied by the form
	forms            string
}{
	{
		category: navigate, action: find,
		forms: `find|locate|grep [for] [<x>]
			search|look [code|codebase|project|repo] for <x>
			where $do we|i|you|they <x>
			where <x> happens|lives|is|are
			where $is <x>
			which|what $thing contain|contains|mention|mentions|have|has <x>
			find|list|show $thing containing|mentioning|named|called <x>`,
	},
	{
		category: navigate, action: find, params: map[string]string{"of": "files"},
		forms: `list|show files|folders
			list|show files in|of|under|inside <in>`,
	},
	{
		category: navigate, action: references,
		forms: `where $is <x> $used [from]
			where $is <x> $used in|inside|within <in:one>
			where $is <x> $used <_>
			where <x> $is $used
			where $do we|i|you|they $uses <x>
			who|what|which [$thing] $uses <x>
			find|show|list [all] $refs [to|of|for] <x>
			references|usages|callers [to|of] <x>
			is|are <x> [still] $used`,
	},
	{
		category: navigate, action: definition,
		forms: `where $is <x> defined|declared|implemented
			where <x> $is defined|declared|implemented
			where $do we|i|you|they define|declare <x>
			find|show|go|jump|open [to] $def [of|for] <x>
			go|jump to <x>`,
	},
	{
		category: navigate, action: symbols,
		forms: `list|show|find [exported|public] $symbols in|from|of|inside <x>
			[show] outline [of] <x>
			what|which $symbols $is [declared|defined] in|inside <x>
			what|which $symbols $do <x> have|define
			what $is in|inside <x:path>`,
	},
	{
		category: explain, action: explain,
		forms: `explain|describe|summarise|summarize [<x>]
			what $is <x>
			what $do <x> do|mean|return
			what <x> does|means|returns
			how $do <x> work
			how <x> work|works
			tell about <x>`,
	},
	{
		category: modify, action: edit,
		forms: `edit|modify|update|change [<x>]
			replace|swap <x> with|by <with:one> in|inside|within|under <in:one>
			replace|swap <x> with|by <with:one> <_:ending>
			replace|swap <x> with|by|for <with>
			replace occurrences|uses <x> with|by <with>
			$adjust <x> to <to>`,
	},
	{
		category: modify, action: edit, params: map[string]string{"remove": "true"},
		forms: `delete|remove <x:file>`,
	},
	{
		category: modify, action: fix,
		forms: `$fix [<x>]
			$fix $bug $on <x>
			$fix <problem> $bug $on <x>
			$fix [failing|flaky] test <x:test>
			make <x:one> $works`,
	},
	{
		category: modify, action: extract,
		forms: `extract [<x>]
			extract <x> from|of <from>`,
	},
	{
		category: refactor, action: rename,
		forms: `rename [<x>]
			rename <x> $arrow <new_name:one> in|inside|within|under <in:one>
			rename <x> $arrow <new_name:one> <_:ending>
			rename <x> $arrow <new_name>
			change name of <x> to <new_name>`,
	},
	{
		category: refactor, action: refactor,
		forms: `refactor|restructure|simplify|rework [<x>]
			refactor|restructure|rework|rewrite <x> to|into <to>
			clean|tidy [up] <x>`,
	},
	{
		category: validate, action: test,
		forms: `test|retest [everything] [<x>]
			[run] go test [<x>]
			[run] pytest|jest|vitest [<x>]
			[run] npm|yarn|pnpm|cargo|just [run] test
			run|rerun|execute [only|just] [$sort] $tests [suite] [again]
			run|rerun|execute [only|just] [$sort] $tests [suite] $on <x>
			run|rerun|execute [$sort] $tests with <_>
			run|rerun|execute [only|just] [test] <x:test> [$on] [<in:one>]
			[make] $do|$is|sure [that] $tests [still] $works`,
	},
	{
		category: validate, action: lint,
		forms: `lint|vet [everything|project|code] [<x>]
			[run] go vet [on|in] [<x>]
			run|execute $linter [$on] [<x>]
			golangci-lint [run] [<x>]`,
	},
	{
		category: debug, action: debug,
		forms: `debug|diagnose|investigate [<x>]
			why $do|$is <x> [so|still] $fail
			why $do|$is <x> $fail <_>
			why <x> [$is] $fail
			what $is wrong|broken|failing with|in <x>
			what broke|breaks <x>
			<x> is broken`,
	},
	{
		category: create, action: create,
		forms: `create|implement|add|generate|introduce|scaffold [new] [<x>]
			add|introduce [new] <x> to|into <in>`,
	},
	{
		category: create, action: addTests,
		forms: `$write [$sort] [unit] $tests
			$write [$sort] [unit] $tests [coverage] $on <x>
			cover <x> with $tests`,
	},
	{
		category: vcs, action: status,
		forms: `[git] status
			$see [git|repo] status
			what is [git|repo] status
			what is uncommitted|staged|unstaged|untracked
			which|what files have|did i|we|you $changed
			$see uncommitted|changed|modified|untracked|staged files`,
	},
	{
		category: vcs, action: diff,
		forms: `[git] diff
			[git] diff [of|for|against|in] <x>
			$see [git] diff
			$see [git] diff of|for|against|in <x>
			$see [uncommitted|recent|last] changes
			$see [uncommitted|recent|last] changes of|in|to|since|against <x>
			what [is|has|have] changed
			what [is|has|have] changed in|since <x>
			what have|did i|we|you $changed
			what have|did i|we|you $changed in|since <x>`,
	},
	{
		category: vcs, action: diff, params: map[string]string{"of": "staged"},
		forms: `[git] diff --staged|--cached
			$see staged changes|diff`,
	},
	{
		category: vcs, action: history,
		forms: `[git] log
			log of|for <x>
			git log [of|for|in] <x>
			$see [git|commit|recent|latest|last] $past
			recent|latest|last commits
			$see [git|commit|recent|latest|last] $past of|for|in|to <x:one>
			[$see] last|latest|recent <max:number> commits
			history of|for <x>
			who [last] $changed|wrote|added <x>`,
	},
	{
		category: vcs, action: commit,
		forms: `[git] commit [-a|--all|-am|all]
			[git] commit $change
			[git] commit [$change] with|using [commit] message|msg <message>
			[git] commit [-a] -m|-am|--message <message:one>
			[git] commit [$change] message|saying <message>
			[git] commit [$change] as <message:one>
			[git] commit <x:path>`,
	},
	{
		category: vcs, action: branch, params: map[string]string{"create": "true"},
		forms: `create|make|start|add [new] [git] branch
			create|make|start|add [new] [git] branch [called|named] <x:one>
			new branch [called|named] <x:one>
			[git] checkout|switch -b|-c <x:one>`,
	},
	{
		category: vcs, action: branch,
		forms: `[git] branch
			switch|change|checkout [back] [to] [git] branch <x:one>
			switch|change|checkout [back] [to] <x:one> branch
			[git] checkout|switch [back] [to] <x:one>
			$see [current] branch|branches
			what|which branch am|is i|this [on]`,
	},
	{
		category: vcs, action: push,
		forms: `[git] push
			[git] push $change|commits|branch
			[git] push [$change|commits|branch] to <x:remote>
			git push [-u|--set-upstream] [to] <x>`,
	},
	{
		// These must not be taken for another intent.
		category: unknown, action: none,
		forms: `$deny <_>
			do not <_>
			should|shall|must|may i|we|you <_>
			make sure <_>
			delete|remove|drop|merge|rebase [git] branch <_>
			[git] push --force|-f|force [<_>]
			git pull|fetch|merge|rebase|reset|stash|revert|clean|add|rm|mv|tag|clone|init|config|cherry-pick|restore [<_>]
			what is|are time|day|date|year <_>
			open|create|make [new] pull|merge request|requests [<_>]
			run|rerun $tests in|with <_> mode
			$tests|lint|debug|fix|build|diff|status|log|commit|push|branch was|went|is|are|were|has <_>`,
	},
}
