package conformance_test

import (
	"flag"
	"testing"

	"replan/agent/runner/conformance"
)

var cases = flag.Int("cases", 100, "number of random plans")

func TestPlansRunAlikeEachTime(t *testing.T) {
	conformance.Check(t, *cases, conformance.Local, conformance.Local)
}
