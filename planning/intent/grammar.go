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
			search|look|hunt [code|codebase|project|repo] for <x>
			search <x>
			grep -r|-rn|-ri|-n|-i|-e|-rl <x> <in:path>
			grep -r|-rn|-ri|-n|-i|-e|-rl <x>
			look up <x>
			where $is <x>
			where $do <x> happen|live|occur|start|begin|end|run|sit
			where $do we|i|you|they|people <x>
			where <x> happens|lives|occurs|starts|begins|is|are|sits
			which|what $thing $holds <x>
			find|list|show|search [for] $thing that|which $holds <x>
			find|list|show|search [for] $thing containing|mentioning|named|called|matching|with <x>
			find|list|show occurrences|mentions|instances|places of <x>`,
		weak: `show|list|display|open|get|see|search <x>
			where <x>
			which <x>`,
	},
	{
		category: navigate, action: find, params: map[string]string{"of": "files"},
		plain: `list|show files|folder|folders|directory
			list|show [in] files in|of|under|inside|within <in>
			list folder|directory <in>
			what|which files $is there
			what|which files $is in|under|inside <in>
			ls [<in:one>]`,
	},
	{
		category: navigate, action: find, params: map[string]string{"of": "packages"},
		plain: `list|show packages|modules
			list|show packages|modules of|in|under|inside|within <in:one>
			what|which packages|modules $is there
			what|which packages|modules $is in|under|inside <in:one>`,
	},
	{
		category: navigate, action: references,
		plain: `where $is <x> [being] $used
			where $is <x> [being] $used in|inside|within <in:one>
			where $is <x> [being] $used <_>
			where $do people|we|i|you|they|code $uses <x>
			where we|i|you|they $uses <x>
			where <x> $is [being] $used
			who|what|which [is|are] [$thing] [that] $uses [into] <x>
			who|what|which depends|depend|relies|rely on <x>
			find|show|list|get|search|locate|look [for] $refs [to|for|on] <x>
			find|show|list|get|locate $thing that|which $uses <x>
			find|show|list|get|locate $thing calling|using|importing <x>
			find|show|list|get|locate who|what $uses <x>
			references|usages|uses|callers|callsites [to|for] <x>
			find|show|list|see everywhere|anywhere|places [where|that] <x> $is $used
			is|are there $refs of|to|for <x> [left]
			is|are <x> [still|even|actually] $used
			is|are anyone|anybody|anything|something|people|we [still|even|actually] $uses <x>
			how often $is <x> $used
			find|show|list|get|locate <x:one> references|usages|uses|callers`,
	},
	{
		category: navigate, action: definition,
		plain: `where $is <x> [being] $defined
			where <x> $is $defined
			where $do people|we|i|you|they $define <x>
			where we|i|you|they $define <x>
			find|show|go|jump|take|open|get|see|goto|locate [to] $def [for] <x>
			find|show|go|jump|open|see|goto|locate [to] <x:one> $def
			find|show|locate where <x> $is $defined
			definition|declaration [for] <x>
			who|what|which [$thing] $define <x>`,
		weak: `go|jump|take to <x>`,
	},
	{
		category: navigate, action: symbols,
		plain: `list|show|find|get|print [exported|public|private|top-level] $symbols in|from|inside|within|on <x>
			list|show|get symbols [of|in|for] <x>
			list|show|get functions|methods|types of <x>
			show|give|get|print outline [for|in] <x>
			outline [for] <x>
			symbols [in|for] <x>
			$symbols in|inside|of <x:path>
			what|which [exported|public|private] $symbols $is [there|declared|defined|exported] in|inside|on <x>
			what $is in|inside <x:path>
			what|which $symbols does|do <x> have|define|export|contain|declare|offer`,
	},
	{
		category: explain, action: explain,
		plain: `explain|describe|summarise|summarize|clarify|understand [to] [<x>]
			what $is <x>
			what $is <x> for|about|doing|good
			what $is <x> used for
			what $is purpose|meaning|point|role|idea|job|summary|intent of|behind <x>
			what $do <x> do|mean|return|contain|represent|stand
			what <x> does|do|means|returns|is|are
			what happens|goes in|inside|with|when|if <x>
			what $is going|happening on|in [in|inside] <x>
			explain|describe|summarise|summarize|read code|contents|content in|of|inside <x>
			how $do <x> work|works|function|behave|happen
			how $is <x> $defined
			how <x> works|work|functions|behaves
			tell about <x>
			walk through <x>
			i don't understand|get|see <x>
			i don't understand|get|see what|how|why <x> is|are|does|do|means|works|work [for|about]
			what <x> is|are for|about
			give|show|write|get summary|overview|explanation of|for <x>
			overview|summary|explanation of|for <x>`,
		weak: `how $do|$is|can|should|would|could <x>
			how to <x>
			how <x>
			why $do|$is <x>
			why <x>
			what $do <x>
			what <x>
			when <x>
			look at|through <x>
			read|review <x>`,
	},
	{
		category: modify, action: edit,
		plain: `edit|modify|update|change|alter|adjust|tweak [<x>]
			replace|substitute|swap <x> with|by|for <with>
			replace|substitute $each <x> with|by <with>
			$adjust <x> to|into <to>
			$adjust <x> from <from> to|into <to>
			comment out <x>
			find and replace <x> with|by <with>`,
		weak: `delete|remove|drop|replace|bump|document|set|increase|decrease <x>
			make <x> clearer|longer|shorter|bigger|smaller|optional|required|mandatory|configurable|private|public|exported|constant
			delete|remove|drop <x> from <in>`,
	},
	{
		category: modify, action: edit, params: map[string]string{"remove": "true"},
		plain: `delete|remove <x:file>`,
	},
	{
		category: modify, action: fix,
		plain: `$fix [<x>]
			$fix $bug $on <x>
			$fix $bug with|at|within <x>
			$fix $bug $on <x:name> when|if|while|where|that <_>
			$fix <problem> $bug $on <x>
			$fix $bug where|that|when|which|with <x>
			$fix <problem:plain> $on <x:name>
			$fix $bug <x>
			get rid of $bug in|inside <x>`,
		weak: `make|get [<x>] [to] $works
			handle $bug in <x>
			there's|theres $bug $on <x>
			there $is $bug $on <x>`,
	},
	{
		category: modify, action: extract,
		plain: `extract [<x>]
			extract|factor|pull|split|break|lift <x> out of|from <from>
			extract|factor|pull|split|break|lift <x> out of|from <from> into|to|as <into>
			extract <x> from|of <from>
			extract <x> from|of|out [of] <from> into|to|as <into>
			extract|factor|pull|split <x> into|as <into>
			pull|split|factor|break|lift out <x>
			pull|split|factor|break|lift out <x> of|from <from>`,
	},
	{
		category: refactor, action: rename,
		plain: `rename [<x>]
			rename [from] <x> $arrow <new_name>
			change|update name of <x> to|into <new_name>
			change name <x> to|into <new_name>
			give <x> [new] name <new_name>`,
	},
	{
		category: refactor, action: refactor,
		plain: `refactor|restructure|reorganise|reorganize|simplify|rework|modernise|modernize|streamline|deduplicate|dedupe|decouple [<x>]
			refactor|rework|restructure|rewrite|simplify <x> to|into <to>
			clean|tidy up <x>
			clean|tidy <x> up
			tidy|cleanup|inline <x>`,
		weak: `rewrite|improve|optimise|optimize|clean|move|polish <x>
			make <x> faster|simpler|cleaner|readable|testable|reusable|shorter|generic
			make <x> more readable|testable|efficient|generic|idiomatic|modular
			move <x> to|into <to>`,
	},
	{
		category: validate, action: test,
		plain: `test|retest [<x>]
			[run|rerun|execute] go test [<x>]
			run|rerun|execute [only|just] [test|tests|benchmark] <x:test> $on <in:one>
			[run|rerun|execute] go test [-v|-race|-count=1] -run <x:one> [<in:path>]
			[run|rerun|execute] pytest|jest|vitest|mocha|rspec|phpunit [<x>]
			[run|rerun|execute] npm|yarn|pnpm|bun|cargo|gradle|mvn|dotnet|mix|rake|just [run] test|tests [<x>]
			[run|rerun|execute] make test|check
			run|rerun|execute|start|launch|do [$sort] [unit] $tests [suite] [again]
			run|rerun|execute|start|launch [only|just] [$sort] [unit] $tests $on <x>
			run|rerun|execute|start <x:one> $tests
			run|rerun|execute|start [only|just] [test|tests|benchmark] <x:test>
			run [$sort] tests with <_>
			$do|$is|will $tests $works
			$do|$is|will $tests $on <x> $works
			check|verify|ensure|see [that|if|whether] [$sort] $tests [still] $works
			make sure [that] [$sort] $tests [still] $works
			check|verify|ensure|see [that|if|whether] [$sort] $tests $on <x> [still] $works
			make sure [that] [$sort] $tests $on <x> [still] $works
			check|verify|ensure|see [that|if|whether] [$sort] $tests [still] $works $on <x>
			make sure [that] [$sort] $tests [still] $works $on <x>
			test everything|project|code|repo|it|codebase`,
		weak: `tests
			verify|check|validate <x>
			test|check|verify|ensure [that|if|whether] <x> [still] $works
			make sure [that] <x> [still] $works
			does|do <x> [still] $works
			run <x:path>`,
	},
	{
		category: validate, action: lint,
		plain: `lint|vet [<x>]
			lint|vet everything|project|code|repo|it|codebase|all
			[run] go vet [on|in|for] [<x>]
			lint|linter|style errors|warnings|problems|issues [in|of|for] [<x>]
			run|start|execute $linter [run]
			run|start|execute $linter $on <x>
			run static analysis
			run static analysis on|over|for <x>
			check style|formatting|lint
			check style|formatting|lint of|in|for <x>
			check code style|quality
			find|show|check|list lint|linter|style errors|warnings|problems|issues
			find|show|check|list lint|linter|style errors|warnings|problems|issues in|of|for <x>
			golangci-lint [run] [<x>]`,
	},
	{
		category: debug, action: debug,
		plain: `debug|diagnose|troubleshoot|investigate [<x>]
			why $do|$is|has|have|had|will <x> $fail
			why $do|$is|has|have|had|will <x> $fail <_>
			why $is <x> so|too|very|always|sometimes|still $fail
			why do|am|are|did i|we get|getting|see|seeing <x>
			why $nots it|this compile|build|work|start|run|pass
			why [is|does|do] it|this not compile|build|work|start|run|pass
			why [is|does|do] it|this $fail
			why $do|$is|has|have|had <x> not <_>
			why $do|$is <x> return|returns|returning|give|gives|throw|throws|take|takes|run|running|so <_>
			why $do|$is <x> return|returns|returning|give|gives|throw|throws $fail
			why doesn't|don't|didn't|isn't|aren't|wasn't|won't|can't|cannot|hasn't <x> <_>
			why can|could <x> not <_>
			why <x> $fail
			why <x> $fail <_>
			why <x> $do|$is $fail
			why <x> $do|$is not <_>
			why <x> doesn't|don't|didn't|isn't|aren't|can't|cannot <_>
			how come <x> $fail
			how come <x> $is $fail
			what $is wrong|broken|failing|happening|off with|in|inside <x>
			what went wrong with|in|inside <x>
			what causes|caused|breaks|broke <x> [to] [$fail]
			what $is causing|breaking <x> [to] [$fail]
			find|determine|explain|show [root] cause|reason of|for|behind <x>
			find|hunt|locate|search [for] $bug in|inside|with|of <x>
			find|hunt|locate|search [for] <problem> $bug in|inside <x>`,
		weak: `trace <x>
			<x> fails|fail|crashes|crash|panics|panic|hangs|hang|breaks why
			<x> keeps|keep failing|crashing|panicking|hanging|breaking [why]
			<x> $is [always|sometimes|still] failing|broken|crashing|panicking|hanging|red|flaky why
			trace through <x>
			<x> fails|fail|crashes|crash|panics|panic|hangs|hang|breaks
			<x> $is [always|sometimes|still] failing|broken|crashing|panicking|hanging|red|flaky
			<x> doesn't|don't|isn't|aren't|didn't $works
			<x> $do not $works
			find|search $bug`,
	},
	{
		category: create, action: create,
		plain: `create|implement|add|generate|introduce|scaffold|develop [new] [<x>]
			add|introduce [new] <x> to|into <in>
			set up <x>
			make|build|design|draft a|an|new [new] <x>`,
		weak: `write [new] <x>
			new|design <x>
			write [new] <x> to|into <in:path>`,
	},
	{
		category: create, action: addTests,
		plain: `$write [$sort] [unit] $tests
			$write [$sort] [unit] $tests [cases|case|coverage] $on <x>
			$write [$sort] [unit] $tests that|which <_> <x:one>
			$write <x:one> $tests
			cover <x> with|by [$sort] [unit] $tests
			add|improve|increase|raise [$sort] $tests coverage $on <x>
			improve|increase|raise coverage $on <x>`,
		weak: `tests [cases|coverage] for <x>
			<x> needs|need|lacks|lack|wants|misses [some|more|better] [unit] $tests
			<x> has|have no [unit] $tests
			test cases|coverage for <x>
			[$sort] unit tests for <x>`,
	},
	{
		category: vcs, action: status,
		plain: `status
			git status
			$see [git|repo|repository|working|worktree] [tree] status
			what is [git|repo|repository] status
			status of git|repo|repository|project|worktree|branch
			$see status of git|repo|repository|project|worktree|branch
			what is status of git|repo|repository|project|worktree|branch
			what is uncommitted|staged|unstaged|untracked
			which|what files are|have changed|modified|staged|untracked|uncommitted
			which|what files changed
			which|what files have|did i|we|you change|changed|modify|modified|touch|touched|edit|edited
			$see uncommitted|changed|modified|untracked|staged|unstaged|dirty files
			is [git|working] tree|worktree|repo|repository|directory|branch clean|dirty`,
	},
	{
		category: vcs, action: diff,
		plain: `[git] diff
			[git] diff <of:staging> [<x:path>]
			[git] diff [of|for|against|with|in|from] <x>
			$see <of:staging> changes|diff|work
			$see <of:staging> changes|diff of|in|for|to <x>
			$see [git] diff|diffs
			$see [git] diff|diffs of|for|against|with|in|from|to <x>
			$see [git] [uncommitted|unstaged|staged|local|recent|latest|current|pending|last] changes
			$see [uncommitted|unstaged|staged|local|recent|latest|current|pending] changes of|in|for|to|since|against <x>
			what [is|has|have] changed
			what [is|has|have] changed in|since|inside|on <x>
			what have|did i|we|you changed|change|modified [so] [far|yet]
			what have|did i|we|you changed|change|modified in|since|inside|on <x>
			what changes are|did|have <_>`,
		weak: `changes
			changes in|since|of|to <x>`,
	},
	{
		category: vcs, action: history,
		plain: `[git] log
			git log [of|for|in|since] <x>
			log for|of <x>
			log <x:path>
			$see [git|commit|recent|latest|last|change|version] $past
			$see [git|commit|recent|latest|last|change|version] $past of|for|in|since|on|to <x:one>
			git|commit|change history
			recent|latest|last commits|commit
			history of|for <x>
			who [last] changed|wrote|touched|edited|modified|introduced|added|removed|deleted <x>
			when $is <x> [last] changed|added|introduced|removed|touched|modified|written|deleted|edited
			when did <x> [last] change
			[git] blame <x>
			$see last|latest|recent commit
			$see [git] [last|latest|recent] <max:number> [last|latest|recent] commits
			last|latest|recent <max:number> commits
			what $is last|latest|recent commit|commits|history`,
		weak: `history`,
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
			[git] commit <x> with|using [commit] message|msg [:] <message>
			[git] commit <x:path>
			make|create|do [new] commit
			make|create|do [new] commit with|using [message|msg] <message>
			check in $change
			commit to <x:remote>`,
		weak: `[git] commit <x>`,
	},
	{
		category: vcs, action: branch, params: map[string]string{"create": "true"},
		plain: `create|make|start|add|open|cut [new] [git] branch
			create|make|start|add|open|cut [new] [git] branch [called|named|:] <x:one>
			create|make|start|add|open|cut [new] <x:one> branch
			new branch [called|named|:] <x:one>
			[git] checkout -b <x:one>
			[git] switch -c <x:one>
			switch|change|move to new branch [called|named] <x:one>
			git branch <x:one>`,
		weak: `branch [called|named] <x:one>`,
	},
	{
		category: vcs, action: branch,
		plain: `[git] branch
			switch|change|move|go|checkout|check|return [back] [to|out] [git] branch <x:one>
			switch|change|move|go|checkout|check|return [back] [to|out] <x:one> branch
			switch|change branch to <x:one>
			git checkout|switch <x:one>
			checkout <x:one>
			$see [current] branch|branches
			what|which branch am|are|is i|we|this|it [on|in]
			what $is current branch
			current branch`,
		weak: `switch [back] to <x:one>
			check out <x:one>`,
	},
	{
		category: vcs, action: push,
		plain: `[git] push
			[git] push $change|commits|commit|branch|it
			[git] push [$change|commits|commit|branch] to <x:remote>
			[git] push <x:remote>
			git push [to] <x>
			git push -u|--set-upstream <x>
			[git] push branch <x:one>`,
		weak: `push [$change|commits|commit|branch] to <x>
			push <x>`,
	},
	{
		// What must not be taken for something else.
		category: unknown, action: none,
		plain: `$deny <_>
			do not <_>
			should|shall|must|may i|we|you <_>
			make sure <_>
			delete|remove|drop|merge|rebase|push-force [git] branch <_>
			push --force|-f|force [<_>]
			[git] push --force|-f [<_>]
			force push [<_>]
			git pull|fetch|merge|rebase|reset|stash|revert|clean|add|rm|mv|tag|clone|init|config|cherry-pick|restore [<_>]
			undo|revert commit|commits|push|changes [<_>]
			log in|out|on|off [<_>]
			test drive|water|waters <_>
			commit to <_>
			push back|through|ahead|forward|harder|notification|notifications [<_>]
			what do|would|did you <_>
			what do|did you|i|we|they mean|think|want [<_>]
			fix me <_>
			how are|is you|it|life|everything [<_>]
			$tests|lint|debug|fix|build was|went|is|are fine|good|great|ok|nice|done [<_>]
			run|rerun $tests in|with <_> mode
			what time|day|date|year <_>
			open|create|make|file|submit|close [new] pull|merge request|requests [<_>]
			open|file|submit|close [new] issue|ticket|pr|mr [<_>]
			branch out|off [<_>]
			diff|status|log|commit|push|branch is|was|are|were|has <_>`,
	},
}
