package trust_test

import (
	"testing"

	"replan/mcpclient/pooltest"
)

func TestMain(m *testing.M) { pooltest.Main(m) }

var (
	newPool     = pooltest.New
	aChild      = pooltest.Child
	tool        = pooltest.Tool
	status      = pooltest.Status
	awaitState  = pooltest.AwaitState
	isToolError = pooltest.IsToolError
)
