package intent

import (
	"strings"
	"sync"
)

// forms is the grammar, compiled on first use.
var forms = sync.OnceValue(func() []form {
	var all []form
	for _, p := range grammar {
		for text := range strings.SplitSeq(p.plain, "\n") {
			all = append(all, form{p.category, p.action, false, compile(text), p.params})
		}
		for text := range strings.SplitSeq(p.weak, "\n") {
			if text != "" {
				all = append(all, form{p.category, p.action, true, compile(text), p.params})
			}
		}
	}
	return all
})

// grammar lists the forms of each action, one a line; compile says how they are
// written. The first word of a plain form means its action alone, that of a weak
// form has other meanings too.
var grammar = []struct {
	category, action string
	params           map[string]string // implied by the form
	plain, weak      string
}{
	{
		category: navigate, action: find,
		plain: `find|locate|grep [for] [<x>]
			search|look [code|codebase|project|repo] for <x>
			grep -r|-rn|-n|-i <x> [<in:path>]
			where $do we|i|you|they <x>
			where <x> happens|lives|is|are
			which|what $thing contain|contains|mention|mentions|have|has <x>
			find|list|show $thing containing|mentioning|named|called <x>`,
		weak: `show|list|open|get|see|search <x>
			where [$is|$do] <x>`,
	},
	{
		category: navigate, action: find, params: map[string]string{"of": "files"},
		plain: `list|show files|folders
			list|show files in|of|under|inside <in>`,
	},
	{
		category: navigate, action: find, params: map[string]string{"of": "packages"},
		plain: `list|show packages|modules
			list|show packages|modules of|in|under|inside <in:one>`,
	},
	{
		category: navigate, action: references,
		plain: `where $is <x> $used [from]
			where $is <x> $used in|inside|within <in:one>
			where $is <x> $used <_>
			where <x> $is $used
			where $do we|i|you|they $uses <x>
			who|what|which [$thing] $uses [into] <x>
			find|show|list|look [for] $refs [to|of|for] <x>
			references|usages|callers [to|of] <x>
			is|are <x> [still] $used`,
	},
	{
		category: navigate, action: definition,
		plain: `where $is <x> defined|declared|implemented
			where <x> $is defined|declared|implemented
			where $do we|i|you|they define|declare|implement <x>
			find|show|go|jump|open [to] $def [of|for] <x>
			which $thing defines|declares <x>
			$def [of] <x>`,
		weak: `go|jump to <x>`,
	},
	{
		category: navigate, action: symbols,
		plain: `list|show|find [exported|public] $symbols in|from|of|inside <x>
			[show] outline [of] <x>
			what|which $symbols $is [declared|defined] in|inside <x>
			what|which $symbols $do <x> have|define
			what $is in|inside <x:path>`,
	},
	{
		category: explain, action: explain,
		plain: `explain|describe|summarise|summarize [to] [<x>]
			what $is <x>
			what $do <x> do|mean|return
			what <x> does|means|returns
			how $do <x> work
			how <x> work|works
			tell about <x>
			walk through <x>`,
		weak: `how [$do|$is|to] [i|we|you] <x>
			why [$do|$is] [i|we|you] <x>
			what [$do] <x>
			read|review <x>`,
	},
	{
		category: modify, action: edit,
		plain: `edit|modify|update|change|alter|adjust|tweak [<x>]
			replace|substitute|swap <x> with|by <with:one> $within <in:one>
			replace|substitute|swap <x> with|by <with:one> <_:ending>
			replace|substitute|swap <x> with|by|for <with>
			replace occurrences|uses <x> with|by <with>
			$adjust <x> to <to>`,
		weak: `delete|remove|replace|bump|document|set|increase|decrease <x>`,
	},
	{
		category: modify, action: edit, params: map[string]string{"remove": "true"},
		plain: `delete|remove <x:file>`,
	},
	{
		category: modify, action: fix,
		plain: `$fix [<x>]
			$fix $bug $on <x>
			$fix <problem> $bug $on <x>
			$fix <problem:plain> $on <x:name>
			$fix $bug $on <x:name> when|if|while|where|that <_>`,
		weak: `make <x> $works`,
	},
	{
		category: modify, action: extract,
		plain: `extract [<x>]
			extract|pull|split <x> out|from of|from <from>
			extract|pull|split <x> out|from [of|from] <from> into|to <into>
			extract <x> from|of <from>
			extract|split <x> into <into>`,
	},
	{
		category: refactor, action: rename,
		plain: `rename [<x>]
			rename [from] <x> $arrow <new_name:one> $within <in:one>
			rename [from] <x> $arrow <new_name:one> <_:ending>
			rename [from] <x> $arrow <new_name>
			change name of <x> to <new_name>`,
	},
	{
		category: refactor, action: refactor,
		plain: `refactor|restructure|simplify|rework [<x>]
			refactor|restructure|rework|rewrite <x> to|into <to>
			clean|tidy up <x>
			tidy <x>`,
		weak: `rewrite|improve|optimise|optimize|clean|move <x>
			move <x> to|into <to>`,
	},
	{
		category: validate, action: test,
		plain: `test|retest [everything] [<x>]
			[run] go test [<x>]
			[run] go test -run <x:one> [<in:path>]
			[run] pytest|jest|vitest [<x>]
			[run] npm|yarn|pnpm|cargo|just [run] test [<x>]
			run|rerun|execute [only|just] [$sort] $tests [suite] [again]
			run|rerun|execute [only|just] [$sort] [unit] $tests [suite] $on <x>
			run|rerun|execute [$sort] $tests with <_>
			run|rerun|execute [only|just] [test] <x:test> [$on] [<in:one>]
			[make] $do|$is|sure [that] $tests [still] $works`,
		weak: `tests
			verify|check|validate [that] <x> [still] [$works]
			run <x:path>`,
	},
	{
		category: validate, action: lint,
		plain: `lint|vet [everything|project|code] [<x>]
			lint errors|warnings [in] [<x>]
			[run] go vet [on|in] [<x>]
			run|execute $linter [$on] [<x>]
			golangci-lint [run] [<x>]`,
	},
	{
		category: debug, action: debug,
		plain: `debug|diagnose|troubleshoot|investigate [<x>]
			why $do|$is <x> [so|still] $fail
			why $do|$is <x> $fail <_>
			why $nots <x> <_>
			why <x> [$is] $fail
			why <x> [$is] $fail <_>
			what $is wrong|broken|failing with|in <x>
			what caused|causes|broke|breaks <x>
			find|hunt $bug in|inside|of <x>`,
		weak: `<x> fails|fail|crashes|panics|hangs [why]
			<x> $is|keeps [still] $fail [why]`,
	},
	{
		category: create, action: create,
		plain: `create|implement|add|generate|introduce|scaffold [new] [<x>]
			add|introduce [new] <x> to|into <in>`,
		weak: `write [new] <x>
			make|build a|an|new <x>`,
	},
	{
		category: create, action: addTests,
		plain: `$write [$sort] [unit] $tests
			$write [$sort] [unit] $tests [coverage] $on <x>
			cover <x> with $tests
			improve|increase [$sort] $tests coverage $on <x>`,
	},
	{
		category: vcs, action: status,
		plain: `[git] status
			$see [git|repo] status
			what is [git|repo] status
			what is uncommitted|staged|unstaged|untracked
			which|what files have|did i|we|you $changed
			$see uncommitted|changed|modified|untracked|staged files`,
	},
	{
		category: vcs, action: diff,
		plain: `[git] diff
			[git] diff <of:staging> [<x:path>]
			[git] diff [of|for|against|in] <x>
			$see [git] diff
			$see [git] diff of|for|against|in <x>
			$see [<of:staging>] [uncommitted|recent|last] changes
			$see [<of:staging>] [uncommitted|recent|last] changes of|in|to|since|against <x>
			what [is|has|have] changed
			what [is|has|have] changed in|since <x>
			what have|did i|we|you $changed
			what have|did i|we|you $changed in|since <x>`,
	},
	{
		category: vcs, action: history,
		plain: `[git] log
			log of|for <x>
			git log [of|for|in] <x>
			$see [git|commit|recent|latest|last] $past
			recent|latest|last commits
			$see [git|commit|recent|latest|last] $past of|for|in|to <x:one>
			[$see] [last|latest|recent] <max:number> [last|latest|recent] commits
			history of|for <x>
			who [last] $changed|wrote|added <x>
			when $is <x> [last] $changed|added`,
	},
	{
		category: vcs, action: commit,
		plain: `[git] commit [-a|--all|-am|all]
			[git] commit $change
			[git] commit [$change] with|using [commit] [message|msg|comment|text|title] <message>
			[git] commit [-a] -m|-am|--message <message:one>
			[git] commit [$change] message|saying <message>
			[git] commit [$change] as <message:quoted>
			[git] commit <message:sentence>
			[git] commit <x:path>`,
		weak: `[git] commit <x>`,
	},
	{
		category: vcs, action: branch, params: map[string]string{"create": "true"},
		plain: `create|make|start|add [new] [git] branch
			create|make|start|add [new] [git] branch [called|named] <x:one>
			new branch [called|named] <x:one>
			[git] checkout|switch -b|-c <x:one>`,
	},
	{
		category: vcs, action: branch,
		plain: `[git] branch
			switch|change|checkout [back] [to] [git] branch <x:one>
			switch|change|checkout [back] [to] <x:one> branch
			[git] checkout|switch <x:one>
			$see [current] branch|branches
			what|which branch am|is i|this [on]`,
		weak: `switch [back] to <x:one>`,
	},
	{
		category: vcs, action: push,
		plain: `[git] push
			[git] push $change|commits|branch
			[git] push [$change|commits|branch] to <x:remote>
			git push [-u|--set-upstream] [to] <x>`,
		weak: `push [to] <x>`,
	},
	{
		// These must not be taken for another intent.
		category: unknown, action: none,
		plain: `$deny <_>
			do not <_>
			should|shall|must|may i|we|you <_>
			make sure <_>
			delete|remove|drop|merge|rebase [git] branch <_>
			[git] push --force|-f|force [<_>]
			git pull|fetch|merge|rebase|reset|stash|revert|clean|add|rm|mv|tag|clone|init|config|cherry-pick|restore [<_>]
			log in|out|on|off [<_>]
			commit to <_>
			push back|through|notifications [<_>]
			what do|did you|i|we|they mean|think|want [<_>]
			what time|day|date|year <_>
			how are you [<_>]
			fix me <_>
			open|create|make [new] pull|merge request|requests [<_>]
			run|rerun $tests in|with <_> mode
			$tests|lint|debug|fix|build|diff|status|log|commit|push|branch was|went|is|are|were|has <_>`,
	},
}
