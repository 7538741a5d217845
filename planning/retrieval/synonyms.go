package retrieval

import (
	"strings"
	"sync"
)

// alike are groups of words that goals and descriptions use for the same.
//
// They count less than the word itself, see alikeWeight.
const alike = `delete remove drop erase cancel
	create add make new write insert generate
	change edit update modify fix replace correct
	find search look locate where
	list all which names
	read open view display fetch
	move rename
	run execute start launch
	send post publish
	history log commits past
	error failure bug fault
	folder directory
	image picture screenshot
	message comment reply
	user person member customer
	meeting event appointment calendar
	restart reboot
	translate translation
	artist singer musician band
	currency exchange convert conversion euro dollar
	taxi cab ride
	shop store business company
	calculate compute arithmetic math
	covid coronavirus
	hotel lodging
	book reserve`

// operatorWords are what goals say that the built-in operators are for, beyond their
// descriptions.
var operatorWords = map[string]string{
	"fs.read":         "show open view contents look lines file",
	"fs.list":         "which files folder directory contents count tree overview exist",
	"fs.stat":         "size large big exist exists modified time",
	"fs.search":       "find grep look where occurs mention mentions contain containing wherever anywhere todo setting option variable stored endpoints",
	"fs.patch":        "change edit fix update set add correct typo modify insert comment delete function extract refactor implement",
	"fs.write":        "create new make file write document notes report changelog convert generate",
	"fs.move":         "rename put file into folder archive",
	"fs.mkdir":        "make create new empty folder directory",
	"fs.remove":       "delete erase rid unwanted obsolete folder",
	"code.symbols":    "functions methods types classes exported list outline overview names members",
	"code.definition": "defined declared where function type signature arguments",
	"code.references": "used uses usage callers calls call where anywhere import imports unused",
	"code.parse":      "outline imports",
	"code.summarize":  "explain describe overview does",
	"code.transform":  "rename call function type constant everywhere replace wherever occurrences word",
	"test.run":        "tests pass fail fails failing failed red green verify",
	"test.lint":       "lint linter style warnings vet check quality complains",
	"test.detect":     "framework frameworks",
	"vcs.status":      "modified changed uncommitted staged committed branch dirty",
	"vcs.diff":        "difference different compare changes changed staged",
	"vcs.log":         "history commits last author authors who wrote when since yesterday recent lately happened changelog",
	"vcs.show":        "commit last change changed why",
	"vcs.branches":    "branches branch",
	"vcs.branch":      "switch checkout new branch",
	"vcs.commit":      "commit message save",
	"vcs.push":        "push publish upload origin remote",
	"proc.run":        "install build compile execute start command script shell npm generate count",
	"memory.read":     "remember preference preferences like prefer",
	"memory.write":    "remember prefer",
}

// others are the terms alike to a term, without the term itself.
var others = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for group := range strings.SplitSeq(alike, "\n") {
		var terms []string
		newSplitter(func(term []byte) { terms = append(terms, string(term)) }).split(group)
		for _, term := range terms {
			for _, other := range terms {
				if other != term {
					all[term] = append(all[term], other)
				}
			}
		}
	}
	return all
})
