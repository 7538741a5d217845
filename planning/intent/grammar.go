package intent

import (
	"strings"
	"sync"
)

// forms is the grammar, compiled when it is first asked for.
var forms = sync.OnceValue(compileGrammar)

func compileGrammar() []form {
	var all []form
	for _, p := range grammar {
		for _, texts := range []struct {
			lines string
			weak  bool
		}{{p.plain, false}, {p.weak, true}} {
			for _, text := range strings.Split(texts.lines, "\n") {
				if elements := compile(text); len(elements) > 0 {
					all = append(all, form{p.category, p.action, texts.weak, elements, p.params})
				}
			}
		}
	}
	return all
}

// paragraph is the forms of one action, one a line.
type paragraph struct {
	category, action string
	params           map[string]string
	plain            string // forms whose first word means this action
	weak             string // forms whose first word means other things too
}

var grammar = []paragraph{
	{
		category: navigate, action: find,
		plain: `find|locate|grep [for] [<x>]
			search|look [code|codebase|project|repo] for|up <x>
			grep -r|-rn|-n|-i <x> [<in:path>]
			where $do we|i|you|they|people <x>
			where <x> happens|lives|is|are
			which|what $thing $holds <x>
			find|list|show|search [for] $thing $holding <x>
			find|list|show|search [for] $thing that|which $holds <x>`,
		weak: `show|list|display|open|get|see|search <x>
			where [$is|$do] <x>`,
	},
	{
		category: navigate, action: find, params: map[string]string{"of": "files"},
		plain: `list|show files|folder|folders|directory
			list|show [in] files in|of|under|inside|within <in>`,
	},
	{
		category: navigate, action: find, params: map[string]string{"of": "packages"},
		plain: `list|show packages|modules
			list|show packages|modules of|in|under|inside|within <in:one>`,
	},
	{
		category: navigate, action: references,
		plain: `where $is <x> $used
			where $is <x> $used in|inside|within <in:one>
			where $is <x> $used <_>
			where <x> $is $used
			where $do we|i|you|they|people|code $uses <x>
			who|what|which [$thing] [that] $uses [into] <x>
			find|show|list|look [for] $refs [to|of|for] <x>
			find|show|list|look [for] $thing that|which $uses <x>
			references|usages|uses|callers [to|of] <x>
			is|are <x> [still] $used
			is|are anyone|anybody|anything [still] $uses <x>`,
	},
	{
		category: navigate, action: definition,
		plain: `where $is <x> $defined
			where <x> $is $defined
			where $do we|i|you|they|people $define <x>
			find|show|go|jump|open [to] $def [of|for] <x>
			who|what|which [$thing] $define <x>
			definition|declaration [of|for] <x>`,
		weak: `go|jump|take to <x>`,
	},
	{
		category: navigate, action: symbols,
		plain: `list|show|find|get [exported|public|private] $symbols in|from|of|inside <x>
			[show|give] outline [of|for] <x>
			what|which [exported|public|private] $symbols $is [declared|defined] in|inside <x>
			what|which $symbols $do <x> have|define|export
			what $is in|inside <x:path>`,
	},
	{
		category: explain, action: explain,
		plain: `explain|describe|summarise|summarize|clarify [to] [<x>]
			what $is <x>
			what $do <x> do|mean|return|contain
			what <x> does|means|returns
			how $do <x> work|function|behave
			how <x> works|functions|behaves
			tell about <x>
			give|show overview|summary|explanation of <x>
			walk through <x>`,
		weak: `how [$do|$is|can|should|to] <x>
			why [$do|$is] <x>
			what [$do] <x>
			look at|through <x>
			read|review <x>`,
	},
	{
		category: modify, action: edit,
		plain: `edit|modify|update|change|alter|adjust|tweak [<x>]
			replace|substitute|swap <x> with|by|for <with>
			replace|substitute $each <x> with|by <with>
			$adjust <x> to|into <to>
			$adjust <x> from <from> to|into <to>`,
		weak: `delete|remove|drop|replace|bump|document|set|increase|decrease <x>`,
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
			$fix $bug $on <x:name> when|if|while|where|that <_>
			$fix $bug where|that|when|which|with <x>`,
		weak: `make [<x>] $works`,
	},
	{
		category: modify, action: extract,
		plain: `extract [<x>]
			extract|pull|split <x> out|from of|from <from>
			extract|pull|split <x> out|from [of|from] <from> into|to|as <into>
			extract <x> from|of <from>
			extract|pull|split <x> into|as <into>`,
	},
	{
		category: refactor, action: rename,
		plain: `rename [<x>]
			rename [from] <x> $arrow <new_name>
			change name of <x> to|into <new_name>`,
	},
	{
		category: refactor, action: refactor,
		plain: `refactor|restructure|simplify|rework|deduplicate [<x>]
			refactor|restructure|simplify|rework|rewrite <x> to|into <to>
			clean|tidy up <x>
			tidy <x>`,
		weak: `rewrite|improve|optimise|optimize|clean|move <x>
			move <x> to|into <to>`,
	},
	{
		category: validate, action: test,
		plain: `test|retest [everything] [<x>]
			[run|rerun|execute] go test [<x>]
			[run|rerun|execute] go test -run <x:one> [<in:path>]
			[run|rerun|execute] pytest|jest|vitest [<x>]
			[run|rerun|execute] npm|yarn|pnpm|cargo|just [run] test|tests [<x>]
			run|rerun|execute [only|just] [$sort] [unit] $tests [suite] [again]
			run|rerun|execute [only|just] [$sort] [unit] $tests $on <x>
			run|rerun|execute [only|just] [$sort] $tests with <_>
			run|rerun|execute [only|just] [test|benchmark] <x:test> [$on] [<in:one>]
			[make] $do|$is|sure [that] [$sort] $tests [still] $works`,
		weak: `tests
			verify|check|validate [that] <x> [still] [$works]
			run <x:path>`,
	},
	{
		category: validate, action: lint,
		plain: `lint|vet [everything|project|code] [<x>]
			[run] go vet [on|in|for] [<x>]
			lint|linter errors|warnings [in] [<x>]
			run|execute $linter [run]
			run|execute $linter $on <x>
			check [code] style|formatting
			golangci-lint [run] [<x>]`,
	},
	{
		category: debug, action: debug,
		plain: `debug|diagnose|troubleshoot|investigate [<x>]
			why $do|$is <x> [so|always|still] $fail
			why $do|$is <x> $fail <_>
			why $do|$is <x> so|not|return|returning|give|throw|take <_>
			why $nots <x> <_>
			why <x> [$is] $fail
			why <x> [$is] $fail <_>
			what $is wrong|broken|failing with|in|inside <x>
			what caused|causes|broke|breaks <x>
			find|hunt|locate|search [for] $bug in|inside|with|of <x>`,
		weak: `<x> fails|fail|crashes|panics|hangs [why]
			<x> $is|keeps [always|still] $fail [why]`,
	},
	{
		category: create, action: create,
		plain: `create|implement|add|generate|introduce|scaffold [new] [<x>]
			add|introduce [new] <x> to|into <in>`,
		weak: `write|new|design [new] <x>
			make|build a|an|new <x>`,
	},
	{
		category: create, action: addTests,
		plain: `$write [$sort] [unit] $tests
			$write [$sort] [unit] $tests [cases|case|coverage] $on <x>
			cover <x> with|by [$sort] [unit] $tests
			improve|increase [$sort] $tests coverage $on <x>`,
	},
	{
		category: vcs, action: status,
		plain: `[git] status
			$see [git|repo|repository] status
			what is [git|repo|repository] status
			what is uncommitted|staged|unstaged|untracked
			which|what files have|did i|we|you $changed
			$see uncommitted|changed|modified|untracked|staged files`,
	},
	{
		category: vcs, action: diff,
		plain: `[git] diff
			[git] diff <of:staging> [<x:path>]
			[git] diff [of|for|against|in|from] <x>
			$see [git] diff
			$see [git] diff of|for|against|in|from|to <x>
			$see [<of:staging>] [uncommitted|recent|latest|current|last] changes
			$see [<of:staging>] [uncommitted|recent|latest|current] changes of|in|for|to|since|against <x>
			what [is|has|have] changed
			what [is|has|have] changed in|since|inside|on <x>
			what have|did i|we|you $changed [so] [far]
			what have|did i|we|you $changed in|since|inside|on <x>`,
	},
	{
		category: vcs, action: history,
		plain: `[git] log
			log of|for <x>
			git log [of|for|in|since] <x>
			$see [git|commit|recent|latest|last] $past
			recent|latest|last commits
			$see [git|commit|recent|latest|last] $past of|for|in|since|on|to <x:one>
			[$see] [last|latest|recent] <max:number> [last|latest|recent] commits
			history of|for <x>
			who [last] $changed|wrote|added|removed <x>
			when $is <x> [last] $changed|added|removed`,
	},
	{
		category: vcs, action: commit,
		plain: `[git] commit [-a|--all|-am|all]
			[git] commit $change
			[git] commit [$change] with|using [commit] [message|msg|comment|text|title] <message>
			[git] commit [-a] -m|-am|--message <message>
			[git] commit [$change] message|msg|saying|: [:] <message>
			[git] commit [$change] as <message:quoted>
			[git] commit <message:sentence>
			[git] commit <x:path>`,
		weak: `[git] commit <x>`,
	},
	{
		category: vcs, action: branch, params: map[string]string{"create": "true"},
		plain: `create|make|start|add [new] [git] branch
			create|make|start|add [new] [git] branch [called|named|:] <x:one>
			new branch [called|named|:] <x:one>
			[git] checkout|switch -b|-c <x:one>`,
	},
	{
		category: vcs, action: branch,
		plain: `[git] branch
			switch|change|move|go|checkout [back] [to] [git] branch <x:one>
			switch|change|move|go|checkout [back] [to] <x:one> branch
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
		// These must not be taken for something else.
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
			fix me <_>
			how are|is you|it|life|everything [<_>]
			what time|day|date|year <_>
			test drive|water|waters <_>
			open|create|make [new] pull|merge request|requests [<_>]
			run|rerun $tests in|with <_> mode
			$tests|lint|debug|fix|build|diff|status|log|commit|push|branch was|went|is|are|were|has <_>`,
	},
}
