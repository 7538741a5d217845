package intent

import "time"

// operator describes one of the workspace's operators for the router.
type operator struct {
	asks    bool          // it has effects, and asks before it runs
	changes bool          // it changes files, which tests can speak for or against
	limit   time.Duration // it may take longer than steps do that say nothing of it; 0 means no longer
}

// slow is how long programs of the project may take.
const slow = 15 * time.Minute

// operators are those that chains are made of, by name.
var operators = map[string]operator{
	"fs.read": {}, "fs.list": {}, "fs.stat": {}, "fs.search": {},
	"fs.write":  {asks: true, changes: true},
	"fs.patch":  {asks: true, changes: true},
	"fs.move":   {asks: true, changes: true},
	"fs.mkdir":  {asks: true},
	"fs.remove": {asks: true, changes: true},

	"code.symbols": {}, "code.definition": {}, "code.references": {}, "code.parse": {}, "code.summarize": {},
	"code.transform": {}, // it works out a change, and makes none

	"test.detect": {},
	"test.run":    {limit: slow}, // the user's own words ask for it
	"test.lint":   {limit: slow},

	"vcs.status": {}, "vcs.diff": {}, "vcs.log": {}, "vcs.branches": {},
	"vcs.branch": {asks: true},
	"vcs.commit": {asks: true},
	"vcs.push":   {asks: true},

	"proc.run": {asks: true},
}
