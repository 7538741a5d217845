package box_test

import (
	"flag"
	"testing"

	"replan/mcpclient/box/boxtest"
)

// commandLines is how many random command lines are run; the figure of the manual is
// for 1000.
var commandLines = flag.Int("commandlines", 30, "random command lines to run in the box")

func TestRandomCommandLinesChangeNothingOutside(t *testing.T) {
	p := boxtest.New(t, nil)
	p.NeedMounts(t)
	p.RunRandomLines(t, *commandLines)
}
